//! Why a player moves as it does: one decision, as a person wants to read it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use games::{
    Cancel, Guards, MoveId, ReasoningError, RoleId, State, StateMachine, state_machine_for,
};
use players::{Deliberation, Observation, Player, Seat, Stop, Turn};
use results::counted::counted;
use serde::Serialize;

use super::number::{nodes, whole_from};
use super::time_limits::play_clock;
use super::typed_facts::facts;
use super::typed_moves::follow;
use super::{plan_text, said, search_tree};
use crate::built_in;
use crate::exit_code;
use crate::explanation::{Explanation, Names};
use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, Reading};
use crate::human;
use crate::manager::PlayerSource;
use crate::output::{json_line, to_stdout};
use crate::spec::read_player;
use crate::typed_moves::Line;

const EXAMPLES: &str = "\
Examples:
  gamemaster explain tic_tac_toe --player alpha_beta
  gamemaster explain aima_two_ply --tree \\
      --player alpha_beta:deepening=false,transposition=0
  gamemaster explain connect_four --player monte_carlo --time 5s \\
      --moves '((drop 4) noop) (noop (drop 4))'
  gamemaster explain tic_tac_toe --player conditional_planner --plan
  gamemaster explain nim --player minimax --nodes 10000 --json

A joint move of --moves is a list of one move for each role, in the order of
the roles; for a single-role game, its parentheses are optional. The player
thinks about the state after these moves. In a game of hidden information it
gets only its own moves and its percepts. `at most` marks a bound: the search
ended for this move when it could not be the best. A line has the moves of the
roles that have a choice, or of all roles where none has.";

/// Arguments of `gamemaster explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Explain this built-in player, written as for `gamemaster play`
    #[arg(long)]
    player: String,
    /// Begin in the state in which exactly these facts are true
    #[arg(long, value_name = "FACTS")]
    state: Option<String>,
    /// Make these joint moves first
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,
    /// Think for this role [default: the first that has a choice, or else the first]
    #[arg(long)]
    role: Option<String>,
    /// Think for this time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = play_clock)]
    time: Duration,
    /// Think for N nodes (states) instead of a time
    #[arg(long, value_name = "N", value_parser = nodes)]
    nodes: Option<u64>,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Print the whole plan of a player that plans to the end
    #[arg(long)]
    plan: bool,
    /// Print the tree that was searched, with alpha and beta
    #[arg(long)]
    tree: bool,
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
    #[serde(flatten)]
    said: Option<Box<Explanation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Vec<plan_text::StepData>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<search_tree::Tree>,
}

/// Carries out `gamemaster explain`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let contestant = read_player(&arguments.player).map_err(Failure::usage)?;
    let PlayerSource::BuiltIn { kind, options } = &contestant.config.source else {
        return Err(Failure::usage(anyhow!(
            "--player {}: only built-in players can explain their moves",
            arguments.player
        )));
    };
    let mut game =
        game_source::load(&arguments.game, arguments.reading).map_err(Failure::game)?.game;
    if let Some(text) = &arguments.state {
        let facts = facts(&game, text)?;
        game =
            game_source::beginning_in(&game, &facts, arguments.reading).map_err(Failure::game)?;
    }
    if *kind == human::KIND.name {
        return Err(Failure::usage(anyhow!("--player human: a person plays in `gamemaster play`")));
    }
    let kind = built_in::find(kind).expect("a player that was read has a kind");
    let mut player = (kind.make)(options).map_err(Failure::usage)?;
    let shows_tree = arguments.tree || arguments.html.is_some() || arguments.dot.is_some();
    if shows_tree && !player.record_tree(search_tree::MAX_NODES) {
        return Err(Failure::usage(anyhow!(
            "--tree, --html, --dot: {} does not search a tree of states; minimax, alpha_beta and \
             compulsive_deliberation do",
            arguments.player
        )));
    }
    let mut machine =
        state_machine_for(Arc::clone(&game), Guards::default()).map_err(Failure::preflight)?;
    let start = machine.initial_state().map_err(Failure::preflight)?;
    let line = follow(&mut *machine, start, &arguments.moves)?;
    if machine.is_terminal(line.last()).map_err(Failure::preflight)? {
        return Err(Failure::usage(anyhow!("the state is terminal: there is no move to explain")));
    }
    for role in game.role_ids() {
        if legal(&mut *machine, line.last(), role)?.is_empty() {
            return Err(Failure::usage(anyhow!(
                "`{}` has no legal move in this state, and it is not terminal",
                game.role_name(role)
            )));
        }
    }
    let role = role(&mut *machine, line.last(), arguments.role.as_deref())?;
    let n_legal = legal(&mut *machine, line.last(), role)?.len();
    let (chosen, said) = decide(player, &*machine, arguments, role, &line)?;
    let mut names = GameNames(&*machine);
    let plan = said.plan.clone().filter(|_| arguments.plan);
    if arguments.plan && plan.is_none() {
        return Err(Failure::usage(anyhow!(
            "--plan: {} has no plan in this state; sequential_planner, random_then_plan and \
             conditional_planner make plans, if their time or nodes suffice",
            arguments.player
        )));
    }
    let tree = said.tree.as_ref().map(|tree| search_tree::Tree::of(tree, role, &mut names));
    let decided = Decided {
        game: game.name().to_owned(),
        player: contestant.config.id.clone(),
        role: names.role(role).to_owned(),
        step: line.joint_moves.len(),
        chosen: names.action(chosen).to_string(),
        n_legal,
        nodes: said.nodes,
        said: Explanation::of(said, &mut names),
        tree: tree.filter(|_| shows_tree),
        plan: plan
            .as_ref()
            .filter(|_| arguments.json)
            .map(|plan| plan_text::data(plan, &mut names)),
    };
    if let Some(tree) = &decided.tree {
        let title = format!("{}: {} as {}", decided.game, decided.player, decided.role);
        write_file(arguments.html.as_deref(), |out| search_tree::write_page(out, tree, &title))?;
        write_file(arguments.dot.as_deref(), |out| search_tree::write_dot(out, tree))?;
    }
    to_stdout(|stdout| {
        if arguments.json {
            json_line(stdout, &decided)?;
        } else {
            print(stdout, &decided)?;
            if let Some(tree) = decided.tree.as_ref().filter(|_| arguments.tree) {
                search_tree::print(stdout, tree)?;
            }
            if let Some(plan) = &plan {
                plan_text::print(stdout, plan, role, &mut names)?;
            }
        }
        Ok(exit_code::OK)
    })
}

/// Writes a file, if it was asked for.
fn write_file(
    path: Option<&Path>,
    write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let mut bytes = Vec::new();
    write(&mut bytes).and_then(|()| std::fs::write(path, bytes)).map_err(|error| {
        Failure::usage(
            anyhow::Error::new(error).context(format!("cannot write {}", path.display())),
        )
    })
}

fn print(out: &mut impl std::io::Write, decided: &Decided) -> std::io::Result<()> {
    let Decided { game, player, role, step, chosen, n_legal, nodes, said, .. } = decided;
    writeln!(out, "{game}, step {step}: {player} as {role}\n")?;
    let nodes = counted(*nodes, "node", "nodes");
    write!(out, "  move {chosen}  ({n_legal} legal, {nodes}")?;
    writeln!(out, "{})", said::found(said.as_deref()))?;
    match said {
        Some(said) => said::details(out, said, &mut |text| text.to_owned()),
        None => writeln!(out, "  the player gives no explanation"),
    }
}

/// What `role` observes of the step of this number.
fn observation(
    machine: &mut dyn StateMachine,
    line: &Line,
    role: RoleId,
    step: usize,
) -> Result<Observation, ReasoningError> {
    let joint_move = &line.joint_moves[step];
    if !machine.game().kind().hidden_information {
        return Ok(Observation::JointMove(joint_move.clone()));
    }
    let percepts = machine.percepts(&line.states[step], joint_move, role)?;
    Ok(Observation::Percepts { own_move: joint_move[usize::from(role.0)], percepts })
}

fn legal(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
) -> Result<Vec<MoveId>, Failure> {
    let mut moves = Vec::new();
    machine.legal_moves(state, role, &mut moves).map_err(Failure::preflight)?;
    Ok(moves)
}

/// The role that is asked for, or the first player's that has a choice.
fn role(
    machine: &mut dyn StateMachine,
    state: &State,
    named: Option<&str>,
) -> Result<RoleId, Failure> {
    let game = Arc::clone(machine.game());
    let name = |role| game.role_name(role);
    let roles = game.role_ids().filter(|&role| Some(role) != game.random());
    let Some(wanted) = named else {
        let mut first = None;
        for role in roles {
            if legal(machine, state, role)?.len() > 1 {
                return Ok(role);
            }
            first = first.or(Some(role));
        }
        return first.ok_or_else(|| Failure::usage(anyhow!("the game has no role for a player")));
    };
    roles.clone().find(|&role| name(role) == wanted).ok_or_else(|| {
        let known: Vec<&str> = roles.map(name).collect();
        Failure::usage(anyhow!("--role {wanted}: expected one of {}", known.join(", ")))
    })
}

/// Plays the line without thinking, and thinks at its end.
fn decide(
    mut player: Box<dyn Player>,
    machine: &dyn StateMachine,
    arguments: &Arguments,
    role: RoleId,
    line: &Line,
) -> Result<(MoveId, Deliberation), Failure> {
    let no_time = || {
        let cancel = Cancel::new();
        cancel.cancel();
        Stop::never().on(cancel)
    };
    let broken = |error: players::Failure| match error {
        players::Failure::Unsuitable(reason) => {
            Failure::usage(anyhow!("{} cannot play this game: {reason}", arguments.player))
        }
        players::Failure::Reasoning(error) => Failure::preflight(error),
    };
    let clock = Some(arguments.time).filter(|_| arguments.nodes.is_none());
    let (seed, mut referee) = (arguments.seed, machine.fork());
    let machine = machine.fork();
    let seat = Seat { machine, role, start_clock: clock, play_clock: clock, seed };
    player.start(seat, &no_time()).map_err(broken)?;
    let mut observation = None;
    for (step, state) in (0..).zip(&line.states) {
        let legal = &legal(&mut *referee, state, role)?;
        let turn = Turn { step, observation: observation.as_ref(), legal };
        if step as usize == line.joint_moves.len() {
            let stop = match arguments.nodes {
                Some(nodes) => Stop::never().after_nodes(nodes),
                None => Stop::never().at(Instant::now() + arguments.time),
            };
            let chosen = player.play(&turn, &stop).map_err(broken)?;
            return Ok((chosen, player.deliberation().unwrap_or_default()));
        }
        player.play(&turn, &no_time()).map_err(broken)?;
        let observed = self::observation(&mut *referee, line, role, step as usize);
        observation = Some(observed.map_err(Failure::preflight)?);
    }
    unreachable!("the last state of a line has no joint move")
}

/// The names of a game.
struct GameNames<'a>(&'a dyn StateMachine);

impl Names for GameNames<'_> {
    fn action(&mut self, id: MoveId) -> Arc<str> {
        self.0.move_expression(id).to_string().into()
    }

    fn role(&self, role: RoleId) -> &str {
        self.0.game().role_name(role)
    }
}
