//! Between us and a launched program; not for users.

use clap::Args;

use crate::failure::CommandResult;
use crate::launch_limits::LaunchLimits;
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
    /// Bytes of memory that the program and its processes may hold.
    #[arg(long)]
    memory: Option<u64>,
    /// Processes that it may have at once.
    #[arg(long)]
    processes: Option<u32>,
    /// Cores that it may run on.
    #[arg(long)]
    cpus: Option<u32>,
    /// The first of these cores.
    #[arg(long, default_value_t = 0)]
    first_cpu: u32,
    /// Program and its arguments.
    #[arg(last = true, required = true)]
    words: Vec<String>,
}

/// Carries out `gamemaster supervise`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let Arguments { parent, socket, enter, memory, processes, cpus, first_cpu, ref words } =
        *arguments;
    let limits = LaunchLimits { memory, processes, cpus };
    Ok(run(&Supervised { parent, socket, enter, limits, first_cpu, words: words.clone() }))
}
