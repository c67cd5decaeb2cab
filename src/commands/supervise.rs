//! Between us and a launched program; not for users.

use clap::Args;

use crate::failure::CommandResult;
use crate::supervisor::{Supervised, run};

/// Arguments of `gamemaster supervise`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Process that must live for the program to live.
    #[arg(long)]
    parent: i32,
    /// Hand standard input, a listening socket, to the program.
    #[arg(long)]
    socket: bool,
    /// Become the program instead of supervising it.
    #[arg(long)]
    enter: bool,
    /// Program and its arguments.
    #[arg(last = true, required = true)]
    words: Vec<String>,
}

/// Carries out `gamemaster supervise`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let Arguments { parent, socket, enter, ref words } = *arguments;
    Ok(run(&Supervised { parent, socket, enter, words: words.clone() }))
}
