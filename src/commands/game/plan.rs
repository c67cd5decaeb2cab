//! `gamemaster game plan`: what a plan of a role achieves, and the best ones.

mod conditional;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{Game, MoveId, RoleId, StateMachine};
use players::plan::{self, Missing, OptimalPlans};
use players::plan_check::{self, Breach, MAX_POSITIONS, Plan};
use players::{Failure as PlayerFailure, Stop};
use results::counted::counted;
use serde::Serialize;

use super::{GameArgument, machine};
use crate::commands::number::whole_from;
use crate::commands::time_limits::clock;
use crate::commands::typed_moves::expressions;
use crate::commands::typed_role;
use crate::failure::{CommandResult, Failure};
use crate::output::json_or_text;

const EXAMPLES: &str = "\
Examples:
  gamemaster game plan buttons_and_lights --moves 'a b c a b a'
  gamemaster game plan eight_puzzle_course --all
  gamemaster game plan maze --all --limit 5 --json
  gamemaster game plan tic_tac_toe --moves '(mark 2 2) noop (mark 1 1)'
  gamemaster explain nim --player conditional_planner --plan-file nim.plan.json
  gamemaster game plan nim --conditional nim.plan.json

A plan is a list of moves of one role from the initial state (--moves), or says
what to do after each joint move or percept (--conditional). Each of these
properties must hold whatever the other roles do:
  legal       each move is legal where it is played
  complete    the last state is terminal
  minimal     no state before the last is terminal
  sequential  the plan is a list of moves, and legal, complete and minimal
  optimal     the plan is legal, complete and minimal, and no plan guarantees
              more (on average, where chance moves)
The output says to how many states play can come by the plan. A state that can
occur at several steps of the list or file counts once for each of them (a file
stores equal parts of a plan only once).

--all leaves out plans that visit a state twice (states that differ in a step
counter are different states).

Exit codes:
  0    the plan was checked, whatever it achieves; or the search for plans ended
       or was stopped by --time, and the plans found until then are printed
  1    internal error
  2    invalid arguments, a plan that is too large to check or was not checked
       within --time, or a game that --all cannot search
  3    an invalid rulesheet";

/// Arguments of `gamemaster game plan`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[group(id = "wanted", required = true, multiple = true, args = ["moves", "conditional", "all"])]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Check this plan
    #[arg(long, value_name = "MOVES", conflicts_with = "conditional")]
    moves: Option<String>,
    /// Check the plan in FILE, which `gamemaster explain --plan-file` wrote
    #[arg(long, value_name = "FILE")]
    conditional: Option<PathBuf>,
    /// Check it for this role [default: the plan's, or else the first]
    #[arg(long)]
    role: Option<String>,
    /// List all optimal plans of a game of one role
    #[arg(long)]
    all: bool,
    /// List at most N plans
    #[arg(long, value_name = "N", default_value_t = 100, requires = "all", value_parser = whole_from::<usize>(0))]
    limit: usize,
    /// Check, or search, for at most this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = clock)]
    time: Duration,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    game: String,
    #[serde(skip)]
    has_several_roles: bool,
    #[serde(skip)]
    is_hidden: bool,
    #[serde(skip)]
    has_chance: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Checked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_plans: Option<Listed>,
}

/// What one plan achieves.
#[derive(Serialize)]
struct Checked {
    role: String,
    /// Of a sequential plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<String>>,
    /// Of a conditional plan: how many steps it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    /// Of a conditional plan: whether it goes on by percepts, not by joint moves.
    #[serde(skip)]
    is_by_percepts: bool,
    /// Pairs of a step and a state that play can come to by the plan.
    positions: usize,
    legal: bool,
    /// The first move that is not legal where it is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_illegal: Option<Illegal>,
    complete: bool,
    /// The joint moves after which the plan has ended too early.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_incomplete: Option<Vec<String>>,
    minimal: bool,
    /// The joint moves after which the plan should have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_not_minimal: Option<Vec<String>>,
    /// Of a list of moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequential: Option<bool>,
    /// `None` if the time did not suffice.
    optimal: Option<bool>,
    /// What it guarantees, on average over the moves of chance; `None` if the match goes on
    /// after it.
    reward: Option<f64>,
    /// The least and the greatest reward of its last states.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewards: Option<(u8, u8)>,
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
    /// The joint moves before it, in a game of several roles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

#[derive(Serialize)]
struct Listed {
    /// `None` if there is no sequential plan, or the time did not suffice.
    reward: Option<u8>,
    plans: Vec<Vec<String>>,
    are_all: bool,
    #[serde(skip)]
    missing: Option<Missing>,
}

/// Carries out `gamemaster game plan`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let game = arguments.game.load()?.game;
    let time = arguments.time;
    let machine = &mut *machine(&game)?;
    let stop = || Stop::never().at(Instant::now() + time);
    let role = arguments.role.as_deref();
    let plan = match (&arguments.moves, &arguments.conditional) {
        (Some(text), _) => {
            let moves = moves(machine, text)?;
            let role = role_of(&game, role)?;
            let checked = check(machine, role, &Plan::sequence(&moves), &stop())?;
            let sequential = Some(checked.legal && checked.complete && checked.minimal);
            Some(Checked { moves: Some(in_words(machine, &moves)), sequential, ..checked })
        }
        (None, Some(path)) => {
            let file = conditional::read(path, &game)?;
            conditional::check_role(path, &file, role)?;
            let role = role_of(&game, role.or(file.role.as_deref()))?;
            let plan = conditional::plan(machine, path, &file)?;
            let checked = check(machine, role, &plan, &stop())?;
            let is_by_percepts = file.is_by_percepts();
            Some(Checked { steps: Some(file.plan.len()), is_by_percepts, ..checked })
        }
        (None, None) => None,
    };
    let optimal_plans = match arguments.all {
        true => Some(list(machine, arguments.limit, &stop())?),
        false => None,
    };
    let has_several_roles = game.roles().len() > 1;
    let report = Report {
        game: game.name().to_owned(),
        has_several_roles,
        is_hidden: game.kind().hidden_information,
        has_chance: game.random().is_some(),
        plan,
        optimal_plans,
    };
    json_or_text(arguments.json, &report, print)
}

fn check(
    machine: &mut dyn StateMachine,
    role: RoleId,
    plan: &Plan,
    stop: &Stop,
) -> Result<Checked, Failure> {
    let Some(found) = plan_check::check(machine, role, plan, stop).map_err(failure)? else {
        return Err(Failure::usage(anyhow!(
            "the plan was not checked to its end: play can come to more than {MAX_POSITIONS} \
             states by it, or it takes longer than --time"
        )));
    };
    let line = |breach: &Breach| joint_moves(machine, &breach.line);
    Ok(Checked {
        role: machine.game().role_name(role).to_owned(),
        moves: None,
        steps: None,
        is_by_percepts: false,
        positions: found.n_positions,
        legal: found.illegal.is_none(),
        first_illegal: found.illegal.as_ref().map(|breach| Illegal {
            number: breach.line.len() + 1,
            text: breach.action.map(|id| in_words(machine, &[id]).concat()).unwrap_or_default(),
            legal: in_words(machine, &breach.legal),
            after: line(breach),
        }),
        complete: found.incomplete.is_none(),
        first_incomplete: found.incomplete.as_ref().map(line).filter(|line| !line.is_empty()),
        minimal: found.not_minimal.is_none(),
        first_not_minimal: found.not_minimal.as_ref().map(line).filter(|line| !line.is_empty()),
        sequential: None,
        optimal: found.optimal,
        reward: found.value,
        rewards: found.rewards.map(|rewards| (*rewards.start(), *rewards.end())),
    })
}

/// The role of this name; without one, the first that is not chance.
fn role_of(game: &Game, named: Option<&str>) -> Result<RoleId, Failure> {
    match named {
        Some(wanted) => typed_role::role(game, wanted),
        None => {
            let mut roles = game.role_ids().filter(|&role| Some(role) != game.random());
            roles.next().ok_or_else(|| Failure::usage(anyhow!("the game has no role but chance")))
        }
    }
}

/// Joint moves in words; none in a game of one role, where the plan says them.
fn joint_moves(machine: &dyn StateMachine, line: &[Vec<MoveId>]) -> Vec<String> {
    if machine.game().roles().len() == 1 {
        return Vec::new();
    }
    line.iter().map(|moves| format!("({})", in_words(machine, moves).join(" "))).collect()
}

fn list(machine: &mut dyn StateMachine, limit: usize, stop: &Stop) -> Result<Listed, Failure> {
    let found = plan::all_optimal(machine, limit, stop).map_err(|error| match error {
        PlayerFailure::Unsuitable(reason) => Failure::usage(anyhow!(
            "--all: {reason}; `gamemaster explain GAME --player conditional_planner --plan` \
             prints conditional plans"
        )),
        error => failure(error),
    })?;
    let plans = found.plans.iter().map(|moves| in_words(machine, moves)).collect();
    let OptimalPlans { reward, missing, .. } = found;
    Ok(Listed { reward, plans, are_all: missing.is_none(), missing })
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

/// A plan that cannot be checked is a wrong argument; broken rules are the rulesheet's fault.
fn failure(error: PlayerFailure) -> Failure {
    match error {
        PlayerFailure::Unsuitable(reason) => Failure::usage(anyhow!("{reason}")),
        PlayerFailure::Reasoning(error) => super::reasoning(error),
    }
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    write!(out, "{}", report.game)?;
    if let Some(Checked { role, steps, positions, .. }) = &report.plan
        && (steps.is_some() || report.has_several_roles)
    {
        let states = counted(*positions, "state", "states");
        write!(out, ", a plan of {role}: play can come to {states}, terminal ones included")?;
    }
    writeln!(out)?;
    if let Some(checked) = &report.plan {
        print_checked(out, checked, report)?;
    }
    report.optimal_plans.as_ref().map_or(Ok(()), |listed| print_listed(out, listed))
}

fn print_checked(out: &mut impl Write, checked: &Checked, report: &Report) -> io::Result<()> {
    if let Some(moves) = &checked.moves {
        let length = counted(moves.len(), "move", "moves");
        let plan = moves.iter().map(|text| format!("{text} ")).collect::<String>();
        writeln!(out, "  plan        {plan}({length})")?;
    }
    if let Some(steps) = checked.steps {
        let plan = match checked.is_by_percepts {
            true => counted(steps, "decision", "decisions"),
            false if steps == 1 => "a move for one state".to_owned(),
            false => format!("a move for each of {steps} states"),
        };
        writeln!(out, "  plan        {plan}")?;
    }
    let legal = match &checked.first_illegal {
        None => "yes".to_owned(),
        Some(Illegal { number, text, legal, after }) => {
            let legal = match &legal[..] {
                [] => "no move is legal there".to_owned(),
                [only] => format!("only {only} is legal there"),
                several => format!("legal moves there: {}", several.join(" ")),
            };
            let after = match &after[..] {
                [] => String::new(),
                after => format!(" after {}", after.join(" ")),
            };
            format!("no: move {number}, {text}, is not legal{after}; {legal}")
        }
    };
    writeln!(out, "  legal       {legal}")?;
    let yes_or_no = |holds: bool, line: &Option<Vec<String>>, what: &str| match (holds, line) {
        (true, _) => "yes".to_owned(),
        (false, None) => "no".to_owned(),
        (false, Some(line)) => format!("no: {what} after {}", line.join(" ")),
    };
    let complete = yes_or_no(checked.complete, &checked.first_incomplete, "the match goes on");
    writeln!(out, "  complete    {complete}")?;
    let minimal = yes_or_no(checked.minimal, &checked.first_not_minimal, "the match is over");
    writeln!(out, "  minimal     {minimal}")?;
    if let Some(sequential) = checked.sequential {
        writeln!(out, "  sequential  {}", if sequential { "yes" } else { "no" })?;
    }
    let optimal = match checked.optimal {
        Some(true) => "yes",
        Some(false) => "no",
        None if report.is_hidden => "unknown: a better plan may need to know what is hidden",
        None => "unknown; search longer with --time",
    };
    writeln!(out, "  optimal     {optimal}")?;
    match (checked.reward, checked.rewards) {
        (Some(_), Some((least, most))) if least == most => writeln!(out, "  reward      {least}"),
        (Some(reward), Some((least, most))) => {
            let guaranteed = format!("{reward:.2}");
            let guaranteed = guaranteed.trim_end_matches('0').trim_end_matches('.');
            let mean = if report.has_chance { " on average" } else { "" };
            writeln!(out, "  reward      {least} to {most}, {guaranteed} guaranteed{mean}")
        }
        (None, Some((least, most))) if checked.first_incomplete.is_some() => {
            let rewards =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            writeln!(out, "  reward      {rewards} where the match ends")
        }
        _ => writeln!(out, "  reward      none, since the last state is not terminal"),
    }
}

fn print_listed(out: &mut impl Write, listed: &Listed) -> io::Result<()> {
    let more = match listed.missing {
        None => "",
        Some(Missing::Limit) => "; list more with --limit",
        Some(Missing::Time) => "; search longer with --time",
        Some(Missing::States) => "; the game has too many states for this search",
        Some(Missing::LongPlans) => "; plans of more than 1,000 moves are not listed",
    };
    let Some(reward) = listed.reward else {
        return match listed.are_all {
            true => writeln!(out, "  no plan ends the match within 1,000 moves"),
            false => writeln!(out, "  no optimal plan was found{more}"),
        };
    };
    let n = listed.plans.len();
    match (n, listed.are_all) {
        (_, true) => write!(out, "  {}", counted(n, "optimal plan", "optimal plans"))?,
        (0, false) => write!(out, "  none of the optimal plans")?,
        (1, false) => write!(out, "  the first optimal plan")?,
        (n, false) => write!(out, "  the first {n} optimal plans")?,
    }
    writeln!(out, ", reward {reward}{more}")?;
    for plan in &listed.plans {
        writeln!(out, "  {}: {}", counted(plan.len(), "move", "moves"), plan.join(" "))?;
    }
    Ok(())
}
