//! Looking at games.

use clap::Subcommand;

use crate::cli::Outcome;

/// What to look at.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the shipped games.
    List {},
}

/// Carries out `gamemaster game ...`.
pub fn execute(command: &Command) -> Outcome {
    match command {
        Command::List {} => Err(anyhow::anyhow!("list: it is being built").into()),
    }
}
