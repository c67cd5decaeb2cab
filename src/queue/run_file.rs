//! The file in a run's folder that names the run on the server, so that a coordinator
//! that was killed finds its blocks and results again.

use std::io::ErrorKind;
use std::path::Path;

use results::atomic_file;
use work_queue::{is_token, random, token};

use super::QueueError;

/// The file.
const FILE: &str = "queue.txt";

/// The names of a run on the server.
pub(super) struct RunName {
    /// The name of this run.
    pub(super) name: String,
    /// Under which name the run in this folder was there before its spec was extended.
    pub(super) earlier: Option<String>,
}

/// The name of the run in `folder`. Different folders have different names, also for the
/// same spec, and so have different specs in the same folder, whose blocks have other
/// numbers.
pub(super) fn run_name(folder: &Path, spec_name: &str, hash: &str) -> Result<RunName, QueueError> {
    let path = folder.join(FILE);
    let failed = |source| QueueError::RunFile { path: path.clone(), source };
    let hash: String = hash.chars().take(8).collect();
    let mut earlier = None;
    match std::fs::read_to_string(&path) {
        Ok(text) if !is_token(text.trim()) => {
            let what = "it does not hold the name of a run; remove it to enqueue the run anew";
            return Err(failed(std::io::Error::new(ErrorKind::InvalidData, what)));
        }
        Ok(text) if text.trim().ends_with(&hash) => {
            return Ok(RunName { name: text.trim().to_owned(), earlier });
        }
        Ok(text) => earlier = Some(text.trim().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let name = format!("{}-{:08x}-{hash}", token(spec_name), random() >> 32);
    atomic_file::replace(&path, format!("{name}\n").as_bytes()).map_err(failed)?;
    Ok(RunName { name, earlier })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_name_until_the_spec_changes() {
        let folder = tempfile::tempdir().unwrap();
        let name = |hash| run_name(folder.path(), "a b", hash);
        let first = name("0123456789").unwrap();
        assert!(is_token(&first.name) && first.earlier.is_none(), "{}", first.name);
        assert_eq!(name("0123456789").unwrap().name, first.name);
        let other = name("abcdef0123").unwrap();
        assert_ne!(other.name, first.name);
        assert_eq!(other.earlier, Some(first.name));
        std::fs::write(folder.path().join(FILE), "../x").unwrap();
        assert!(name("abcdef0123").is_err());
    }
}
