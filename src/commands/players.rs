//! Listing the built-in players.

use std::io::Write as _;

use anyhow::anyhow;
use clap::Args;
use players::options::SEED;
use players::{OptionSpec, PlayerKind};
use results::report::wrapped;
use serde::Serialize;

use crate::built_in::{find, kinds};
use crate::failure::{CommandResult, Failure};
use crate::human;
use crate::manager::unknown_kind;
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster players
  gamemaster players mcts alpha_beta
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
    /// List only these kinds [default: all]
    #[arg(value_name = "KIND")]
    kinds: Vec<String>,
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
    if let Some(unknown) = arguments.kinds.iter().find(|name| find(name).is_none()) {
        return Err(Failure::usage(anyhow!(unknown_kind(unknown))));
    }
    let is_listed = |kind: &&PlayerKind| {
        arguments.kinds.is_empty() || arguments.kinds.iter().any(|name| name == kind.name)
    };
    let rows: Vec<Row> = kinds().filter(is_listed).map(row).collect();
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
        let odds = "Each player may also have a clock or a node budget of its own: clocks.start, \
                    clocks.play, budget.nodes (see docs/spec.md, Time odds).";
        write!(stdout, "\n{}", lines(odds, ""))?;
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
    // A person draws no random numbers.
    let seed = (kind.name != human::KIND.name).then_some(&SEED);
    Row {
        name: kind.name,
        summary: kind.summary,
        instant: kind.instant,
        plays_hidden_information: kind.plays_hidden_information,
        options: kind.options.iter().chain(seed).map(option).collect(),
    }
}
