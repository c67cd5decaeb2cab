//! Stores results on the server.

use std::collections::BTreeMap;
use std::sync::Mutex;
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

/// Stores a result on the server, however long that takes. A second result of the same
/// block is refused by the server, and dropped.
pub(super) async fn publish(
    context: &Context,
    run: &str,
    key: u64,
    subject: String,
    payload: Vec<u8>,
    unstored: &Unstored,
    link: &Changes,
) {
    send(context, run, subject, payload, link, || {
        lock(unstored).entry(key).or_insert_with(Instant::now);
    })
    .await;
    lock(unstored).remove(&key);
}

/// The same; calls `refused` whenever the server says that it cannot store the result.
async fn send(
    context: &Context,
    run: &str,
    subject: String,
    payload: Vec<u8>,
    link: &Changes,
    refused: impl Fn(),
) {
    let message = PublishMessage::build().payload(payload.into()).expected_last_subject_sequence(0);
    let mut n_failed = 0;
    loop {
        let stored = match context.send_publish(subject.clone(), message.clone()).await {
            Ok(acknowledged) => acknowledged.await.map(|_| ()),
            Err(error) => Err(error),
        };
        if let Err(error) = &stored {
            tell_refused(link, error);
        }
        match stored.map_err(|error| error.kind()) {
            Ok(()) | Err(PublishErrorKind::WrongLastSequence) => return,
            Err(PublishErrorKind::StreamNotFound)
                if n_failed > 2 && is_over(context, run).await =>
            {
                return;
            }
            Err(PublishErrorKind::Other) => refused(),
            Err(_) => {}
        }
        tokio::time::sleep(pause(n_failed)).await;
        n_failed = n_failed.saturating_add(1);
    }
}

/// Whether the run was removed from the server.
async fn is_over(context: &Context, run: &str) -> bool {
    context.get_stream(names::results_stream(run)).await.is_err_and(|error| is_no_stream(&error))
}
