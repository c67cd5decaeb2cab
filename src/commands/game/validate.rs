//! `gamemaster game validate`: all that is to be said of some rulesheets.

use std::io::Write as _;

use clap::Args;
use games::Severity;
use serde::Serialize;

use crate::cli::Outcome;
use crate::diagnostics::{Colours, Counts, Diagnostics};
use crate::exit_code;
use crate::game_source::{Checked, GameSource, GameSourceError, Reading};
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game validate my_game.kif
  gamemaster game validate games/*.kif --json | jq '.findings[] | select(.severity == \"error\")'

Exits with 0 if all rulesheets are games (warnings and notes do not matter), with
3 if one has an error, with 2 if one cannot be read.";

/// Arguments of `gamemaster game validate`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Paths of rulesheets, or names of shipped games
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    /// Print one JSON object with all findings
    #[arg(long)]
    json: bool,
}

/// One rulesheet in the JSON object.
#[derive(Serialize)]
struct FileLine<'a> {
    file: &'a str,
    valid: bool,
    #[serde(flatten)]
    counts: Counts,
    /// Why the file could not be read.
    failure: Option<String>,
}

/// One finding in the JSON object.
#[derive(Serialize)]
struct FindingLine<'a> {
    code: &'a str,
    severity: String,
    file: &'a str,
    line: usize,
    column: usize,
    /// First byte and the one past the last.
    span: [u32; 2],
    message: &'a str,
    help: &'a str,
}

#[derive(Serialize)]
struct Report<'a> {
    files: Vec<FileLine<'a>>,
    findings: Vec<FindingLine<'a>>,
}

/// Carries out `gamemaster game validate`.
pub(super) fn execute(arguments: &Arguments) -> Outcome {
    let checked: Vec<(&str, Result<Checked, GameSourceError>)> = arguments
        .files
        .iter()
        .map(|file| {
            (file.as_str(), GameSource::find(file).map(|source| source.check(arguments.reading)))
        })
        .collect();
    let code = checked.iter().map(|(_, result)| exit_code_of(result)).fold(exit_code::OK, worse);
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &report(&checked))?;
            return Ok(exit_code::OK);
        }
        let colours = Colours::of(stdout);
        for (file, result) in &checked {
            match result {
                Ok(Checked { diagnostics, game }) => {
                    write!(stdout, "{}", diagnostics.draw(Severity::Info, colours))?;
                    let verdict = if game.is_some() { "valid" } else { "not valid" };
                    writeln!(stdout, "{file}: {verdict}, {}", diagnostics.counts())?;
                }
                Err(error) => {
                    writeln!(stdout, "{file}: not read: failed to {}", error.tell())?;
                }
            }
        }
        if let [_, _, ..] = checked.as_slice() {
            writeln!(stdout, "{}", summary(&checked))?;
        }
        Ok(exit_code::OK)
    })?;
    // Also for those who read the first lines only.
    Ok(code)
}

fn exit_code_of(result: &Result<Checked, GameSourceError>) -> u8 {
    match result {
        Ok(Checked { game: Some(_), .. }) => exit_code::OK,
        Ok(Checked { game: None, .. }) => exit_code::PREFLIGHT,
        Err(error) => error.exit_code(),
    }
}

/// A command that names no readable file is worse than a broken rulesheet.
fn worse(a: u8, b: u8) -> u8 {
    [exit_code::USAGE, exit_code::PREFLIGHT]
        .into_iter()
        .find(|code| [a, b].contains(code))
        .unwrap_or(exit_code::OK)
}

fn summary(checked: &[(&str, Result<Checked, GameSourceError>)]) -> String {
    let valid = checked.iter().filter(|(_, result)| exit_code_of(result) == exit_code::OK).count();
    let counts = checked
        .iter()
        .filter_map(|(_, result)| result.as_ref().ok())
        .map(|checked| checked.diagnostics.counts())
        .fold(Counts::default(), |sum, counts| Counts {
            errors: sum.errors + counts.errors,
            warnings: sum.warnings + counts.warnings,
            infos: sum.infos + counts.infos,
        });
    format!("{valid} of {} rulesheets are valid, {counts}", checked.len())
}

fn report<'a>(checked: &'a [(&'a str, Result<Checked, GameSourceError>)]) -> Report<'a> {
    let files = checked.iter().map(|(file, result)| match result {
        Ok(Checked { diagnostics, game }) => {
            FileLine { file, valid: game.is_some(), counts: diagnostics.counts(), failure: None }
        }
        Err(error) => {
            FileLine { file, valid: false, counts: Counts::default(), failure: Some(error.tell()) }
        }
    });
    let readable = checked.iter().filter_map(|(_, result)| result.as_ref().ok());
    let findings = readable.flat_map(|checked| finding_lines(&checked.diagnostics));
    Report { files: files.collect(), findings: findings.collect() }
}

fn finding_lines(diagnostics: &Diagnostics) -> impl Iterator<Item = FindingLine<'_>> {
    diagnostics.findings().iter().map(|finding| {
        let position = finding.span.position(diagnostics.text());
        FindingLine {
            code: finding.code,
            severity: finding.severity.to_string(),
            file: diagnostics.file(),
            line: position.line,
            column: position.column,
            span: [finding.span.start, finding.span.end],
            message: &finding.message,
            help: &finding.help,
        }
    })
}
