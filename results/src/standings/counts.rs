//! What is counted or averaged without an interval: blocks, encounters, the
//! balance of roles, faults, times, and unscored matches.

use std::collections::BTreeMap;

use super::rows::{Encounter, FaultCount, GoalFlagCount, RoleBalance, Timing, Unscored};
use super::samples::rounded;
use crate::evidence::{Evidence, Pace};
use crate::record::FaultKind;
use crate::stats::bootstrap::Total;

/// Blocks, and how many of them have fewer matches than others of their game.
/// Seats are counted instead, of which all matches of a game have as many.
pub(super) fn count_blocks(evidence: &Evidence) -> (u64, u64) {
    let sizes = &evidence.tally.sizes;
    // Sizes ascend within a game.
    let most: BTreeMap<u32, u64> = sizes.keys().copied().collect();
    let incomplete = sizes.iter().filter(|((game, size), _)| *size < most[game]);
    (sizes.values().sum(), incomplete.map(|(_, n)| n).sum())
}

/// Encounters by name, in the order of the players.
pub(super) fn cross_table(evidence: &Evidence, order: &[usize]) -> Vec<Encounter> {
    let place = |player: u32| order.iter().position(|&other| other == player as usize);
    let mut met: Vec<_> = evidence.tally.encounters.iter().collect();
    met.sort_by_key(|&(&(player, opponent), _)| (place(player), place(opponent)));
    let name = |player: u32| evidence.players[player as usize].clone();
    let encounter = |(&(player, opponent), total): (&(u32, u32), &Total)| {
        let mean = total.mean()?;
        Some(Encounter {
            player: name(player),
            opponent: name(opponent),
            mean: rounded(mean),
            n_matches: total.n as u64,
        })
    };
    met.into_iter().filter_map(encounter).collect()
}

pub(super) fn balance(evidence: &Evidence) -> Vec<RoleBalance> {
    let mut roles: BTreeMap<(u32, u32), Total> = BTreeMap::new();
    for (&(_, game, _), stratum) in &evidence.tally.strata {
        for &(role, total) in stratum.blocks.totals.values().flatten() {
            roles.entry((game, role)).or_default().add(total);
        }
    }
    let balance = |((game, role), total): ((u32, u32), Total)| {
        let game = game as usize;
        Some(RoleBalance {
            game: evidence.games[game].clone(),
            role: evidence.roles[game][role as usize].clone(),
            mean: rounded(total.mean()?),
            n_matches: total.n as u64,
        })
    };
    roles.into_iter().filter_map(balance).collect()
}

pub(super) fn faults(evidence: &Evidence, order: &[usize]) -> Vec<FaultCount> {
    let mut faults = vec![];
    for &player in order {
        for (kind, &n) in FaultKind::ALL.into_iter().zip(&evidence.conduct[player]) {
            if n > 0 {
                faults.push(FaultCount { player: evidence.players[player].clone(), kind, n });
            }
        }
    }
    faults
}

pub(super) fn timing(evidence: &Evidence, order: &[usize]) -> Vec<Timing> {
    if !evidence.header.timings {
        return vec![];
    }
    let timing = |player: usize, clock: u32, pace: &Pace| {
        let quantile = |q| pace.think_us.quantile(q).map(milliseconds);
        Timing {
            player: evidence.players[player].clone(),
            budget: evidence.own_clocks[clock as usize].to_string(),
            n_choices: pace.think_us.n(),
            think_ms_p50: quantile(0.5),
            think_ms_p95: quantile(0.95),
            think_ms_p99: quantile(0.99),
            think_ms_max: pace.think_us.max().map(milliseconds),
            n_overruns: pace.overrun_us.n(),
            overrun_ms_max: pace.overrun_us.max().map_or(0.0, milliseconds),
        }
    };
    let of_player = |&player: &usize| {
        evidence.paces(player).map(move |(clock, pace)| timing(player, clock, pace))
    };
    order.iter().flat_map(of_player).collect()
}

fn milliseconds(us: u64) -> f64 {
    us as f64 / 1000.0
}

pub(super) fn unscored(evidence: &Evidence) -> Vec<Unscored> {
    let unscored = evidence.unscored.iter().map(|((game, ending, reason), &n)| Unscored {
        game: game.clone(),
        ending: (*ending).to_owned(),
        reason: reason.clone(),
        n,
    });
    unscored.collect()
}

pub(super) fn goal_flags(evidence: &Evidence) -> Vec<GoalFlagCount> {
    let flags = evidence.goal_flags.iter();
    flags.map(|((game, flag), &n)| GoalFlagCount { game: game.clone(), flag: *flag, n }).collect()
}
