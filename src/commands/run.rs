//! Playing a whole experiment.

use clap::Args;

use crate::cli::Outcome;

/// Arguments of `gamemaster run`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Carries out `gamemaster run`.
pub fn execute(_arguments: &Arguments) -> Outcome {
    Err(anyhow::anyhow!("run `run`: it is being built").into())
}
