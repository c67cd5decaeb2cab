//! Why an experiment cannot be played, or not to its end.

use std::path::PathBuf;

use games::ReasoningError;
use results::journal::JournalError;
use results::partition::Partition;
use results::record::AbortReason;
use results::regress;
use results::report::ReportError;
use results::stats::schedule_order::SecondResult;

use super::folder::FolderError;
use super::merge::MergeRunsError;
use super::regression::RequestError;
use crate::game_source::GameSourceError;
use crate::manager::PreflightError;
use crate::spec::SpecError;

/// Why an experiment cannot be played, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The spec.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A rulesheet.
    #[error(transparent)]
    Game(#[from] GameSourceError),
    /// Rules that no reasoner can compute.
    #[error("{game}")]
    Rules {
        /// The game's name.
        game: String,
        /// Why.
        #[source]
        source: ReasoningError,
    },
    /// Players and games that do not fit each other; in words.
    #[error("{0}")]
    Unplayable(String),
    /// A comparison that cannot be decided as it is requested.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A part of a schedule whose pairings depend on results.
    #[error(
        "--partition {0} needs a round_robin or a gauntlet without a race: in the format of this spec, \
         pairings depend on the results of earlier rounds"
    )]
    NoParts(Partition),
    /// The folder of the run.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Runs that cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeRunsError),
    /// A player that is not ready to play.
    #[error(transparent)]
    Player(#[from] PreflightError),
    /// Stopped by the user before anything was played.
    #[error("interrupted")]
    Interrupted,
    /// The journal was lost; what it holds up to there stays.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The tables and summaries made from the journal.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The result of an earlier comparison in the same folder.
    #[error(transparent)]
    Earlier(#[from] regress::ReadError),
    /// A journal with two results of one match.
    #[error(transparent)]
    SecondResult(#[from] SecondResult),
    /// Matches were aborted, and not on request.
    #[error("{}", aborted(*n, first))]
    Aborted {
        /// Matches.
        n: u64,
        /// Why the first was.
        first: AbortReason,
    },
    /// A player was missing in several matches in a row.
    #[error("{reason}; the run stopped after {n} of the matches of `{player}` were aborted")]
    PlayerGone {
        /// Its id.
        player: String,
        /// Why it could not play.
        reason: AbortReason,
        /// Matches that were aborted.
        n: u64,
    },
    /// A comparison ended without a result.
    #[error("the run ended without a result")]
    NoAnswer,
    /// No match of a comparison has rewards to compare.
    #[error("no match was scored; `gamemaster report {}` says why", .folder.display())]
    NotScored {
        /// The folder of the run.
        folder: PathBuf,
    },
}

impl ExperimentError {
    /// That the rules of `game` cannot be computed, or that somebody ended the computation.
    pub(super) fn of_rules(game: &str, source: ReasoningError) -> Self {
        match source {
            ReasoningError::Cancelled => Self::Interrupted,
            source => Self::Rules { game: game.to_owned(), source },
        }
    }
}

fn aborted(n: u64, first: &AbortReason) -> String {
    match n {
        1 => format!("1 match was aborted: {first}"),
        _ => format!("{n} matches were aborted, the first for this reason: {first}"),
    }
}
