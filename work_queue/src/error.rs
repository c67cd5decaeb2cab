//! Why a server cannot be used.

use std::error::Error;
use std::path::PathBuf;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, PublishError,
    PublishErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind, PurgeError, PurgeErrorKind};

/// Why a server cannot be used, or not now.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file of credentials or certificates cannot be read.
    #[error("cannot read `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file of certificates has none.
    #[error("`{}` has no certificate: it must be a file of certificates in PEM form", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// There is no connection.
    #[error("cannot connect to {url}: {reason}")]
    Connect {
        /// The address, without a password.
        url: String,
        /// Why.
        reason: String,
        /// Whether no reply came in time.
        is_silent: bool,
    },
    /// The server keeps no streams.
    #[error("the NATS server at {url} runs without JetStream; start it with `nats-server -js`")]
    NoJetStream {
        /// The address, without a password.
        url: String,
    },
    /// The server refuses a request.
    #[error("the NATS server at {url} refuses to {what}")]
    Refused {
        /// The address, without a password.
        url: String,
        /// What was requested.
        what: &'static str,
        /// Why.
        #[source]
        reason: Box<dyn Error + Send + Sync>,
    },
    /// The server does not reply.
    #[error(
        "the NATS server at {url} did not reply to the request to {what}; it may be overloaded, or may \
         not permit the request"
    )]
    NoReply {
        /// The address, without a password.
        url: String,
        /// What was requested.
        what: &'static str,
    },
    /// A message is larger than the server accepts.
    #[error(
        "{what} has {bytes} bytes, and the NATS server accepts {limit}; raise max_payload in the \
         configuration of the server"
    )]
    TooLarge {
        /// What the message holds.
        what: String,
        /// Its size.
        bytes: usize,
        /// The largest size that the server accepts.
        limit: usize,
    },
}

impl ServerError {
    /// Whether no reply came in time, so that another attempt may succeed.
    #[must_use]
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::NoReply { .. } | Self::Connect { is_silent: true, .. })
    }
}

/// What the server says when its disk, or one of its limits or of an account, is full.
const NO_ROOM: [&str; 2] = ["insufficient resources", "resource limits exceeded"];

/// Why a request failed: the texts of an error and of its sources, each once, and a hint.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let mut all = String::new();
    for error in std::iter::successors(Some(error), |&error| error.source()) {
        let text = error.to_string();
        if !all.contains(&text) {
            all += if all.is_empty() { "" } else { ": " };
            all += &text;
        }
    }
    let hint = hint(&all);
    all + hint
}

/// What is to be added to what a server says, so that a user knows where to look.
pub(crate) fn hint(said: &str) -> &'static str {
    match NO_ROOM.iter().any(|text| said.contains(text)) {
        true => "; its disk is full, or a limit of JetStream, such as max_file",
        false => "",
    }
}

/// Whether a request failed because no reply came in time.
pub(crate) fn is_no_reply(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|error| {
        let request = error.downcast_ref::<RequestError>();
        let stream = error.downcast_ref::<CreateStreamError>();
        let publish = error.downcast_ref::<PublishError>();
        let consumer = error.downcast_ref::<ConsumerError>();
        let purge = error.downcast_ref::<PurgeError>();
        request.is_some_and(|error| error.kind() == RequestErrorKind::TimedOut)
            || stream.is_some_and(|error| error.kind() == CreateStreamErrorKind::TimedOut)
            || publish.is_some_and(|error| error.kind() == PublishErrorKind::TimedOut)
            || consumer.is_some_and(|error| error.kind() == ConsumerErrorKind::TimedOut)
            || purge.is_some_and(|error| error.kind() == PurgeErrorKind::TimedOut)
    })
}

/// Whether a request failed because the server has no such stream.
pub(crate) fn is_no_stream(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(cause) => cause.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}

/// Whether a request failed because the server keeps no streams at all, or none for us.
pub(crate) fn is_no_jetstream(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(cause) => matches!(
            cause.error_code(),
            ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
        ),
        GetStreamErrorKind::Request => error
            .source()
            .and_then(|source| source.downcast_ref::<RequestError>())
            .is_some_and(|source| source.kind() == RequestErrorKind::NoResponders),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once() {
        let cause = std::io::Error::other("insufficient resources (code 503)");
        let error = PublishError::with_source(PublishErrorKind::Other, cause);
        let said = reason(&error);
        assert_eq!(said.matches(NO_ROOM[0]).count(), 1, "{said}");
        assert!(said.ends_with("max_file"), "{said}");
    }

    #[test]
    fn time_outs_of_all_requests_are_known() {
        assert!(is_no_reply(&RequestError::new(RequestErrorKind::TimedOut)));
        assert!(is_no_reply(&CreateStreamError::new(CreateStreamErrorKind::TimedOut)));
        assert!(is_no_reply(&PublishError::new(PublishErrorKind::TimedOut)));
        assert!(is_no_reply(&ConsumerError::new(ConsumerErrorKind::TimedOut)));
        assert!(is_no_reply(&PurgeError::new(PurgeErrorKind::TimedOut)));
        let cause = RequestError::new(RequestErrorKind::TimedOut);
        assert!(is_no_reply(&GetStreamError::with_source(GetStreamErrorKind::Request, cause)));
        assert!(!is_no_reply(&PublishError::new(PublishErrorKind::StreamNotFound)));
    }
}
