//! Takes blocks from the server.

use std::sync::Arc;
use std::time::Instant;

use work_queue::{Block, Receipt, random};

use super::discovery::Known;
use super::{GIVE_BACK, QueueWorker};
use crate::printable::printable;
use crate::queue::WorkerNews;
use crate::queue::slots::Task;
use crate::queue::wire::{BlockMessage, MAX_REASON, decode};
use crate::schedule::Job;

/// Number of deliveries after which a block is not tried again.
const MAX_DELIVERIES: u64 = 20;

/// A block that was taken and not acknowledged.
pub(super) struct Held {
    /// None once the queue was told what became of it.
    pub(super) receipt: Option<Receipt>,
    pub(super) run: String,
    pub(super) block: u64,
    pub(super) attempt: u32,
    pub(super) n_deliveries: u64,
    pub(super) jobs: Vec<Job>,
    pub(super) signalled: Instant,
}

impl QueueWorker<'_> {
    /// Takes up to `n` blocks; says how many it has got. The first request that fails is the last:
    /// other runs have their turn when it is known whether this one is over.
    pub(super) async fn fetch(&mut self, n: usize, say: &mut dyn FnMut(WorkerNews)) -> usize {
        let wanted: Vec<(String, String)> = self
            .runs
            .iter()
            .filter_map(|(run, known)| match known {
                Known::Joined(joined) => Some((run, joined)),
                _ => None,
            })
            .flat_map(|(run, joined)| {
                joined.classes.keys().map(|class| (run.clone(), class.clone()))
            })
            .collect();
        let mut n_got = 0;
        // Not always the same first, so that all runs proceed.
        let first = random() as usize;
        for index in 0..wanted.len() {
            if n_got >= n || !self.client.is_connected() {
                break;
            }
            let (run, class) = &wanted[first.wrapping_add(index) % wanted.len()];
            let free = match self.runs.get(run) {
                Some(Known::Joined(joined)) => self.free_for(joined).min(n - n_got),
                _ => 0,
            };
            let Some(Known::Joined(joined)) = self.runs.get_mut(run) else { continue };
            let Some(source) = joined.classes.get_mut(class).filter(|_| free > 0) else { continue };
            let found = source.take(&self.client, free).await;
            self.is_doubtful |= found.is_none();
            for block in found.unwrap_or_default() {
                n_got += 1;
                self.take(run, block, say).await;
            }
            if self.is_doubtful {
                break;
            }
        }
        n_got
    }

    /// Takes a block: gives it to the slots, or back to the queue.
    async fn take(&mut self, run: &str, block: Block, say: &mut dyn FnMut(WorkerNews)) {
        let Block { payload, n_deliveries, receipt } = block;
        let Some(Known::Joined(joined)) = self.runs.get(run) else { return };
        let prepared = Arc::clone(&joined.run);
        let read = decode::<BlockMessage>(&payload);
        let read = read.and_then(|block| {
            let (attempt, refused) = (block.attempt, block.refused.clone());
            Ok((attempt, refused, block.jobs()?))
        });
        let (attempt, refused, jobs) = match read {
            Ok((attempt, refused, jobs)) if jobs.iter().all(|job| prepared.has(job)) => {
                (attempt, refused, jobs)
            }
            read => {
                let reason = read.err().map_or_else(
                    || "a match with a game, player or role that the run does not have".to_owned(),
                    |error| printable(&error.to_string(), MAX_REASON),
                );
                say(WorkerNews::BadBlock { run: run.to_owned(), reason });
                receipt.reject().await;
                return;
            }
        };
        if let Some(own) = refused.iter().find(|refusal| refusal.worker == self.settings.name) {
            say(WorkerNews::ResultRefused {
                run: run.to_owned(),
                reason: printable(&own.reason, MAX_REASON),
            });
            receipt.give_back(Some(GIVE_BACK)).await;
            return;
        }
        let key = self.next_key;
        self.next_key += 1;
        let block = jobs[0].block;
        let signalled = Instant::now();
        let held = Held {
            receipt: Some(receipt),
            run: run.to_owned(),
            block,
            attempt,
            n_deliveries,
            jobs: jobs.clone(),
            signalled,
        };
        self.held.insert(key, held);
        if n_deliveries > MAX_DELIVERIES {
            let why = format!(
                "block {block} was given out {n_deliveries} times, and no worker has sent its results"
            );
            let records = jobs.into_iter().map(|job| prepared.unplayed(job, why.clone())).collect();
            self.send(key, records);
            return;
        }
        self.n_in_slots += 1;
        self.slots.give(Task { key, run: prepared, jobs });
    }
}
