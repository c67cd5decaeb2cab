//! An experiment, from its spec to its results, without a command line: what `run`,
//! `sweep` and `regress` have in common, and what a program of your own calls.
//!
//! ```text
//! Spec -> Experiment -> RunFolder -> Session -> Ended -> Finished
//! ```
//!
//! [`run`] does all of it; the front page of the crate shows how it is called. The steps
//! can be taken one by one:
//!
//! ```
//! use std::path::Path;
//!
//! use gamemaster::experiment::{Experiment, Place, Preview};
//! use gamemaster::spec::{self, Overrides};
//!
//! let text = r#"
//!     games = ["tic_tac_toe", "nim"]
//!     players = [{ kind = "alpha_beta" }, { kind = "random" }, { kind = "legal" }]
//! "#;
//! let spec = spec::read(text, "example", Path::new(""), &Overrides::default())?;
//! let experiment = Experiment::new(spec)?;
//! let Preview::Schedule(preview) = experiment.preview(&Place::default())? else { panic!() };
//! // Each of the three pairs plays each game in both seatings.
//! assert_eq!((preview.n_jobs, preview.n_played), (12, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod concurrency;
mod contest;
mod error;
mod estimate;
pub mod folder;
mod jobs;
pub mod merge;
mod notes;
mod openings;
mod plan;
mod preview;
pub mod regression;
mod session;
mod single_match;
mod unsuitable;

use std::path::{Path, PathBuf};

use games::Cancel;
use results::files::{MATCHES, MOVES};
use results::report;
use results::standings::Standings;

pub use contest::{Contest, ContestResult};
pub use error::ExperimentError;
pub use estimate::{Estimate, NoEstimate, estimate};
pub use jobs::Jobs;
pub use plan::{Experiment, Place};
pub use preview::{Preview, PreviewRow, PreviewTime, SchedulePreview, StagePreview, StagedPreview};
pub use session::{Ended, Session, Stopper};
pub use single_match::{MatchOptions, SingleMatch};

use self::folder::RunFolder;
use crate::runner::{Consumer, Crew};
use crate::spec::Spec;

/// Settings of [`run`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder, and the part of the schedule.
    pub place: Place,
    /// An executable of `gamemaster` that looks after launched players
    /// ([`ManagerSettings::supervisor`](crate::manager::ManagerSettings::supervisor)).
    pub supervisor: Option<PathBuf>,
    /// Ends the preparation when it is raised.
    pub cancel: Cancel,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its folder.
    pub folder: PathBuf,
    /// Why it ended.
    pub ended: Ended,
    /// The standings from all matches in the folder.
    pub standings: Standings,
}

impl Session<'_> {
    /// Plays the missing matches, and writes the tables and summaries.
    ///
    /// # Errors
    /// If the journal, a table or a summary cannot be written.
    pub fn finish(
        &self,
        folder: RunFolder,
        observer: &mut dyn Consumer,
    ) -> Result<Finished, ExperimentError> {
        self.finish_by(None, folder, observer)
    }

    /// As [`finish`](Self::finish); a crew, if there is one, plays the matches instead of
    /// this process.
    ///
    /// # Errors
    /// If the journal, a table or a summary cannot be written.
    pub fn finish_by(
        &self,
        crew: Option<&mut dyn Crew>,
        folder: RunFolder,
        observer: &mut dyn Consumer,
    ) -> Result<Finished, ExperimentError> {
        let path = folder.path.clone();
        let ended = self.play_by(crew, folder, observer)?;
        let standings = summarise(&path, self.experiment().spec.record.moves)?;
        Ok(Finished { folder: path, ended, standings })
    }
}

/// Plays the matches of an experiment that are missing in its folder, and writes the tables
/// and summaries.
///
/// # Errors
/// If it cannot be played, or its preparation was cancelled, or matches were aborted by faults
/// that are no player's: then the same call plays them again.
pub fn run(
    spec: Spec,
    options: &Options,
    observer: &mut dyn Consumer,
) -> Result<Finished, ExperimentError> {
    let experiment = Experiment::new_until(spec, &options.cancel)?;
    let folder = experiment.open(&options.place)?;
    let session = Session::new(&experiment, &folder.path, options.supervisor.clone());
    session.preflight(&folder)?;
    let finished = session.finish(folder, observer)?;
    finished.ended.check()?;
    Ok(finished)
}

/// Makes the tables and the summaries of a run from its journal; `moves` says whether
/// there is a table of moves.
///
/// # Errors
/// If the journal cannot be read, or the files cannot be written.
pub fn summarise(folder: &Path, moves: bool) -> Result<Standings, ExperimentError> {
    Ok(report::write_results(folder, moves)?)
}

/// Whether runs have tables of moves: a run that was to have none has a table of matches alone.
pub fn has_moves(runs: &[PathBuf]) -> bool {
    let has = |name: &str| runs.iter().any(|run| run.join(name).exists());
    has(MOVES) || !has(MATCHES)
}
