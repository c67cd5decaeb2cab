//! Rulesheets on their way to workers: named by their hash, and kept by a worker in a
//! folder.

use std::path::{Path, PathBuf};

use results::atomic_file;

use super::wire::{WireError, decode, encode};
use crate::fingerprint::Fingerprint;

/// The name of a rulesheet.
pub(super) fn hash(text: &str) -> String {
    Fingerprint::of("rulesheet").text(text).hex(16)
}

/// A rulesheet as a message.
pub(super) fn encoded(text: &str) -> Vec<u8> {
    encode(&text)
}

/// Rulesheets that a worker keeps.
pub(super) struct RulesheetCache {
    folder: PathBuf,
}

impl RulesheetCache {
    /// Rulesheets in this folder, which is made if it does not exist.
    pub(super) fn new(folder: PathBuf) -> std::io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Where they are: each is the file `HASH.kif`.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the rulesheet with this hash is there, unchanged.
    pub(super) fn has(&self, wanted: &str) -> bool {
        let text = std::fs::read_to_string(self.path(wanted));
        text.is_ok_and(|text| hash(&text) == wanted)
    }

    /// Keeps a rulesheet that came as a message.
    pub(super) fn keep(&self, wanted: &str, message: &[u8]) -> Result<(), String> {
        let text: String = decode(message).map_err(|error: WireError| error.to_string())?;
        if hash(&text) != wanted {
            return Err("it has another hash".to_owned());
        }
        let path = self.path(wanted);
        let written = atomic_file::replace(&path, text.as_bytes());
        written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.kif"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_wanted_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = RulesheetCache::new(folder.path().join("rules")).unwrap();
        let text = "(role x)".repeat(5000);
        let wanted = hash(&text);
        assert!(!cache.has(&wanted));
        assert!(cache.keep(&wanted, &encoded("(role y)")).is_err());
        assert!(cache.keep(&wanted, b"???").is_err());
        assert!(!cache.has(&wanted));
        cache.keep(&wanted, &encoded(&text)).unwrap();
        assert!(cache.has(&wanted));
        std::fs::write(cache.path(&wanted), "(role z)").unwrap();
        assert!(!cache.has(&wanted), "a changed file is fetched again");
    }
}
