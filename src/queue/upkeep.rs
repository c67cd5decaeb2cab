//! Looks after the queue of a server: what it holds, and removing it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tokio::runtime::Builder;
use work_queue::{KeptSign, RunState, Server, patiently};

use super::QueueError;
use super::wire::{PresenceMessage, WorkerMessage};

/// What a server holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueStatus {
    /// The runs, by name.
    pub runs: BTreeMap<String, RunStatus>,
    /// Workers that have no run, by name.
    pub idle: Vec<IdleWorker>,
}

/// A worker without a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct IdleWorker {
    /// Its name in journals.
    pub name: String,
    /// Matches at once.
    pub at_once: u32,
    /// What its machine has.
    pub tags: Vec<String>,
}

/// A run on a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunStatus {
    /// Messages with blocks that no worker has.
    pub n_waiting: u64,
    /// Those that workers have, or had: a worker that has left is known to the server once others
    /// ask for blocks.
    pub n_in_play: u64,
    /// Results of such messages that workers have sent.
    pub n_results: u64,
    /// Those of them that the coordinator has not written to the disk.
    pub n_unread: u64,
    /// Workers that have joined or refused the run, by name: those that reply, and those that
    /// were seen in the last 24 hours and have not said that they leave.
    pub workers: Vec<WorkerStatus>,
}

/// A worker as it shows itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerStatus {
    /// Its name in journals.
    pub name: String,
    /// Version of gamemaster.
    pub version: String,
    /// Matches at once.
    pub at_once: u32,
    /// What its machine has.
    pub tags: Vec<String>,
    /// Hashes of the programs of players, by the player's id.
    pub programs: BTreeMap<String, String>,
    /// Blocks that it has, or had when it was last seen.
    pub n_held: u32,
    /// Blocks of the run whose results it has sent.
    pub n_blocks: u64,
    /// The same in a second, since it joined.
    pub blocks_per_second: f64,
    /// Why it does not play the run, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Seconds since its last sign of life; `None` if it replies.
    pub silent_s: Option<u64>,
}

/// What the server holds.
///
/// # Errors
/// If it cannot be reached, or refuses a request.
pub fn status(server: &Server) -> Result<QueueStatus, QueueError> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (client, mut link) = server.connect_patiently("gamemaster queue status").await?;
        let mut found = QueueStatus { runs: BTreeMap::new(), idle: vec![] };
        for run in patiently(Some(&mut link), async || client.runs().await).await? {
            let state = patiently(Some(&mut link), async || client.run_state(&run).await).await?;
            found.runs.insert(run, state.into());
        }
        let mut replied = BTreeSet::new();
        for reply in client.ask_workers().await? {
            // Others may reply, too.
            if let Some(worker) = PresenceMessage::read(&reply) {
                replied.insert(worker.name.clone());
                found.add(worker);
            }
        }
        for (run, status) in &mut found.runs {
            // Who was started again has another instance, and the same name.
            let mut listed = replied.clone();
            let kept = async || client.kept_signs(run).await;
            for KeptSign { payload, age_s } in patiently(Some(&mut link), kept).await? {
                // Others may write there, too.
                let Some(worker) = WorkerMessage::read(&payload) else { continue };
                if !worker.is_leaving && listed.insert(worker.name.clone()) {
                    let worker = worker_status(worker);
                    status.workers.push(WorkerStatus { silent_s: Some(age_s), ..worker });
                }
            }
            status.workers.sort_by(|a, b| a.name.cmp(&b.name));
        }
        found.idle.sort();
        Ok(found)
    })
}

impl From<RunState> for RunStatus {
    fn from(state: RunState) -> Self {
        let RunState { n_waiting, n_in_play, n_results, n_kept } = state;
        Self { n_waiting, n_in_play, n_results, n_unread: n_kept, workers: vec![] }
    }
}

impl QueueStatus {
    /// Adds a worker to its runs, or to those that have none.
    fn add(&mut self, worker: PresenceMessage) {
        let PresenceMessage { name, at_once, tags, runs } = worker;
        let mut is_idle = true;
        for (run, message) in runs {
            if let Some(run) = self.runs.get_mut(&run) {
                is_idle = false;
                run.workers.push(worker_status(WorkerMessage { name: name.clone(), ..message }));
            }
        }
        if is_idle {
            self.idle.push(IdleWorker { name, at_once, tags });
        }
    }
}

/// Asks all workers to finish what they play and to leave. Gives how many replied.
///
/// # Errors
/// If the server cannot be reached.
pub fn drain(server: &Server) -> Result<usize, QueueError> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (client, _) = server.connect_patiently("gamemaster queue drain").await?;
        let replies = client.ask_to_leave().await?;
        // Others may reply, too.
        Ok(replies.iter().filter(|reply| PresenceMessage::read(reply).is_some()).count())
    })
}

/// Removes runs, or all if none is named. Gives those that were removed. A coordinator
/// that is waiting for results of such a run ends.
///
/// # Errors
/// If the server cannot be reached or refuses, or there is no run with one of the names.
pub fn purge(server: &Server, named: &[String]) -> Result<Vec<String>, QueueError> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (client, mut link) = server.connect_patiently("gamemaster queue purge").await?;
        let there = patiently(Some(&mut link), async || client.runs().await).await?;
        if let Some(run) = named.iter().find(|run| !there.contains(run)) {
            return Err(QueueError::NoSuchRun { run: run.clone(), url: server.url() });
        }
        let wanted = if named.is_empty() { there } else { named.to_vec() };
        for run in &wanted {
            patiently(Some(&mut link), async || client.remove_run(run).await).await?;
        }
        Ok(wanted)
    })
}

fn worker_status(message: WorkerMessage) -> WorkerStatus {
    WorkerStatus {
        refusal: message.shown_refusal(),
        name: message.name,
        version: message.build.version,
        at_once: message.at_once,
        tags: message.tags,
        programs: message.programs,
        n_held: message.n_held,
        n_blocks: message.n_blocks,
        blocks_per_second: message.n_blocks as f64 / message.joined_s.max(1) as f64,
        silent_s: None,
    }
}
