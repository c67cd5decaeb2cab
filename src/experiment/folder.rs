//! The folder of a run: what it holds, which spec it belongs to, and how the run is
//! resumed.
//!
//! ```text
//! spec.lock.toml   the spec, completed, with hashes
//! journal.jsonl    the truth: a line for each match that ended
//! matches.csv, moves.csv, summary.json, summary.md    made from the journal
//! logs/            what launched players wrote to standard error
//! ```

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use results::atomic_file;
use results::counted::counted;
use results::files::{JOURNAL, SPEC_LOCK};
use results::formats::outcomes::Outcomes;
use results::journal::{JobState, Journal, JournalError, JournalWriter, Torn};
use results::partition::Partition;
use results::record::{FORMAT_VERSION, Header};

use super::jobs::Jobs;
use crate::schedule::{Job, Schedule};
use crate::spec::{Difference, Spec, differences, lock_text};

/// Why a folder cannot hold this run.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be made or written.
    #[error("cannot write to the folder {}", path.display())]
    Unwritable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It is a file.
    #[error("{} is a file, not a folder", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// It holds files that are not of a run.
    #[error("the folder {} is not empty and holds no run", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// It holds a run of another spec.
    #[error("{} holds a run of another spec ({})", path.display(), named(differences))]
    OtherSpec {
        /// The folder.
        path: PathBuf,
        /// In what the specs differ.
        differences: Vec<Difference>,
    },
    /// Asked to extend a run, but the spec does not play all its matches.
    #[error(
        "the run in {} cannot be extended: {n_foreign} of its {} not in this spec ({}); name \
         another folder with --out",
        path.display(), counted(*n_records, "match is", "matches are"), named(differences)
    )]
    NoExtension {
        /// The folder.
        path: PathBuf,
        /// Matches that this spec does not play.
        n_foreign: u64,
        /// All matches.
        n_records: u64,
        /// What differs between the specs.
        differences: Vec<Difference>,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn named(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "no difference recorded".to_owned();
    }
    let names: Vec<String> = differences.iter().map(ToString::to_string).collect();
    format!("different: {}", names.join(", "))
}

/// A folder that is ours to write.
pub struct RunFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Appends to its journal; holds the lock.
    pub writer: JournalWriter,
    /// What the journal holds already of jobs that are not done, by job id.
    pub attempts: HashMap<String, JobState>,
    /// Numbers of the jobs that are done, ascending; of a staged schedule, those of its
    /// rounds that are known.
    pub done: Vec<u64>,
    /// Numbers of the jobs that belong to other parts of the schedule, ascending.
    pub elsewhere: Vec<u64>,
    /// How the matches of a staged schedule ended; empty for a plain schedule.
    pub outcomes: Outcomes,
    /// What was cut off of the journal because it was half-written.
    pub torn: Torn,
    /// What was not there before.
    made: Made,
}

/// What [`open`] makes.
#[derive(Debug)]
enum Made {
    /// Nothing: it resumes a run.
    Nothing,
    /// A run, and these folders around it, the innermost first.
    Run { folders: Vec<PathBuf> },
}

impl RunFolder {
    /// Removes what opening the folder has made, since nothing could be played. A run that was
    /// there before stays. What cannot be removed stays, too.
    pub fn discard(self) {
        let Self { path, writer, made, .. } = self;
        let Made::Run { folders } = made else { return };
        drop(writer);
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            let _ = std::fs::remove_file(entry.path());
        }
        for folder in folders {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// The default folder of a run of `spec`: the same spec has the same folder, so that the
/// same command resumes the same run. Each part of a schedule has its own folder.
#[must_use]
pub fn default_folder(spec: &Spec, partition: Option<Partition>) -> PathBuf {
    let part =
        partition.map_or_else(String::new, |part| format!("-{}of{}", part.slice(), part.of()));
    Path::new("results/runs").join(format!("{}-{}{part}", spec.name, &spec.hash()[..8]))
}

/// Creates the folder, or resumes the run in it.
///
/// # Errors
/// If it is not ours, not writable, in use, or damaged.
pub fn open(
    path: &Path,
    spec: &Spec,
    jobs: &Jobs,
    notes: &[String],
    extend: bool,
    partition: Option<Partition>,
) -> Result<RunFolder, FolderError> {
    let unwritable = |source| FolderError::Unwritable { path: path.to_owned(), source };
    check_kind(path)?;
    let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let folders = path.ancestors().take_while(is_new).map(Path::to_owned).collect();
    let mut made = Made::Run { folders };
    std::fs::create_dir_all(path).map_err(unwritable)?;
    let journal = path.join(JOURNAL);
    let header = Header { partition, ..header(path, spec, jobs, notes) };
    let mut torn = Torn::default();
    let (writer, recovered) = if journal.exists() {
        made = Made::Nothing;
        torn = note_anew(&journal, &header)?;
        match JournalWriter::resume(&journal, &header) {
            Err(JournalError::OtherSpec { .. }) if extend => {
                torn = extend_journal(path, &journal, &header, spec, jobs)?;
                JournalWriter::resume(&journal, &header)?
            }
            Err(JournalError::OtherSpec { .. }) => {
                let differences = differences_from(path, spec);
                return Err(FolderError::OtherSpec { path: path.to_owned(), differences });
            }
            other => other?,
        }
    } else {
        if std::fs::read_dir(path).map_err(unwritable)?.next().is_some() {
            return Err(FolderError::Foreign { path: path.to_owned() });
        }
        (JournalWriter::create(&journal, &header)?, results::journal::Recovered::default())
    };
    atomic_file::replace(&path.join(SPEC_LOCK), lock_text(spec).as_bytes()).map_err(unwritable)?;
    let outcomes = match jobs {
        Jobs::Schedule(_) => Outcomes::default(),
        Jobs::Staged(_) => Outcomes::read(&journal)?,
    };
    let done = done(jobs, &recovered.jobs, &outcomes);
    let mut elsewhere = match (jobs, partition) {
        (Jobs::Schedule(schedule), Some(part)) => elsewhere(schedule, part),
        _ => vec![],
    };
    // Parts begin elsewhere if a newer gamemaster leaves players out of more games.
    elsewhere.retain(|number| done.binary_search(number).is_err());
    // Whichever pass came first has cut it off.
    let torn = if recovered.torn.is_some() { recovered.torn } else { torn };
    let mut attempts = recovered.jobs;
    // Jobs that are done are not played again; in a long run these are nearly all.
    attempts.retain(|_, state| !state.done);
    attempts.shrink_to_fit();
    let path = path.to_owned();
    Ok(RunFolder { path, writer, attempts, done, elsewhere, outcomes, torn, made })
}

/// A file is not a folder.
fn check_kind(path: &Path) -> Result<(), FolderError> {
    match path.is_file() {
        true => Err(FolderError::NotAFolder { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// What a folder has of a run.
#[derive(Clone, Debug, Default)]
pub struct Played {
    ids: HashSet<String>,
}

impl Played {
    /// Matches that need not be played again.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Whether the job of this id is done.
    #[must_use]
    pub fn has(&self, job_id: &str) -> bool {
        self.ids.contains(job_id)
    }
}

/// What the folder has of the run that would be played into it; nothing is changed.
///
/// # Errors
/// If it holds another run that this one does not extend, or cannot be read.
pub fn played(path: &Path, spec: &Spec, jobs: &Jobs, extend: bool) -> Result<Played, FolderError> {
    check_kind(path)?;
    let journal = path.join(JOURNAL);
    if !journal.exists() {
        return Ok(Played::default());
    }
    let records = Journal::open(&journal)?;
    let is_other = records.header().spec_hash != spec.hash();
    if is_other && !extend {
        let differences = differences_from(path, spec);
        return Err(FolderError::OtherSpec { path: path.to_owned(), differences });
    }
    let mut ids = HashSet::new();
    let mut planned = HashSet::new();
    if is_other {
        let outcomes = match jobs {
            Jobs::Schedule(_) => Outcomes::default(),
            Jobs::Staged(_) => Outcomes::read(&journal)?,
        };
        jobs.for_each(&outcomes, |job| {
            planned.insert(job.id);
        });
    }
    let (mut n_foreign, mut n_records) = (0, 0);
    for record in records {
        let record = record?;
        n_records += 1;
        n_foreign += u64::from(is_other && !planned.contains(&record.job_id));
        if record.is_done() {
            ids.insert(record.job_id);
        }
    }
    if n_foreign > 0 {
        return Err(no_extension(path, spec, n_foreign, n_records));
    }
    Ok(Played { ids })
}

fn header(path: &Path, spec: &Spec, jobs: &Jobs, notes: &[String]) -> Header {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_name().map_or(spec.name.clone(), |name| name.to_string_lossy().into());
    let n_jobs = match jobs {
        // A comparison ends when it has a result.
        Jobs::Schedule(schedule) if spec.comparison.is_none() => Some(schedule.n_jobs()),
        _ => None,
    };
    Header {
        format_version: FORMAT_VERSION,
        gamemaster_version: env!("CARGO_PKG_VERSION").to_owned(),
        run: name,
        spec_hash: spec.hash(),
        timings: spec.timings(),
        partition: None,
        notes: notes.to_vec(),
        n_jobs,
        formats: spec.formats(),
    }
}

/// Adds to the journal's notes what is new in how the run is carried on. Returns
/// what was cut off on the way.
fn note_anew(journal: &Path, header: &Header) -> Result<Torn, JournalError> {
    let Ok(old) = Journal::open(journal) else { return Ok(Torn::default()) };
    let old = old.header();
    let fresh = header.notes.iter().filter(|note| !old.notes.contains(note)).cloned();
    let fresh: Vec<String> = fresh.collect();
    if fresh.is_empty() || old.spec_hash != header.spec_hash {
        return Ok(Torn::default());
    }
    let notes = [&old.notes[..], &fresh].concat();
    // Fails if another program is writing the journal at this moment.
    let (writer, recovered) = JournalWriter::resume(journal, header)?;
    drop(writer);
    results::journal::rewrite(journal, &Header { notes, ..old.clone() }, |_| true)?;
    Ok(recovered.torn)
}

/// What differs between the spec that the folder was begun with and this one.
fn differences_from(path: &Path, spec: &Spec) -> Vec<Difference> {
    let begun = std::fs::read_to_string(path.join(SPEC_LOCK)).unwrap_or_default();
    differences(&begun, &lock_text(spec))
}

fn no_extension(path: &Path, spec: &Spec, n_foreign: u64, n_records: u64) -> FolderError {
    let differences = differences_from(path, spec);
    FolderError::NoExtension { path: path.to_owned(), n_foreign, n_records, differences }
}

/// Gives the matches of another spec's run the numbers they have in this one.
/// Returns what was cut off on the way.
fn extend_journal(
    path: &Path,
    journal: &Path,
    header: &Header,
    spec: &Spec,
    planned: &Jobs,
) -> Result<Torn, FolderError> {
    let mut jobs: HashMap<String, Job> = HashMap::new();
    let outcomes = match planned {
        Jobs::Schedule(_) => Outcomes::default(),
        Jobs::Staged(_) => Outcomes::read(journal)?,
    };
    planned.for_each(&outcomes, |job| drop(jobs.insert(job.id.clone(), job)));
    let (mut n_foreign, mut n_records) = (0, 0);
    for record in Journal::open(journal)? {
        n_records += 1;
        n_foreign += u64::from(!jobs.contains_key(&record?.job_id));
    }
    if n_foreign > 0 {
        return Err(no_extension(path, spec, n_foreign, n_records));
    }
    let torn = results::journal::rewrite(journal, header, |record| {
        let Some(job) = jobs.get(&record.job_id) else { return false };
        (record.job, record.block, record.lap, record.rotation) =
            (job.number, job.block, job.lap, job.rotation);
        record.round = job.round;
        true
    })?;
    Ok(torn)
}

/// The numbers of the jobs that are done, ascending.
fn done(jobs: &Jobs, attempts: &HashMap<String, JobState>, outcomes: &Outcomes) -> Vec<u64> {
    let is_done = |job: &Job| attempts.get(&job.id).is_some_and(|state| state.done);
    match jobs {
        Jobs::Schedule(schedule) => {
            let n_done = attempts.values().filter(|state| state.done).count();
            // Mostly the first of the schedule: there is no need to look at all.
            schedule.jobs().filter(is_done).map(|job| job.number).take(n_done).collect()
        }
        Jobs::Staged(_) => {
            let mut done = vec![];
            jobs.for_each(outcomes, |job| done.extend(is_done(&job).then_some(job.number)));
            done
        }
    }
}

/// The numbers of the jobs that are in other parts of the schedule, ascending.
pub fn elsewhere(schedule: &Schedule, part: Partition) -> Vec<u64> {
    let jobs = schedule.jobs().filter(|job| !part.contains(job.block));
    jobs.map(|job| job.number).collect()
}
