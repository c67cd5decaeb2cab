//! Looking at games: what is shipped, what a rulesheet says, and what follows
//! from it.

mod bench;
mod budget;
mod environment;
mod info;
mod list;
mod plan;
mod rules;
mod state;
mod survey;
mod trace;
mod tree;
mod validate;
mod view;
mod walk;

use std::sync::Arc;

use clap::{Args, Subcommand};
use games::{Game, Guards, Prover, ReasoningError, StateMachine};

use crate::failure::{CommandResult, Failure};
use crate::game_source::{self, LoadedGame, Reading};

const EXAMPLES: &str = "\
Examples:
  gamemaster game list
  gamemaster game info connect_four
  gamemaster game rules tic_tac_toe
  gamemaster game validate my_game.kif --play
  gamemaster game state tic_tac_toe --moves '((mark 1 1) noop)'
  gamemaster game bench breakthrough --time 5s";

/// What to look at.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Command {
    /// List the shipped games.
    List(list::Arguments),
    /// Print the kind and the size of a game.
    Info(info::Arguments),
    /// Print the rules of a game, as they are written.
    Rules(rules::Arguments),
    /// Check rulesheets, and print all findings with their source lines.
    Validate(validate::Arguments),
    /// Print one state: facts, legal moves, goals, percepts.
    State(state::Arguments),
    /// Check a plan of one role, or list the optimal plans.
    Plan(plan::Arguments),
    /// Count the nodes of the game tree by depth, and list lines of play.
    Tree(tree::Arguments),
    /// Print the states of random or recorded playouts, as JSON lines.
    Trace(trace::Arguments),
    /// Measure how many states are computed per second.
    Bench(bench::Arguments),
    /// Compare the depth that a budget allows with the depth reached.
    Budget(budget::Arguments),
}

/// Carries out `gamemaster game ...`.
pub fn execute(command: &Command) -> CommandResult {
    match command {
        Command::List(arguments) => list::execute(arguments),
        Command::Info(arguments) => info::execute(arguments),
        Command::Rules(arguments) => rules::execute(arguments),
        Command::Validate(arguments) => validate::execute(arguments),
        Command::State(arguments) => state::execute(arguments),
        Command::Plan(arguments) => plan::execute(arguments),
        Command::Tree(arguments) => tree::execute(arguments),
        Command::Trace(arguments) => trace::execute(arguments),
        Command::Bench(arguments) => bench::execute(arguments),
        Command::Budget(arguments) => budget::execute(arguments),
    }
}

/// The game a command is about.
#[derive(Args, Debug)]
struct GameArgument {
    /// Path of a rulesheet, or the name of a shipped game
    #[arg(value_name = "GAME")]
    file: String,
    #[command(flatten)]
    reading: Reading,
}

impl GameArgument {
    fn load(&self) -> Result<LoadedGame, Failure> {
        game_source::load(&self.file, self.reading).map_err(Failure::game)
    }
}

/// The reasoner for a game, and its name.
fn machine(game: &Arc<Game>) -> Result<Box<dyn StateMachine>, Failure> {
    let machine = games::state_machine_for(Arc::clone(game), Guards::default());
    machine.map_err(reasoning)
}

/// The reasoner that works on the rules as written.
fn prover(game: &Arc<Game>) -> Result<Prover, Failure> {
    Prover::new(Arc::clone(game), Guards::default()).map_err(reasoning)
}

/// Rules that cannot be computed are the rulesheet's fault.
fn reasoning(error: ReasoningError) -> Failure {
    Failure::preflight(error)
}
