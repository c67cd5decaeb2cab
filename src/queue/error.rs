//! Why the queue cannot be used.

use std::path::PathBuf;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, PublishError,
    PublishErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::stream::{ConsumerError, ConsumerErrorKind, PurgeError, PurgeErrorKind};

/// Why the queue cannot be used, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The address is no address of a NATS server.
    #[error("`{url}` is not the address of a NATS server; expected nats://HOST:4222")]
    Address {
        /// The address, without a password.
        url: String,
    },
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
    /// A worker cannot write to its cache.
    #[error("cannot write to the cache `{}`; choose another with --cache", path.display())]
    Cache {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
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
    #[error("the NATS server at {url} refuses to {what}: {reason}")]
    Refused {
        /// The address, without a password.
        url: String,
        /// What was requested.
        what: &'static str,
        /// Why.
        reason: String,
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
    /// The server has no such run.
    #[error(
        "there is no run `{run}` in the queue at {url}; `gamemaster queue status` lists the runs"
    )]
    NoSuchRun {
        /// What was asked for.
        run: String,
        /// The address, without a password.
        url: String,
    },
    /// Somebody removed the run from the server, or the server lost its disk.
    #[error(
        "the run {run} is no longer on the server: it was removed from the queue, or the server lost \
         its disk; repeat the command to enqueue it again"
    )]
    Purged {
        /// The run's name in the queue.
        run: String,
    },
    /// A block whose results were refused again and again.
    #[error(
        "the results of block {block} were refused {n} times, the last time because {reason}; stop \
         the workers that sent them, remove the run with `gamemaster queue purge`, and repeat the \
         command"
    )]
    NoGoodResult {
        /// The block.
        block: u64,
        /// How often.
        n: u32,
        /// Why, the last time.
        reason: String,
    },
    /// A player that all workers would use at the same time.
    #[error(
        "player {player} has a url, and all workers would use it at the same time; give it a \
         command that workers launch"
    )]
    RemotePlayer {
        /// The player.
        player: String,
    },
    /// The file in the run's folder that names the run in the queue.
    #[error("cannot use `{}`", path.display())]
    RunFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// This machine lacks something.
    #[error("cannot start")]
    Machine(#[from] std::io::Error),
}

impl QueueError {
    /// Whether no reply came in time, so that another attempt may succeed.
    pub(super) fn is_silence(&self) -> bool {
        matches!(self, Self::NoReply { .. } | Self::Connect { is_silent: true, .. })
    }

    /// Whether a coordinator that begins with it has requested nothing of the server.
    #[must_use]
    pub fn is_before_all_requests(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::File { .. }
                | Self::Connect { .. }
                | Self::NoJetStream { .. }
                | Self::RemotePlayer { .. }
        )
    }
}

/// Whether a request failed because no reply came in time.
pub(super) fn is_no_reply(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
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
pub(super) fn is_no_stream(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(cause) => cause.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}

/// Whether a request failed because the server keeps no streams at all, or none for us.
pub(super) fn is_no_jetstream(error: &GetStreamError) -> bool {
    use std::error::Error as _;

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
