//! The workers of a run that show signs of life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use work_queue::Signs;

use super::wire::WorkerMessage;

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
    signs: Signs,
    /// By the name of the instance, with the time of the last sign.
    workers: BTreeMap<String, (WorkerMessage, Instant)>,
}

impl Roster {
    /// Of the workers that send these signs; none yet.
    pub(super) fn new(signs: Signs) -> Self {
        Self { signs, workers: BTreeMap::new() }
    }

    /// Takes in the signs that have come, and gives them; what is no sign of a worker is dropped.
    pub(super) fn hear(&mut self) -> Vec<WorkerMessage> {
        let mut heard = vec![];
        for _ in 0..MAX_HEARD {
            let Some(sign) = self.signs.next_now() else { break };
            if let Some(worker) = WorkerMessage::read(&sign) {
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
