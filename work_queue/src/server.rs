//! Where the server is, and how it is reached.

use std::future::ready;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use async_nats::jetstream;
use async_nats::{ConnectError, ConnectErrorKind, ConnectOptions, ServerAddr};

use super::client::Client;
use super::error::is_no_jetstream;
use super::link::{self, Link};
use super::patience::{patiently, pause};
use super::{ServerError, names};

/// Time for a connection, and for the reply to a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time between pings. After three without a reply the connection counts as lost: before the
/// coordinator no longer counts its workers, so that it prints the cause.
const PING: Duration = Duration::from_secs(4);

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
    /// The server at `url`, such as `nats://localhost:4222`; `None` if that is no address. `creds`
    /// is a file of credentials as NATS writes them, `tls_ca` certificates that vouch for the
    /// server.
    #[must_use]
    pub fn new(url: &str, creds: Option<PathBuf>, tls_ca: Option<PathBuf>) -> Option<Self> {
        let address =
            ServerAddr::from_str(url).ok().filter(|address| !address.host().is_empty())?;
        Some(Self { address, creds, tls_ca })
    }

    /// The address without user and password.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}:{}", self.address.scheme(), self.address.host(), self.address.port())
    }

    /// [Connects](Self::connect), if need be to a server that is slow to reply.
    ///
    /// # Errors
    /// If there is no connection.
    pub async fn connect_patiently(&self, name: &str) -> Result<(Client, Link), ServerError> {
        patiently(None, async || self.connect(name).await).await
    }

    /// Connects once, under a name that the server shows. The link knows when that connection is
    /// lost and made again.
    ///
    /// # Errors
    /// If there is no connection, or the server has no JetStream.
    pub async fn connect(&self, name: &str) -> Result<(Client, Link), ServerError> {
        let (link, sender) = Link::new();
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
            (Some(user), Some(password)) => options.user_and_password(plain(user), plain(password)),
            (Some(token), None) => options.token(plain(token)),
            _ => options,
        };
        if let Some(path) = &self.creds {
            let unreadable = |source| ServerError::File { path: path.clone(), source };
            options = options.credentials_file(path).await.map_err(unreadable)?;
        }
        if let Some(path) = &self.tls_ca {
            // Found missing by the client, the error would not name the file.
            let unreadable = |source| ServerError::File { path: path.clone(), source };
            let text = std::fs::read(path).map_err(unreadable)?;
            if !text.windows(CERTIFICATE.len()).any(|line| line == CERTIFICATE) {
                return Err(ServerError::NoCertificate { path: path.clone() });
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
                Err(ServerError::NoJetStream { url: self.url() })
            }
            _ => {
                let client = Client { server: self.clone(), context, changes: link.changes() };
                Ok((client, link))
            }
        }
    }

    fn not_connected(&self, error: &ConnectError) -> ServerError {
        let reason = error.to_string();
        let hint = match reason.contains(NO_TLS) {
            true => "; the server seems not to use TLS",
            false => "",
        };
        let is_silent = error.kind() == ConnectErrorKind::TimedOut;
        ServerError::Connect { url: self.url(), reason: format!("{reason}{hint}"), is_silent }
    }
}

/// A part of an address, in which `%40` stands for `@`.
fn plain(part: &str) -> String {
    percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |url: &str| Server::new(url, None, None).map(|server| server.url());
        assert_eq!(shown("nats://me:secret@host:4222").as_deref(), Some("nats://host:4222"));
        assert_eq!(shown("nats://me:secret@host:port"), None);
        assert_eq!(shown(""), None);
    }

    #[test]
    fn any_character_may_stand_in_a_password() {
        let server = Server::new("nats://me:p%40s:s%25@host:4222", None, None).unwrap();
        assert_eq!(server.address.password().map(plain).as_deref(), Some("p@s:s%"));
    }
}
