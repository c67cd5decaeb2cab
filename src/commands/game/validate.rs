//! `gamemaster game validate`: all findings of rulesheets.

mod playouts;

use std::io::Write as _;

use clap::Args;
use games::{Rulesheet, Severity};
use serde::Serialize;

use self::playouts::Playing;
use crate::diagnostics::{Colours, Counts, Diagnostics};
use crate::exit_code;
use crate::failure::{CommandResult, Failure, game_code};
use crate::game_source::{Checked, GameSource, GameSourceError, Reading};
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game validate my_game.kif
  gamemaster game validate my_game.kif --play
  gamemaster game validate games/*.kif --json |
      jq '.findings[] | select(.severity == \"error\")'

With --play, random playouts are checked: a role without a legal move is an
error; a terminal state with no goal or several goals for a role, and a game
that never ends, are warnings; conditions that held in no state are notes.

Exit codes:
  0  all rulesheets are valid, perhaps with warnings
  2  a rulesheet cannot be read
  3  a rulesheet has an error";

/// Arguments of `gamemaster game validate`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Paths of rulesheets, or names of shipped games
    #[arg(required = true, value_name = "GAME")]
    files: Vec<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    playing: Playing,
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
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let checked: Vec<(&str, Result<Checked, GameSourceError>)> = arguments
        .files
        .iter()
        .map(|file| Ok((file.as_str(), check(file, arguments)?)))
        .collect::<Result<_, Failure>>()?;
    let code =
        checked.iter().map(|(_, result)| exit_code_of(result)).fold(exit_code::OK, more_severe);
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &report(&checked))?;
            return Ok(exit_code::OK);
        }
        let colours = Colours::of(stdout);
        for (file, result) in &checked {
            match result {
                Ok(checked @ Checked { diagnostics, .. }) => {
                    write!(stdout, "{}", diagnostics.draw(Severity::Note, colours))?;
                    let verdict = if is_valid(checked) { "valid" } else { "not valid" };
                    writeln!(stdout, "{file}: {verdict}, {}", diagnostics.counts())?;
                }
                Err(error) => writeln!(stdout, "error: {}", error.message())?,
            }
        }
        if let [_, _, ..] = checked.as_slice() {
            writeln!(stdout, "{}", summary(&checked))?;
        }
        Ok(exit_code::OK)
    })?;
    // At the top too, for readers of the first lines only.
    Ok(code)
}

/// Reads a rulesheet, and plays it if that is asked for and possible.
fn check(file: &str, arguments: &Arguments) -> Result<Result<Checked, GameSourceError>, Failure> {
    let mut checked = match GameSource::find(file) {
        Ok(source) => source.check(arguments.reading),
        Err(GameSourceError::Broken(diagnostics)) => {
            return Ok(Ok(Checked { diagnostics: *diagnostics, game: None }));
        }
        Err(error) => return Ok(Err(error)),
    };
    if arguments.playing.play
        && let Some(game) = &checked.game
    {
        let text = checked.diagnostics.text();
        let rulesheet = Rulesheet::parse(game.name(), text, game.symbols().case())
            .expect("what became a game was read before");
        checked.diagnostics =
            playouts::play(&checked.diagnostics, game, &rulesheet, arguments.playing)?;
    }
    Ok(Ok(checked))
}

fn is_valid(Checked { diagnostics, game }: &Checked) -> bool {
    game.is_some() && diagnostics.counts().errors == 0
}

fn exit_code_of(result: &Result<Checked, GameSourceError>) -> u8 {
    match result {
        Ok(checked) if is_valid(checked) => exit_code::OK,
        Ok(_) => exit_code::PREFLIGHT,
        Err(error) => game_code(error),
    }
}

/// The code of both: that of an unreadable file comes before that of a broken rulesheet.
fn more_severe(a: u8, b: u8) -> u8 {
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
            notes: sum.notes + counts.notes,
        });
    let are = if valid == 1 { "is" } else { "are" };
    match checked.iter().filter(|(_, result)| result.is_err()).count() {
        0 => format!("{valid} of {} rulesheets {are} valid, {counts}", checked.len()),
        n => format!(
            "{valid} of {} rulesheets {are} valid, {n} could not be read, {counts}",
            checked.len()
        ),
    }
}

fn report<'a>(checked: &'a [(&'a str, Result<Checked, GameSourceError>)]) -> Report<'a> {
    let files = checked.iter().map(|(file, result)| match result {
        Ok(checked) => FileLine {
            file,
            valid: is_valid(checked),
            counts: checked.diagnostics.counts(),
            failure: None,
        },
        Err(error) => FileLine {
            file,
            valid: false,
            counts: Counts::default(),
            failure: Some(error.message()),
        },
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
