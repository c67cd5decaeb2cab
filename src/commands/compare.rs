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
use crate::cli::{Failure, Outcome, in_one_line};
use crate::exit_code;
use crate::output::to_stdout;

const EXAMPLES: &str = "\
Examples:
  gamemaster compare before after                  two runs, by name or folder
  gamemaster compare before after --format md      for a page
  gamemaster compare before after --json | jq '.players[] | {player, reward}'

Compared are the blocks that both runs played: the same game, players and lap. Differences are the
second run less the first. The seeds of a match depend on who plays it, so that chance differs
where a player's options do: to see small differences, let both versions play in one run.";

/// Arguments of `gamemaster compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of the first run, or its name in results/runs
    first: PathBuf,
    /// Folder of the second run, or its name in results/runs
    second: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Carries out `gamemaster compare`.
pub fn execute(arguments: &Arguments) -> Outcome {
    let format = arguments.format.or_json(arguments.json);
    let [first, second] = [&arguments.first, &arguments.second].map(|run| folder(run));
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
    Failure { code, error: in_one_line(error) }
}
