//! Looks after the queue of a server: what it holds, and removing it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use async_nats::jetstream::Context;
use async_nats::{Message, StatusCode};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::runtime::Builder;

use super::address::patiently;
use super::error::is_no_stream;
use super::signs::{self, KeptSign};
use super::wire::{PresenceMessage, WorkerMessage};
use super::{QueueError, Server, names};

/// How long the next worker may take to reply.
const REPLY_TIME: Duration = Duration::from_secs(1);

/// How long replies are listened to in all, however many come.
const ALL_REPLIES_TIME: Duration = Duration::from_secs(10);

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
    /// Those that workers have.
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
        let (context, mut link) = server.connect_patiently("gamemaster queue status").await?;
        let mut found = QueueStatus { runs: BTreeMap::new(), idle: vec![] };
        for run in patiently(Some(&mut link), async || runs(server, &context).await).await? {
            let status = async || run_status(server, &context, &run).await;
            let status = patiently(Some(&mut link), status).await?;
            found.runs.insert(run, status);
        }
        let mut replied = BTreeSet::new();
        for reply in ask(server, &context, names::WORKERS).await? {
            // Others may reply, too.
            if let Some(worker) = PresenceMessage::read(&reply.payload) {
                replied.insert(worker.name.clone());
                found.add(worker);
            }
        }
        for (run, status) in &mut found.runs {
            let kept = async || signs::kept(server, &context, run).await;
            // Who was started again has another instance, and the same name.
            let mut listed = replied.clone();
            for KeptSign { worker, age_s } in patiently(Some(&mut link), kept).await? {
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

/// The replies of all workers to a request.
async fn ask(
    server: &Server,
    context: &Context,
    subject: &'static str,
) -> Result<Vec<Message>, QueueError> {
    let refused = server.refused("pass on the request");
    let client = context.client();
    let inbox = client.new_inbox();
    let replies = client.subscribe(inbox.clone()).await;
    let mut replies = replies.map_err(|error| refused(&error))?;
    let sent = client.publish_with_reply(subject, inbox, Vec::new().into()).await;
    sent.map_err(|error| refused(&error))?;
    let mut found = vec![];
    let end = Instant::now() + ALL_REPLIES_TIME;
    while Instant::now() < end
        && let Ok(Some(reply)) = tokio::time::timeout(REPLY_TIME, replies.next()).await
    {
        // So the server says that nobody listens.
        if reply.status == Some(StatusCode::NO_RESPONDERS) {
            break;
        }
        found.push(reply);
    }
    Ok(found)
}

/// Asks all workers to finish what they play and to leave. Gives how many replied.
///
/// # Errors
/// If the server cannot be reached.
pub fn drain(server: &Server) -> Result<usize, QueueError> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (context, _) = server.connect_patiently("gamemaster queue drain").await?;
        Ok(ask(server, &context, names::DRAIN).await?.len())
    })
}

/// Removes runs, or all if none is named. Gives those that were removed. A coordinator
/// that is waiting for results of such a run ends.
///
/// # Errors
/// If the server cannot be reached or refuses, or there is no run with one of the names.
pub fn purge(server: &Server, named: &[String]) -> Result<Vec<String>, QueueError> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let (context, mut link) = server.connect_patiently("gamemaster queue purge").await?;
        let there = patiently(Some(&mut link), async || runs(server, &context).await).await?;
        if let Some(run) = named.iter().find(|run| !there.contains(run)) {
            return Err(QueueError::NoSuchRun { run: run.clone(), url: server.url() });
        }
        let wanted = if named.is_empty() { there } else { named.to_vec() };
        for run in &wanted {
            patiently(Some(&mut link), async || remove(server, &context, run).await).await?;
        }
        Ok(wanted)
    })
}

/// The names of all runs.
async fn runs(server: &Server, context: &Context) -> Result<Vec<String>, QueueError> {
    let what = "list the runs";
    let refused = server.refused(what);
    let stream = server.existing_stream(context, names::RUNS.to_owned(), what).await?;
    // There has never been a run.
    let Some(stream) = stream else { return Ok(vec![]) };
    let subjects = stream.info_with_subjects(names::MANIFESTS).await;
    let mut subjects = subjects.map_err(|error| refused(&error))?;
    let mut runs = vec![];
    while let Some(subject) = subjects.next().await {
        let (subject, _) = subject.map_err(|error| refused(&error))?;
        runs.extend(names::run_of_manifest(&subject).map(str::to_owned));
    }
    runs.sort();
    Ok(runs)
}

async fn run_status(
    server: &Server,
    context: &Context,
    run: &str,
) -> Result<RunStatus, QueueError> {
    let what = "show the run";
    let refused = server.refused(what);
    let mut status = RunStatus::default();
    let found = async |name| server.existing_stream(context, name, what).await;
    if let Some(blocks) = found(names::blocks_stream(run)).await? {
        let mut consumers = blocks.consumers();
        while let Some(consumer) = consumers.next().await {
            let consumer = consumer.map_err(|error| refused(&error))?;
            status.n_waiting += consumer.num_pending;
            status.n_in_play += consumer.num_ack_pending as u64;
        }
    }
    if let Some(results) = found(names::results_stream(run)).await? {
        let state = &results.cached_info().state;
        (status.n_results, status.n_unread) = (state.last_sequence, state.messages);
    }
    Ok(status)
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

/// Removes a run: first what workers look for, then blocks and results. What is gone already
/// is no error.
pub(super) async fn remove(
    server: &Server,
    context: &Context,
    run: &str,
) -> Result<(), QueueError> {
    let refused = server.refused("remove the run");
    let runs = context.get_stream_no_info(names::RUNS).await.map_err(|error| refused(&error))?;
    let subjects = [names::manifest(run), names::rules(run, "*"), names::program(run, "*")];
    for subject in subjects {
        runs.purge().filter(subject).await.map_err(|error| refused(&error))?;
    }
    let streams =
        [names::blocks_stream(run), names::results_stream(run), names::workers_stream(run)];
    for stream in streams {
        // Another coordinator or `purge` may have been first.
        if let Err(error) = context.delete_stream(stream).await
            && !is_no_stream(&error)
        {
            return Err(refused(&error));
        }
    }
    Ok(())
}
