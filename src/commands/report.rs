//! Reporting on a run.

use clap::Args;

use crate::cli::Outcome;

/// Arguments of `gamemaster report`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Carries out `gamemaster report`.
pub fn execute(_arguments: &Arguments) -> Outcome {
    Err(anyhow::anyhow!("run `report`: it is being built").into())
}
