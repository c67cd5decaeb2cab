//! An error that ends a command, and its exit code.

use std::io::ErrorKind;
use std::path::Path;

use results::journal::JournalError;

use crate::exit_code;
use crate::experiment::ExperimentError;
use crate::experiment::folder::FolderError;
use crate::experiment::regression::RequestError;
use crate::game_source::GameSourceError;
use crate::manager::PreflightError;

/// An error with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// One of [`exit_code`].
    pub code: u8,
    /// What is printed.
    pub error: anyhow::Error,
}

impl Failure {
    /// Invalid command line or spec.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::USAGE, error: error.into() }
    }

    /// An invalid rulesheet, or a player that failed its preflight.
    pub fn preflight(error: impl Into<anyhow::Error>) -> Self {
        Self { code: exit_code::PREFLIGHT, error: error.into() }
    }

    /// A player failed its preflight, or could not be asked.
    pub fn player(error: PreflightError) -> Self {
        Self { code: player_code(&error), error: error.into() }
    }

    /// There is no game to play or look at. The errors of a broken rulesheet
    /// are drawn when the failure is printed.
    pub fn game(error: GameSourceError) -> Self {
        Self { code: game_code(&error), error: error.into() }
    }

    /// An experiment could not be played, or not to its end.
    pub fn experiment(error: ExperimentError) -> Self {
        let code = match &error {
            ExperimentError::Spec(_)
            | ExperimentError::Unplayable(_)
            | ExperimentError::Request(_)
            | ExperimentError::NoParts(_)
            | ExperimentError::NotScored { .. } => exit_code::USAGE,
            ExperimentError::Merge(error) if error.is_usage() => exit_code::USAGE,
            ExperimentError::Game(error) => game_code(error),
            ExperimentError::Rules { .. } => exit_code::PREFLIGHT,
            ExperimentError::Player(error) => player_code(error),
            ExperimentError::Folder(error) => folder_code(error),
            ExperimentError::Interrupted => exit_code::INTERRUPTED,
            ExperimentError::Merge(_)
            | ExperimentError::Journal(_)
            | ExperimentError::Report(_)
            | ExperimentError::Earlier(_)
            | ExperimentError::SecondResult(_)
            | ExperimentError::Aborted { .. }
            | ExperimentError::PlayerGone { .. }
            | ExperimentError::NoAnswer => exit_code::INTERNAL,
        };
        let advice = advice(&error);
        match error {
            ExperimentError::Game(error) => Self::game(error),
            ExperimentError::Request(error) => {
                Self { code, error: anyhow::anyhow!("{}: {}", typed(&error), error.expected()) }
            }
            ExperimentError::Folder(FolderError::NotAFolder { path }) => Self {
                code,
                error: anyhow::anyhow!("{} is a file; --out needs a folder", path.display()),
            },
            error => Self { code, error: error.into() }.advised(advice),
        }
    }

    /// A file that the user named cannot be written: exit code 2, or 1 if the disk is full.
    pub fn unwritable(error: impl Into<anyhow::Error>) -> Self {
        let error = error.into();
        let is_full = error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
            .any(|cause| matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
        let code = if is_full { exit_code::INTERNAL } else { exit_code::USAGE };
        Self { code, error }
    }

    /// The same, with the file's name before the error.
    pub fn cannot_write(path: &Path, error: impl Into<anyhow::Error>) -> Self {
        Self::unwritable(error.into().context(format!("cannot write {}", path.display())))
    }

    /// With what to do about it put behind the message.
    pub fn advised(self, advice: &str) -> Self {
        if advice.is_empty() {
            return self;
        }
        Self { error: anyhow::anyhow!("{:#}{advice}", self.error), ..self }
    }
}

/// What to do about it on the command line; empty if there is nothing to say.
fn advice(error: &ExperimentError) -> &'static str {
    match error {
        ExperimentError::Aborted { n: 1, .. } => "; repeat the command to play it again",
        ExperimentError::Aborted { .. } => "; repeat the command to play them again",
        ExperimentError::PlayerGone { .. } => "; repeat the command to play the missing matches",
        ExperimentError::NoAnswer => "; repeat the command to resume it",
        ExperimentError::Folder(FolderError::Foreign { .. } | FolderError::OtherSpec { .. }) => {
            "; name another folder with --out"
        }
        _ => "",
    }
}

/// The option and its value, as they were typed.
fn typed(error: &RequestError) -> String {
    match error {
        RequestError::Margin { margin } => format!("--margin {margin}"),
        RequestError::Alpha { alpha } => format!("--alpha {alpha}"),
        RequestError::MaxBlocks { max_blocks, .. } => format!("--max-blocks {max_blocks}"),
    }
}

/// Whether the command or the rulesheet is wrong.
pub(crate) fn game_code(error: &GameSourceError) -> u8 {
    match error {
        GameSourceError::Unknown { .. }
        | GameSourceError::Unreadable { .. }
        | GameSourceError::NotAFile { .. } => exit_code::USAGE,
        GameSourceError::TooLong { .. } | GameSourceError::Broken(_) => exit_code::PREFLIGHT,
    }
}

/// What this machine lacks is no fault of the player.
fn player_code(error: &PreflightError) -> u8 {
    match error {
        PreflightError::MachineLimit { .. } | PreflightError::Net(_) => exit_code::INTERNAL,
        _ => exit_code::PREFLIGHT,
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

/// An error without a class is internal.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { code: exit_code::INTERNAL, error: error.into() }
    }
}

/// What a command returns: the exit code of its success.
pub type CommandResult = Result<u8, Failure>;
