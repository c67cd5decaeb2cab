//! Listing the built-in players.

use clap::Args;

use crate::cli::Outcome;

/// Arguments of `gamemaster players`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Carries out `gamemaster players`.
pub fn execute(_arguments: &Arguments) -> Outcome {
    Err(anyhow::anyhow!("run `players`: it is being built").into())
}
