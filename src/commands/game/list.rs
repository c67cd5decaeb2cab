//! `gamemaster game list`: the games that come with the program.

use std::io::{self, Write};

use clap::Args;
use games::library;
use serde::Serialize;

use super::environment::Environment;
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
  gamemaster game list --environments
  gamemaster game list --json | jq -r '.[] | select(.kind.chance) | .name'

Every command that takes the path of a rulesheet also takes one of these names.";

/// Arguments of `gamemaster game list`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print a Markdown table of the games with their properties (agents,
    /// observability, chance, ...) and suitable players
    #[arg(long)]
    environments: bool,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<Environment>,
}

/// Carries out `gamemaster game list`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let rows = library::all().iter().map(|shipped| row(shipped, arguments.environments));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &rows)?;
            return Ok(exit_code::OK);
        }
        if arguments.environments {
            return print_environments(stdout, &rows).map(|()| exit_code::OK).map_err(Into::into);
        }
        let name_width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
        for Row { name, title, roles, kind, .. } in &rows {
            writeln!(stdout, "{name:name_width$}  {title}")?;
            writeln!(stdout, "{:name_width$}  {kind} ({})", "", roles.join(" "))?;
        }
        Ok(exit_code::OK)
    })
}

fn row(shipped: &library::Shipped, with_environment: bool) -> Result<Row, Failure> {
    let game = game_source::load(shipped.name, Reading::default()).map_err(Failure::game)?.game;
    let mut walker = Walker::new(machine(&game)?);
    let limits = if with_environment { Limits::USUAL } else { LIMITS };
    let survey = survey(&mut walker, &limits).map_err(reasoning)?;
    let kind = ObservedKind::of(&game, &survey);
    Ok(Row {
        name: shipped.name,
        title: shipped.title(),
        roles: role_names(&game),
        kind,
        environment: with_environment.then(|| Environment::of(&kind, &survey, None)),
    })
}

/// Prints a table with a row for each game.
fn print_environments(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    writeln!(out, "| game | agents | observable | deterministic | choices | rewards | suited |")?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- |")?;
    for row in rows {
        let Some(environment) = &row.environment else { continue };
        let cells = environment.cells().join(" | ");
        let players: Vec<String> =
            environment.players().map(|player| format!("`{player}`")).collect();
        writeln!(out, "| `{}` | {cells} | {} |", row.name, players.join(", "))?;
    }
    Ok(())
}
