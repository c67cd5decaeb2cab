//! Settings of a worker, and how it is asked to leave.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use work_queue::Server;

/// Settings of a worker.
#[derive(Clone)]
pub struct WorkerSettings {
    /// The server with the queue.
    pub server: Server,
    /// The worker's name in journals: letters, digits, `_` and `-`.
    pub name: String,
    /// Matches at once.
    pub at_once: u32,
    /// Whether players with a `command` are launched. Then anyone who can write to the
    /// queue may run programs here.
    pub launches: bool,
    /// What this machine has.
    pub tags: Vec<String>,
    /// Folder for rulesheets.
    pub cache: PathBuf,
    /// Folder for the standard error of launched players.
    pub logs: PathBuf,
}

/// Asks a worker to finish what it plays and to leave, from any thread.
#[derive(Clone, Default)]
pub struct WorkerStop(Arc<(AtomicBool, Notify)>);

impl WorkerStop {
    /// From now on the worker takes no blocks.
    pub fn drain(&self) {
        self.0.0.store(true, Ordering::Relaxed);
        self.0.1.notify_one();
    }

    /// Waits until it is asked to leave.
    pub(super) async fn asked(&self) {
        self.0.1.notified().await;
    }

    pub(super) fn is_draining(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }
}
