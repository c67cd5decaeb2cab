//! Why a player moves as it does: one decision, as a person wants to read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use games::{Guards, MoveId, RoleId, State, StateMachine, state_machine_for};
use players::{Deliberation, Value};
use results::atomic_file;
use results::counted::counted;
use serde::Serialize;

use super::built_in_player::BuiltInPlayer;
use super::game_names::GameNames;
use super::number::{nodes, whole, whole_from};
use super::one_decision::{Decision, Question, decide, first_chooser, legal};
use super::output_files;
use super::piece_list::PieceList;
use super::possible_states::PossibleStates;
use super::time_limits::play_clock;
use super::typed_facts::{facts, no_legal_move};
use super::typed_moves::follow;
use super::typed_role;
use super::{plan_text, said, search_tree};
use crate::exit_code;
use crate::explanation::{Explanation, Names};
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::judgement::Judgement;
use crate::output::{json_line, to_stdout};

const EXAMPLES: &str = "\
Examples:
  gamemaster explain tic_tac_toe --player alpha_beta
  gamemaster explain aima_two_ply --tree \\
      --player alpha_beta:deepening=false,transposition=0
  gamemaster explain connect_four --player monte_carlo --time 5s \\
      --moves '((drop 4) noop) (noop (drop 4))'
  gamemaster explain tic_tac_toe --player conditional_planner --plan
  gamemaster explain kuhn_poker --player is_mcts --belief \\
      --moves '(noop noop (deal jack queen))'
  gamemaster explain kuhn_poker --player is_mcts --tree --tree-nodes 20 \\
      --moves '(noop noop (deal jack queen))'
  gamemaster explain los_alamos_chess \\
      --player alpha_beta:evaluation=learned:los_alamos_chess.evaluation.toml
  gamemaster explain nim --player minimax --nodes 10000 --json

A joint move of --moves is a list of one move for each role, in the order of the
roles; for a single-role game, its parentheses are optional. The player thinks
about the state after these moves. In a game of hidden information it gets only
its own moves and its percepts.

In the output, `at most` marks an upper bound: the search left a move as soon as
it could not be better than the best one. If the values of some moves are
proven, `estimate` marks the values of the others. Each step of a `line` shows
the moves of the roles that have a choice, or of all roles if none has one. A
line ends where chance decides, or where the transposition table was too full to
keep what follows. Of a line of more than 16 steps, the first 16 are printed,
and how many follow. The line of a plan shows the moves of all roles; --plan
prints the whole plan.

The line `judgement` puts the value into words, where 50 is even: lost (0 by
proof), losing (below 10), worse (below 30), slightly worse (below 45), even,
slightly better (above 55), better (above 70), winning (above 90), won (100 by
proof). Only a search to the end of the game, or the table of a solved game, is
a proof. Playouts prove nothing. Nor does a search in three cases: in a game of
hidden information; if it assumes that the other roles help the player
(`opponents=cooperative`) or play for themselves (`opponents=max_n`); and if it
meets simultaneous moves (there only `mcts` proves values). A move with fewer
than 20 playouts gets no judgement.";

/// Arguments of `gamemaster explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Explain this built-in player, written as for `gamemaster play`
    #[arg(long)]
    player: String,
    /// Begin in the state in which exactly these facts are true (not in games with hidden
    /// information: use --moves)
    #[arg(long, value_name = "FACTS")]
    state: Option<String>,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// Think for this role [default: the first that has a choice, or else the first]
    #[arg(long)]
    role: Option<String>,
    /// Let the player prepare for this time before the first step, as in a match (`mcts` learns
    /// an evaluation then)
    #[arg(long, value_name = "TIME", value_parser = play_clock)]
    start_clock: Option<Duration>,
    /// Think for this time
    #[arg(long, value_name = "TIME", default_value = "1s", conflicts_with = "nodes", value_parser = play_clock)]
    time: Duration,
    /// Think for N nodes (states) instead of a time
    #[arg(long, value_name = "N", value_parser = nodes)]
    nodes: Option<u64>,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Print the whole plan (sequential_planner, random_then_plan,
    /// conditional_planner, information_set_search)
    #[arg(long)]
    plan: bool,
    /// Write the decision with its plan to FILE as JSON, for `gamemaster game plan
    /// --conditional`
    #[arg(long, value_name = "FILE")]
    plan_file: Option<PathBuf>,
    /// Print the states that the player thinks possible, with their probabilities
    /// (determinization, information_set_search, is_mcts)
    #[arg(long)]
    belief: bool,
    /// Print the tree that was searched, with values (minimax, compulsive_deliberation,
    /// information_set_search), also with alpha and beta (alpha_beta), with means and
    /// visits (mcts, is_mcts), or with bounds and visits (incremental_deliberation)
    #[arg(long)]
    tree: bool,
    /// Show at most N nodes of the tree [default: 100000; of `mcts`, `is_mcts` and
    /// `incremental_deliberation`, the 100 that were visited most]
    #[arg(long, value_name = "N", conflicts_with_all = ["plan", "plan_file"],
          value_parser = whole::<usize>(1..=1_000_000))]
    tree_nodes: Option<usize>,
    /// Write that tree to FILE as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write that tree to FILE as a graph in DOT, for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A decision with the player's report.
#[derive(Serialize)]
struct Decided {
    game: String,
    player: String,
    role: String,
    step: usize,
    #[serde(rename = "move")]
    chosen: String,
    n_legal: usize,
    nodes: u64,
    /// The value in words.
    judgement: Option<Judgement>,
    #[serde(flatten)]
    said: Option<Box<Explanation>>,
    /// What pieces are worth by the learned evaluation that the player uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<PieceList>,
    #[serde(skip_serializing_if = "Option::is_none")]
    belief: Option<PossibleStates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<plan_text::StepData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<search_tree::Tree>,
}

/// Players that make plans.
const PLANNERS: [&str; 4] =
    ["sequential_planner", "random_then_plan", "conditional_planner", "information_set_search"];

/// Carries out `gamemaster explain`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let files = [
        ("--html", &arguments.html),
        ("--dot", &arguments.dot),
        ("--plan-file", &arguments.plan_file),
    ];
    let files = files.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?)));
    let game_file = ("the game", Path::new(&arguments.game));
    output_files::check(&files.collect::<Vec<_>>(), &[game_file])?;
    let why_not = "only players that compute their moves in gamemaster itself can explain \
                   them; use `gamemaster play` for a person, a program or a remote player";
    let asked = BuiltInPlayer::read(&arguments.player, why_not)?;
    let limits = asked.limits(arguments.start_clock, arguments.time, arguments.nodes)?;
    let mut game =
        game_source::load(&arguments.game, arguments.reading).map_err(Failure::game)?.game;
    if let Some(text) = &arguments.state {
        let facts = facts(&game, text)?;
        game =
            game_source::beginning_in(&game, &facts, arguments.reading).map_err(Failure::game)?;
    }
    let mut player = asked.make()?;
    let shows_tree = arguments.tree || arguments.html.is_some() || arguments.dot.is_some();
    if arguments.tree_nodes.is_some() && !shows_tree {
        return Err(Failure::usage(anyhow!("--tree-nodes: give --tree, --html or --dot, too")));
    }
    let wants_plan = arguments.plan || arguments.plan_file.is_some();
    let records = shows_tree || wants_plan;
    let is_recorded = records && player.record_tree(arguments.tree_nodes);
    if shows_tree && !is_recorded {
        return Err(Failure::usage(anyhow!(
            "{}: cannot print the tree of {}; use minimax, alpha_beta, compulsive_deliberation, \
             incremental_deliberation, information_set_search, mcts or is_mcts",
            given([("--tree", arguments.tree), ("--html", arguments.html.is_some())], "--dot"),
            arguments.player
        )));
    }
    if arguments.state.is_some() && game.kind().hidden_information {
        return Err(Failure::usage(anyhow!(
            "--state: the state of a game with hidden information does not say what each role has \
             seen; use --moves"
        )));
    }
    let mut machine =
        state_machine_for(Arc::clone(&game), Guards::default()).map_err(Failure::preflight)?;
    asked.check(&*machine)?;
    let start = machine.initial_state().map_err(Failure::preflight)?;
    let line = follow(&mut *machine, start, &arguments.moves)?;
    if machine.is_terminal(line.last()).map_err(Failure::preflight)? {
        return Err(Failure::usage(anyhow!("the state is terminal: there is no move to explain")));
    }
    for role in game.role_ids() {
        if legal(&mut *machine, line.last(), role)?.is_empty() {
            return Err(Failure::usage(anyhow!(no_legal_move(game.role_name(role)))));
        }
    }
    let role = role(&mut *machine, line.last(), arguments.role.as_deref())?;
    let n_legal = legal(&mut *machine, line.last(), role)?.len();
    let question =
        Question { role, line: &line, limits, seed: arguments.seed, player: &arguments.player };
    let Decision { chosen, said, belief, .. } = decide(player, &*machine, &question)?;
    let learned = asked.options().iter().find_map(|(_, value)| match value {
        Value::Learned(evaluation) => Some(evaluation),
        _ => None,
    });
    let pieces = learned.map(|it| PieceList::of(it, &mut *machine, arguments.seed));
    let pieces = pieces.transpose().map_err(Failure::preflight)?.flatten();
    let is_hidden = game.kind().hidden_information;
    let is_proven = !is_hidden && said.proven;
    let mut names = GameNames(&*machine);
    let plan = said.plan.clone().filter(|_| wants_plan);
    let percept_plan = said.belief_tree.as_deref().filter(|_| wants_plan);
    let percept_plan = percept_plan.and_then(plan_text::PerceptPlan::of);
    if wants_plan && plan.is_none() && percept_plan.is_none() {
        let player = &arguments.player;
        let why = match PLANNERS.contains(&asked.kind.name) {
            true if said.notes.is_empty() => {
                format!("{player} found no plan in this state; give it more --time or --nodes")
            }
            true => {
                let notes = said.notes.join("; ");
                let reason = notes.strip_prefix("no plan: ").unwrap_or(&notes);
                format!("{player} found no plan in this state: {reason}")
            }
            false => format!("{player} makes no plans; players that do: {}", PLANNERS.join(", ")),
        };
        let option = given([("--plan", arguments.plan)], "--plan-file");
        return Err(Failure::usage(anyhow!("{option}: {why}")));
    }
    let belief = belief.filter(|_| arguments.belief);
    if arguments.belief && belief.is_none() {
        return Err(no_belief(&arguments.player, asked.kind.name, is_hidden));
    }
    let tree = match (&said.tree, &said.belief_tree, &said.visit_tree, &said.bound_tree) {
        (Some(tree), ..) => Some(search_tree::Tree::of(tree, role, &mut names)),
        (_, Some(tree), ..) => Some(search_tree::of_beliefs(tree, role, &mut names)),
        (_, _, Some(tree), _) => Some(search_tree::of_visits(tree, role, &mut names)),
        (.., Some(tree)) => Some(search_tree::of_bounds(tree, role, &mut names)),
        _ => None,
    };
    if shows_tree && tree.is_none() {
        let option =
            given([("--tree", arguments.tree), ("--html", arguments.html.is_some())], "--dot");
        return Err(Failure::usage(anyhow!(
            "{option}: no tree was searched in this state: the role has a single legal move, a \
             table has the value, or time, nodes or memory did not suffice for a tree"
        )));
    }
    let decided = Decided {
        game: game.name().to_owned(),
        player: asked.contestant.config.id.clone(),
        role: names.role(role).to_owned(),
        step: line.joint_moves.len(),
        chosen: names.action(chosen).to_string(),
        n_legal,
        nodes: said.nodes,
        judgement: said
            .value
            .filter(|_| is_proven || has_weight(&said, chosen))
            .map(|value| Judgement::of(value, is_proven)),
        pieces,
        said: Explanation::of(said, &mut names),
        belief: belief.map(|belief| PossibleStates::of(&belief, &*machine)),
        tree: tree.filter(|_| shows_tree),
        plan: match (&plan, &percept_plan) {
            _ if !arguments.json && arguments.plan_file.is_none() => None,
            (Some(plan), _) => Some(plan_text::data(plan, &mut names)),
            (None, plan) => plan.as_ref().map(|plan| plan.data(&mut names)),
        },
    };
    if let Some(tree) = &decided.tree {
        let title = format!("{}: {} as {}", decided.game, arguments.player, decided.role);
        write_file(arguments.html.as_deref(), |out| search_tree::write_page(out, tree, &title))?;
        write_file(arguments.dot.as_deref(), |out| search_tree::write_dot(out, tree))?;
    }
    write_file(arguments.plan_file.as_deref(), |out| json_line(out, &decided))?;
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &decided)?;
        } else {
            print(stdout, &decided, &arguments.player)?;
            if let Some(belief) = &decided.belief {
                belief.print(stdout)?;
            }
            if let Some(tree) = decided.tree.as_ref().filter(|_| arguments.tree) {
                search_tree::print(stdout, tree)?;
            }
            if let Some(plan) = plan.as_ref().filter(|_| arguments.plan) {
                plan_text::print(stdout, plan, role, &mut names)?;
            }
            if let Some(plan) = percept_plan.as_ref().filter(|_| arguments.plan) {
                plan.print(stdout, role, &mut names)?;
            }
        }
        Ok(exit_code::OK)
    })
}

/// The first of these options that is given, or else `last`.
fn given<const N: usize>(options: [(&'static str, bool); N], last: &'static str) -> &'static str {
    options.into_iter().find_map(|(option, is_given)| is_given.then_some(option)).unwrap_or(last)
}

/// Playouts of a move from which its value is worth a judgement.
const ENOUGH_PLAYOUTS: u64 = 20;

/// Whether the value of the move is from a search or from enough playouts.
fn has_weight(said: &Deliberation, chosen: MoveId) -> bool {
    let mut candidates = said.candidates.iter();
    let n_visits = candidates.find(|it| it.action == chosen).map(|it| it.visits);
    said.playouts == 0 || n_visits.is_none_or(|n| n >= ENOUGH_PLAYOUTS)
}

/// Kinds of players that keep a belief.
const BELIEVERS: [&str; 3] = ["determinization", "information_set_search", "is_mcts"];

fn no_belief(player: &str, kind: &str, is_hidden: bool) -> Failure {
    let reason = match is_hidden {
        true if BELIEVERS.contains(&kind) => {
            format!("{player} found no state that explains what it saw")
        }
        true => format!("{player} keeps no belief; players that do: {}", BELIEVERS.join(", ")),
        false => "players see all of this game; nothing is hidden".to_owned(),
    };
    Failure::usage(anyhow!("--belief: {reason}"))
}

/// Writes a file, whole or not at all, if it was asked for; a pipe or device gets the bytes.
fn write_file(
    path: Option<&Path>,
    write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let mut bytes = Vec::new();
    let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
    write(&mut bytes)
        .and_then(|()| match is_file {
            true => atomic_file::replace(path, &bytes),
            false => std::fs::write(path, bytes),
        })
        .map_err(|error| Failure::cannot_write(path, error))
}

/// Prints a decision of `player`, as it was typed.
fn print(out: &mut impl std::io::Write, decided: &Decided, player: &str) -> std::io::Result<()> {
    let Decided { game, role, step, chosen, n_legal, nodes, said, .. } = decided;
    let after = counted(*step, "step", "steps");
    writeln!(out, "{game}, after {after}: {player} as {role}\n")?;
    let nodes = counted(*nodes, "node", "nodes");
    write!(out, "  move {chosen}  ({n_legal} legal, {nodes}")?;
    writeln!(out, "{})", said::found(said.as_deref()))?;
    if let Some(judgement) = decided.judgement {
        writeln!(out, "      judgement: {judgement}")?;
    }
    match said {
        Some(said) => {
            said::details(out, said, &mut |text| text.to_owned())?;
            let n_left = n_legal.saturating_sub(said.candidates.len());
            let is_proven = matches!(decided.judgement, Some(Judgement::Won));
            if is_proven && !said.candidates.is_empty() && n_left > 0 {
                let others = counted(n_left, "other move was", "other moves were");
                writeln!(out, "      {others} not searched: no value can be better")?;
            }
        }
        None if *n_legal == 1 => {
            writeln!(out, "  a single legal move: there is nothing to explain")?;
        }
        None => writeln!(out, "  the player gives no explanation")?,
    }
    decided.pieces.as_ref().map_or(Ok(()), |pieces| pieces.print(out, "      "))
}

/// The role that is asked for, or the first player's that has a choice.
fn role(
    machine: &mut dyn StateMachine,
    state: &State,
    named: Option<&str>,
) -> Result<RoleId, Failure> {
    match named {
        Some(wanted) => typed_role::role(machine.game(), wanted),
        None => first_chooser(machine, state),
    }
}
