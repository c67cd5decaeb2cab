//! Sends what was played, or gives it back to the queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use results::record::MatchRecord;
use work_queue::ServerError;

use super::discovery::Known;
use super::{GIVE_BACK, QueueWorker};
use crate::locking::lock;
use crate::queue::WorkerNews;
use crate::queue::blocks::n_blocks;
use crate::queue::slots::Played;
use crate::queue::wire::{ResultMessage, encode};
use crate::schedule::Job;

/// How often a block with an aborted match goes back, to be played elsewhere.
const MAX_ABORTED: u64 = 3;

/// Blocks in a row with an aborted match, after which this machine leaves the run.
const MAX_ABORTED_HERE: u32 = 5;

impl QueueWorker<'_> {
    /// Sends the results of a block, or gives it back if it could not be played here.
    pub(super) fn finish(&mut self, played: Option<Played>, say: &mut dyn FnMut(WorkerNews)) {
        let Some(played) = played else { return };
        self.n_in_slots -= 1;
        let is_done = played.is_done();
        let Played { key, records, time } = played;
        let held = &self.held[&key];
        let (run, n_deliveries) = (held.run.clone(), held.n_deliveries);
        let n_blocks = n_blocks(&held.jobs);
        if records.is_empty() {
            self.give_back(key, None);
            return;
        }
        let Some(Known::Joined(joined)) = self.runs.get_mut(&run) else {
            // The run is over.
            self.held.remove(&key);
            return;
        };
        let mean = joined.block_time.map_or(time, |mean| (mean * 7 + time) / 8);
        joined.block_time = Some(mean);
        if is_done || n_deliveries >= MAX_ABORTED {
            joined.n_blocks += n_blocks;
            joined.n_aborted = if is_done { 0 } else { joined.n_aborted };
            self.send(key, records);
            return;
        }
        joined.n_aborted += 1;
        if joined.n_aborted >= MAX_ABORTED_HERE {
            let reason = records.last().map(|record| record.ending.reason()).unwrap_or_default();
            joined.left = Some(reason.clone());
            say(WorkerNews::NotPlayed { run: run.clone(), reason });
            joined.classes.clear();
        }
        self.give_back(key, Some(GIVE_BACK));
    }

    fn give_back(&mut self, key: u64, delay: Option<Duration>) {
        let receipt = self.held.get_mut(&key).and_then(|held| held.receipt.take());
        let Some(receipt) = receipt else { return };
        self.sending.spawn(async move {
            receipt.give_back(delay).await;
            key
        });
    }

    pub(super) fn send(&mut self, key: u64, records: Vec<MatchRecord>) {
        let Some(held) = self.held.get_mut(&key) else { return };
        let worker = self.settings.name.clone();
        let calibration = Some(self.calibrator.latest());
        let mut payload = encode(&ResultMessage { worker: worker.clone(), records, calibration });
        let limit = self.client.max_message();
        if payload.len() > limit
            && let Some(Known::Joined(joined)) = self.runs.get(&held.run)
        {
            let why = ServerError::TooLarge {
                what: format!("the result of block {}", held.block),
                bytes: payload.len(),
                limit,
            };
            let unplayed = |job: Job| joined.run.unplayed(job, why.to_string());
            let records = std::mem::take(&mut held.jobs).into_iter().map(unplayed).collect();
            payload = encode(&ResultMessage { worker: worker.clone(), records, calibration });
        }
        let receipt = held.receipt.take();
        let (run, attempt) = (held.run.clone(), (held.block, held.attempt));
        let (client, unstored) = (self.client.clone(), Arc::clone(&self.unstored));
        self.sending.spawn(async move {
            let note = || {
                lock(&unstored).entry(key).or_insert_with(Instant::now);
            };
            client.store_result(&run, attempt, &worker, payload, note).await;
            lock(&unstored).remove(&key);
            // If this is lost, the block is played twice, and counts once.
            if let Some(receipt) = receipt {
                receipt.done().await;
            }
            key
        });
    }
}
