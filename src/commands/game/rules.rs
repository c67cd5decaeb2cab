//! `gamemaster game rules`: the text of a rulesheet.

use std::io::Write;

use clap::Args;

use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::GameSource;
use crate::output::to_stdout;

const EXAMPLES: &str = "\
Examples:
  gamemaster game rules tic_tac_toe
  gamemaster game rules connect_four > my_game.kif";

/// Arguments of `gamemaster game rules`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    #[arg(value_name = "GAME")]
    file: String,
}

/// Carries out `gamemaster game rules`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let source = GameSource::find(&arguments.file).map_err(Failure::game)?;
    to_stdout(|stdout| {
        stdout.write_all(source.text.as_bytes())?;
        Ok(exit_code::OK)
    })
}
