//! Merging runs of the same spec.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use results::counted::counted;
use results::files::{JOURNAL, MATCHES, MOVES, SPEC_LOCK};
use results::journal::{JournalError, Merge, MergeError};
use results::partition::Partition;
use results::{atomic_file, report, tables};
use serde::Serialize;

use super::run_name::folder;
use crate::exit_code;
use crate::experiment::Experiment;
use crate::experiment::folder::FolderError;
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};
use crate::spec::{self, Overrides, Spec, differences};

const EXAMPLES: &str = "\
Examples:
  gamemaster run spec.toml --partition slice:1/2 --out a    on one machine
  gamemaster run spec.toml --partition slice:2/2 --out b    on another
  gamemaster merge a b --out whole                          merge both
  gamemaster report whole

The runs must be of the same spec: the same players, games, budgets and random
seed. A match recorded in two runs is kept once if both records are equal;
otherwise the merge is refused. If matches are missing, the command prints how
many, and `gamemaster run spec.toml --out whole` plays them.";

/// Arguments of `gamemaster merge`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folders of the runs, or their names in results/runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Write the merged run to this new or empty folder
    #[arg(long, alias = "into", value_name = "DIR")]
    out: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out `gamemaster merge`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let runs: Vec<PathBuf> =
        arguments.runs.iter().map(|run| folder(run)).collect::<Result<_, _>>()?;
    let journals: Vec<PathBuf> = runs.iter().map(|run| run.join(JOURNAL)).collect();
    let merge = Merge::read(&journals).map_err(refused)?;
    let (lock, spec) = lock(&merge, &runs)?;
    write(&merge, lock.as_bytes(), &runs, &arguments.out)?;
    let missing = missing(&merge, spec);
    let merged = Merged {
        folder: arguments.out.display().to_string(),
        n_parts: runs.len(),
        n_done: merge.done().len() as u64,
        n_duplicates: merge.parts().iter().map(|part| part.n_duplicates).sum(),
        n_missing: missing.as_ref().ok().map(|blocks| blocks.len() as u64),
        missing_parts: unseen(&merge, missing.as_deref().ok()),
    };
    print_torn(&merge, &runs)?;
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &merged)?;
        } else {
            merged.print(stdout, missing.as_ref().err())?;
        }
        Ok(exit_code::OK)
    })
}

/// The text of the first lock file that is of the spec that was played, and that
/// spec; or of the first that can be read, if none can be shown to be of it.
fn lock(merge: &Merge, runs: &[PathBuf]) -> Result<(String, Option<Spec>), Failure> {
    let mut readable = None;
    let mut first_error = None;
    for run in runs {
        let path = run.join(SPEC_LOCK);
        let read = || {
            let text = std::fs::read_to_string(&path)?;
            // Rulesheets that are not here are no fault of the file.
            toml::from_str::<toml::Table>(&text)?;
            Ok::<String, anyhow::Error>(text)
        };
        let text = match read() {
            Ok(text) => text,
            Err(error) => {
                let error = anyhow::anyhow!("cannot read {}: {error}", path.display());
                first_error.get_or_insert(error);
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
        (None, Some(error)) => Err(Failure::usage(error)),
        (None, None) => unreachable!("there is a run at least"),
    }
}

/// Makes the run's folder: nothing is in it unless all is.
fn write(merge: &Merge, lock: &[u8], runs: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let unwritable = |source| {
        let error = FolderError::Unwritable { path: out.to_owned(), source };
        Failure { code: exit_code::INTERNAL, error: error.into() }
    };
    std::fs::create_dir_all(out).map_err(unwritable)?;
    if std::fs::read_dir(out).map_err(unwritable)?.next().is_some() {
        return Err(Failure::usage(anyhow::anyhow!(
            "the folder {} is not empty; name another folder with --out",
            out.display()
        )));
    }
    let absolute = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let name = absolute.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    merge
        .write(&out.join(JOURNAL), &name)
        .map_err(|error| Failure { code: exit_code::INTERNAL, error: error.into() })?;
    atomic_file::replace(&out.join(SPEC_LOCK), lock).map_err(unwritable)?;
    // A run that was to have no table of moves has none.
    let has = |name: &str| runs.iter().any(|run| run.join(name).exists());
    let moves = has(MOVES) || !has(MATCHES);
    let write = if moves { tables::write_tables } else { tables::write_matches };
    write(out)?;
    report::write_summaries(out)?;
    Ok(())
}

/// The blocks of the jobs that no run has played, one for each job; or why they are not
/// known.
fn missing(merge: &Merge, spec: Option<Spec>) -> Result<Vec<u64>, String> {
    let spec = spec.ok_or_else(|| {
        format!("{SPEC_LOCK} or a rulesheet has changed since the matches were played")
    })?;
    let experiment =
        Experiment::new(spec).map_err(|error| format!("{:#}", anyhow::anyhow!(error)))?;
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
    // Parts of differently many say nothing of each other.
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

fn print_torn(merge: &Merge, runs: &[PathBuf]) -> std::io::Result<()> {
    let mut stderr = std::io::stderr().lock();
    for (part, run) in merge.parts().iter().zip(runs).filter(|(part, _)| part.torn.is_some()) {
        let bytes = part.torn.bytes;
        let bytes = counted(bytes, "half-written byte", "half-written bytes");
        writeln!(stderr, "note: {bytes} at the end of {} left out", run.display())?;
    }
    Ok(())
}

/// Parts that are named where more are missing.
const MAX_NAMED: usize = 6;

/// The result of a merge.
#[derive(Serialize)]
struct Merged {
    folder: String,
    n_parts: usize,
    /// Matches that need not be played again.
    n_done: u64,
    /// Records that several runs had.
    n_duplicates: u64,
    /// Matches of the schedule that no run has played; `None` if that is not known.
    n_missing: Option<u64>,
    /// Parts of the schedule that some of them are in and of which there was no run.
    missing_parts: Vec<Partition>,
}

impl Merged {
    fn print(
        &self,
        out: &mut impl std::io::Write,
        unknown: Option<&String>,
    ) -> std::io::Result<()> {
        let Self { folder, n_parts, n_done, n_duplicates, n_missing, missing_parts } = self;
        let runs = counted(n_parts, "run", "runs");
        let all = n_missing.map_or_else(String::new, |missing| format!(" of {}", n_done + missing));
        let matches = match all.as_str() {
            "" => counted(n_done, "match", "matches"),
            all => format!("{n_done}{all} matches"),
        };
        writeln!(out, "Merged {runs} into {folder}: {matches}")?;
        if *n_duplicates > 0 {
            writeln!(out, "{n_duplicates} of them were in several runs")?;
        }
        if !missing_parts.is_empty() {
            let names: Vec<String> =
                missing_parts.iter().take(MAX_NAMED).map(ToString::to_string).collect();
            let more = missing_parts.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(out, "There was no run of {}{more}.", names.join(", "))?;
        }
        match (n_missing, unknown) {
            (Some(0), _) => writeln!(out, "Full report: gamemaster report {folder}"),
            (Some(missing), _) => writeln!(
                out,
                "{} missing. To play the rest:\n  gamemaster run {folder}/{SPEC_LOCK} --out {folder}",
                counted(missing, "match is", "matches are")
            ),
            (None, why) => writeln!(
                out,
                "The number of missing matches is unknown: {}",
                why.map_or("", String::as_str)
            ),
        }
    }
}

fn refused(error: MergeError) -> Failure {
    let code = match error {
        MergeError::OtherSpec { .. }
        | MergeError::Conflict { .. }
        | MergeError::FollowsResults { .. }
        | MergeError::Journal(
            JournalError::Missing { .. }
            | JournalError::NoHeader { .. }
            | JournalError::NewerFormat { .. },
        ) => exit_code::USAGE,
        MergeError::Journal(_) => exit_code::INTERNAL,
    };
    let MergeError::OtherSpec { first, other } = error else {
        return Failure { code, error: error.into() };
    };
    let lock = |journal: &PathBuf| {
        std::fs::read_to_string(journal.with_file_name(SPEC_LOCK)).unwrap_or_default()
    };
    let differing = match &*differences(&lock(&first), &lock(&other)) {
        [] => "no difference recorded in their spec.lock.toml".to_owned(),
        differences => differences.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    let [first, other] =
        [first, other].map(|journal| journal.with_file_name("").display().to_string());
    let [first, other] = [&first, &other].map(|path| path.trim_end_matches('/'));
    let error =
        anyhow::anyhow!("cannot merge {first} with {other}: their specs differ: {differing}");
    Failure { code, error }
}
