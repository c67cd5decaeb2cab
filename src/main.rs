//! The `gamemaster` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    gamemaster::cli::main()
}
