//! Looking at games: what is shipped, what a rulesheet says, and what follows
//! from it.

mod validate;

use clap::Subcommand;

use crate::cli::Outcome;

/// What to look at.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check rulesheets and draw all that was found in them.
    Validate(validate::Arguments),
}

/// Carries out `gamemaster game ...`.
pub fn execute(command: &Command) -> Outcome {
    match command {
        Command::Validate(arguments) => validate::execute(arguments),
    }
}
