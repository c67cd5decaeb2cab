//! What can be wrong with a spec.

use std::path::PathBuf;

/// Why a spec cannot be used. Each is one line that says where and what, and
/// what would be right.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The spec cannot be read.
    #[error("cannot read the spec {}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text is wrong at some place.
    #[error("{origin}:{line}: {message}")]
    At {
        /// The spec's path.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// The spec as a whole is wrong.
    #[error("{origin}: {message}")]
    Whole {
        /// The spec's path.
        origin: String,
        /// What is wrong.
        message: String,
    },
    /// A game or player given by itself, not in a spec, is wrong.
    #[error("{0}")]
    Alone(String),
}
