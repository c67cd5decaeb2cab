//! The blocks of a run on their way to workers.

use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::{Acker, PublishMessage};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;

use super::error::is_no_reply;
use super::link::tell_refused;
use super::{Client, ServerError, names};

/// How long a request for blocks may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time after which it is looked whether there still is a run whose blocks were asked for: where
/// a run has ended, the server does not reply.
const DOUBT: Duration = Duration::from_millis(300);

/// A consumer that has blocks but gives none is made anew after this many times the silence
/// that a worker is allowed.
const STUCK_AFTER: u32 = 3;

impl Client {
    /// Lets workers take the blocks of a class. A worker that is silent for longer than `ack_wait`
    /// loses the blocks that it has.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn open_class(
        &self,
        run: &str,
        class: &str,
        ack_wait: Duration,
    ) -> Result<(), ServerError> {
        let (config, stream) = (consumer(run, class, ack_wait), names::blocks_stream(run));
        let mut made = self.context.create_consumer_on_stream(config.clone(), &stream).await;
        if made.as_ref().is_err_and(|error| !is_no_reply(error)) {
            // One of other settings, perhaps: what it has given out is given out again.
            let _ = self.context.delete_consumer_from_stream(class, &stream).await;
            made = self.context.create_consumer_on_stream(config, &stream).await;
        }
        let refused = self.refused("make a consumer");
        made.map(drop).map_err(|error| refused(error.into()))
    }

    /// Puts an attempt at a block on the server, where it is once, however often this is done.
    /// Ends when it is sent; what it gives ends with whether it is there. `None` if it cannot be
    /// sent now.
    pub async fn put_block(
        &self,
        run: &str,
        class: &str,
        block: u64,
        attempt: u32,
        payload: Vec<u8>,
    ) -> Option<impl Future<Output = bool> + Send + use<>> {
        let subject = names::block(run, class, block, attempt);
        let message =
            PublishMessage::build().payload(payload.into()).expected_last_subject_sequence(0);
        let acknowledged = self.context.send_publish(subject, message).await.ok()?;
        let changes = self.changes.clone();
        Some(async move {
            match acknowledged.await {
                Ok(_) => true,
                Err(error) => {
                    tell_refused(&changes, &error);
                    error.kind() == PublishErrorKind::WrongLastSequence
                }
            }
        })
    }

    /// Whether an attempt at a block is on the server, with a worker or without; `None` if that
    /// cannot be known now.
    pub async fn has_block(
        &self,
        run: &str,
        class: &str,
        block: u64,
        attempt: u32,
    ) -> Option<bool> {
        let stream = self.context.get_stream_no_info(names::blocks_stream(run)).await.ok()?;
        let subject = names::block(run, class, block, attempt);
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(_) => Some(true),
            Err(error) => {
                (error.kind() == LastRawMessageErrorKind::NoMessageFound).then_some(false)
            }
        }
    }
}

/// The consumer of a class of blocks, from which workers pull.
fn consumer(run: &str, class: &str, ack_wait: Duration) -> pull::Config {
    pull::Config {
        durable_name: Some(class.to_owned()),
        filter_subject: names::blocks_of_class(run, class),
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        // Blocks in play, of all workers.
        max_ack_pending: 100_000,
        ..pull::Config::default()
    }
}

/// The blocks of a class, as a worker takes them.
pub struct BlockSource {
    run: String,
    class: String,
    ack_wait: Duration,
    consumer: Option<PullConsumer>,
    /// Since when it has given nothing.
    empty_since: Option<Instant>,
}

impl BlockSource {
    /// Those of the class of a run. `ack_wait` is the silence that a worker is allowed.
    #[must_use]
    pub fn new(run: &str, class: &str, ack_wait: Duration) -> Self {
        let (run, class) = (run.to_owned(), class.to_owned());
        Self { run, class, ack_wait, consumer: None, empty_since: None }
    }

    /// Up to `n` blocks, those that are there; `None` if the run may be over, or the server does
    /// not work.
    ///
    /// A consumer that has given nothing for long, though it has blocks and no worker has one, is
    /// made anew.
    pub async fn take(&mut self, client: &Client, n: usize) -> Option<Vec<Block>> {
        let run = self.run.clone();
        let over = async {
            loop {
                tokio::time::sleep(DOUBT).await;
                if client.has_run(&run).await == Some(false) {
                    break;
                }
            }
        };
        let taken = tokio::select! {
            taken = self.try_take(client, n) => taken,
            () = over => None,
            () = tokio::time::sleep(PATIENCE) => None,
        };
        match taken.as_ref().map_or(0, Vec::len) {
            0 => {
                let _ = tokio::time::timeout(PATIENCE, self.replace_if_stuck(client)).await;
            }
            _ => self.empty_since = None,
        }
        if taken.is_none() {
            self.consumer = None;
        }
        taken
    }

    async fn try_take(&mut self, client: &Client, n: usize) -> Option<Vec<Block>> {
        let stream = names::blocks_stream(&self.run);
        if self.consumer.is_none() {
            let found = client.context.get_consumer_from_stream(&self.class, &stream).await;
            self.consumer = Some(match found {
                Ok(consumer) => consumer,
                Err(_) => {
                    let config = consumer(&self.run, &self.class, self.ack_wait);
                    client.context.create_consumer_on_stream(config, &stream).await.ok()?
                }
            });
        }
        let consumer = self.consumer.as_mut()?;
        let mut batch = consumer.fetch().max_messages(n).messages().await.ok()?;
        let mut blocks = vec![];
        while let Some(message) = batch.next().await {
            match message {
                Ok(message) => blocks.push(Block::new(message)),
                Err(_) if blocks.is_empty() => return None,
                Err(_) => break,
            }
        }
        Some(blocks)
    }

    /// Blocks that another worker gets meanwhile may be played twice, and count once.
    async fn replace_if_stuck(&mut self, client: &Client) {
        let patience = STUCK_AFTER * self.ack_wait;
        if self.empty_since.get_or_insert_with(Instant::now).elapsed() < patience {
            return;
        }
        self.empty_since = None;
        let stream = names::blocks_stream(&self.run);
        let Ok(blocks) = client.context.get_stream_no_info(&stream).await else { return };
        let Ok(info) = blocks.consumer_info(&self.class).await else { return };
        if info.num_pending > 0 && info.num_ack_pending == 0 {
            let _ = client.context.delete_consumer_from_stream(&self.class, &stream).await;
            self.consumer = None;
        }
    }
}

/// A block that was taken.
pub struct Block {
    /// What the coordinator sent.
    pub payload: Vec<u8>,
    /// How often it was given out, this time included.
    pub n_deliveries: u64,
    /// What tells the server what becomes of it.
    pub receipt: Receipt,
}

impl Block {
    fn new(message: Message) -> Self {
        let delivered = message.info().map_or(1, |info| info.delivered);
        let (message, acker) = message.split();
        Self {
            payload: message.payload.to_vec(),
            n_deliveries: delivered.try_into().unwrap_or(1),
            receipt: Receipt(acker),
        }
    }
}

/// Tells the server what becomes of a block. If nothing is said, another worker gets it. What does
/// not arrive at the server is as if it was not said.
pub struct Receipt(Acker);

impl Receipt {
    /// It is being worked on.
    pub async fn in_progress(&self) {
        let _ = self.0.ack_with(AckKind::Progress).await;
    }

    /// Its result is on the server.
    pub async fn done(self) {
        let _ = self.0.ack().await;
    }

    /// It goes to another worker after this time.
    pub async fn give_back(self, pause: Option<Duration>) {
        let _ = self.0.ack_with(AckKind::Nak(pause)).await;
    }

    /// It is given to nobody any more.
    pub async fn reject(self) {
        let _ = self.0.ack_with(AckKind::Term).await;
    }
}
