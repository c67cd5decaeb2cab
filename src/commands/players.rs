//! Listing the built-in players.

use std::io::Write as _;

use clap::Args;
use players::options::SEED;
use players::{OptionSpec, PlayerKind};
use results::report::wrapped;
use serde::Serialize;

use crate::built_in::kinds;
use crate::failure::CommandResult;
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster players
  gamemaster players --json | jq -r '.[].name'

In a spec:
  [[players]]
  kind = \"random\"
  seed = 3

On the command line:
  gamemaster play tic_tac_toe random:seed=3 legal";

/// Arguments of `gamemaster players`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    instant: bool,
    plays_hidden_information: bool,
    options: Vec<OptionRow>,
}

#[derive(Serialize)]
struct OptionRow {
    name: &'static str,
    accepts: &'static str,
    default: &'static str,
    help: &'static str,
}

/// Carries out `gamemaster players`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let rows: Vec<Row> = kinds().map(row).collect();
    json_or_text(arguments.json, &rows, |stdout, rows| {
        let lines = |text: &str, indent: &str| wrapped(text, indent, indent, 80);
        for row in rows {
            write!(stdout, "{}\n{}", row.name, lines(row.summary, "    "))?;
            if !row.plays_hidden_information {
                writeln!(stdout, "    Cannot play games of hidden information.")?;
            }
            for option in &row.options {
                let OptionRow { name, accepts, default, help } = option;
                let head = format!("{name}: {accepts} (default: {default})");
                write!(stdout, "{}{}", lines(&head, "      "), lines(help, "          "))?;
            }
        }
        Ok(())
    })
}

fn row(kind: &PlayerKind) -> Row {
    let option = |spec: &OptionSpec| OptionRow {
        name: spec.name,
        accepts: spec.accepts,
        default: spec.default,
        help: spec.help,
    };
    Row {
        name: kind.name,
        summary: kind.summary,
        instant: kind.instant,
        plays_hidden_information: kind.plays_hidden_information,
        options: kind.options.iter().chain([&SEED]).map(option).collect(),
    }
}
