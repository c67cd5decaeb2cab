//! Merging runs of the same spec.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use results::counted::counted;
use results::files::SPEC_LOCK;
use results::partition::Partition;
use serde::Serialize;

use super::run_name::folder;
use crate::experiment::merge::{Merged, merge};
use crate::failure::{CommandResult, Failure};
use crate::output::json_or_text;

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
    /// Folders of the runs, or the names of folders in results/runs (NAME-HASH)
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
    let merged = merge(&runs, &arguments.out).map_err(Failure::experiment)?;
    let mut stderr = std::io::stderr().lock();
    for (run, bytes) in &merged.torn {
        let bytes = counted(*bytes, "half-written byte", "half-written bytes");
        writeln!(stderr, "note: {bytes} at the end of {} left out", run.display())?;
    }
    let folder = arguments.out.display().to_string();
    let found = MergedJson::new(&folder, &merged);
    json_or_text(arguments.json, &found, |stdout, _| print(stdout, &folder, &merged))
}

/// Parts that are named where more are missing.
const MAX_NAMED: usize = 6;

fn print(out: &mut impl Write, folder: &str, merged: &Merged) -> std::io::Result<()> {
    let Merged { n_runs, n_done, n_duplicates, n_missing, missing_parts, .. } = merged;
    let runs = counted(n_runs, "run", "runs");
    let matches = match n_missing {
        Ok(missing) => format!("{n_done} of {} matches", n_done + missing),
        Err(_) => counted(n_done, "match", "matches"),
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
        let parts = if missing_parts.len() == 1 { "part" } else { "parts" };
        writeln!(out, "Missing {parts}: {}{more}.", names.join(", "))?;
    }
    match n_missing {
        Ok(0) => writeln!(out, "Full report: gamemaster report {folder}"),
        Ok(missing) => writeln!(
            out,
            "{} missing. To play the rest:\n  gamemaster run {folder}/{SPEC_LOCK} --out {folder}",
            counted(missing, "match is", "matches are")
        ),
        Err(reason) => writeln!(out, "The number of missing matches is unknown: {reason}"),
    }
}

/// A merged run as printed with `--json`.
#[derive(Serialize)]
struct MergedJson<'a> {
    folder: &'a str,
    n_parts: usize,
    n_done: u64,
    n_duplicates: u64,
    /// `None` if that is not known.
    n_missing: Option<u64>,
    missing_parts: &'a [Partition],
}

impl<'a> MergedJson<'a> {
    fn new(folder: &'a str, merged: &'a Merged) -> Self {
        Self {
            folder,
            n_parts: merged.n_runs,
            n_done: merged.n_done,
            n_duplicates: merged.n_duplicates,
            n_missing: merged.n_missing.as_ref().ok().copied(),
            missing_parts: &merged.missing_parts,
        }
    }
}
