//! The workers of a run that show signs of life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use work_queue::{KeptSign, Signs};

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
    /// By the names of the worker and of the instance, with the time of the last sign.
    workers: BTreeMap<(String, String), (WorkerMessage, Instant)>,
    /// The signs that the server had kept, by the name of the worker.
    earlier: BTreeMap<String, WorkerMessage>,
}

impl Roster {
    /// Of the workers that send these signs; none yet. `kept` are signs of an earlier time.
    pub(super) fn new(signs: Signs, kept: &[KeptSign]) -> Self {
        let earlier = kept.iter().rev().filter_map(|sign| WorkerMessage::read(&sign.payload));
        let earlier = earlier.map(|worker| (worker.name.clone(), worker)).collect();
        Self { signs, workers: BTreeMap::new(), earlier }
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
        let key = (worker.name.clone(), worker.instance.clone());
        if worker.is_leaving {
            self.workers.remove(&key);
            return;
        }
        if !self.workers.contains_key(&key) {
            let replaced: Vec<(String, String)> = self
                .called(&worker.name)
                .filter(|(_, (_, seen))| seen.elapsed() >= REPLACED)
                .map(|(key, _)| key.clone())
                .collect();
            replaced.iter().for_each(|key| drop(self.workers.remove(key)));
            if self.workers.len() >= MAX_WORKERS {
                return;
            }
        }
        self.workers.insert(key, (worker.clone(), Instant::now()));
    }

    /// The workers of a name.
    fn called<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a (String, String), &'a (WorkerMessage, Instant))> {
        let first = (name.to_owned(), String::new());
        self.workers.range(first..).take_while(move |((other, _), _)| other == name)
    }

    /// What a worker of this name said last, or an earlier one.
    pub(super) fn find<'a>(&'a self, name: &'a str) -> Option<&'a WorkerMessage> {
        let now = self.called(name).next().map(|(_, (worker, _))| worker);
        now.or_else(|| self.earlier.get(name))
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
