//! What is counted or averaged without an interval: blocks, encounters, the
//! balance of roles, faults, times, and matches that scored nobody.

use std::collections::BTreeMap;

use polars::prelude::{DataFrame, IntoLazy, PolarsError, SortMultipleOptions, col, len};

use super::frame::integers;
use super::rows::{Encounter, FaultCount, GoalFlagCount, RoleBalance, Timing, Unscored};
use super::samples::rounded;
use crate::bootstrap::Total;
use crate::evidence::Evidence;
use crate::record::FaultKind;

/// Blocks, and how many of them have fewer matches than others of their game.
/// Seats are counted instead, of which all matches of a game have as many.
pub(super) fn count_blocks(frame: &DataFrame) -> Result<(u64, u64), PolarsError> {
    let keys = [col("game"), col("block")];
    let blocks = frame.clone().lazy().group_by(keys).agg([len().alias("n")]).collect()?;
    let most = col("n").max().over([col("game")])?;
    let incomplete = blocks.clone().lazy().filter(col("n").lt(most)).collect()?;
    Ok((blocks.height() as u64, incomplete.height() as u64))
}

/// By player, then opponent: what the player won in matches with the other.
///
/// A pass over the seats, those of a match together: a join of the frame with
/// itself took half the time of a report on a million matches.
pub(super) fn encounters(evidence: &Evidence) -> BTreeMap<(u32, u32), Total> {
    let seats = &evidence.seats;
    let mut encounters: BTreeMap<(u32, u32), Total> = BTreeMap::new();
    let mut end = 0;
    for of_match in seats.match_number.chunk_by(|a, b| a == b) {
        let rows = end..end + of_match.len();
        end = rows.end;
        for row in rows.clone() {
            let (player, reward) = (seats.player[row], f64::from(seats.reward[row]));
            for &opponent in &seats.player[rows.clone()] {
                if opponent != player {
                    let total = encounters.entry((player, opponent)).or_default();
                    total.add(Total { sum: reward, n: 1.0 });
                }
            }
        }
    }
    encounters
}

/// Encounters by name, in the order of the players.
pub(super) fn cross_table(
    encounters: &BTreeMap<(u32, u32), Total>,
    evidence: &Evidence,
    order: &[usize],
) -> Vec<Encounter> {
    let place = |player: u32| order.iter().position(|&other| other == player as usize);
    let mut met: Vec<_> = encounters.iter().collect();
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

pub(super) fn balance(
    frame: &DataFrame,
    evidence: &Evidence,
) -> Result<Vec<RoleBalance>, PolarsError> {
    let roles = frame
        .clone()
        .lazy()
        .group_by([col("game"), col("role")])
        .agg([col("reward").mean(), len().alias("n")])
        .sort(["game", "role"], SortMultipleOptions::default())
        .collect()?;
    let games = integers(&roles, "game")?;
    let indices = integers(&roles, "role")?;
    let means: Vec<f64> = roles.column("reward")?.f64()?.into_no_null_iter().collect();
    let n = integers(&roles, "n")?;
    let balance = (0..roles.height()).map(|row| {
        let game = games[row] as usize;
        RoleBalance {
            game: evidence.games[game].clone(),
            role: evidence.roles[game][indices[row] as usize].clone(),
            mean: rounded(means[row]),
            n_matches: n[row].into(),
        }
    });
    Ok(balance.collect())
}

pub(super) fn faults(evidence: &Evidence, order: &[usize]) -> Vec<FaultCount> {
    let mut faults = vec![];
    for &player in order {
        for (kind, &n) in FaultKind::ALL.into_iter().zip(&evidence.conduct[player].faults) {
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
    let timing = |&player: &usize| {
        let conduct = &evidence.conduct[player];
        let quantile = |q| conduct.think_us.quantile(q).map(milliseconds);
        Timing {
            player: evidence.players[player].clone(),
            n_choices: conduct.think_us.n(),
            think_ms_p50: quantile(0.5),
            think_ms_p95: quantile(0.95),
            think_ms_p99: quantile(0.99),
            think_ms_max: conduct.think_us.max().map(milliseconds),
            n_overruns: conduct.overrun_us.n(),
            overrun_ms_max: conduct.overrun_us.max().map_or(0.0, milliseconds),
        }
    };
    order.iter().map(timing).collect()
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
