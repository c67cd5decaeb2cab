//! What is counted or averaged without an interval: blocks, encounters, the
//! balance of roles, faults, times, and matches that scored nobody.

use polars::prelude::{IntoLazy, PolarsError, SortMultipleOptions, col};

use super::frame::{block_frame, integers, seat_frame, sum};
use super::rows::{Encounter, FaultCount, GoalFlagCount, RoleBalance, Timing, Unscored};
use super::samples::rounded;
use crate::bootstrap::Total;
use crate::evidence::{Evidence, Pace};
use crate::record::FaultKind;

/// Blocks, and how many of them have fewer matches than others of their game.
/// Seats are counted instead, of which all matches of a game have as many.
pub(super) fn count_blocks(evidence: &Evidence) -> Result<(u64, u64), PolarsError> {
    let blocks = block_frame(evidence)?;
    let most = col("n_seats").max().over([col("game")])?;
    let incomplete = blocks.clone().lazy().filter(col("n_seats").lt(most)).collect()?;
    Ok((sum(&blocks, "n_blocks")?, sum(&incomplete, "n_blocks")?))
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

pub(super) fn balance(evidence: &Evidence) -> Result<Vec<RoleBalance>, PolarsError> {
    let roles = seat_frame(evidence)?
        .lazy()
        .group_by([col("game"), col("role")])
        .agg([col("sum").sum() / col("n").sum(), col("n").sum().alias("n_matches")])
        .sort(["game", "role"], SortMultipleOptions::default())
        .collect()?;
    let games = integers(&roles, "game")?;
    let indices = integers(&roles, "role")?;
    let means: Vec<f64> = roles.column("sum")?.f64()?.into_no_null_iter().collect();
    let n: Vec<f64> = roles.column("n_matches")?.f64()?.into_no_null_iter().collect();
    let balance = (0..roles.height()).map(|row| {
        let game = games[row] as usize;
        RoleBalance {
            game: evidence.games[game].clone(),
            role: evidence.roles[game][indices[row] as usize].clone(),
            mean: rounded(means[row]),
            n_matches: n[row] as u64,
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
    let timing = |player: usize, clock: u32, pace: &Pace| {
        let quantile = |q| pace.think_us.quantile(q).map(milliseconds);
        Timing {
            player: evidence.players[player].clone(),
            clock: evidence.own_clocks[clock as usize].to_string(),
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
