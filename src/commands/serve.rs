//! Serving a built-in player.

use clap::Args;

use crate::cli::Outcome;

/// Arguments of `gamemaster serve`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Carries out `gamemaster serve`.
pub fn execute(_arguments: &Arguments) -> Outcome {
    Err(anyhow::anyhow!("run `serve`: it is being built").into())
}
