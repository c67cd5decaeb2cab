//! What can be wrong with a spec.

use std::path::PathBuf;

use crate::toml_text::TomlError;

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
    /// The text of the spec is wrong.
    #[error(transparent)]
    Text(#[from] TomlError),
    /// A game or player given by itself, not in a spec, is wrong.
    #[error("{0}")]
    Alone(String),
}
