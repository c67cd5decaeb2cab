//! The last sign of life of each worker of a run, which the server keeps, to say when a worker that
//! does not reply was last seen.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, LastRawMessageErrorKind};
use futures_util::StreamExt as _;
use jiff::Timestamp;

use super::wire::{WorkerMessage, decode};
use super::{QueueError, Server, names};

/// How long a sign is kept.
const KEPT_TIME: Duration = Duration::from_hours(24);

/// Signs that are kept of a run, the latest ones.
const MAX_KEPT: i64 = 10_000;

/// Maximum size of a sign, in bytes.
const MAX_BYTES: i32 = 64 << 10;

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

/// The last sign of life of each worker of `run`, the latest first, but not of the instances that
/// have replied.
///
/// # Errors
/// If the server refuses.
pub(super) async fn kept(
    server: &Server,
    context: &Context,
    run: &str,
    replied: impl Fn(&str) -> bool,
) -> Result<Vec<KeptSign>, QueueError> {
    let what = "show when workers were last seen";
    let refused = server.refused(what);
    let stream = server.existing_stream(context, names::workers_stream(run), what).await?;
    // The run has just been removed, or its coordinator is of an earlier version.
    let Some(stream) = stream else { return Ok(vec![]) };
    let subjects = stream.info_with_subjects(names::worker(run, "*")).await;
    let mut subjects = subjects.map_err(|error| refused(&error))?;
    let mut signs = vec![];
    while let Some(subject) = subjects.next().await {
        let (subject, _) = subject.map_err(|error| refused(&error))?;
        if names::instance_of_worker(&subject).is_none_or(&replied) {
            continue;
        }
        let message = match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => message,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => continue,
            Err(error) => return Err(refused(&error)),
        };
        // Others may write there, too.
        if let Ok(worker) = decode::<WorkerMessage>(&message.payload)
            && names::is_token(&worker.name)
        {
            let age_s = Timestamp::now().as_second().saturating_sub(message.time.unix_timestamp());
            signs.push(KeptSign { worker, age_s: age_s.try_into().unwrap_or(0) });
        }
    }
    signs.sort_by_key(|sign| sign.age_s);
    Ok(signs)
}
