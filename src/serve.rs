//! A built-in player as an HTTP server for any Gamemaster.
//!
//! One match at a time. Each match has a thread, which follows the state and
//! calls the player; requests only send it orders and wait, so that INFO is
//! answered while the player thinks.
//!
//! ```text
//! connections -> http (a request, with limits) -> service (what is said) -> follow (one match)
//! ```
//!
//! The clients are not trusted: the time and the size of requests and the nesting of terms
//! are limited, large messages are parsed one at a time on another thread, an abandoned
//! match stops computing, and every request gets a reply.

mod candidates;
mod connections;
mod follow;
mod http;
mod joint_moves;
mod memory;
mod message_log;
mod service;
mod track;
mod waiting;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use players::{OptionError, Options, PlayerKind};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use memory::{DEFAULT_MEMORY_BYTES, MIN_MEMORY_BYTES};

use connections::Connections;
use service::Service;

/// Maximum number of connections at once, if nothing else is asked for.
pub const DEFAULT_CONNECTIONS: usize = 64;

/// What is served.
#[derive(Clone)]
pub struct ServeSettings {
    /// The kind of player.
    pub kind: &'static PlayerKind,
    /// Its options.
    pub options: Options,
    /// Host name or address to listen on.
    pub host: String,
    /// Port to listen on; 0 for any that is free.
    pub port: u16,
    /// Memory that requests and the rules of matches may take together, in bytes,
    /// roughly. What the player itself keeps comes on top. Less than
    /// [`MIN_MEMORY_BYTES`] counts as that.
    pub memory_bytes: u64,
    /// Maximum number of connections at once; at least 1.
    pub max_connections: usize,
    /// Print each message and its reply to standard error.
    pub prints_messages: bool,
}

impl ServeSettings {
    /// This player on any free port of this machine, within the default limits.
    #[must_use]
    pub fn local(kind: &'static PlayerKind, options: Options) -> Self {
        Self {
            kind,
            options,
            host: "127.0.0.1".to_owned(),
            port: 0,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            max_connections: DEFAULT_CONNECTIONS,
            prints_messages: false,
        }
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The player refuses its options.
    #[error("the player cannot be used")]
    Options(#[from] Box<OptionError>),
    /// Another process listens there.
    #[error("cannot listen on {host}:{port}: the port is taken")]
    PortTaken {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The host has no address.
    #[error("--host {host}: there is no such address")]
    UnknownHost {
        /// The host.
        host: String,
    },
    /// The address is not ours, or forbidden.
    #[error("cannot listen on {host}:{port}")]
    Listen {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// No runtime or thread.
    #[error("cannot start the server")]
    Start(#[source] io::Error),
}

/// A running server. Dropping it ends it.
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Checks the options, and listens.
    ///
    /// # Errors
    /// If the player cannot be made or the port not be had.
    pub fn start(settings: ServeSettings) -> Result<Self, ServeError> {
        (settings.kind.make)(&settings.options).map_err(Box::new)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ServeError::Start)?;
        let (host, port) = (settings.host.clone(), settings.port);
        let listener =
            runtime.block_on(TcpListener::bind((host.as_str(), port))).map_err(|source| {
                if source.to_string().contains("lookup") {
                    ServeError::UnknownHost { host: host.clone() }
                } else if source.kind() == io::ErrorKind::AddrInUse {
                    ServeError::PortTaken { host: host.clone(), port }
                } else {
                    ServeError::Listen { host: host.clone(), port, source }
                }
            })?;
        let address = listener.local_addr().map_err(ServeError::Start)?;
        let connections = Connections::new(settings.max_connections);
        let service = Arc::new(Service::new(settings).map_err(ServeError::Start)?);
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    tokio::select! {
                        () = connections.serve(listener, service) => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(ServeError::Start)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
