//! What a long report says beyond the standings: ratings, how sure ranks are,
//! what faults, clocks and seats did, and how times and rewards are distributed.
//!
//! Everything here is a number or a reason why there is none; how it is laid
//! out is the business of [`report`](crate::report).

mod distributions;
mod orders;
mod over_time;
mod ratings;
mod seats;
mod worth_replaying;

use std::path::Path;
use std::sync::Arc;

use crate::calibration::CalibrationBin;
use crate::evidence::Evidence;
use crate::files;
use crate::journal::JournalError;
use crate::record::MatchRecord;
use crate::regress::Regression;
use crate::regret::RegretSummary;
use crate::standings::{self, Pair, Standings, scored_matches};
use crate::stats::bootstrap::Bootstrap;
use crate::workers::WorkerRow;

pub use distributions::{Bar, GameOverhead, PlayerTimes, RewardDistribution, Times};
pub use over_time::{MoveBudget, OverTime, TimePoint};
pub(crate) use ratings::ALPHA_RANK;
pub use ratings::{RankProbabilities, Rating, Ratings};
pub use seats::{SeatEffect, SeatEffects, Worth};
pub use worth_replaying::WorthReplaying;

/// Standings, and all that follows from the same journal.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The standings; players below are in their order.
    pub standings: Standings,
    /// The answer, if the run is a comparison of two versions of a player.
    pub regression: Option<Regression>,
    /// What decisions gave away; `None` unless the caller has judged them.
    pub regret: Option<RegretSummary>,
    /// The workers that played the run; empty unless the caller has looked for them.
    pub workers: Vec<WorkerRow>,
    /// How sure the ranks of the standings are; `None` if no match was scored.
    pub ranks: Option<RankProbabilities>,
    /// Ratings on other scales than the mean reward.
    pub ratings: Ratings,
    /// What players had for a move, ascending.
    pub budgets: Vec<MoveBudget>,
    /// Strength by budget; empty if all had the same.
    pub over_time: Vec<OverTime>,
    /// By player: its rewards.
    pub rewards: Vec<RewardDistribution>,
    /// By player, then clock: think times; empty if times are no part of the run's
    /// results.
    pub thinking: Vec<PlayerTimes>,
    /// By player, then value: what players expected of their moves, and what they got.
    pub calibration: Vec<CalibrationBin>,
    /// Each player beside each other.
    pub pairs: Vec<Pair>,
    /// What a role is worth and who is better where, each corrected for the
    /// other; or why this cannot be told.
    pub effects: Result<SeatEffects, String>,
    /// By game: what matches took; empty like `thinking`.
    pub overhead: Vec<GameOverhead>,
    /// Matches to look at first.
    pub worth_replaying: Vec<WorthReplaying>,
}

/// Reads the run in folder `run` and computes all of it, with at most
/// `n_replays` matches worth replaying.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn evaluate(
    run: &Path,
    bootstrap: &Bootstrap,
    n_replays: usize,
) -> Result<Evaluation, JournalError> {
    let journal = run.join(files::JOURNAL);
    let evidence = Evidence::read(&journal, true)?;
    let (standings, sampling) = standings::compute(&journal, &evidence, bootstrap)?;
    let players: Vec<Arc<str>> =
        standings.players.iter().map(|row| row.player.as_str().into()).collect();
    let matches = scored_matches(&evidence);
    let own_clocks = over_time::own_clocks(&evidence);
    let timings = evidence.header.timings;
    let (ranks, ratings) = ratings::ratings(&matches, &players, bootstrap);
    let mut worth = worth_replaying::worth_replaying(&evidence, &sampling.order, n_replays);
    worth_replaying::read(&mut worth, &evidence.index)?;
    Ok(Evaluation {
        ranks,
        ratings,
        budgets: over_time::budgets(&evidence, &own_clocks),
        over_time: over_time::over_time(&evidence, &own_clocks, &sampling, bootstrap),
        rewards: distributions::rewards(&matches, &players),
        thinking: distributions::thinking(&evidence, &sampling.order, timings),
        calibration: calibration_of(&evidence, &players),
        pairs: standings::pairs(&evidence, &sampling, bootstrap),
        effects: seats::seat_effects(&matches, &players, &evidence, bootstrap),
        overhead: distributions::overhead(&evidence, timings),
        worth_replaying: worth,
        regression: None,
        regret: None,
        workers: vec![],
        standings,
    })
}

/// What the players of the journal at `path` expected of their moves, and what they got, in
/// the order of the players' names.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn calibration(path: &Path) -> Result<Vec<CalibrationBin>, JournalError> {
    let evidence = Evidence::read(path, false)?;
    let players = evidence.players.iter().zip(&evidence.values);
    Ok(players.flat_map(|(name, values)| values.bins(name)).collect())
}

/// What players expected of their moves, player by player.
fn calibration_of(evidence: &Evidence, players: &[Arc<str>]) -> Vec<CalibrationBin> {
    let of_player = |name: &Arc<str>| {
        let number = evidence.players.iter().position(|player| **player == **name)?;
        Some(evidence.values[number].bins(name))
    };
    players.iter().filter_map(of_player).flatten().collect()
}

impl Evaluation {
    /// The matches worth replaying that could be read, with what is notable.
    pub fn records(&self) -> impl Iterator<Item = (&MatchRecord, &str)> {
        self.worth_replaying
            .iter()
            .filter_map(|worth| Some((worth.record.as_ref()?, worth.reason.as_str())))
    }
}
