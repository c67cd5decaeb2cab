//! Comparing two runs.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use results::comparison::{ComparisonError, compare};
use results::journal::JournalError;
use results::report::render_comparison;
use results::stats::bootstrap::Bootstrap;

use super::report::FormatWord;
use super::run_name::folder;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::to_stdout;

const EXAMPLES: &str = "\
Examples:
  gamemaster compare before after
  gamemaster compare before after --format md
  gamemaster compare before after --json | jq '.players[] | {player, reward}'

Only blocks that both runs played are compared: the same game, budget and
players, in the same lap (repetition of the schedule). Exception: if each run
has a single budget for a game, the two budgets may differ. A difference is
AFTER minus BEFORE. The random seeds of a match depend on its players and their
options, so a changed player gets other dice and cards: to detect small
differences, play both versions in one run (`gamemaster regress`).";

/// Arguments of `gamemaster compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of the first run, or the name of a folder in results/runs
    /// (NAME-HASH)
    before: PathBuf,
    /// Folder of the second run, or the name of a folder in results/runs
    /// (NAME-HASH)
    after: PathBuf,
    /// Print in this format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Carries out `gamemaster compare`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let format = arguments.format.or_json(arguments.json);
    let (first, second) = (folder(&arguments.before)?, folder(&arguments.after)?);
    let comparison = compare([&first, &second], &Bootstrap::default()).map_err(failure)?;
    to_stdout(|stdout| {
        stdout.write_all(render_comparison(&comparison, format).as_bytes())?;
        Ok(exit_code::OK)
    })
}

fn failure(error: ComparisonError) -> Failure {
    let code = match &error {
        ComparisonError::Empty { .. }
        | ComparisonError::NothingCommon { .. }
        | ComparisonError::Journal(
            JournalError::Missing { .. }
            | JournalError::NoHeader { .. }
            | JournalError::NewerFormat { .. },
        ) => exit_code::USAGE,
        ComparisonError::Journal(_) => exit_code::INTERNAL,
    };
    Failure { code, error: error.into() }
}
