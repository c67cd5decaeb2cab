//! What can be wrong with a suite of positions.

use std::path::PathBuf;

use crate::game_source::GameSourceError;
use crate::toml_text::TomlError;

/// Why a suite cannot be used. Each is one line that says where and what, and what would
/// be right.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// There is no such suite.
    #[error(
        "no file or shipped suite `{}`; the shipped suite is `{}`", path.display(), super::SHIPPED
    )]
    Unknown {
        /// What was typed.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the suite {}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text of the suite is wrong.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A game of the suite cannot be read.
    #[error("{origin}:{line}: cannot use the game")]
    Game {
        /// The suite's path.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// Why.
        #[source]
        source: Box<GameSourceError>,
    },
}
