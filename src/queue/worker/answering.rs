//! Replies to those who ask what a worker does, or ask it to leave; also while it waits for a
//! reply itself.

use std::sync::Mutex;

use async_nats::jetstream::Context;
use futures_util::StreamExt as _;

use super::settings::WorkerStop;
use crate::locking::lock;
use crate::queue::names;
use crate::queue::wire::{PresenceMessage, encode};

/// Replies to all questions with `presence`. On a request to leave, `stop` has the worker leave.
pub(super) async fn answer(
    context: &Context,
    presence: &Mutex<PresenceMessage>,
    stop: &WorkerStop,
) -> Result<(), async_nats::SubscribeError> {
    let client = context.client();
    let mut questions = client.subscribe(names::WORKERS).await?;
    let mut requests = client.subscribe(names::DRAIN).await?;
    loop {
        let (message, is_request) = tokio::select! {
            Some(question) = questions.next() => (question, false),
            Some(request) = requests.next() => (request, true),
            else => return Ok(()),
        };
        if let Some(asker) = message.reply {
            let reply = encode(&*lock(presence));
            let _ = client.publish(asker, reply.into()).await;
        }
        if is_request {
            stop.drain();
        }
    }
}
