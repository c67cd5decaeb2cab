//! Replies to those who ask what a worker does, or ask it to leave; also while it waits for a
//! reply itself.

use std::sync::Mutex;

use work_queue::{Client, ServerError};

use super::settings::WorkerStop;
use crate::locking::lock;
use crate::queue::wire::{PresenceMessage, encode};

/// Replies to all questions with `presence`. On a request to leave, `stop` has the worker leave.
pub(super) async fn answer(
    client: &Client,
    presence: &Mutex<PresenceMessage>,
    stop: &WorkerStop,
) -> Result<(), ServerError> {
    let mut questions = client.questions().await?;
    while let Some(question) = questions.next().await {
        let is_request_to_leave = question.is_request_to_leave;
        let reply = encode(&*lock(presence));
        question.reply(reply).await;
        if is_request_to_leave {
            stop.drain();
        }
    }
    Ok(())
}
