//! Playing one match in view.

use clap::Args;

use crate::cli::Outcome;

/// Arguments of `gamemaster play`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Carries out `gamemaster play`.
pub fn execute(_arguments: &Arguments) -> Outcome {
    Err(anyhow::anyhow!("run `play`: it is being built").into())
}
