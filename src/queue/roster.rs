//! The workers of a run that show signs of life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use async_nats::Subscriber;
use async_nats::jetstream::Context;
use futures_util::{FutureExt as _, StreamExt as _};

use super::wire::WorkerMessage;
use super::{QueueError, Server, names};

/// A worker without a sign of life for this long no longer counts.
const SILENCE: Duration = Duration::from_secs(15);

/// A worker without a sign of life for this long no longer counts if another one has its name: it
/// was probably started again. Signs come every 2 s, unless the server is slow.
const REPLACED: Duration = Duration::from_secs(6);

/// Workers that are counted at most.
const MAX_WORKERS: usize = 10_000;

/// Signs that are taken in at once at most: whoever floods the server holds nothing up.
const MAX_HEARD: usize = 4 * MAX_WORKERS;

/// The workers of a run, as they show themselves.
pub(super) struct Roster {
    signs: Subscriber,
    /// By the name of the instance, with the time of the last sign.
    workers: BTreeMap<String, (WorkerMessage, Instant)>,
}

impl Roster {
    /// Listens to the workers of a run.
    ///
    /// # Errors
    /// If the server refuses.
    pub(super) async fn listen(
        server: &Server,
        context: &Context,
        run: &str,
    ) -> Result<Self, QueueError> {
        let refused = server.refused("listen to workers");
        let signs = context.client().subscribe(names::worker(run, "*")).await;
        let signs = signs.map_err(|error| refused(&error))?;
        Ok(Self { signs, workers: BTreeMap::new() })
    }

    /// Takes in the signs that have come, and gives them; what is no sign of a worker is dropped.
    pub(super) fn hear(&mut self) -> Vec<WorkerMessage> {
        let mut heard = vec![];
        for _ in 0..MAX_HEARD {
            // Otherwise the runtime lets a task read 128 messages, and then says that there is none.
            let next = tokio::task::unconstrained(self.signs.next()).now_or_never();
            let Some(Some(message)) = next else { break };
            if let Some(worker) = WorkerMessage::read(&message.payload) {
                self.note(&worker);
                heard.push(worker);
            }
        }
        self.workers.retain(|_, (_, seen)| seen.elapsed() < SILENCE);
        heard
    }

    fn note(&mut self, worker: &WorkerMessage) {
        if worker.is_leaving {
            self.workers.remove(&worker.instance);
            return;
        }
        if !self.workers.contains_key(&worker.instance) {
            self.workers
                .retain(|_, (other, seen)| other.name != worker.name || seen.elapsed() < REPLACED);
            if self.workers.len() >= MAX_WORKERS {
                return;
            }
        }
        self.workers.insert(worker.instance.clone(), (worker.clone(), Instant::now()));
    }

    /// The workers that count.
    pub(super) fn workers(&self) -> impl Iterator<Item = &WorkerMessage> {
        self.workers.values().map(|(worker, _)| worker)
    }

    /// Their number, and that of the matches that they play at once.
    pub(super) fn n_workers(&self) -> (u32, u32) {
        let n = u32::try_from(self.workers.len()).unwrap_or(u32::MAX);
        (n, self.workers().map(|worker| worker.at_once).fold(0, u32::saturating_add))
    }
}
