//! The results of a run: stored by workers, and read by the coordinator in the order in which the
//! server stored them, each at least once, also when the server restarts.

use std::time::Duration;

use async_nats::jetstream::consumer::pull::{self, Batch};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{Context, Message};
use futures_util::{FutureExt as _, StreamExt as _};

use super::link::tell_refused;
use super::{Client, ServerError, names, pause};

/// Messages of one request.
const BATCH: usize = 1000;

/// How long a request waits on the server.
const EXPIRES: Duration = Duration::from_secs(3);

/// Results that are handed out at once.
const MAX_READ: usize = 256;

/// A stored result.
pub struct StoredResult {
    /// Its place among the results of the run, from 1.
    pub sequence: u64,
    /// The block, and the attempt at it; `None` if the message does not say so.
    pub block: Option<(u64, u32)>,
    /// The worker that says it sent this.
    pub sender: Option<String>,
    /// What the worker sent.
    pub payload: Vec<u8>,
}

/// The results of a run on a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultsState {
    /// Those that were not [forgotten](Client::forget_results).
    pub n_kept: u64,
    /// The place of the last one; 0 if there was none.
    pub last_sequence: u64,
}

impl Client {
    /// Stores the result of an attempt at a block, however long that takes. It is dropped if the
    /// server has a result of the same attempt, and if the run is over. `unstored` is called whenever
    /// the server says that it cannot store it.
    pub async fn store_result(
        &self,
        run: &str,
        (block, attempt): (u64, u32),
        worker: &str,
        payload: Vec<u8>,
        unstored: impl Fn(),
    ) {
        let subject = names::result(run, block, attempt);
        let message = PublishMessage::build()
            .payload(payload.into())
            .header(names::SENDER, worker)
            .expected_last_subject_sequence(0);
        let mut n_failed = 0;
        loop {
            let stored = match self.context.send_publish(subject.clone(), message.clone()).await {
                Ok(acknowledged) => acknowledged.await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(error) = &stored {
                tell_refused(&self.changes, error);
            }
            match stored.map_err(|error| error.kind()) {
                Ok(()) | Err(PublishErrorKind::WrongLastSequence) => return,
                Err(PublishErrorKind::StreamNotFound)
                    if n_failed > 2 && self.has_run(run).await == Some(false) =>
                {
                    return;
                }
                Err(PublishErrorKind::Other) => unstored(),
                Err(_) => {}
            }
            tokio::time::sleep(pause(n_failed)).await;
            n_failed = n_failed.saturating_add(1);
        }
    }

    /// The results of a run on the server.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn results_state(&self, run: &str) -> Result<ResultsState, ServerError> {
        let refused = self.refused("hand out results");
        let stream = self.context.get_stream(names::results_stream(run)).await;
        let stream = stream.map_err(|error| refused(error.into()))?;
        let state = &stream.cached_info().state;
        Ok(ResultsState { n_kept: state.messages, last_sequence: state.last_sequence })
    }

    /// Removes the results up to this place. Gives whether that was done.
    pub async fn forget_results(&self, run: &str, sequence: u64) -> bool {
        let stream = self.context.get_stream_no_info(names::results_stream(run)).await;
        match stream {
            // All before this place.
            Ok(stream) => stream.purge().sequence(sequence + 1).await.is_ok(),
            Err(_) => false,
        }
    }
}

/// Reads the results of a run.
pub struct ResultReader {
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
    #[must_use]
    pub fn new(run: &str) -> Self {
        let run = run.to_owned();
        Self { run, next: 1, consumer: None, expected: 1, batch: None, is_idle: false }
    }

    /// The results that are there, at most 256, after waiting for the first at most `patience`.
    ///
    /// # Errors
    /// If the server refuses, or does not work now.
    pub async fn read(
        &mut self,
        client: &Client,
        patience: Duration,
    ) -> Result<Vec<StoredResult>, ServerError> {
        let read = self.read_some(&client.context, patience).await;
        if read.is_err() {
            self.start_over();
        }
        read.map_err(client.refused("hand out results"))
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
                block: names::of_result(&stored.subject),
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
