//! `gamemaster game state`: one state, reached by moves or given by its facts.

use std::io::{self, Write};

use clap::Args;
use games::{Expression, State, StateMachine, Symbols};
use serde::Serialize;

use super::view::{ByRole, View, percepts};
use super::{GameArgument, prover, reasoning};
use crate::commands::typed_moves::{expressions, follow};
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game state tic_tac_toe
  gamemaster game state nim --moves '((take a 3) noop) (noop (take b 3))'
  gamemaster game state buttons_and_lights --moves 'a b (c)'
  gamemaster game state my_game.kif --facts '(cell 1 1 x) (control o)' --json

A joint move is a list of one move for each role, in the order of the roles;
for a single-role game, its parentheses are optional. The state given by --facts need
not be reachable; each fact may be written with or without `true` around it.";

/// Arguments of `gamemaster game state`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", allow_hyphen_values = true)]
    moves: Option<String>,
    /// Start from the state of these facts instead of the initial state
    #[arg(long, value_name = "FACTS", allow_hyphen_values = true)]
    facts: Option<String>,
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
    /// What the last move let each role perceive; none without a move, and
    /// none if the rules do not say.
    percepts: Option<ByRole<Vec<String>>>,
}

/// Carries out `gamemaster game state`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let game = arguments.game.load()?.game;
    // To ground the rules takes longer than a few states.
    let machine = &mut prover(&game)?;
    let start = match &arguments.facts {
        Some(text) => state_of(machine, text)?,
        None => machine.initial_state().map_err(reasoning)?,
    };
    let line = follow(machine, start, arguments.moves.as_deref().unwrap_or_default())?;
    let percepts = match (line.joint_moves.last(), &line.states[..]) {
        (Some(joint_move), [.., before, _]) if game.kind().percepts => {
            Some(percepts(machine, before, joint_move).map_err(reasoning)?)
        }
        _ => None,
    };
    let View { facts, legal, terminal, goals } =
        View::of(machine, line.last()).map_err(reasoning)?;
    let report = Report {
        game: game.name().to_owned(),
        step: line.joint_moves.len(),
        state: facts,
        legal,
        terminal,
        goals,
        percepts,
    };
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &report)?;
        } else {
            print(stdout, &report)?;
        }
        Ok(exit_code::OK)
    })
}

fn print(stdout: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { game, step, state, legal, terminal, goals, percepts } = report;
    let ended = if *terminal { ", terminal" } else { "" };
    writeln!(stdout, "{game}, step {step}{ended}\n\nfacts ({})", state.len())?;
    for fact in state {
        writeln!(stdout, "  {fact}")?;
    }
    if let Some(legal) = legal {
        writeln!(stdout, "\nlegal moves")?;
        lists(stdout, legal)?;
    }
    writeln!(stdout, "\ngoals")?;
    let width = width(goals);
    for (role, goal) in goals.iter() {
        match goal {
            Some(goal) => writeln!(stdout, "  {role:width$}  {goal}")?,
            None => writeln!(stdout, "  {role:width$}  none, or several")?,
        }
    }
    if let Some(percepts) = percepts {
        writeln!(stdout, "\npercepts of the last step")?;
        lists(stdout, percepts)?;
    }
    Ok(())
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

/// The first word that is a variable or none of the game's.
fn odd_word<'a>(fact: &'a Expression, names: &Symbols) -> Option<&'a str> {
    match fact {
        Expression::Atom(word) => {
            (word.starts_with('?') || names.find(word).is_none()).then_some(word)
        }
        Expression::List(items) => items.iter().find_map(|item| odd_word(item, names)),
    }
}

fn state_of(machine: &mut dyn StateMachine, text: &str) -> Result<State, Failure> {
    let facts = expressions(text, "--facts")?;
    let facts: Vec<Expression> = facts.into_iter().map(without_true).collect();
    machine.state_of(&facts).ok_or_else(|| {
        let names = machine.game().symbols();
        let odd = facts.iter().find_map(|fact| odd_word(fact, names));
        usage(match odd {
            Some(word) if word.starts_with('?') => {
                format!("--facts: a fact contains no variables such as {word}")
            }
            Some(word) => {
                format!("--facts: no relation, function or constant of the rules is named `{word}`")
            }
            None => "--facts: a fact is a name, or a list that begins with a name".to_owned(),
        })
    })
}

fn without_true(fact: Expression) -> Expression {
    match fact {
        Expression::List(mut items) if items.len() == 2 && items[0] == Expression::atom("true") => {
            items.swap_remove(1)
        }
        fact => fact,
    }
}

fn usage(message: String) -> Failure {
    Failure::usage(anyhow::anyhow!(message))
}
