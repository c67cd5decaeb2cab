//! Stores results on the server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;

use super::address::pause;
use super::error::is_no_stream;
use super::link::{Changes, tell_refused};
use super::names;
use crate::locking::lock;

/// The results that the server says it cannot store, by the key of the block, with the time since
/// when it says so.
pub(super) type Unstored = Mutex<BTreeMap<u64, Instant>>;

/// A result on its way to the server.
pub(super) struct Sending {
    pub(super) context: Context,
    pub(super) link: Changes,
    pub(super) unstored: Arc<Unstored>,
    pub(super) run: String,
    /// The worker's name.
    pub(super) worker: String,
    /// What the worker calls the block.
    pub(super) key: u64,
    pub(super) subject: String,
    pub(super) payload: Vec<u8>,
}

impl Sending {
    /// Stores it, however long that takes. A second result of the same block is refused by the
    /// server, and dropped.
    pub(super) async fn store(mut self) {
        let message = PublishMessage::build()
            .payload(std::mem::take(&mut self.payload).into())
            .header(names::SENDER, self.worker.as_str())
            .expected_last_subject_sequence(0);
        let mut n_failed = 0;
        loop {
            let stored =
                match self.context.send_publish(self.subject.clone(), message.clone()).await {
                    Ok(acknowledged) => acknowledged.await.map(|_| ()),
                    Err(error) => Err(error),
                };
            if let Err(error) = &stored {
                tell_refused(&self.link, error);
            }
            match stored.map_err(|error| error.kind()) {
                Ok(()) | Err(PublishErrorKind::WrongLastSequence) => break,
                Err(PublishErrorKind::StreamNotFound) if n_failed > 2 && self.is_over().await => {
                    break;
                }
                Err(PublishErrorKind::Other) => {
                    lock(&self.unstored).entry(self.key).or_insert_with(Instant::now);
                }
                Err(_) => {}
            }
            tokio::time::sleep(pause(n_failed)).await;
            n_failed = n_failed.saturating_add(1);
        }
        lock(&self.unstored).remove(&self.key);
    }

    /// Whether the run was removed from the server.
    async fn is_over(&self) -> bool {
        let results = self.context.get_stream(names::results_stream(&self.run)).await;
        results.is_err_and(|error| is_no_stream(&error))
    }
}
