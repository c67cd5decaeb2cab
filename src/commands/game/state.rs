//! `gamemaster game state`: one state, reached by moves or given by its facts.

mod representations;

use std::io::{self, Write};

use clap::Args;
use games::StateMachine;
use results::counted::counted;
use serde::Serialize;

use self::representations::Representations;
use super::view::{ByRole, View, percepts};
use super::{GameArgument, prover, reasoning};
use crate::commands::typed_facts::facts;
use crate::commands::typed_moves::follow;
use crate::failure::CommandResult;
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster game state tic_tac_toe
  gamemaster game state nim --moves '((take a 3) noop) (noop (take b 3))'
  gamemaster game state buttons_and_lights --moves 'a b (c)'
  gamemaster game state my_game.kif --state '(cell 1 1 x) (control o)' --json

A joint move is a list of one move for each role, in the order of the roles;
for a single-role game, its parentheses are optional. The state given by
--state need not be reachable, but each fact must have the name and number of
arguments of a fact that the rules for `init` or `next` can make true. A fact
may be written with or without `true` around it.";

/// Arguments of `gamemaster game state`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Begin in the state in which exactly these facts are true
    #[arg(long, value_name = "FACTS", allow_hyphen_values = true)]
    state: Option<String>,
    /// Print the state as atomic, factored and structured (see "How a state is
    /// represented" in docs/environments.md)
    #[arg(long)]
    representations: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    game: String,
    step: usize,
    state: Vec<String>,
    legal: Option<ByRole<Vec<String>>>,
    terminal: bool,
    goals: ByRole<Option<u8>>,
    /// All goals that the rules give each role, for the text.
    #[serde(skip)]
    values: ByRole<Vec<u8>>,
    /// What the last move let each role perceive; none without a move, and
    /// none if the rules do not say.
    percepts: Option<ByRole<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    representations: Option<Representations>,
}

/// Carries out `gamemaster game state`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let game = arguments.game.load()?.game;
    // To ground the rules takes longer than a few states.
    let machine = &mut prover(&game)?;
    let start = match &arguments.state {
        Some(text) => machine
            .state_of(&facts(&game, text)?)
            .expect("facts whose words were checked are terms"),
        None => machine.initial_state().map_err(reasoning)?,
    };
    let line = follow(machine, start, arguments.moves.as_deref().unwrap_or_default())?;
    let percepts = match (line.joint_moves.last(), &line.states[..]) {
        (Some(joint_move), [.., before, _]) if game.kind().percepts => {
            Some(percepts(machine, before, joint_move).map_err(reasoning)?)
        }
        _ => None,
    };
    let representations = arguments.representations.then(|| {
        let key = machine.key(line.last());
        Representations::of(key, &machine.facts(line.last()))
    });
    let View { facts, legal, terminal, goals, values } =
        View::of(machine, line.last()).map_err(reasoning)?;
    let report = Report {
        game: game.name().to_owned(),
        step: line.joint_moves.len(),
        state: facts,
        legal,
        terminal,
        goals,
        values,
        percepts,
        representations,
    };
    json_or_text(arguments.json, &report, print)
}

fn print(stdout: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { game, step, state, legal, terminal, values, percepts, .. } = report;
    let ended = if *terminal { ", terminal" } else { "" };
    let after = counted(*step, "step", "steps");
    writeln!(stdout, "{game}, after {after}{ended}\n\nfacts ({})", state.len())?;
    for fact in state {
        writeln!(stdout, "  {fact}")?;
    }
    if let Some(legal) = legal {
        writeln!(stdout, "\nlegal moves")?;
        lists(stdout, legal)?;
    }
    writeln!(stdout, "\ngoals")?;
    let width = width(values);
    for (role, values) in values.iter() {
        let goals: Vec<String> = values.iter().map(ToString::to_string).collect();
        let listed = if goals.is_empty() { "none".to_owned() } else { goals.join(", ") };
        writeln!(stdout, "  {role:width$}  {listed}")?;
    }
    if let Some(percepts) = percepts {
        writeln!(stdout, "\npercepts of the last step")?;
        lists(stdout, percepts)?;
    }
    report.representations.as_ref().map_or(Ok(()), |found| found.print(stdout))
}

fn lists(stdout: &mut impl Write, lists: &ByRole<Vec<String>>) -> io::Result<()> {
    let width = width(lists);
    for (role, texts) in lists.iter() {
        let listed = if texts.is_empty() { "(none)".to_owned() } else { texts.join(" ") };
        writeln!(stdout, "  {role:width$}  {listed}")?;
    }
    Ok(())
}

fn width<T>(by_role: &ByRole<T>) -> usize {
    by_role.iter().map(|(role, _)| role.chars().count()).max().unwrap_or_default()
}
