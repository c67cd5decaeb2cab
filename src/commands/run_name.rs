//! Runs as they are named on the command line.

use std::path::{Path, PathBuf};

use results::files::JOURNAL;

use crate::failure::Failure;

/// Where runs are that were given no folder.
const RUNS: &str = "results/runs";

/// The folder meant: as given, or of that name among the runs.
pub(super) fn folder(given: &Path) -> Result<PathBuf, Failure> {
    let among_runs = Path::new(RUNS).join(given);
    let found = [given, &among_runs].into_iter().find(|path| path.exists());
    let name = given.display();
    let Some(found) = found else {
        let is_path = given.is_absolute() || given.components().count() > 1;
        let among_runs = among_runs.display();
        return Err(Failure::usage(match is_path {
            true => anyhow::anyhow!("no run `{name}`: there is no such folder"),
            false => anyhow::anyhow!("no run `{name}`: found neither {name}/ nor {among_runs}/"),
        }));
    };
    if !found.join(JOURNAL).exists() {
        return Err(Failure::usage(anyhow::anyhow!(
            "{} is not the folder of a run (no {JOURNAL})",
            found.display()
        )));
    }
    Ok(found.to_owned())
}

/// The run whose journal was written last.
pub(super) fn latest() -> Option<PathBuf> {
    let runs = std::fs::read_dir(RUNS).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let written = |run: &PathBuf| {
        let journal = run.join(JOURNAL);
        journal.metadata().and_then(|data| data.modified()).ok()
    };
    runs.filter(|run| written(run).is_some()).max_by_key(written)
}
