//! Tests whether a new version of a player is weaker than the old one.
//!
//! ```text
//! Question + ScoredMatch... -> Tracker -> Verdict (stop now?) -> Regression
//! ```
//!
//! *Base* is the old version, *head* the new one, *canary* a second copy of the head with
//! the same games, seeds and seats ([`BASE`], [`HEAD`], [`CANARY`] are their ids). The
//! [`tracker`] reads matches in the order of the schedule, in whatever order they end.
//! Faults are tested after every match, strength after every part of a lap. The result
//! depends neither on the number of workers nor on interruptions.
//!
//! The error rate `alpha`, the probability that a head as good as the base fails, is
//! divided beforehand: [`FAULT_SHARE`] of it for the test of faults, the rest for the test
//! of strength.

mod decide;
mod evaluate;
mod fault_pairs;
pub mod tracker;
#[cfg(test)]
mod truth_table;
mod unscored;

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::record::FaultKind;
use crate::stats::gsprt::ErrorRates;
pub use crate::stats::stopping::Estimate;
use crate::stats::stopping::MarginTest;

pub use tracker::Tracker;

/// The id of the player that is there.
pub const BASE: &str = "base";
/// The id of the player to replace it.
pub const HEAD: &str = "head";
/// The id of the head once more.
pub const CANARY: &str = "canary";

/// Blocks below which nothing is decided of strength.
pub const MIN_BLOCKS: u64 = 30;

/// The share of `alpha` that the test of faults has. Most comparisons see no
/// fault, so that it is small; with 1 % in place of 5 % a head that commits a
/// fault in every match is found out after 5 pairs of matches in place of 4.
pub const FAULT_SHARE: f64 = 0.2;

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
    /// Laps of the schedule after which the answer is given in any case. Users read *cycle*: a
    /// lap of a comparison has four blocks of each game and budget, and one of the canary.
    pub max_laps: u64,
    /// Time after which the answer is given in any case, seconds.
    pub time_limit_s: Option<f64>,
    /// Matches of a lap.
    pub matches_per_lap: u64,
    /// Compared blocks of a lap: what base and head played at one game with one budget under
    /// the same conditions.
    pub blocks_per_lap: u64,
    /// Whether the canary plays.
    pub has_canary: bool,
    /// Matches of a lap after which each of its parts ends, ascending, the last
    /// with the lap; each part has as many blocks of each game and clock. Empty
    /// if a lap has no parts.
    #[serde(default)]
    pub part_ends: Vec<u64>,
    /// Parts after which the answer is given in any case; `None` for all of the
    /// laps.
    #[serde(default)]
    pub max_parts: Option<u64>,
}

impl Question {
    /// Parts of a lap.
    #[must_use]
    pub fn parts_per_lap(&self) -> u64 {
        (self.part_ends.len() as u64).max(1)
    }

    /// Blocks of each part of a lap.
    #[must_use]
    pub fn blocks_per_part(&self) -> u64 {
        self.blocks_per_lap / self.parts_per_lap()
    }

    /// Maximum number of parts of laps there can be.
    #[must_use]
    pub fn most_parts(&self) -> u64 {
        let all = self.max_laps.saturating_mul(self.parts_per_lap());
        self.max_parts.map_or(all, |parts| parts.min(all))
    }

    /// Maximum number of blocks there can be.
    #[must_use]
    pub fn max_blocks(&self) -> u64 {
        self.most_parts().saturating_mul(self.blocks_per_part())
    }

    /// How often the test of strength may err: accept "equal", and "worse".
    #[must_use]
    pub fn errors(&self) -> ErrorRates {
        ErrorRates { alpha: self.alpha, beta: self.alpha * (1.0 - FAULT_SHARE) }
    }

    /// How often the test of faults may err.
    #[must_use]
    pub fn fault_alpha(&self) -> f64 {
        self.alpha * FAULT_SHARE
    }

    /// The test of strength as it is carried out.
    #[must_use]
    pub fn margin_test(&self) -> MarginTest {
        MarginTest {
            margin: self.margin,
            errors: self.errors(),
            first_look: MIN_BLOCKS.next_multiple_of(self.blocks_per_part().max(1)),
            level: 1.0 - self.alpha,
        }
    }
}

/// The result.
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
    /// The base commits faults in most of its matches: it is no measure.
    BrokenBase,
    /// Unscored matches could change the result.
    Unscored,
    /// A statistic is undefined: a bug of this program.
    Internal,
}

/// Why the comparison ended.
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

/// The result of a comparison. No number in it is infinite or undefined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    /// The result.
    pub outcome: Outcome,
    /// The reason for the result.
    pub reason: Reason,
    /// Why the comparison ended.
    pub stopped: Stopped,
    /// The question.
    pub question: Question,
    /// Complete laps.
    pub n_laps: u64,
    /// Matches that count, the canary's among them.
    pub n_matches: u64,
    /// The unscored ones among them.
    pub n_unscored: u64,
    /// Head against base over all games.
    pub strength: Strength,
    /// Head against base at each game and budget.
    pub games: Vec<GameEffect>,
    /// Faults of base and head.
    pub faults: Faults,
    /// The mean difference under each fault policy; empty without faults.
    pub policies: Vec<PolicyMean>,
    /// The head against itself; `None` if the canary did not play.
    pub canary: Option<Canary>,
}

/// The strength of the head compared with the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// Head minus base: the plain mean.
    pub difference: Effect,
    /// Head minus base, corrected for early stopping of the test; `None` for fewer than two
    /// blocks.
    #[serde(default)]
    pub estimate: Option<Estimate>,
    /// Student's t interval of the plain mean, which decides when the test has not;
    /// `None` if it has, or for fewer than two blocks.
    #[serde(default)]
    pub at_end: Option<[f64; 2]>,
    /// An interval that is valid at any time, points; `None` without blocks.
    pub anytime: Option<[f64; 2]>,
    /// Log-likelihood ratio of "equal" to "worse by the margin".
    pub llr: f64,
    /// The ratios at which the test decides: worse, equal.
    pub bounds: [f64; 2],
    /// Blocks that do not count, because one of their matches is unscored.
    pub n_incomplete: u64,
    /// The mean difference if unscored matches count as lost by the head and won by the
    /// base, points; `None` if all matches were scored.
    #[serde(default)]
    pub worst: Option<f64>,
    /// The loss in points that this number of blocks with this standard deviation detects
    /// with a probability of 1 - alpha.
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
    /// An interval at a level of 1 - alpha that is valid at any time; `None` without
    /// blocks.
    pub interval: Option<[f64; 2]>,
}

/// Head against base at one game and budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameEffect {
    /// The game.
    pub game: String,
    /// The budget, in words.
    #[serde(alias = "clock")]
    pub budget: String,
    /// Head minus base.
    pub difference: Effect,
    /// Probability of a mean this low if there were no difference (sign-flip test).
    pub p: f64,
    /// The same, corrected for the number of games (Holm).
    pub p_holm: f64,
    /// Whether the corrected p-value is at most alpha.
    pub warns: bool,
    /// Whether the base had the same reward in all of many blocks: repetitions of one match
    /// are no evidence.
    pub repeats: bool,
}

/// Faults of base and head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Faults {
    /// The base.
    pub base: FaultCounts,
    /// The head.
    pub head: FaultCounts,
    /// Pairs of matches of base and head under the same conditions.
    #[serde(default)]
    pub n_pairs: u64,
    /// Probability of ever seeing as much evidence against the head in these pairs if it
    /// were as reliable as the base.
    pub p: f64,
    /// Whether that is at most [`FAULT_SHARE`] of alpha.
    pub fails: bool,
}

impl Faults {
    /// Whether the base committed faults in more than half of its matches.
    #[must_use]
    pub fn base_is_broken(&self) -> bool {
        2 * self.base.n_faulty > self.base.n_matches
    }
}

/// Faults of one player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Matches it played.
    pub n_matches: u64,
    /// Those in which it committed a fault.
    pub n_faulty: u64,
    /// Kinds that occurred, and how often.
    pub kinds: Vec<(FaultKind, u64)>,
}

/// The mean difference under a fault policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyMean {
    /// The policy.
    pub policy: String,
    /// Head minus base.
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
    /// Probability of so large a difference between a player and itself (sign
    /// flips).
    #[serde(default)]
    pub p: Option<f64>,
    /// The same of the difference of their faulty matches.
    #[serde(default)]
    pub p_faults: Option<f64>,
    /// Whether head and canary differ as players do, so that the machine, and
    /// not the player, is to blame.
    pub blames_machine: bool,
}

/// The result of a comparison cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct ReadError {
    path: PathBuf,
    source: io::Error,
}

/// The result of the comparison in folder `run`; `None` if it is not a comparison, or has
/// no answer yet.
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
