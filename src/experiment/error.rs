//! Why an experiment cannot be played, or not to its end.

use games::ReasoningError;
use results::counted::counted;
use results::journal::JournalError;
use results::partition::Partition;
use results::regress;
use results::report::ReportError;
use results::stats::schedule_order::SecondResult;
use results::tables::TableError;

use super::folder::FolderError;
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
    /// Players and games that do not fit each other, or a question that cannot be
    /// answered as it is asked; in words.
    #[error("{0}")]
    Unplayable(String),
    /// A part of what follows from results.
    #[error(
        "partition {0}: pairings follow from the results of all matches, so no part can be played \
         apart; only a round_robin or a gauntlet without a race has parts"
    )]
    NoParts(Partition),
    /// The folder of the run.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A player that is not ready to play.
    #[error(transparent)]
    Player(#[from] PreflightError),
    /// Stopped by the user before anything was played.
    #[error("interrupted")]
    Interrupted,
    /// The journal was lost; what it holds up to there stays.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The tables made from the journal.
    #[error(transparent)]
    Tables(#[from] TableError),
    /// The summaries made from the journal.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The answer of an earlier comparison in the same folder.
    #[error(transparent)]
    Earlier(#[from] regress::ReadError),
    /// A journal with two results of one match.
    #[error(transparent)]
    SecondResult(#[from] SecondResult),
    /// Matches were broken off by faults that are no player's.
    #[error("{} broken off{}: {first}; the same command plays {} again", were(*n), if *n == 1 { "" } else { ", the first" }, if *n == 1 { "it" } else { "them" })]
    BrokenOff {
        /// Matches.
        n: u64,
        /// Why the first was.
        first: String,
    },
    /// A player was missing in one match after the other.
    #[error("stopped: player {player} could not play in one match after the other: {reason}; {} broken off, and the same command plays what is missing", were(*n))]
    PlayerGone {
        /// Its id.
        player: String,
        /// Why it could not play.
        reason: String,
        /// Matches that were broken off.
        n: u64,
    },
    /// A comparison came to its end without an answer.
    #[error("the run ended without an answer; the same command resumes it")]
    NoAnswer,
}

/// `1 match was`, `2 matches were`.
fn were(n: u64) -> String {
    format!("{} {}", counted(n, "match", "matches"), if n == 1 { "was" } else { "were" })
}
