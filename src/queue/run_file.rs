//! The file in a run's folder that names the run on the server, so that a coordinator
//! that was killed finds its blocks and results again.

use std::io::ErrorKind;
use std::path::Path;

use results::atomic_file;

use super::QueueError;
use super::address::random;
use super::names::{is_token, token};

/// The file.
const FILE: &str = "queue.txt";

/// The name of the run in `folder`; a new one if it has none. Different folders have
/// different names, also for the same spec.
pub(super) fn run_name(folder: &Path, spec_name: &str) -> Result<String, QueueError> {
    let path = folder.join(FILE);
    let failed = |source| QueueError::RunFile { path: path.clone(), source };
    match std::fs::read_to_string(&path) {
        Ok(text) if is_token(text.trim()) => return Ok(text.trim().to_owned()),
        Ok(_) => {
            let what = "it does not hold the name of a run; remove it to enqueue the run anew";
            return Err(failed(std::io::Error::new(ErrorKind::InvalidData, what)));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let run = format!("{}-{:08x}", token(spec_name), random() >> 32);
    atomic_file::replace(&path, format!("{run}\n").as_bytes()).map_err(failed)?;
    Ok(run)
}
