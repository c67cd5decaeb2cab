//! An experiment that tests whether a new version of a player is weaker than the old one,
//! and ends when the test has decided.
//!
//! ```text
//! Request -> Asked -> Comparison -> Regression
//! ```

mod outlook;
mod play;
mod program;
mod question;

use std::path::PathBuf;

use results::regress::{self, Regression, Stopped, Tracker};
use results::report;

pub use outlook::{Pace, outlook, pace};
pub use play::Watch;
pub use question::{Asked, Request, RequestError, SHIPPED, ask};

use self::play::Clock;
use super::folder::RunFolder;
use super::{ExperimentError, Place, Session, summarise};
use crate::runner::Crew;

/// A comparison in its folder.
pub struct Comparison<'a> {
    asked: &'a Asked,
    /// Its folder, with the matches played before.
    pub folder: RunFolder,
    tracker: Tracker,
    clock: Clock,
}

impl Asked {
    /// Creates the folder, or resumes the comparison in it. The time limit counts from
    /// here.
    ///
    /// # Errors
    /// If it is not ours, not writable, in use, or damaged.
    pub fn open(&self, folder: Option<PathBuf>) -> Result<Comparison<'_>, ExperimentError> {
        let folder = self.experiment.open(&Place { folder, ..Place::default() })?;
        let mut tracker = Tracker::new(self.question.clone());
        play::take_up(&folder, &mut tracker)?;
        let clock = Clock::new(self.question.time_limit_s, &folder)?;
        Ok(Comparison { asked: self, folder, tracker, clock })
    }
}

impl Comparison<'_> {
    /// The result, if the matches played before give one. A comparison that ended at its
    /// time limit keeps its recorded result.
    ///
    /// # Errors If the earlier result cannot be read.
    pub fn known(&self) -> Result<Option<Regression>, ExperimentError> {
        let tracker = &self.tracker;
        let earlier = regress::read(&self.folder.path)?.filter(|found| {
            found.stopped == Stopped::Time
                && found.question == self.asked.question
                && found.n_matches <= tracker.n_matches()
        });
        let decided = || tracker.ended().is_some().then(|| tracker.clone().conclude());
        Ok(earlier.or_else(decided))
    }

    /// Blocks that were played before.
    #[must_use]
    pub fn n_blocks(&self) -> u64 {
        self.tracker.n_blocks()
    }

    /// Plays until there is a result; `None` if it was interrupted before. `session` is one
    /// of the same experiment and folder.
    ///
    /// # Errors
    /// If a player is not ready, the journal cannot be written, or a match was aborted
    /// by a fault that is no player's.
    pub fn play(
        self,
        session: &Session<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<Regression>, ExperimentError> {
        self.play_by(None, session, watch)
    }

    /// As [`play`](Self::play); a crew, if there is one, plays the matches instead of
    /// this process. The result is the same whoever plays, and in whatever order matches
    /// end: they count in the order of the schedule.
    ///
    /// # Errors
    /// As [`play`](Self::play); a crew checks its players itself.
    pub fn play_by(
        self,
        crew: Option<&mut dyn Crew>,
        session: &Session<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<Regression>, ExperimentError> {
        let Self { folder, tracker, clock, .. } = self;
        if crew.is_none() {
            match session.preflight(&folder) {
                Err(ExperimentError::Interrupted) => return Ok(None),
                checked => checked?,
            }
        }
        let decided = play::play(crew, session, folder, tracker, clock, watch)?;
        Ok(decided.map(Tracker::conclude))
    }
}

/// Writes a result into the folder of its comparison, with the tables and summaries.
/// `inconclusive_fails` says whether an inconclusive result is a failure in the JUnit
/// report.
///
/// # Errors
/// If the files cannot be written.
pub fn record(
    asked: &Asked,
    folder: &std::path::Path,
    found: &Regression,
    inconclusive_fails: bool,
) -> Result<(), ExperimentError> {
    report::write_regression(folder, found, inconclusive_fails)?;
    summarise(folder, asked.experiment.spec.record.moves)?;
    Ok(())
}
