//! `gamemaster game budget`: how deep a search can look with the time that it has.

mod arithmetic;

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{Game, Guards, state_machine_for};
use players::{Deliberation, Value};
use results::counted::counted;
use serde::Serialize;

use self::arithmetic::{Power, Tree, in_years};
use super::survey::{Limits, Survey, survey};
use super::walk::Walker;
use super::{machine, reasoning};
use crate::commands::built_in_player::BuiltInPlayer;
use crate::commands::number::{nodes, number, whole};
use crate::commands::one_decision::{self, Decision, Question, decide, first_chooser, legal};
use crate::commands::time_limits::play_clock;
use crate::commands::typed_moves::follow;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster game budget connect_four --player alpha_beta --time 5s
  gamemaster game budget breakthrough --nodes 100000 --json
  gamemaster game budget --branching 35 --length 100 \\
      --nodes-per-second 10000 --time 100s
  gamemaster game budget --branching 20 --outcomes 21 --depth 4 \\
      --nodes-per-second 10000

A tree with b moves in each state has about b^d nodes down to depth d, so N
nodes suffice for depth log N / log b. With the best order of moves, alpha-beta
visits b^(d/2) of them, and looks twice as far. If one of n outcomes of chance
comes between two moves, there are b^d n^(d-1) nodes, and even the best order of
moves does not give twice the depth (see `game tree --prune`).

With a game, b and m (its length) are means of 50 random playouts, and the
player searches once, from the state after --moves. The budget is --nodes, or
the nodes that fit into --time at the speed of this search on this machine.
With --time, `positions` is the number of states computed per second of CPU
time. It includes states that were computed and then found in the transposition
table, which do not count as nodes. Given numbers replace measured ones. A
search can go deeper than b^(d/2) predicts if it finds states in its
transposition table, or extends forced lines.";

/// Arguments of `gamemaster game budget`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    #[arg(value_name = "GAME")]
    file: Option<String>,
    #[command(flatten)]
    reading: Reading,
    /// Let this built-in player search, written as for `gamemaster play`
    #[arg(long, default_value = "alpha_beta")]
    player: String,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// Search for this time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = play_clock)]
    time: Duration,
    /// Search N nodes (states) instead of a time
    #[arg(long, value_name = "N", value_parser = nodes)]
    nodes: Option<u64>,
    /// Assume this speed
    #[arg(long, value_name = "R", value_parser = above_zero)]
    nodes_per_second: Option<f64>,
    /// Assume B moves in each state
    #[arg(long, value_name = "B", value_parser = from_one)]
    branching: Option<f64>,
    /// Put N equally likely outcomes of chance between two moves
    #[arg(long, value_name = "N", value_parser = from_one, conflicts_with = "file")]
    outcomes: Option<f64>,
    /// Print how many nodes there are to depth D
    #[arg(long, value_name = "D", value_parser = whole::<u32>(1..=10_000))]
    depth: Option<u32>,
    /// Assume a game of M steps
    #[arg(long, value_name = "M", value_parser = above_zero)]
    length: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn above_zero(text: &str) -> Result<f64, String> {
    let wanted = "expected a number above 0";
    number(text).ok().filter(|it| it.is_finite() && *it > 0.0).ok_or_else(|| wanted.to_owned())
}

fn from_one(text: &str) -> Result<f64, String> {
    let wanted = "expected a number from 1";
    number(text).ok().filter(|it| it.is_finite() && *it >= 1.0).ok_or_else(|| wanted.to_owned())
}

/// What is computed, and from what.
#[derive(Serialize)]
struct Budget {
    game: Option<String>,
    /// Moves in a state.
    branching: f64,
    /// Steps of the game, if that is known.
    length: Option<f64>,
    /// Outcomes of chance between two moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<f64>,
    /// States for the search.
    nodes: u64,
    nodes_per_second: Option<f64>,
    /// Depth for which the nodes suffice, if each state of it is visited; none if there is
    /// never a choice.
    depth: Option<f64>,
    /// Depth for which they suffice with the best order of moves.
    depth_best_order: Option<f64>,
    search: Option<Search>,
    /// All nodes to a depth that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_depth: Option<ToDepth>,
    /// All nodes of the game.
    whole: Option<Whole>,
    /// Those that remain with the best order of moves.
    whole_best_order: Option<Whole>,
    /// Where the numbers come from.
    #[serde(skip)]
    origin: Origin,
    /// The search had a time and not a number of nodes.
    #[serde(skip)]
    is_timed: bool,
}

/// Which numbers were given.
struct Origin {
    branching: &'static str,
    length: &'static str,
    speed: String,
}

/// A search that was made.
#[derive(Serialize)]
struct Search {
    player: String,
    nodes: u64,
    seconds: f64,
    /// States computed, with those that the table then answered, which are no nodes.
    positions: u64,
    /// CPU time of the thread that searched.
    cpu_seconds: f64,
    /// None if other threads searched, too.
    positions_per_cpu_second: Option<f64>,
    /// Depth of the last finished iteration.
    depth: u32,
    /// Deepest level.
    selective_depth: u32,
    completed: bool,
    /// The branching factor of a full tree with as many nodes and this depth.
    effective_branching: Option<f64>,
}

/// A tree down to some depth.
#[derive(Serialize)]
struct ToDepth {
    depth: u32,
    #[serde(flatten)]
    whole: Whole,
}

/// A tree to its end.
#[derive(Serialize)]
struct Whole {
    nodes_log10: f64,
    years_log10: Option<f64>,
}

/// Carries out `gamemaster game budget`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let budget = match &arguments.file {
        Some(file) => {
            let game = game_source::load(file, arguments.reading).map_err(Failure::game)?.game;
            of_game(&game, arguments)?
        }
        None => of_numbers(arguments)?,
    };
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &budget)?;
        } else {
            print(stdout, &budget)?;
        }
        Ok(exit_code::OK)
    })
}

fn of_numbers(arguments: &Arguments) -> Result<Budget, Failure> {
    if !arguments.moves.is_empty() {
        return Err(Failure::usage(anyhow!("--moves: give a game to make them in")));
    }
    let (branching, speed) = match (arguments.branching, arguments.nodes_per_second) {
        (Some(branching), Some(speed)) => (branching, speed),
        (branching, speed) => {
            return Err(Failure::usage(anyhow!(match (branching, speed) {
                (Some(_), _) => "--branching: give --nodes-per-second, too, or a game",
                (_, Some(_)) => "--nodes-per-second: give --branching, too, or a game",
                _ => "give a game, or --branching and --nodes-per-second",
            })));
        }
    };
    let nodes = arguments.nodes.unwrap_or((speed * arguments.time.as_secs_f64()) as u64).max(1);
    let given = "given";
    let origin = Origin { branching: given, length: given, speed: given.to_owned() };
    let known = Known { branching, length: arguments.length, nodes, speed: Some(speed) };
    Ok(Budget::new(known, origin, arguments))
}

fn of_game(game: &Arc<Game>, arguments: &Arguments) -> Result<Budget, Failure> {
    let player = BuiltInPlayer::read(&arguments.player, NO_SEARCH)?;
    let limits = player.limits(None, arguments.time, arguments.nodes)?;
    let search = search(game, &player, limits, arguments)?;
    let survey: Survey =
        survey(&mut Walker::new(machine(game)?), &Limits::USUAL).map_err(reasoning)?;
    let measured = survey.branching.map(|spread| spread.mean);
    let branching = arguments.branching.or(measured).ok_or_else(|| {
        Failure::usage(anyhow!("random play meets no state with a move; give --branching"))
    })?;
    let length = arguments.length.or(survey.length.map(|spread| spread.mean));
    let of = |is_given| if is_given { "given" } else { "mean of 50 random playouts" };
    // Of a search whose nodes are given, only a given speed is known to matter.
    let measured = || limits.nodes.is_none().then(|| search.nodes as f64 / search.seconds);
    let speed = arguments.nodes_per_second.or_else(measured);
    let origin = Origin {
        branching: of(arguments.branching.is_some()),
        length: of(arguments.length.is_some()),
        speed: match arguments.nodes_per_second {
            Some(_) => "given".to_owned(),
            None => format!("{}, measured", search.player),
        },
    };
    // A search that is complete left a part of its budget unused.
    let allowed = limits
        .nodes
        .or(speed.map(|speed| (speed * limits.time.as_secs_f64()) as u64))
        .filter(|_| search.completed);
    let nodes = allowed.map_or(search.nodes, |allowed| allowed.max(search.nodes));
    let known = Known { branching, length, nodes, speed };
    let budget = Budget::new(known, origin, arguments);
    let is_timed = limits.nodes.is_none();
    Ok(Budget { game: Some(game.name().to_owned()), search: Some(search), is_timed, ..budget })
}

const NO_SEARCH: &str = "expected a built-in player that searches";

/// Lets the player search once.
fn search(
    game: &Arc<Game>,
    player: &BuiltInPlayer,
    limits: one_decision::Limits,
    arguments: &Arguments,
) -> Result<Search, Failure> {
    let mut machine =
        state_machine_for(Arc::clone(game), Guards::default()).map_err(Failure::preflight)?;
    let start = machine.initial_state().map_err(Failure::preflight)?;
    let line = follow(&mut *machine, start, &arguments.moves)?;
    if machine.is_terminal(line.last()).map_err(Failure::preflight)? {
        return Err(Failure::usage(anyhow!("the state is terminal: there is nothing to search")));
    }
    player.check(&*machine)?;
    let role = first_chooser(&mut *machine, line.last())?;
    let question = Question { role, line: &line, limits, seed: 1, player: &arguments.player };
    let begun = Instant::now();
    let Decision { said, cpu_seconds, .. } = decide(player.make()?, &*machine, &question)?;
    let seconds = begun.elapsed().as_secs_f64();
    if legal(&mut *machine, line.last(), role)?.len() < 2 {
        return Err(Failure::usage(anyhow!(
            "no player has a choice in this state; give --moves that lead to one"
        )));
    }
    if said.nodes == 0 {
        return Err(Failure::usage(anyhow!("--player {}: {NO_SEARCH}", player.text)));
    }
    // The depth of playouts is a mean, and no power of it is the number of nodes.
    let effective = (said.depth > 0 && said.nodes > 1 && said.playouts == 0)
        .then(|| (said.nodes as f64).powf(1.0 / f64::from(said.depth)));
    Ok(Search {
        player: player.contestant.config.id.clone(),
        nodes: said.nodes,
        seconds,
        positions: said.next_calls,
        cpu_seconds,
        positions_per_cpu_second: (cpu_seconds > 0.0 && searches_alone(player, &said))
            .then(|| said.next_calls as f64 / cpu_seconds),
        depth: said.depth,
        selective_depth: said.selective_depth,
        completed: said.completed,
        effective_branching: effective,
    })
}

/// Whether the player searches on the thread that asks it, and on no other. One that solves on a
/// thread of its own counts no positions.
fn searches_alone(player: &BuiltInPlayer, said: &Deliberation) -> bool {
    let mut options = player.options().iter();
    said.next_calls + 1 >= said.nodes
        && options.all(|(name, value)| name != "threads" || *value == Value::Integer(1))
}

/// What a budget is computed from.
struct Known {
    branching: f64,
    length: Option<f64>,
    nodes: u64,
    speed: Option<f64>,
}

impl Budget {
    fn new(known: Known, origin: Origin, arguments: &Arguments) -> Self {
        let Known { branching, length, nodes, speed } = known;
        let outcomes = arguments.outcomes;
        let tree = Tree { branching, outcomes: outcomes.unwrap_or(1.0) };
        let depth = tree.depth(nodes as f64);
        let whole = |nodes: Power| {
            let years_log10 = speed.map(|speed| in_years(nodes, speed).log10());
            Whole { nodes_log10: nodes.log10(), years_log10 }
        };
        // A roll of dice cannot be ordered, so that there is no such bound below it.
        let is_ordered = outcomes.is_none();
        Self {
            game: None,
            branching,
            length,
            outcomes,
            nodes,
            nodes_per_second: speed,
            depth,
            depth_best_order: depth.filter(|_| is_ordered).map(|depth| 2.0 * depth),
            search: None,
            to_depth: arguments
                .depth
                .map(|depth| ToDepth { depth, whole: whole(tree.nodes(f64::from(depth))) }),
            whole: length.map(|length| whole(tree.nodes(length))),
            whole_best_order: length
                .filter(|_| is_ordered)
                .map(|length| whole(tree.nodes(length / 2.0))),
            origin,
            is_timed: false,
        }
    }

    /// Positions in a second of CPU time. With a number of nodes the output is the same on every
    /// machine, so that it has no measured speed.
    fn measured_positions(&self) -> Option<f64> {
        self.search.as_ref().filter(|_| self.is_timed)?.positions_per_cpu_second
    }
}

fn print(out: &mut impl Write, budget: &Budget) -> io::Result<()> {
    let Budget { game, branching, length, nodes, nodes_per_second, origin, .. } = budget;
    match game {
        Some(game) => writeln!(out, "{game}, what a budget allows")?,
        None => writeln!(out, "what a budget allows")?,
    }
    let mut row = |label: &str, text: String| writeln!(out, "  {label:12} {text}");
    row("b", format!("{branching:.2} moves in each state, {}", origin.branching))?;
    if let Some(length) = length {
        row("m", format!("{length:.1} steps, {}", origin.length))?;
    }
    if let Some(outcomes) = budget.outcomes {
        row("n", format!("{outcomes:.2} outcomes of chance between two moves, given"))?;
    }
    if let Some(speed) = nodes_per_second {
        row("speed", format!("{speed:.0} nodes/s, {}", origin.speed))?;
    }
    if let Some(speed) = budget.measured_positions() {
        let what = "those found in the transposition table included";
        row("positions", format!("{speed:.0}/s of CPU time, {what}"))?;
    }
    let used = budget.search.as_ref().filter(|search| search.nodes < *nodes);
    let used = used.map(|search| format!(" ({} used: the search is complete)", search.nodes));
    row("budget", counted(nodes, "node", "nodes") + &used.unwrap_or_default())?;
    let any = || "any depth: there is never a choice".to_owned();
    let [to_depth, to_end] = match budget.outcomes {
        Some(_) => ["b^d n^(d-1)", "b^m n^(m-1)"],
        None => ["b^d", "b^m"],
    };
    let found = budget.depth.map_or_else(any, |depth| format!("depth {depth:.1}"));
    row(to_depth, format!("{found}, if each state is visited"))?;
    if let Some(depth) = budget.depth_best_order {
        row("b^(d/2)", format!("depth {depth:.1}, with the best order of moves"))?;
    }
    if let Some(ToDepth { depth, whole }) = &budget.to_depth {
        row(&format!("depth {depth}"), whole.to_string())?;
    }
    if let Some(search) = &budget.search {
        let Search { player, depth, selective_depth, completed, effective_branching, .. } = search;
        let mut words = format!("depth {depth} by {player}");
        if selective_depth > depth {
            words += &format!(", deepest level {selective_depth}");
        }
        if let Some(branching) = effective_branching {
            words += &format!(", effective branching factor {branching:.2}");
        }
        if *completed && search.nodes == *nodes {
            words += ", and the search is complete";
        }
        row("reached", words)?;
    }
    if let Some(whole) = &budget.whole {
        row(to_end, format!("{whole}, for the whole game"))?;
    }
    if let Some(whole) = &budget.whole_best_order {
        row("b^(m/2)", format!("{whole}, with the best order of moves"))?;
    }
    Ok(())
}

/// `10^154.4 nodes in 10^142.9 years`.
impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&nodes_in_words(self.nodes_log10))?;
        self.years_log10.map_or(Ok(()), |years| write!(f, " in {}", duration(years)))
    }
}

/// `5478 nodes`, or `10^40.1 nodes`.
fn nodes_in_words(log10: f64) -> String {
    if log10 < 12.0 {
        counted(10f64.powf(log10).round() as u64, "node", "nodes")
    } else {
        format!("10^{log10:.1} nodes")
    }
}

/// A number of years, or a shorter time in its own unit.
fn duration(years_log10: f64) -> String {
    if years_log10 >= 6.0 {
        return format!("10^{years_log10:.1} years");
    }
    let years = 10f64.powf(years_log10);
    let seconds = years * arithmetic::SECONDS_A_YEAR;
    match seconds {
        _ if years >= 1.0 => format!("{years:.0} years"),
        _ if seconds >= 86_400.0 => format!("{:.1} days", seconds / 86_400.0),
        _ if seconds >= 3600.0 => format!("{:.1} hours", seconds / 3600.0),
        _ if seconds >= 60.0 => format!("{:.1} minutes", seconds / 60.0),
        _ => format!("{seconds:.2} s"),
    }
}
