//! The last sign of life of each worker of a run, which the server keeps, to say when a worker that
//! does not reply was last seen.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::Config;
use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::wire::WorkerMessage;
use super::{QueueError, Server, names};

/// How long a sign is kept.
const KEPT_TIME: Duration = Duration::from_hours(24);

/// Signs that are kept of a run, the latest ones.
const MAX_KEPT: i64 = 10_000;

/// Maximum size of a sign, in bytes.
const MAX_BYTES: i32 = 64 << 10;

/// How long the server remembers how far the signs were read.
const READING_TIME: Duration = Duration::from_secs(10);

/// Signs of one request.
const BATCH: usize = 500;

/// A sign of life that the server has kept.
pub(super) struct KeptSign {
    /// What the worker said.
    pub(super) worker: WorkerMessage,
    /// Seconds since the server received it, by the server's clock and the clock of this machine.
    pub(super) age_s: u64,
}

/// The stream of a run's signs of life. They are core messages, so a worker does not wait until
/// they are stored, and no worker has to know of the stream. It ends with the run.
pub(super) fn stream(run: &str) -> Config {
    Config {
        name: names::workers_stream(run),
        subjects: vec![names::worker(run, "*")],
        max_messages_per_subject: 1,
        max_messages: MAX_KEPT,
        max_message_size: MAX_BYTES,
        max_age: KEPT_TIME,
        // Nobody waits for an acknowledgement.
        no_ack: true,
        ..Config::default()
    }
}

/// The last sign of life of each worker of `run`, the latest first.
///
/// # Errors
/// If the server refuses.
pub(super) async fn kept(
    server: &Server,
    context: &Context,
    run: &str,
) -> Result<Vec<KeptSign>, QueueError> {
    let what = "show when workers were last seen";
    let refused = server.refused(what);
    let stream = server.existing_stream(context, names::workers_stream(run), what).await?;
    // The run has just been removed, or its coordinator is of an earlier version.
    let Some(stream) = stream else { return Ok(vec![]) };
    let mut signs = vec![];
    let n_kept = stream.cached_info().state.messages;
    if n_kept == 0 {
        return Ok(signs);
    }
    let reader = pull::Config {
        ack_policy: AckPolicy::None,
        inactive_threshold: READING_TIME,
        ..pull::Config::default()
    };
    let reader = stream.create_consumer(reader).await.map_err(|error| refused(&error))?;
    let mut left = usize::try_from(n_kept).unwrap_or(usize::MAX);
    while left > 0 {
        let n = left.min(BATCH);
        let batch = reader.fetch().max_messages(n).messages().await;
        let mut batch = batch.map_err(|error| refused(&error))?;
        let mut n_read = 0;
        while let Some(message) = batch.next().await {
            let message = message.map_err(|error| refused(&*error))?;
            n_read += 1;
            let time = message.info().map(|info| info.published.unix_timestamp());
            // Others may write there, too.
            if let (Some(worker), Ok(time)) = (WorkerMessage::read(&message.payload), time) {
                let age_s = Timestamp::now().as_second().saturating_sub(time);
                signs.push(KeptSign { worker, age_s: age_s.try_into().unwrap_or(0) });
            }
        }
        // Newer ones have replaced the rest.
        if n_read < n {
            break;
        }
        left -= n;
    }
    signs.sort_by_key(|sign| sign.age_s);
    Ok(signs)
}
