//! Questions to all workers.

use std::time::{Duration, Instant};

use async_nats::{Message, StatusCode, Subscriber};
use futures_util::StreamExt as _;

use super::{Client, ServerError, names};

/// How long the next worker may take to reply.
const REPLY_TIME: Duration = Duration::from_secs(1);

/// How long replies are listened to in all, however many come.
const ALL_REPLIES_TIME: Duration = Duration::from_secs(10);

impl Client {
    /// Asks all workers what they do. Gives their replies.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn ask_workers(&self) -> Result<Vec<Vec<u8>>, ServerError> {
        self.ask(names::WORKERS).await
    }

    /// Asks all workers to leave. Gives their replies.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn ask_to_leave(&self) -> Result<Vec<Vec<u8>>, ServerError> {
        self.ask(names::DRAIN).await
    }

    async fn ask(&self, subject: &'static str) -> Result<Vec<Vec<u8>>, ServerError> {
        let refused = self.refused("pass on the request");
        let client = self.context.client();
        let inbox = client.new_inbox();
        let replies = client.subscribe(inbox.clone()).await;
        let mut replies = replies.map_err(|error| refused(error.into()))?;
        let sent = client.publish_with_reply(subject, inbox, Vec::new().into()).await;
        sent.map_err(|error| refused(error.into()))?;
        let mut found = vec![];
        let end = Instant::now() + ALL_REPLIES_TIME;
        while Instant::now() < end
            && let Ok(Some(reply)) = tokio::time::timeout(REPLY_TIME, replies.next()).await
        {
            // So the server says that nobody listens.
            if reply.status == Some(StatusCode::NO_RESPONDERS) {
                break;
            }
            found.push(reply.payload.to_vec());
        }
        Ok(found)
    }

    /// The questions to this worker from now on.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn questions(&self) -> Result<Questions, ServerError> {
        let refused = self.refused("pass on questions");
        let subscribed = async |subject| {
            let subscriber = self.context.client().subscribe(subject).await;
            subscriber.map_err(|error| refused(error.into()))
        };
        Ok(Questions {
            client: self.clone(),
            what: subscribed(names::WORKERS).await?,
            drain: subscribed(names::DRAIN).await?,
        })
    }
}

/// The questions to a worker.
pub struct Questions {
    client: Client,
    what: Subscriber,
    drain: Subscriber,
}

/// A question to a worker.
pub struct Question {
    client: Client,
    message: Message,
    /// Whether the worker is asked to leave, not only what it does.
    pub is_request_to_leave: bool,
}

impl Questions {
    /// Waits for the next one; `None` if there will be none.
    pub async fn next(&mut self) -> Option<Question> {
        let (message, is_request_to_leave) = tokio::select! {
            Some(question) = self.what.next() => (question, false),
            Some(request) = self.drain.next() => (request, true),
            else => return None,
        };
        Some(Question { client: self.client.clone(), message, is_request_to_leave })
    }
}

impl Question {
    /// Replies, if whoever asks waits for that.
    pub async fn reply(self, payload: Vec<u8>) {
        if let Some(asker) = self.message.reply {
            let _ = self.client.context.client().publish(asker, payload.into()).await;
        }
    }
}
