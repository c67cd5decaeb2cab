//! Exporting a run's matches to the formats of other programs.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use results::counted::counted;
use results::journal::{JournalError, each_match};
use results::record::MatchRecord;

use super::run_name::folder;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::ggp_json::GgpMatch;
use crate::output::{json_line, to_stdout};
use crate::recorded::{RecordedError, RecordedRun, positions};

const EXAMPLES: &str = "\
Examples:
  gamemaster export my_run > matches.jsonl    one line for each match
  gamemaster export my_run --out records      one file for each match
  gamemaster export my_run --match 17         only match 17

The format is that of ggp-base's match records, which its viewers read: states
and moves with spaces inside the parentheses, clocks in seconds, rounded up,
faults as TO (timeout), CE (connection error) and IL (illegal move).";

/// Arguments of `gamemaster export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or the name of a folder in results/runs (NAME-HASH)
    run: PathBuf,
    /// Write this format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// Export only this match: its match number, job_id or match_id
    #[arg(long = "match", value_name = "MATCH")]
    one: Option<String>,
    /// Write one file MATCH_ID.json for each match into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatWord {
    /// Match records of ggp-base
    #[default]
    GgpJson,
}

/// Carries out `gamemaster export`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let FormatWord::GgpJson = arguments.format;
    let folder = folder(&arguments.run)?;
    let mut run = RecordedRun::open(&folder).map_err(failure)?;
    let chosen = arguments.one.as_ref().map(|name| run.find(name)).transpose().map_err(failure)?;
    if let Some(out) = &arguments.out {
        let made = std::fs::create_dir_all(out);
        made.map_err(|error| Failure::cannot_write(out, error))?;
    }
    to_stdout(|stdout| {
        let mut n_written = 0_u64;
        let mut write = |record: &MatchRecord| -> Result<(), Failure> {
            let exported = export(&mut run, record).map_err(failure)?;
            n_written += 1;
            let Some(out) = &arguments.out else { return Ok(json_line(stdout, &exported)?) };
            let path = out.join(format!("{}.json", record.match_id));
            let text = serde_json::to_string(&exported)?;
            std::fs::write(&path, text).map_err(|error| Failure::cannot_write(&path, error))
        };
        if let Some(record) = &chosen {
            write(record)?;
        } else {
            let mut result = Ok(());
            each_match(&folder, |record| {
                result = write(&record);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .map_err(|error| failure(error.into()))?;
            result?;
        }
        if n_written == 0 {
            let mut stderr = std::io::stderr();
            writeln!(stderr, "note: {} holds no match yet: nothing is exported", folder.display())?;
        }
        if let Some(out) = &arguments.out {
            let matches = counted(n_written, "match", "matches");
            writeln!(stdout, "Wrote {matches} to {}", out.display())?;
        }
        Ok(exit_code::OK)
    })
}

fn export(run: &mut RecordedRun, record: &MatchRecord) -> Result<GgpMatch, RecordedError> {
    let positions = positions(run.machine(record)?, record)?;
    Ok(GgpMatch::new(record, &positions, &run.spec().name, run.spec().scramble))
}

/// What the user named cannot be shown.
pub(super) fn failure(error: RecordedError) -> Failure {
    let code = match &error {
        RecordedError::Lock { .. }
        | RecordedError::NoMatch { .. }
        | RecordedError::Ambiguous { .. }
        | RecordedError::Spec(_)
        | RecordedError::Journal(
            JournalError::Missing { .. }
            | JournalError::NoHeader { .. }
            | JournalError::NewerFormat { .. },
        ) => exit_code::USAGE,
        RecordedError::Changed { .. } | RecordedError::Game(_) => exit_code::PREFLIGHT,
        _ => exit_code::INTERNAL,
    };
    let error = match error {
        RecordedError::Journal(error) => error.into(),
        error => error.into(),
    };
    Failure { code, error }
}
