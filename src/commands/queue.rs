//! Looking after the queue of a NATS server.

use clap::{Args, Subcommand};

use super::queue_options::ServerOptions;
use crate::failure::CommandResult;

/// `gamemaster queue ...`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show runs: what waits, what is in play, workers and when they were last seen.
    Status(StatusArguments),
    /// Ask all workers to finish what they play and to leave.
    Drain(DrainArguments),
    /// Remove runs from the queue; their folders stay as they are.
    Purge(PurgeArguments),
}

/// Arguments of `gamemaster queue status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Look at the queue of this NATS server
    #[arg(value_name = "nats://HOST:4222")]
    pub queue: String,
    /// How to reach the server.
    #[command(flatten)]
    pub server: ServerOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `gamemaster queue drain`.
#[derive(Debug, Args)]
pub struct DrainArguments {
    /// Ask the workers of this NATS server
    #[arg(value_name = "nats://HOST:4222")]
    pub queue: String,
    /// How to reach the server.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Arguments of `gamemaster queue purge`.
#[derive(Debug, Args)]
pub struct PurgeArguments {
    /// Remove runs from the queue of this NATS server
    #[arg(value_name = "nats://HOST:4222")]
    pub queue: String,
    /// Remove these runs, as `queue status` lists them (or give --all)
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Remove all runs
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// How to reach the server.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Carries out `gamemaster queue`.
#[cfg(not(feature = "queue"))]
pub fn execute(_command: &Command) -> CommandResult {
    Err(super::queue_options::no_queue())
}

/// Carries out `gamemaster queue`.
#[cfg(feature = "queue")]
pub fn execute(command: &Command) -> CommandResult {
    use std::io::Write as _;

    use results::counted::counted;

    use super::queue_options::failure;
    use crate::output::{json_line, to_stdout};
    use crate::queue::{drain, purge, status};

    match command {
        Command::Status(StatusArguments { queue, server, json }) => {
            let status = status(&server.server(queue)?).map_err(failure)?;
            to_stdout(|stdout| {
                if *json {
                    json_line(stdout, &status)?;
                } else {
                    write!(stdout, "{}", text::status(&status))?;
                }
                Ok(crate::exit_code::OK)
            })
        }
        Command::Drain(DrainArguments { queue, server }) => {
            let n = drain(&server.server(queue)?).map_err(failure)?;
            to_stdout(|stdout| {
                match n {
                    0 => writeln!(stdout, "No worker replied")?,
                    n => {
                        let workers = counted(n as u64, "worker", "workers");
                        writeln!(stdout, "Asked to leave after the blocks in play: {workers}")?;
                    }
                }
                Ok(crate::exit_code::OK)
            })
        }
        Command::Purge(PurgeArguments { queue, runs, all, server }) => {
            if runs.is_empty() && !all {
                return Err(crate::failure::Failure::usage(anyhow::anyhow!(
                    "name the runs to remove, or give --all; `gamemaster queue status` lists them"
                )));
            }
            let removed = purge(&server.server(queue)?, runs).map_err(failure)?;
            to_stdout(|stdout| {
                let n = counted(removed.len() as u64, "run", "runs");
                writeln!(stdout, "Removed {n}")?;
                removed.iter().try_for_each(|run| writeln!(stdout, "  {run}"))?;
                Ok(crate::exit_code::OK)
            })
        }
    }
}

/// A status as text.
#[cfg(feature = "queue")]
mod text {
    use std::fmt::Write as _;

    use results::counted::counted;

    use crate::queue::{IdleWorker, QueueStatus, RunStatus, WorkerStatus};

    /// Workers without a reply that are listed of a run, and workers without a run, at most.
    const MAX_LISTED: usize = 50;

    pub(super) fn status(status: &QueueStatus) -> String {
        let mut parts: Vec<String> =
            status.runs.iter().map(|(name, run)| text_of(name, run)).collect();
        if parts.is_empty() {
            parts.push("The queue has no run\n".to_owned());
        }
        if !status.idle.is_empty() {
            parts.push(idle(&status.idle));
        }
        parts.join("\n")
    }

    fn idle(workers: &[IdleWorker]) -> String {
        let mut text = "Workers without a run\n".to_owned();
        let width = workers.iter().map(|worker| worker.name.len()).max().unwrap_or(0).max(6);
        let _ = writeln!(text, "  {:width$}  {:>7}", "worker", "at once");
        for IdleWorker { name, at_once, tags } in workers.iter().take(MAX_LISTED) {
            let _ = writeln!(text, "  {name:width$}  {at_once:>7}{}", tags_of(tags));
        }
        text += &rest(workers.len(), "worker", "workers");
        text
    }

    fn tags_of(tags: &[String]) -> String {
        if tags.is_empty() { String::new() } else { format!("  {}", tags.join(",")) }
    }

    fn text_of(name: &str, run: &RunStatus) -> String {
        let RunStatus { n_waiting, n_in_play, n_results, n_unread, workers } = run;
        let mut text = format!(
            "{name}: {} waiting, {n_in_play} in play, {n_results} played, {n_unread} of them not \
             yet in the journal\n",
            counted(*n_waiting, "message", "messages")
        );
        let width = workers.iter().map(|worker| worker.name.len()).max().unwrap_or(0).max(6);
        if workers.is_empty() {
            text += "  no workers\n";
        } else {
            let _ = writeln!(
                text,
                "  {:width$}  {:>7}  {:>8}  {:>9}  {:>7}  {:>9}",
                "worker", "at once", "played", "blocks/s", "in hand", "last sign"
            );
        }
        let mut n_silent = 0;
        for worker in workers {
            n_silent += usize::from(worker.silent_s.is_some());
            if worker.silent_s.is_some() && n_silent > MAX_LISTED {
                continue;
            }
            if let Some(reason) = &worker.refusal {
                let _ =
                    writeln!(text, "  {:width$}  does not play this run: {reason}", worker.name);
                continue;
            }
            let WorkerStatus { at_once, n_blocks, blocks_per_second, n_held, .. } = worker;
            let sign = last_sign(worker.silent_s);
            // Its blocks may be with others by now.
            let held = if worker.silent_s.is_some() { "-" } else { &n_held.to_string() };
            let tags = tags_of(&worker.tags);
            let _ = writeln!(
                text,
                "  {:width$}  {at_once:>7}  {n_blocks:>8}  {blocks_per_second:>9.1}  {held:>7}  {sign:>9}{tags}",
                worker.name
            );
        }
        text + &rest(n_silent, "silent worker", "silent workers")
    }

    /// The line for those of `n` that are not listed.
    fn rest(n: usize, one: &str, many: &str) -> String {
        match n.saturating_sub(MAX_LISTED) {
            0 => String::new(),
            n => format!("  and {} more; --json has them all\n", counted(n as u64, one, many)),
        }
    }

    /// When a worker was last heard of.
    fn last_sign(silent_s: Option<u64>) -> String {
        let Some(seconds) = silent_s else { return "now".to_owned() };
        match seconds {
            0..60 => format!("{seconds} s ago"),
            60..3600 => format!("{} min ago", seconds / 60),
            _ => format!("{} h ago", seconds / 3600),
        }
    }
}
