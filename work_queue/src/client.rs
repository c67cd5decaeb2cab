//! A connection, as all of its users share it.

use std::error::Error;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::Stream;

use super::error::{is_no_reply, is_no_stream, reason};
use super::link::Changes;
use super::{Server, ServerError, names};

/// A connection to a server. Its copies are the same connection.
#[derive(Clone)]
pub struct Client {
    pub(crate) server: Server,
    pub(crate) context: Context,
    /// So the link learns what the server refuses.
    pub(crate) changes: Changes,
}

impl Client {
    /// The address without user and password.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Whether the connection is there now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.context.client().connection_state() == State::Connected
    }

    /// The largest size of a message that the server accepts, in bytes.
    #[must_use]
    pub fn max_message(&self) -> usize {
        self.context.client().max_payload()
    }

    /// Whether the server accepts a message of this size; `what` is what it holds.
    ///
    /// # Errors
    /// If not.
    pub fn check_size(&self, what: &str, payload: &[u8]) -> Result<(), ServerError> {
        let (bytes, limit) = (payload.len(), self.max_message());
        match bytes > limit {
            true => Err(ServerError::TooLarge { what: what.to_owned(), bytes, limit }),
            false => Ok(()),
        }
    }

    /// Waits until all that was sent has left this process.
    pub async fn flush(&self) {
        // Without a connection there is nobody to tell.
        let _ = self.context.client().flush().await;
    }

    /// Whether the server replies to a request, be it with an error.
    pub async fn replies(&self) -> bool {
        let asked = self.context.get_stream(names::RUNS).await;
        asked.map_or_else(|error| !matches!(error.kind(), GetStreamErrorKind::Request), |_| true)
    }

    /// A stream of the server; `None` if there is no such stream. `what` is what it is needed for.
    pub(crate) async fn existing_stream(
        &self,
        name: String,
        what: &'static str,
    ) -> Result<Option<Stream>, ServerError> {
        match self.context.get_stream(name).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_no_stream(&error) => Ok(None),
            Err(error) => Err(self.refused(what)(error.into())),
        }
    }

    /// An error of a request.
    pub(crate) fn refused(
        &self,
        what: &'static str,
    ) -> impl Fn(Box<dyn Error + Send + Sync>) -> ServerError + use<> {
        let url = self.url();
        move |error| match is_no_reply(&*error) {
            true => ServerError::NoReply { url: url.clone(), what },
            false => {
                let reason = reason(&*error).into();
                ServerError::Refused { url: url.clone(), what, reason }
            }
        }
    }
}
