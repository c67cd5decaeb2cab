//! What ends a command early: an error, and the exit code that classifies it.

use results::journal::JournalError;

use crate::exit_code;
use crate::experiment::ExperimentError;
use crate::experiment::folder::FolderError;
use crate::game_source::GameSourceError;
use crate::manager::PreflightError;

/// What went wrong, with the exit code that says whose fault it is.
#[derive(Debug)]
pub struct Failure {
    /// One of [`exit_code`].
    pub code: u8,
    /// What is printed.
    pub error: anyhow::Error,
}

impl Failure {
    /// Wrong usage or a bad spec.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::USAGE, error: error.into() }
    }

    /// A broken rulesheet or a player that failed its preflight.
    pub fn preflight(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::PREFLIGHT, error: error.into() }
    }

    /// A player failed its preflight, or could not be asked.
    pub fn player(error: PreflightError) -> Self {
        Self { code: error.exit_code(), error: error.into() }
    }

    /// There is no game to play or look at. The errors of a broken rulesheet
    /// are drawn when the failure is printed.
    pub fn game(error: GameSourceError) -> Self {
        Self { code: error.exit_code(), error: error.into() }
    }

    /// An experiment could not be played, or not to its end.
    pub fn experiment(error: ExperimentError) -> Self {
        let code = match &error {
            ExperimentError::Spec(_)
            | ExperimentError::Unplayable(_)
            | ExperimentError::NoParts(_) => exit_code::USAGE,
            ExperimentError::Game(error) => error.exit_code(),
            ExperimentError::Rules { .. } => exit_code::PREFLIGHT,
            ExperimentError::Player(error) => error.exit_code(),
            ExperimentError::Folder(error) => folder_code(error),
            ExperimentError::Interrupted => exit_code::INTERRUPTED,
            ExperimentError::Journal(_)
            | ExperimentError::Tables(_)
            | ExperimentError::Report(_)
            | ExperimentError::Earlier(_)
            | ExperimentError::SecondResult(_)
            | ExperimentError::Aborted { .. }
            | ExperimentError::PlayerGone { .. }
            | ExperimentError::NoAnswer => exit_code::INTERNAL,
        };
        match error {
            ExperimentError::Game(error) => Self::game(error),
            error => Self { code, error: error.into() },
        }
    }

    /// With what to do about it put behind the message.
    pub fn advised(self, advice: &str) -> Self {
        Self { error: anyhow::anyhow!("{:#}{advice}", self.error), ..self }
    }
}

/// A journal that is damaged or cannot be written is no fault of the command's.
fn folder_code(error: &FolderError) -> u8 {
    match error {
        FolderError::Journal(
            JournalError::Write { .. }
            | JournalError::DiskFull { .. }
            | JournalError::Damaged { .. }
            | JournalError::DamagedHeader { .. }
            | JournalError::LineTooLong { .. }
            | JournalError::RecordTooLong { .. },
        ) => exit_code::INTERNAL,
        _ => exit_code::USAGE,
    }
}

/// Anything not classified is our own fault.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { code: exit_code::INTERNAL, error: error.into() }
    }
}

/// What a command returns: the exit code of its success.
pub type CommandResult = Result<u8, Failure>;
