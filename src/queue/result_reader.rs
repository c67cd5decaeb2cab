//! Reads the results of a run in the order in which the server stored them, each at
//! least once, also when the server restarts.

use std::time::Duration;

use async_nats::jetstream::consumer::pull::{self, Batch};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::{Context, Message};
use futures_util::{FutureExt as _, StreamExt as _};

use super::names;

/// Messages of one request.
const BATCH: usize = 1000;

/// How long a request waits on the server.
const EXPIRES: Duration = Duration::from_secs(3);

/// Results that are handed out at once.
const MAX_READ: usize = 256;

/// A stored result.
pub(super) struct StoredResult {
    /// Its place in the stream.
    pub(super) sequence: u64,
    /// Its subject.
    pub(super) subject: String,
    /// The worker that says it sent this.
    pub(super) sender: Option<String>,
    /// What the worker sent.
    pub(super) payload: Vec<u8>,
}

/// Reads a stream from a place on.
pub(super) struct ResultReader {
    run: String,
    /// Place in the stream from which on nothing was read.
    next: u64,
    consumer: Option<PullConsumer>,
    /// Number of the next message that the consumer delivers.
    expected: u64,
    batch: Option<Batch>,
    /// Nothing has come by the present or last request.
    is_idle: bool,
}

impl ResultReader {
    /// From the first result that is stored.
    pub(super) fn new(run: &str) -> Self {
        let run = run.to_owned();
        Self { run, next: 1, consumer: None, expected: 1, batch: None, is_idle: false }
    }

    /// The results that are there, after waiting for the first at most `patience`.
    pub(super) async fn read(
        &mut self,
        context: &Context,
        patience: Duration,
    ) -> Result<Vec<StoredResult>, async_nats::Error> {
        let read = self.read_some(context, patience).await;
        if read.is_err() {
            self.start_over();
        }
        read
    }

    /// Reads again from where it is, by a new consumer.
    fn start_over(&mut self) {
        (self.consumer, self.batch) = (None, None);
    }

    async fn read_some(
        &mut self,
        context: &Context,
        patience: Duration,
    ) -> Result<Vec<StoredResult>, async_nats::Error> {
        let mut batch = match self.batch.take() {
            Some(batch) => batch,
            None => self.request(context).await?,
        };
        let mut read = vec![];
        let Ok(first) = tokio::time::timeout(patience, batch.next()).await else {
            self.batch = Some(batch);
            return Ok(read);
        };
        let mut message = first;
        loop {
            // Without a next message the request is over, and the next one continues.
            let Some(stored) = message else { return Ok(read) };
            let stored = stored?;
            let info = stored.info()?;
            if info.consumer_sequence != self.expected {
                // Messages were lost on the way.
                self.start_over();
                return Ok(read);
            }
            self.is_idle = false;
            self.expected += 1;
            self.next = info.stream_sequence + 1;
            read.push(StoredResult {
                sequence: info.stream_sequence,
                subject: stored.subject.to_string(),
                sender: sender(&stored),
                payload: stored.payload.to_vec(),
            });
            if read.len() >= MAX_READ {
                break;
            }
            match batch.next().now_or_never() {
                Some(next) => message = next,
                None => break,
            }
        }
        self.batch = Some(batch);
        Ok(read)
    }

    async fn request(&mut self, context: &Context) -> Result<Batch, async_nats::Error> {
        let mut consumer = self.consumer.take();
        // The server drops a consumer that was silent, as when this process or the server was
        // suspended, and does not say so to whoever asks for messages.
        if self.is_idle
            && let Some(silent) = &mut consumer
            && silent.info().await.is_err()
        {
            consumer = None;
        }
        self.is_idle = true;
        let consumer = match consumer {
            Some(consumer) => consumer,
            None => {
                let config = pull::Config {
                    deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.next },
                    ack_policy: AckPolicy::None,
                    inactive_threshold: Duration::from_secs(60),
                    ..pull::Config::default()
                };
                self.expected = 1;
                context.create_consumer_on_stream(config, names::results_stream(&self.run)).await?
            }
        };
        let batch = consumer.batch().max_messages(BATCH).expires(EXPIRES).messages().await?;
        self.consumer = Some(consumer);
        Ok(batch)
    }
}

/// The name of a worker in the header of a result.
fn sender(message: &Message) -> Option<String> {
    let name = message.headers.as_ref()?.get(names::SENDER)?.as_str();
    names::is_token(name).then(|| name.to_owned())
}
