//! Why the queue cannot be used.

use std::path::PathBuf;

use work_queue::ServerError;

/// Why the queue cannot be used, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The address is no address of a NATS server.
    #[error("`{url}` is not the address of a NATS server; expected nats://HOST:4222")]
    Address {
        /// The address, without a password.
        url: String,
    },
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A worker cannot write to its cache.
    #[error("cannot write to the cache `{}`; choose another with --cache", path.display())]
    Cache {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The server has no such run.
    #[error(
        "there is no run `{run}` in the queue at {url}; `gamemaster queue status` lists the runs"
    )]
    NoSuchRun {
        /// What was asked for.
        run: String,
        /// The address, without a password.
        url: String,
    },
    /// Somebody removed the run from the server, or the server lost its disk.
    #[error(
        "the run {run} is no longer on the server: it was removed from the queue, or the server lost \
         its disk; repeat the command to enqueue it again"
    )]
    Purged {
        /// The run's name in the queue.
        run: String,
    },
    /// A block whose results were refused again and again.
    #[error(
        "the results of block {block} were refused {n} times, the last time because {reason}; stop \
         the workers that sent them, remove the run with `gamemaster queue purge`, and repeat the \
         command"
    )]
    NoGoodResult {
        /// The block.
        block: u64,
        /// How often.
        n: u32,
        /// Why, the last time.
        reason: String,
    },
    /// A player that all workers would use at the same time.
    #[error(
        "player {player} has a url, and all workers would use it at the same time; give it a \
         command that workers launch"
    )]
    RemotePlayer {
        /// The player.
        player: String,
    },
    /// The file in the run's folder that names the run in the queue.
    #[error("cannot use `{}`", path.display())]
    RunFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// This machine lacks something.
    #[error("cannot start")]
    Machine(#[from] std::io::Error),
}

impl QueueError {
    /// Whether a coordinator that begins with it has requested nothing of the server.
    #[must_use]
    pub fn is_before_all_requests(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::Server(
                    ServerError::File { .. }
                        | ServerError::NoCertificate { .. }
                        | ServerError::Connect { .. }
                        | ServerError::NoJetStream { .. }
                )
                | Self::RemotePlayer { .. }
        )
    }
}
