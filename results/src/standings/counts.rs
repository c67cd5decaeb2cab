//! What is counted or averaged without an interval: blocks, encounters, the
//! balance of roles, faults, times, and matches that scored nobody.

use polars::prelude::{
    DataFrame, IntoLazy, JoinArgs, JoinType, PolarsError, SortMultipleOptions, col, len,
};

use super::frame::integers;
use super::rows::{Encounter, FaultCount, GoalFlagCount, RoleBalance, Timing, Unscored};
use super::samples::rounded;
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

/// Every pair of different players in every match, in both directions.
pub(super) fn cross_table(
    frame: &DataFrame,
    evidence: &Evidence,
    order: &[usize],
) -> Result<Vec<Encounter>, PolarsError> {
    let seats = frame.clone().lazy().select([col("match"), col("player"), col("reward")]);
    let opponents = frame.clone().lazy().select([col("match"), col("player").alias("opponent")]);
    let encounters = seats
        .join(opponents, [col("match")], [col("match")], JoinArgs::new(JoinType::Inner))
        .filter(col("player").neq(col("opponent")))
        .group_by([col("player"), col("opponent")])
        .agg([col("reward").mean(), len().alias("n")])
        .collect()?;
    let players = integers(&encounters, "player")?;
    let opponents = integers(&encounters, "opponent")?;
    let means: Vec<f64> = encounters.column("reward")?.f64()?.into_no_null_iter().collect();
    let n = integers(&encounters, "n")?;
    let place = |player: u32| order.iter().position(|&other| other == player as usize);
    let mut rows: Vec<usize> = (0..encounters.height()).collect();
    rows.sort_unstable_by_key(|&row| (place(players[row]), place(opponents[row])));
    let name = |player: u32| evidence.players[player as usize].clone();
    let encounter = |row: usize| Encounter {
        player: name(players[row]),
        opponent: name(opponents[row]),
        mean: rounded(means[row]),
        n_matches: n[row].into(),
    };
    Ok(rows.into_iter().map(encounter).collect())
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
