//! What a worker has to say to its user.

use results::counted::counted;
use work_queue::{Client, LinkNews, ServerError};

use crate::event::Notice;

/// `finishing 2 blocks`.
fn finishing(n: u32) -> String {
    match n {
        0 => "leaving: no block in play".to_owned(),
        n => format!("finishing {}", counted(u64::from(n), "block", "blocks")),
    }
}

/// `; other workers get the 2 blocks in hand`.
fn abandoned(n: u64) -> String {
    match n {
        0 => String::new(),
        n => format!("; other workers get the {} in hand", counted(n, "block", "blocks")),
    }
}

/// What a worker has to say. Its text is the line that a user reads.
#[derive(Debug, thiserror::Error)]
pub enum WorkerNews {
    /// It waits for runs.
    #[error("worker {name} at {url}: {}", counted(u64::from(*at_once), "match at once", "matches at once"))]
    Connected {
        /// Its name.
        name: String,
        /// The server.
        url: String,
        /// Matches at once.
        at_once: u32,
    },
    /// There is no connection, and it tries again.
    #[error("{0}; trying again")]
    Unreachable(ServerError),
    /// The connection is lost, or there again.
    #[error("{0}")]
    Link(Notice),
    /// It plays a run.
    #[error("run {run}: joined")]
    Joined {
        /// The run.
        run: String,
    },
    /// It does not play a run.
    #[error("run {run}: not played here: {reason}")]
    NotPlayed {
        /// The run.
        run: String,
        /// Why.
        reason: String,
    },
    /// A run is over.
    #[error("run {run}: over, {} played here", counted(*n_blocks, "block", "blocks"))]
    Over {
        /// The run.
        run: String,
        /// Blocks that were played here.
        n_blocks: u64,
    },
    /// A block is none.
    #[error("run {run}: a block was refused: {reason}")]
    BadBlock {
        /// The run.
        run: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The coordinator refused results.
    #[error("run {run}: the coordinator refused results of this worker: {reason}")]
    ResultRefused {
        /// The run.
        run: String,
        /// Why.
        reason: String,
    },
    /// It finishes what it plays.
    #[error("{}", finishing(*n))]
    Draining {
        /// Blocks in play.
        n: u32,
    },
    /// It leaves although the server does not store its results.
    #[error("leaving: the server does not store results{}", abandoned(*n))]
    Unstored {
        /// Blocks that it has.
        n: u64,
    },
    /// It leaves although the server does not reply.
    #[error("leaving without a reply of the server{}", abandoned(*n))]
    Abandoned {
        /// Blocks that it has.
        n: u64,
    },
}

/// What is new of the connection to a server.
pub(super) fn notice(client: &Client, news: LinkNews) -> Notice {
    let url = client.url();
    match news {
        LinkNews::Lost => Notice::ServerLost { url },
        LinkNews::Back => Notice::ServerBack { url },
        LinkNews::Refused(reason) => Notice::ServerRefuses { url, reason },
    }
}
