//! `gamemaster game list`: the games that come with the program.

use std::io::Write as _;

use clap::Args;
use games::library;
use serde::Serialize;

use super::survey::{Limits, ObservedKind, survey};
use super::view::role_names;
use super::walk::Walker;
use super::{machine, reasoning};
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::output::{json_line, to_stdout};

/// Enough to find out whether two players ever choose at the same step.
const LIMITS: Limits = Limits { playouts: 3, steps: 40, time: None, seed: 1 };

const EXAMPLES: &str = "\
Examples:
  gamemaster game list
  gamemaster game list --json | jq -r '.[] | select(.kind.chance) | .name'

Every command that takes the path of a rulesheet also takes one of these names.";

/// Arguments of `gamemaster game list`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: &'static str,
    roles: Vec<String>,
    kind: ObservedKind,
}

/// Carries out `gamemaster game list`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let rows = library::all().iter().map(row).collect::<Result<Vec<_>, _>>()?;
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &rows)?;
            return Ok(exit_code::OK);
        }
        let name_width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
        for Row { name, title, roles, kind } in &rows {
            writeln!(stdout, "{name:name_width$}  {title}")?;
            writeln!(stdout, "{:name_width$}  {kind} ({})", "", roles.join(" "))?;
        }
        Ok(exit_code::OK)
    })
}

fn row(shipped: &library::Shipped) -> Result<Row, Failure> {
    let game = game_source::load(shipped.name, Reading::default()).map_err(Failure::game)?.game;
    let mut walker = Walker::new(machine(&game)?);
    let survey = survey(&mut walker, &LIMITS).map_err(reasoning)?;
    Ok(Row {
        name: shipped.name,
        title: shipped.title(),
        roles: role_names(&game),
        kind: ObservedKind::of(&game, survey.simultaneous),
    })
}
