//! Suites of positions: how many positions with known good moves a player gets right.

mod make;
mod run;

use clap::Subcommand;

use crate::failure::CommandResult;

const EXAMPLES: &str = "\
Examples:
  gamemaster suite run endgames --player alpha_beta --player random
  gamemaster suite make connect_four_4x4 --table c4.table --out c4.toml
  gamemaster suite run c4.toml --player mcts --play-clock 200ms";

/// What to do with a suite.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Command {
    /// Ask players for a move in each position of a suite.
    Run(run::Arguments),
    /// Make a suite from the tables of solved games.
    Make(make::Arguments),
}

/// Carries out `gamemaster suite ...`.
pub fn execute(command: &Command) -> CommandResult {
    match command {
        Command::Run(arguments) => run::execute(arguments),
        Command::Make(arguments) => make::execute(arguments),
    }
}
