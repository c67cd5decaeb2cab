//! Signs of life of workers. The server passes them on to the coordinator, and keeps the last one
//! of each worker for those who ask when it was seen.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::Subscriber;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::Config;
use futures_util::{FutureExt as _, StreamExt as _};

use super::{Client, ServerError, names};

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
pub struct KeptSign {
    /// What the worker said, or somebody else.
    pub payload: Vec<u8>,
    /// Seconds since the server received it, by the server's clock and the clock of this machine.
    pub age_s: u64,
}

/// The stream of a run's signs of life. They are core messages, so a worker does not wait until
/// they are stored, and no worker has to know of the stream. It ends with the run.
pub(crate) fn stream(run: &str) -> Config {
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

impl Client {
    /// Sends a sign of life of a worker, named by its `instance`, to a run.
    pub async fn send_sign(&self, run: &str, instance: &str, payload: Vec<u8>) {
        // The next one comes soon.
        let _ = self.context.client().publish(names::worker(run, instance), payload.into()).await;
    }

    /// The signs of life of a run's workers from now on.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn signs(&self, run: &str) -> Result<Signs, ServerError> {
        let refused = self.refused("listen to workers");
        let signs = self.context.client().subscribe(names::worker(run, "*")).await;
        Ok(Signs(signs.map_err(|error| refused(error.into()))?))
    }

    /// The last sign of life of each worker of a run, the latest first.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn kept_signs(&self, run: &str) -> Result<Vec<KeptSign>, ServerError> {
        let what = "show when workers were last seen";
        let refused = self.refused(what);
        // Without it the run has just been removed, or its coordinator is of an earlier version.
        let stream = self.existing_stream(names::workers_stream(run), what).await?;
        let n_kept = stream.as_ref().map_or(0, |stream| stream.cached_info().state.messages);
        let Some(stream) = stream.filter(|_| n_kept > 0) else { return Ok(vec![]) };
        let reader = pull::Config {
            ack_policy: AckPolicy::None,
            inactive_threshold: READING_TIME,
            ..pull::Config::default()
        };
        let reader = stream.create_consumer(reader).await;
        let reader = reader.map_err(|error| refused(error.into()))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut signs = vec![];
        let mut left = usize::try_from(n_kept).unwrap_or(usize::MAX);
        while left > 0 {
            let n = left.min(BATCH);
            let batch = reader.fetch().max_messages(n).messages().await;
            let mut batch = batch.map_err(|error| refused(error.into()))?;
            let mut n_read = 0;
            while let Some(message) = batch.next().await {
                let message = message.map_err(&refused)?;
                n_read += 1;
                if let Ok(info) = message.info() {
                    let time = u64::try_from(info.published.unix_timestamp()).unwrap_or(0);
                    let age_s = now.saturating_sub(time);
                    signs.push(KeptSign { payload: message.payload.to_vec(), age_s });
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
}

/// The signs of life of a run's workers.
pub struct Signs(Subscriber);

impl Signs {
    /// The next one, if it has come. Anyone may have sent it.
    pub fn next_now(&mut self) -> Option<Vec<u8>> {
        // Otherwise the runtime lets a task read 128 messages, and then says that there is none.
        let next = tokio::task::unconstrained(self.0.next()).now_or_never();
        Some(next??.payload.to_vec())
    }
}
