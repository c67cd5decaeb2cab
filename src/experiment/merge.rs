//! Merges runs of the same spec, which were played apart, into one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use results::atomic_file;
use results::files::{JOURNAL, SPEC_LOCK, WORKERS};
use results::journal::{JournalError, Merge, MergeError};
use results::partition::Partition;
use results::workers::WorkersFile;

use super::folder::FolderError;
use super::{Experiment, ExperimentError, has_moves, summarise};
use crate::error_chain::chained;
use crate::spec::{self, Overrides, Spec, differences};

/// Why runs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeRunsError {
    /// A journal cannot be read or written, or two cannot be made one.
    #[error(transparent)]
    Journals(MergeError),
    /// The runs are of different specs.
    #[error("cannot merge {} with {}: their specs differ: {differences}", first.display(), other.display())]
    OtherSpec {
        /// The folder of the first run.
        first: PathBuf,
        /// The folder of the one that does not fit.
        other: PathBuf,
        /// The settings that differ; in words.
        differences: String,
    },
    /// No run has a readable spec.
    #[error("cannot read {}: {reason}", path.display())]
    NoSpec {
        /// The lock file of the first run.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file of a run's workers cannot be read.
    #[error("cannot read {}", path.display())]
    Workers {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There are files where the merged run is to be written.
    #[error("the folder {} is not empty; name another folder with --out", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl MergeRunsError {
    /// Whether other arguments would help: the journals and the disk are in order.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            Self::Journals(MergeError::Journal(error)) if !matches!(
                error,
                JournalError::Missing { .. }
                    | JournalError::NoHeader { .. }
                    | JournalError::NewerFormat { .. }
            )
        )
    }
}

impl From<MergeError> for MergeRunsError {
    fn from(error: MergeError) -> Self {
        let MergeError::OtherSpec { first, other } = error else { return Self::Journals(error) };
        let lock = |journal: &PathBuf| {
            std::fs::read_to_string(journal.with_file_name(SPEC_LOCK)).unwrap_or_default()
        };
        let differences = match &*differences(&lock(&first), &lock(&other)) {
            [] => format!("no difference recorded in their {SPEC_LOCK}"),
            differences => {
                differences.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            }
        };
        let folder = |journal: &Path| journal.parent().unwrap_or(journal).to_owned();
        Self::OtherSpec { first: folder(&first), other: folder(&other), differences }
    }
}

/// A merged run.
#[derive(Debug)]
pub struct Merged {
    /// Runs that were merged.
    pub n_runs: usize,
    /// Matches that need not be played again.
    pub n_done: u64,
    /// Records that several runs had.
    pub n_duplicates: u64,
    /// Matches of the schedule that no run has played; or why that is not known.
    pub n_missing: Result<u64, String>,
    /// Parts of the schedule that some of them are in and of which there was no run.
    pub missing_parts: Vec<Partition>,
    /// Bytes of a half-written record at the end of a run's journal, which were left out.
    pub torn: Vec<(PathBuf, u64)>,
}

/// Merges runs into the new or empty folder `out`, with tables and summaries.
///
/// # Errors
/// If a run cannot be read, two are of different specs or have different records of one
/// match, or the folder is not empty or cannot be written. Then nothing usable is in it.
///
/// # Panics
/// Without any run.
pub fn merge(runs: &[PathBuf], out: &Path) -> Result<Merged, ExperimentError> {
    let journals: Vec<PathBuf> = runs.iter().map(|run| run.join(JOURNAL)).collect();
    let merge = Merge::read(&journals).map_err(MergeRunsError::from)?;
    let (lock, spec) = lock(&merge, runs)?;
    let workers = workers(runs)?;
    write(&merge, lock.as_bytes(), &workers, out)?;
    summarise(out, has_moves(runs))?;
    let missing = missing(&merge, spec);
    let torn = merge.parts().iter().zip(runs).filter(|(part, _)| part.torn.is_some());
    Ok(Merged {
        n_runs: runs.len(),
        n_done: merge.done().len() as u64,
        n_duplicates: merge.parts().iter().map(|part| part.n_duplicates).sum(),
        missing_parts: unseen(&merge, missing.as_deref().ok()),
        n_missing: missing.map(|blocks| blocks.len() as u64),
        torn: torn.map(|(part, run)| (run.clone(), part.torn.bytes)).collect(),
    })
}

/// The text of the first lock file that is of the spec that was played, and that
/// spec; or of the first that can be read, if none can be shown to be of it.
fn lock(merge: &Merge, runs: &[PathBuf]) -> Result<(String, Option<Spec>), MergeRunsError> {
    let mut readable = None;
    let mut first_error = None;
    for run in runs {
        let path = run.join(SPEC_LOCK);
        let read = || {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            // Rulesheets that are not here are no fault of the file.
            toml::from_str::<toml::Table>(&text).map_err(|error| error.to_string())?;
            Ok::<String, String>(text)
        };
        let text = match read() {
            Ok(text) => text,
            Err(reason) => {
                first_error.get_or_insert(MergeRunsError::NoSpec { path, reason });
                continue;
            }
        };
        match spec::read(&text, &path.display().to_string(), run, &Overrides::default()) {
            Ok(spec) if spec.hash() == merge.spec_hash() => return Ok((text, Some(spec))),
            _ => drop(readable.get_or_insert(text)),
        }
    }
    match (readable, first_error) {
        (Some(text), _) => Ok((text, None)),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("there is a run at least"),
    }
}

/// The workers of all runs.
fn workers(runs: &[PathBuf]) -> Result<WorkersFile, MergeRunsError> {
    let mut all = WorkersFile::default();
    for run in runs {
        let unreadable = |source| MergeRunsError::Workers { path: run.join(WORKERS), source };
        all.add_all(WorkersFile::read(run).map_err(unreadable)?);
    }
    Ok(all)
}

/// Writes the journal, the lock file and the workers: nothing is in the folder unless all is.
fn write(
    merge: &Merge,
    lock: &[u8],
    workers: &WorkersFile,
    out: &Path,
) -> Result<(), ExperimentError> {
    let unwritable = |source| FolderError::Unwritable { path: out.to_owned(), source };
    std::fs::create_dir_all(out).map_err(unwritable)?;
    if std::fs::read_dir(out).map_err(unwritable)?.next().is_some() {
        return Err(MergeRunsError::NotEmpty { path: out.to_owned() }.into());
    }
    let absolute = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let name = absolute.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    merge.write(&out.join(JOURNAL), &name).map_err(MergeRunsError::from)?;
    atomic_file::replace(&out.join(SPEC_LOCK), lock).map_err(unwritable)?;
    if !workers.workers.is_empty() {
        workers.write(out).map_err(unwritable)?;
    }
    Ok(())
}

/// The blocks of the jobs that no run has played, one for each job; or why they are not
/// known.
fn missing(merge: &Merge, spec: Option<Spec>) -> Result<Vec<u64>, String> {
    let spec = spec.ok_or_else(|| {
        format!("{SPEC_LOCK}, a rulesheet, or a file that a player uses has changed since the matches were played")
    })?;
    let experiment = Experiment::new(spec).map_err(|error| chained(&error))?;
    let schedule = experiment.jobs.schedule().ok_or("pairings depend on results")?;
    if merge.done().len() as u64 == schedule.n_jobs() {
        return Ok(Vec::new());
    }
    let jobs = schedule.jobs();
    let jobs = jobs.filter(|job| merge.done().binary_search(&job.number).is_err());
    Ok(jobs.map(|job| job.block).collect())
}

/// The parts of the schedule of which there was no run, and of whose blocks some
/// are missing, as far as that is known.
fn unseen(merge: &Merge, missing: Option<&[u64]>) -> Vec<Partition> {
    let seen: BTreeSet<Partition> =
        merge.parts().iter().filter_map(|part| part.partition).collect();
    let whole = merge.parts().iter().any(|part| part.partition.is_none());
    let of: BTreeSet<u32> = seen.iter().map(|part| part.of()).collect();
    // Runs that were split into different numbers of parts do not show which part is missing.
    let Some(&of) = of.first().filter(|_| of.len() == 1 && !whole) else { return Vec::new() };
    let slice_of = |block: &u64| block % u64::from(of) + 1;
    let missing: Option<BTreeSet<u64>> =
        missing.map(|blocks| blocks.iter().map(slice_of).collect());
    let all = (1..=of).filter_map(|slice| format!("slice:{slice}/{of}").parse::<Partition>().ok());
    let is_missing = |part: &Partition| {
        let slice = u64::from(part.slice());
        !seen.contains(part) && missing.as_ref().is_none_or(|slices| slices.contains(&slice))
    };
    all.filter(is_missing).collect()
}
