//! Where the queue of a run is, as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::number::duration;
use crate::failure::Failure;
use crate::spec;

/// How to reach a NATS server, which the argument `queue` of the command names.
#[derive(Args, Clone, Debug)]
pub struct ServerOptions {
    /// Authenticate with this NATS credentials file
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub creds: Option<PathBuf>,
    /// Use TLS, and trust the certificates in this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub tls_ca: Option<PathBuf>,
}

/// How a coordinator uses the queue.
#[derive(Args, Clone, Debug)]
pub struct CoordinatorOptions {
    /// Have the matches played by workers, through this NATS server (see
    /// docs/cluster.md)
    #[arg(long, value_name = "nats://HOST:4222")]
    pub queue: Option<String>,
    /// How to reach the server.
    #[command(flatten)]
    pub server: ServerOptions,
    /// Give matches only to workers with these tags, such as cpu=zen4,python
    #[arg(long, value_name = "TAGS", requires = "queue", value_delimiter = ',', value_parser = tag)]
    pub tags: Vec<String>,
    /// Let workers with other versions of gamemaster or of players take part
    #[arg(long, requires = "queue")]
    pub allow_mixed_versions: bool,
    /// Reassign the blocks of a worker once it has been silent for this long
    #[arg(long, value_name = "TIME", requires = "queue", default_value = "10s",
          value_parser = duration(Duration::from_secs(1), Duration::from_secs(3600)))]
    pub ack_wait: Duration,
}

/// Something that a machine has.
pub(super) fn tag(text: &str) -> Result<String, String> {
    if spec::is_tag(text) { Ok(text.to_owned()) } else { Err(spec::TAG_EXPECTED.to_owned()) }
}

#[cfg(feature = "queue")]
impl ServerOptions {
    /// The server at `url`.
    pub(super) fn server(&self, url: &str) -> Result<crate::queue::Server, Failure> {
        let server = crate::queue::Server::new(url, self.creds.clone(), self.tls_ca.clone());
        let no_address =
            || crate::queue::QueueError::Address { url: crate::url_text::without_password(url) };
        server.ok_or_else(|| failure(no_address()))
    }
}

/// An error of the queue, with its exit code.
#[cfg(feature = "queue")]
pub(super) fn failure(error: crate::queue::QueueError) -> Failure {
    use crate::queue::{QueueError, ServerError};
    match error {
        QueueError::Address { .. }
        | QueueError::Server(ServerError::File { .. } | ServerError::NoCertificate { .. })
        | QueueError::Cache { .. }
        | QueueError::NoSuchRun { .. }
        | QueueError::RemotePlayer { .. } => Failure::usage(error),
        error => Failure::from(error),
    }
}

/// The error of a program that was built without the queue.
#[cfg(not(feature = "queue"))]
pub(super) fn no_queue() -> Failure {
    Failure::usage(anyhow::anyhow!(
        "this gamemaster was built without the queue; build it with `cargo build --release \
         --locked --features queue`, or install it with `cargo install --locked --path . --features \
         queue`, in its folder"
    ))
}
