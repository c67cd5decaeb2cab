//! From a spec to the jobs to be played, in order.

use std::sync::Arc;
use std::time::Duration;

use results::record::Budget;

/// One match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Position in the schedule, from 0.
    pub number: u64,
    /// Hash of everything that determines the match: game text, players'
    /// configurations by role, clocks, budget and seed.
    pub id: String,
    /// The unit of evidence this match belongs to, numbered from 0.
    pub block: u64,
    /// How many blocks of the same game, clock and players come before.
    pub lap: u32,
    /// Index of the rotation of seats within the block.
    pub rotation: u32,
    /// Index into the spec's games.
    pub game: usize,
    /// Index into the spec's players for each role, in role order; `None` where
    /// the manager moves (the role `random`).
    pub seats: Vec<Option<usize>>,
    /// Clocks of this match.
    pub clocks: Clocks,
    /// What bounds thinking.
    pub budget: Budget,
    /// Seed of the match: derived from the spec's seed, the game and the lap,
    /// the same for all matches of a block.
    pub seed: u64,
}

/// The clocks of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// Time between receiving the rules and answering `ready`.
    pub start: Duration,
    /// Time for each move.
    pub play: Duration,
    /// Grace added to both before an answer counts as late.
    pub margin: Duration,
}

/// A shared job.
pub type SharedJob = Arc<Job>;
