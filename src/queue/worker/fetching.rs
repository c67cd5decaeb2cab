//! Takes blocks from the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use futures_util::StreamExt as _;

use super::discovery::{Class, Known};
use super::{DOUBT, GIVE_BACK, PATIENCE, QueueWorker};
use crate::printable::printable;
use crate::queue::address::random;
use crate::queue::coordinator::consumer_config;
use crate::queue::error::is_no_stream;
use crate::queue::slots::Task;
use crate::queue::wire::{BlockMessage, MAX_REASON, Manifest, decode};
use crate::queue::{WorkerNews, names};
use crate::schedule::Job;

/// Number of deliveries after which a block is not tried again.
const MAX_DELIVERIES: i64 = 20;

/// A consumer that has blocks but gives none is made anew after this many times the silence
/// that a worker is allowed.
const STUCK_AFTER: u32 = 3;

/// A block that was taken and not acknowledged.
pub(super) struct Held {
    pub(super) acker: Acker,
    pub(super) run: String,
    pub(super) block: u64,
    pub(super) attempt: u32,
    pub(super) deliveries: i64,
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
            if n_got >= n || self.context.client().connection_state() != State::Connected {
                break;
            }
            let (run, class) = &wanted[first.wrapping_add(index) % wanted.len()];
            let n = match self.runs.get(run) {
                Some(Known::Joined(joined)) => self.free_for(joined).min(n - n_got),
                _ => 0,
            };
            if n == 0 {
                continue;
            }
            let found = self.fetch_in_time(run, class, n).await;
            self.is_doubtful |= found.is_none();
            let messages = found.unwrap_or_default();
            if messages.is_empty() {
                let _ = tokio::time::timeout(PATIENCE, self.replace_if_stuck(run, class)).await;
            } else if let Some((class, _)) = self.class(run, class) {
                class.empty_since = None;
            }
            n_got += messages.len();
            for message in messages {
                self.take(run, message, say).await;
            }
            if self.is_doubtful {
                self.forget_consumer(run, class);
                break;
            }
        }
        n_got
    }

    fn class(&mut self, run: &str, class: &str) -> Option<(&mut Class, &Manifest)> {
        match self.runs.get_mut(run)? {
            Known::Joined(joined) => Some((joined.classes.get_mut(class)?, &joined.run.manifest)),
            _ => None,
        }
    }

    fn forget_consumer(&mut self, run: &str, class: &str) {
        if let Some((class, _)) = self.class(run, class) {
            class.consumer = None;
        }
    }

    /// Up to `n` blocks of a class; `None` if the consumer does not work, or its run is over.
    async fn fetch_in_time(
        &mut self,
        run: &str,
        class: &str,
        n: usize,
    ) -> Option<Vec<async_nats::jetstream::Message>> {
        let context = self.context.clone();
        let over = async {
            loop {
                tokio::time::sleep(DOUBT).await;
                let stream = context.get_stream(names::blocks_stream(run)).await;
                if stream.is_err_and(|error| is_no_stream(&error)) {
                    break;
                }
            }
        };
        tokio::select! {
            messages = self.fetch_of(run, class, n) => messages,
            () = over => None,
            () = tokio::time::sleep(PATIENCE) => None,
        }
    }

    /// Up to `n` blocks of a class; `None` if the consumer does not work.
    async fn fetch_of(
        &mut self,
        run: &str,
        name: &str,
        n: usize,
    ) -> Option<Vec<async_nats::jetstream::Message>> {
        let context = self.context.clone();
        let (class, manifest) = self.class(run, name)?;
        let stream = names::blocks_stream(run);
        if class.consumer.is_none() {
            let found = context.get_consumer_from_stream(name, &stream).await;
            class.consumer = Some(match found {
                Ok(consumer) => consumer,
                Err(_) => {
                    let config = consumer_config(run, name, manifest.ack_wait_ms);
                    context.create_consumer_on_stream(config, &stream).await.ok()?
                }
            });
        }
        let consumer = class.consumer.as_mut()?;
        let mut batch = consumer.fetch().max_messages(n).messages().await.ok()?;
        let mut messages = vec![];
        while let Some(message) = batch.next().await {
            match message {
                Ok(message) => messages.push(message),
                Err(_) if messages.is_empty() => return None,
                Err(_) => break,
            }
        }
        Some(messages)
    }

    /// Makes a consumer anew that has given nothing for long, though it has blocks and no
    /// worker plays one. Blocks that another worker gets meanwhile may be played twice, and
    /// count once.
    async fn replace_if_stuck(&mut self, run: &str, name: &str) {
        let context = self.context.clone();
        let Some((class, manifest)) = self.class(run, name) else { return };
        let patience = STUCK_AFTER * Duration::from_millis(manifest.ack_wait_ms);
        if class.empty_since.get_or_insert_with(Instant::now).elapsed() < patience {
            return;
        }
        class.empty_since = None;
        let stream = names::blocks_stream(run);
        let Ok(blocks) = context.get_stream_no_info(&stream).await else { return };
        let Ok(info) = blocks.consumer_info(name).await else { return };
        if info.num_pending > 0 && info.num_ack_pending == 0 {
            let _ = context.delete_consumer_from_stream(name, &stream).await;
            class.consumer = None;
        }
    }

    /// Takes a block: gives it to the slots, or back to the queue.
    async fn take(
        &mut self,
        run: &str,
        message: async_nats::jetstream::Message,
        say: &mut dyn FnMut(WorkerNews),
    ) {
        let deliveries = message.info().map_or(1, |info| info.delivered);
        let (message, acker) = message.split();
        let Some(Known::Joined(joined)) = self.runs.get(run) else { return };
        let prepared = Arc::clone(&joined.run);
        let read = decode::<BlockMessage>(&message.payload);
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
                let _ = acker.ack_with(AckKind::Term).await;
                return;
            }
        };
        if let Some(own) = refused.iter().find(|refusal| refusal.worker == self.settings.name) {
            say(WorkerNews::ResultRefused {
                run: run.to_owned(),
                reason: printable(&own.reason, MAX_REASON),
            });
            let _ = acker.ack_with(AckKind::Nak(Some(GIVE_BACK))).await;
            return;
        }
        let key = self.next_key;
        self.next_key += 1;
        let block = jobs[0].block;
        let signalled = Instant::now();
        let held = Held {
            acker,
            run: run.to_owned(),
            block,
            attempt,
            deliveries,
            jobs: jobs.clone(),
            signalled,
        };
        self.held.insert(key, held);
        if deliveries > MAX_DELIVERIES {
            let why = format!(
                "block {block} was given out {deliveries} times, and no worker has sent its results"
            );
            let records = jobs.into_iter().map(|job| prepared.unplayed(job, why.clone())).collect();
            self.send(key, records);
            return;
        }
        self.n_in_slots += 1;
        self.slots.give(Task { key, run: prepared, jobs });
    }
}
