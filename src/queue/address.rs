//! Where the server is, and how it is reached.

use std::future::ready;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::{Duration, Instant};

use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, Context};
use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr};

use super::error::{is_no_jetstream, is_no_reply, is_no_stream};
use super::link::{self, Link};
use super::{QueueError, names};
use crate::url_text::without_password;

/// Time for a connection, and for the reply to a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time between pings. After three without a reply the connection counts as lost: before the
/// coordinator no longer counts its workers, so that it prints the cause.
const PING: Duration = Duration::from_secs(4);

/// Time for all attempts at a request.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// Longest pause before the next attempt to connect.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// How a certificate begins in a file.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// What the client says of a reply that is not of TLS.
const NO_TLS: &str = "InvalidContentType";

/// A NATS server, and what proves to it who we are.
#[derive(Clone)]
pub struct Server {
    address: ServerAddr,
    creds: Option<PathBuf>,
    tls_ca: Option<PathBuf>,
}

impl Server {
    /// The server at `url`, such as `nats://localhost:4222`. `creds` is a file of
    /// credentials as NATS writes them, `tls_ca` certificates that vouch for the server.
    ///
    /// # Errors
    /// If that is no address.
    pub fn new(
        url: &str,
        creds: Option<PathBuf>,
        tls_ca: Option<PathBuf>,
    ) -> Result<Self, QueueError> {
        let address = ServerAddr::from_str(url)
            .map_err(|_| QueueError::Address { url: without_password(url) })?;
        Ok(Self { address, creds, tls_ca })
    }

    /// The address without user and password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}:{}", self.address.scheme(), self.address.host(), self.address.port())
    }

    /// [Connects](Self::connect), if need be to a server that is slow to reply.
    pub(super) async fn connect_patiently(
        &self,
        name: &str,
    ) -> Result<(Context, Link), QueueError> {
        patiently(None, async || self.connect(name).await).await
    }

    /// Connects once. The link knows when that connection is lost and made again.
    pub(super) async fn connect(&self, name: &str) -> Result<(Context, Link), QueueError> {
        let (link, sender) = Link::new(self.url());
        let mut options = ConnectOptions::new()
            .name(name)
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .ping_interval(PING)
            .event_callback(move |event| {
                link::tell(&sender, &event);
                ready(())
            })
            .reconnect_delay_callback(|attempt| pause(u32::try_from(attempt).unwrap_or(u32::MAX)));
        // The client does not read them from the address.
        options = match (self.address.username(), self.address.password()) {
            (Some(user), Some(password)) => {
                options.user_and_password(user.to_owned(), password.to_owned())
            }
            (Some(token), None) => options.token(token.to_owned()),
            _ => options,
        };
        if let Some(path) = &self.creds {
            let unreadable = |source| QueueError::File { path: path.clone(), source };
            options = options.credentials_file(path).await.map_err(unreadable)?;
        }
        if let Some(path) = &self.tls_ca {
            // Found missing by the client, the error would not name the file.
            let unreadable = |source| QueueError::File { path: path.clone(), source };
            let text = std::fs::read(path).map_err(unreadable)?;
            if !text.windows(CERTIFICATE.len()).any(|line| line == CERTIFICATE) {
                return Err(QueueError::NoCertificate { path: path.clone() });
            }
            options = options.add_root_certificates(path.clone()).require_tls(true);
        }
        let client = options
            .connect(self.address.clone())
            .await
            .map_err(|error| self.not_connected(&error))?;
        let context = jetstream::ContextBuilder::new()
            .timeout(PATIENCE)
            .ack_timeout(PATIENCE)
            .max_ack_inflight(1 << 16)
            .build(client);
        // Whether there is such a stream yet does not matter.
        match context.get_stream(names::RUNS).await {
            Err(error) if is_no_jetstream(&error) => {
                Err(QueueError::NoJetStream { url: self.url() })
            }
            _ => Ok((context, link)),
        }
    }

    fn not_connected(&self, error: &ConnectError) -> QueueError {
        let reason = error.to_string();
        let hint = match reason.contains(NO_TLS) {
            true => "; the server seems not to use TLS",
            false => "",
        };
        let is_silent = error.kind() == ConnectErrorKind::TimedOut;
        QueueError::Connect { url: self.url(), reason: format!("{reason}{hint}"), is_silent }
    }

    /// A stream of the server; `None` if there is no such stream. `what` is what it is needed for.
    pub(super) async fn existing_stream(
        &self,
        context: &Context,
        name: String,
        what: &'static str,
    ) -> Result<Option<Stream>, QueueError> {
        match context.get_stream(name).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_no_stream(&error) => Ok(None),
            Err(error) => Err(self.refused(what)(&error)),
        }
    }

    /// An error of a request.
    pub(super) fn refused(
        &self,
        what: &'static str,
    ) -> impl Fn(&(dyn std::error::Error + 'static)) -> QueueError + use<> {
        let url = self.url();
        move |error| match is_no_reply(error) {
            true => QueueError::NoReply { url: url.clone(), what },
            false => {
                let reason = crate::error_chain::chained(error);
                QueueError::Refused { url: url.clone(), what, reason }
            }
        }
    }
}

/// Makes a request, again and again for [`LONG_PATIENCE`] if the server does not reply: it may
/// restart, or its disk be busy. The link of the connection, if there is one, knows whether the
/// server refuses the request, which it does without a reply.
///
/// # Errors
/// Those of the last request.
pub(super) async fn patiently<T>(
    mut link: Option<&mut Link>,
    request: impl AsyncFn() -> Result<T, QueueError>,
) -> Result<T, QueueError> {
    let since = Instant::now();
    loop {
        let result = match &mut link {
            Some(link) => once(link, &request).await,
            None => request().await,
        };
        match result {
            Err(error) if error.is_silence() && since.elapsed() < LONG_PATIENCE => {}
            result => return result,
        }
    }
}

/// Makes a request once. If the server does not reply and says that it refuses something, the
/// error has its reason.
///
/// # Errors
/// Those of the request.
pub(super) async fn once<T>(
    link: &mut Link,
    request: impl AsyncFnOnce() -> Result<T, QueueError>,
) -> Result<T, QueueError> {
    // What it said before is about something else.
    let _ = link.refusal();
    request().await.map_err(|error| match (error, link.refusal()) {
        (QueueError::NoReply { url, what }, Some(reason)) => {
            QueueError::Refused { url, what, reason }
        }
        (error, _) => error,
    })
}

/// The pause before the attempt with this number: longer each time, and different for
/// workers that lost the server together.
pub(super) fn pause(attempt: u32) -> Duration {
    let longest = Duration::from_millis(50).saturating_mul(1 << attempt.min(8)).min(MAX_PAUSE);
    longest.mul_f64(0.5 + random() as f64 / u64::MAX as f64 / 2.0)
}

/// A number that no other call and no other process gets. Nothing of a match depends on it.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |url: &str| Server::new(url, None, None).map(|server| server.url());
        assert_eq!(shown("nats://me:secret@host:4222").unwrap(), "nats://host:4222");
        let error = shown("nats://me:secret@host:port").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        assert_eq!(without_password("me:secret@host"), "host");
    }

    #[test]
    fn pauses_grow_and_have_a_limit() {
        assert!(pause(0) < Duration::from_millis(51));
        assert!(pause(20) <= MAX_PAUSE && pause(20) >= MAX_PAUSE / 2);
    }
}
