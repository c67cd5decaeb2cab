//! `gamemaster game plan`: what a plan of a game of one role achieves, and the best ones.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{MoveId, RoleId, State, StateMachine};
use players::{Failure as PlayerFailure, Stop, plan};
use results::counted::counted;
use serde::Serialize;

use super::{GameArgument, machine};
use crate::commands::number::{seconds, whole_from};
use crate::commands::typed_moves::expressions;
use crate::failure::{CommandResult, Failure};
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster game plan buttons_and_lights --moves 'a b c a b a'
  gamemaster game plan eight_puzzle_course --all
  gamemaster game plan maze --all --limit 5 --json

A plan is a list of moves from the initial state. It is
  legal       if each move is legal where it is played,
  complete    if its last state is terminal,
  minimal     if no state before the last is terminal,
  sequential  if it is all three,
  optimal     if it is sequential and no sequential plan has a higher reward.
--all leaves out plans that visit a state twice.";

/// Arguments of `gamemaster game plan`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[group(id = "wanted", required = true, multiple = true, args = ["moves", "all"])]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Check this plan
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
    /// List all optimal plans
    #[arg(long)]
    all: bool,
    /// List at most N plans
    #[arg(long, value_name = "N", default_value_t = 100, requires = "all", value_parser = whole_from::<usize>(0))]
    limit: usize,
    /// Search for at most T seconds
    #[arg(long, value_name = "T", default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    game: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Checked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_plans: Option<Listed>,
}

/// What one plan achieves.
#[derive(Serialize)]
struct Checked {
    moves: Vec<String>,
    legal: bool,
    /// The first move that is not legal where it is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_illegal: Option<Illegal>,
    complete: bool,
    minimal: bool,
    sequential: bool,
    /// `None` if the time did not suffice.
    optimal: Option<bool>,
    /// In the last state; `None` if that is not terminal.
    reward: Option<u8>,
}

/// A move of a plan that is not legal where it is played.
#[derive(Serialize)]
struct Illegal {
    /// Its number in the plan, from 1.
    number: usize,
    #[serde(rename = "move")]
    text: String,
    /// The legal moves there.
    legal: Vec<String>,
}

#[derive(Serialize)]
struct Listed {
    /// `None` if there is no sequential plan, or the time did not suffice.
    reward: Option<u8>,
    plans: Vec<Vec<String>>,
    are_all: bool,
}

/// Carries out `gamemaster game plan`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let game = arguments.game.load()?.game;
    let time = Duration::from_secs_f64(arguments.seconds);
    let machine = &mut *machine(&game)?;
    let stop = || Stop::never().at(Instant::now() + time);
    let plan = match &arguments.moves {
        Some(text) => Some(check(machine, text, &stop())?),
        None => None,
    };
    let optimal_plans = match arguments.all {
        true => Some(list(machine, arguments.limit, &stop())?),
        false => None,
    };
    let report = Report { game: game.name().to_owned(), plan, optimal_plans };
    json_or_text(arguments.json, &report, print)
}

fn check(machine: &mut dyn StateMachine, text: &str, stop: &Stop) -> Result<Checked, Failure> {
    let moves = moves(machine, text)?;
    let legal = plan::is_legal(machine, &moves).map_err(failure)?;
    let first_illegal = if legal { None } else { first_illegal(machine, &moves)? };
    let complete = plan::is_complete(machine, &moves).map_err(failure)?;
    let minimal = plan::is_minimal(machine, &moves).map_err(failure)?;
    Ok(Checked {
        moves: in_words(machine, &moves),
        legal,
        first_illegal,
        complete,
        minimal,
        sequential: legal && complete && minimal,
        optimal: plan::is_optimal(machine, &moves, stop).map_err(failure)?,
        reward: plan::reward(machine, &moves).map_err(failure)?,
    })
}

/// The first move of a plan that is not legal where it is played, with the moves that are.
fn first_illegal(
    machine: &mut dyn StateMachine,
    plan: &[MoveId],
) -> Result<Option<Illegal>, Failure> {
    let mut state = machine.initial_state().map_err(super::reasoning)?;
    let mut legal = Vec::new();
    for (number, &id) in (1..).zip(plan) {
        machine.legal_moves(&state, RoleId(0), &mut legal).map_err(super::reasoning)?;
        if !legal.contains(&id) {
            let text = machine.move_expression(id).to_string();
            return Ok(Some(Illegal { number, text, legal: in_words(machine, &legal) }));
        }
        let mut next = State::default();
        machine.next_state(&state, &[id], &mut next).map_err(super::reasoning)?;
        state = next;
    }
    Ok(None)
}

fn list(machine: &mut dyn StateMachine, limit: usize, stop: &Stop) -> Result<Listed, Failure> {
    let Some(found) = plan::all_optimal(machine, limit, stop).map_err(failure)? else {
        return Ok(Listed { reward: None, plans: vec![], are_all: false });
    };
    let plans = found.plans.iter().map(|moves| in_words(machine, moves)).collect();
    Ok(Listed { reward: Some(found.reward), plans, are_all: found.are_all })
}

/// The moves of a text, known to the game whether or not they are legal anywhere.
fn moves(machine: &mut dyn StateMachine, text: &str) -> Result<Vec<MoveId>, Failure> {
    let numbered = (1..).zip(expressions(text, "--moves")?);
    let found = numbered.map(|(number, expression): (usize, _)| {
        machine.find_move(&expression).ok_or_else(|| {
            let place = format!("--moves: move {number}, `{expression}`");
            Failure::usage(anyhow!("{place}, is not a move (`game state` lists legal moves)"))
        })
    });
    found.collect()
}

fn in_words(machine: &dyn StateMachine, moves: &[MoveId]) -> Vec<String> {
    moves.iter().map(|&id| machine.move_expression(id).to_string()).collect()
}

/// A game of several roles is the wrong one to ask about; broken rules are the
/// rulesheet's fault.
fn failure(error: PlayerFailure) -> Failure {
    match error {
        PlayerFailure::Unsuitable(reason) => Failure::usage(anyhow!(
            "{reason}; `gamemaster explain GAME --player conditional_planner --plan` prints \
             conditional plans"
        )),
        PlayerFailure::Reasoning(error) => super::reasoning(error),
    }
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "{}", report.game)?;
    if let Some(checked) = &report.plan {
        let length = counted(checked.moves.len(), "move", "moves");
        let plan = checked.moves.iter().map(|text| format!("{text} ")).collect::<String>();
        writeln!(out, "  plan        {plan}({length})")?;
        let rows = [
            ("legal", checked.legal),
            ("complete", checked.complete),
            ("minimal", checked.minimal),
            ("sequential", checked.sequential),
        ];
        for (name, holds) in rows {
            let answer = match &checked.first_illegal {
                Some(Illegal { number, text, legal }) if name == "legal" => {
                    let legal = match &legal[..] {
                        [] => "no move is legal there".to_owned(),
                        [only] => format!("only {only} is legal there"),
                        several => format!("legal moves there: {}", several.join(" ")),
                    };
                    format!("no: move {number}, {text}, is not; {legal}")
                }
                _ => if holds { "yes" } else { "no" }.to_owned(),
            };
            writeln!(out, "  {name:<10}  {answer}")?;
        }
        let optimal = match checked.optimal {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown; search longer with --seconds",
        };
        writeln!(out, "  optimal     {optimal}")?;
        match checked.reward {
            Some(reward) => writeln!(out, "  reward      {reward}")?,
            None => writeln!(out, "  reward      none, since the last state is not terminal")?,
        }
    }
    let Some(listed) = &report.optimal_plans else { return Ok(()) };
    let Some(reward) = listed.reward else {
        return writeln!(out, "  no optimal plan was found; search longer with --seconds");
    };
    let n = listed.plans.len();
    match (n, listed.are_all) {
        (_, true) => write!(out, "  {}", counted(n, "optimal plan", "optimal plans"))?,
        (0, false) => write!(out, "  optimal plans exist, none is listed")?,
        (1, false) => write!(out, "  the first optimal plan")?,
        (n, false) => write!(out, "  the first {n} optimal plans")?,
    }
    writeln!(out, ", reward {reward}")?;
    for plan in &listed.plans {
        writeln!(out, "  {}: {}", counted(plan.len(), "move", "moves"), plan.join(" "))?;
    }
    Ok(())
}
