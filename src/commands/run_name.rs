//! Runs as they are named on the command line.

use std::path::{Path, PathBuf};

/// Where runs are that were given no folder.
const RUNS: &str = "results/runs";

/// The folder meant: as given, or of that name among the runs.
pub(super) fn folder(given: &Path) -> PathBuf {
    let among_runs = Path::new(RUNS).join(given);
    if !given.exists() && among_runs.is_dir() { among_runs } else { given.to_owned() }
}

/// The run whose journal was written last.
pub(super) fn latest() -> Option<PathBuf> {
    let runs = std::fs::read_dir(RUNS).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let written = |run: &PathBuf| {
        let journal = run.join(results::files::JOURNAL);
        journal.metadata().and_then(|data| data.modified()).ok()
    };
    runs.filter(|run| written(run).is_some()).max_by_key(written)
}
