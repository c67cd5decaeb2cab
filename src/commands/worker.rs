//! Playing matches for a coordinator.

use std::path::PathBuf;

use clap::Args;

use super::number::whole;
use super::queue_options::{ServerOptions, tag};
use crate::failure::CommandResult;

const EXAMPLES: &str = "\
Examples:
  gamemaster worker --queue nats://HOST:4222
      play matches of built-in players, one on each core
  gamemaster worker --queue nats://HOST:4222 --players-dir players
      launch players by their commands, in the folder `players`

A worker joins every run of the queue. On Ctrl-C or SIGTERM it finishes the
blocks in play, gives the others back, and leaves. Without --players-dir it
launches no programs. With --players-dir, anyone who can write to the queue can
run programs on this machine.

Exit codes:
  0    it was asked to leave
  1    internal error, or a server that refuses requests
  2    invalid arguments";

/// Arguments of `gamemaster worker`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Take blocks of matches from this NATS server
    #[arg(long, value_name = "nats://HOST:4222")]
    pub queue: String,
    /// Play N matches at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=1024))]
    pub jobs: Option<u32>,
    /// Allow players that have a `command`, and run their commands in this folder
    #[arg(long, value_name = "DIR")]
    pub players_dir: Option<PathBuf>,
    /// State what this machine has, such as cpu=zen4,python
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub tags: Vec<String>,
    /// Call this worker NAME in journals [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Keep rulesheets in this folder [default: ~/.cache/gamemaster]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// How to reach the server.
    #[command(flatten)]
    pub server: ServerOptions,
    /// Print errors only
    #[arg(long)]
    pub quiet: bool,
}

/// Carries out `gamemaster worker`.
#[cfg(not(feature = "queue"))]
pub fn execute(_arguments: &Arguments) -> CommandResult {
    Err(super::queue_options::no_queue())
}

/// Carries out `gamemaster worker`.
#[cfg(feature = "queue")]
pub fn execute(arguments: &Arguments) -> CommandResult {
    use std::io::Write as _;

    use anyhow::Context as _;

    use super::queue_options::failure;
    use crate::failure::Failure;
    use crate::interrupt::on_interrupt;
    use crate::queue::{WorkerSettings, WorkerStop, work};

    let name = arguments.name.clone().unwrap_or_else(host_name);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if name.is_empty() || name.len() > 60 || !name.chars().all(plain) {
        return Err(Failure::usage(anyhow::anyhow!(
            "--name {name:?}: use letters, digits, `_` and `-`, 60 at most"
        )));
    }
    let cache = arguments.cache.clone().or_else(default_cache);
    let cache = cache.unwrap_or_else(|| std::env::temp_dir().join("gamemaster"));
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let cache = absolute(cache);
    let server = arguments.server.server(&arguments.queue)?;
    if let Some(folder) = &arguments.players_dir {
        // Commands name files below it, as they name files below the folder of a run.
        std::env::set_current_dir(folder)
            .with_context(|| format!("cannot use the folder `{}`", folder.display()))
            .map_err(Failure::usage)?;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = WorkerSettings {
        server,
        name,
        at_once: arguments.jobs.unwrap_or_else(|| u32::try_from(cores).unwrap_or(u32::MAX)),
        launches: arguments.players_dir.is_some(),
        tags: arguments.tags.clone(),
        logs: cache.join("logs"),
        cache: cache.join("rulesheets"),
    };
    let stop = WorkerStop::default();
    let drain = stop.clone();
    on_interrupt(move || drain.drain()).context("cannot listen for interrupts")?;
    let is_quiet = arguments.quiet;
    let mut say = |news: crate::queue::WorkerNews| {
        if !is_quiet {
            // A closed terminal does not stop the worker.
            let _ = writeln!(std::io::stderr().lock(), "{news}");
        }
    };
    work(&settings, &stop, &mut say).map_err(failure)?;
    Ok(crate::exit_code::OK)
}

/// The name of the machine, up to its domain.
#[cfg(feature = "queue")]
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().split('.').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(60).map(plain).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

#[cfg(feature = "queue")]
fn default_cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = folder("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".cache")));
    Some(cache?.join("gamemaster"))
}
