//! Whether a new version of a player is worse than the one it is to replace.
//!
//! ```text
//! Question + ScoredMatch... -> Tracker -> Verdict (stop now?) -> Regression
//! ```
//!
//! *Base* is the player that is there, *head* the one to replace it, *canary*
//! the head once more, under the same chances ([`BASE`], [`HEAD`], [`CANARY`]
//! are the ids they play under). The [`tracker`] reads matches in the order of
//! the schedule, whatever order they come in, and decides at the ends of laps;
//! what it has read then is evaluated. Nothing depends on the number of workers
//! or on when a run was interrupted.

mod evaluate;
pub mod tracker;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::record::FaultKind;

pub use tracker::Tracker;

/// The id of the player that is there.
pub const BASE: &str = "base";
/// The id of the player to replace it.
pub const HEAD: &str = "head";
/// The id of the head once more.
pub const CANARY: &str = "canary";

/// Blocks below which nothing is decided.
pub const MIN_BLOCKS: u64 = 30;

/// What is asked, fixed before anything is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The base, as the user wrote it.
    pub base: String,
    /// The head, as the user wrote it.
    pub head: String,
    /// What is played: the suite's name.
    pub suite: String,
    /// How much worse is too much, points.
    pub margin: f64,
    /// How often the answer may be wrong, either way.
    pub alpha: f64,
    /// Laps after which the answer is given in any case.
    pub max_laps: u64,
    /// Time after which the answer is given in any case, seconds.
    pub time_limit_s: Option<f64>,
    /// Matches of a lap.
    pub matches_per_lap: u64,
    /// Blocks of a lap: pairs of what base and head did under the same chances.
    pub blocks_per_lap: u64,
    /// Whether the canary plays.
    pub has_canary: bool,
}

impl Question {
    /// Most blocks there can be.
    #[must_use]
    pub fn max_blocks(&self) -> u64 {
        self.max_laps.saturating_mul(self.blocks_per_lap)
    }
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No worse than by the margin.
    Pass,
    /// Worse, or less reliable.
    Fail,
    /// Not to be told.
    Inconclusive,
}

/// What the answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The sequential test of strength decided.
    Test,
    /// The test did not; the interval of the difference did.
    Interval,
    /// The head commits faults more often.
    Faults,
    /// The canary did not do as the head did: the machine is at fault.
    Canary,
    /// Fewer than [`MIN_BLOCKS`] blocks.
    TooFew,
    /// Enough blocks, but test and interval are undecided.
    Undecided,
}

/// Why no more was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The test had decided.
    Decided,
    /// All laps were played.
    Blocks,
    /// The time was up.
    Time,
}

/// All that is to be told. No number in it is infinite or undefined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    /// The answer.
    pub outcome: Outcome,
    /// What it rests on.
    pub reason: Reason,
    /// Why no more was played.
    pub stopped: Stopped,
    /// What was asked.
    pub question: Question,
    /// Laps that count.
    pub n_laps: u64,
    /// Matches that count, the canary's among them.
    pub n_matches: u64,
    /// Those of them that scored nobody.
    pub n_unscored: u64,
    /// Head against base over all games.
    pub strength: Strength,
    /// Head against base at each game and clock.
    pub games: Vec<GameEffect>,
    /// Who is how reliable.
    pub faults: Faults,
    /// The mean difference under each fault policy; empty without faults.
    pub policies: Vec<PolicyMean>,
    /// The head against itself; `None` if the canary did not play.
    pub canary: Option<Canary>,
}

/// How strong the head is beside the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// Head less base.
    pub difference: Effect,
    /// An interval that holds however often one looks, points; `None` without
    /// blocks.
    pub anytime: Option<[f64; 2]>,
    /// Log-likelihood ratio of "equal" to "worse by the margin".
    pub llr: f64,
    /// The ratios at which the test decides: worse, equal.
    pub bounds: [f64; 2],
    /// Blocks that do not count, since a match of theirs scored nobody.
    pub n_incomplete: u64,
    /// The difference that so many blocks of this spread show, with errors as
    /// asked for; points.
    pub detectable: Option<f64>,
}

/// A mean difference of blocks, points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Blocks.
    pub n_blocks: u64,
    /// `None` without blocks.
    pub mean: Option<f64>,
    /// Standard deviation of a block; `None` for fewer than two.
    pub sd: Option<f64>,
    /// Student's t interval at a level of 1 - alpha; `None` for fewer than two.
    pub interval: Option<[f64; 2]>,
}

/// Head against base at one game under one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameEffect {
    /// The game.
    pub game: String,
    /// The clock, in words.
    pub clock: String,
    /// Head less base.
    pub difference: Effect,
    /// Probability of so low a mean if there were no difference (sign flips).
    pub p: f64,
    /// The same, corrected for the number of games (Holm).
    pub p_holm: f64,
    /// Whether the corrected one is at most alpha.
    pub warns: bool,
    /// Whether the base was rewarded alike in all of many blocks: the same match
    /// over and over is no evidence.
    pub repeats: bool,
}

/// How reliable base and head are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// The base.
    pub base: FaultCounts,
    /// The head.
    pub head: FaultCounts,
    /// Probability that the head would have so many faulty matches if it were
    /// as reliable as the base (Fisher).
    pub p: f64,
    /// Whether that is at most alpha.
    pub fails: bool,
}

/// Faults of one player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Matches it played.
    pub n_matches: u64,
    /// Those with a fault of its.
    pub n_faulty: u64,
    /// Kinds that occurred, and how often.
    pub kinds: Vec<(FaultKind, u64)>,
}

/// A mean difference as it would be under a fault policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyMean {
    /// The policy.
    pub policy: String,
    /// Head less base.
    pub difference: Effect,
}

/// The head against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    /// Head less canary.
    pub difference: Effect,
    /// Faults of the head in the matches that are compared.
    pub head: FaultCounts,
    /// Faults of the canary in them.
    pub canary: FaultCounts,
    /// Whether head and canary differ as players do, so that the machine, and
    /// not the player, is to blame.
    pub blames_machine: bool,
}

/// What a comparison came to cannot be read. Fits after "failed to".
#[derive(Debug, thiserror::Error)]
#[error("read {}", path.display())]
pub struct ReadError {
    path: PathBuf,
    source: io::Error,
}

/// What the comparison in folder `run` came to; `None` if it is none, or has no
/// answer yet.
///
/// # Errors
/// If its file is there and cannot be read.
pub fn read(run: &Path) -> Result<Option<Regression>, ReadError> {
    let path = run.join(files::REGRESSION_JSON);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ReadError { path, source }),
    };
    match serde_json::from_str(&text) {
        Ok(found) => Ok(Some(found)),
        Err(error) => Err(ReadError { path, source: error.into() }),
    }
}
