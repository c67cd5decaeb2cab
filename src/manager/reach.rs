//! Reaching a player: looks up its host name and connects. Errors say whether this machine
//! or the player is the cause.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::oneshot;

use super::machine_limit::{lack, no_thread};
use super::waits::Waits;

/// How long this machine may lack something before that is an error. Other matches
/// give back what they use.
const WANT_LIMIT: Duration = Duration::from_secs(1);

/// Time between two attempts to get what this machine lacks.
const WANT_PAUSE: Duration = Duration::from_millis(20);

/// Where a player listens.
#[derive(Debug)]
pub(crate) struct Address {
    host: String,
    port: u16,
    /// Looked up once: what it finds holds for as long as the address is used.
    found: OnceLock<Vec<SocketAddr>>,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReachError {
    /// The player cannot be connected to: why.
    Unreachable(String),
    /// This machine, or its network, lacks something: what, and what to do.
    Lacking(String),
}

impl Address {
    /// The host, a name or an address without brackets, and the port.
    pub(crate) fn new(host: &str, port: u16) -> Self {
        Self { host: host.to_owned(), port, found: OnceLock::new() }
    }

    /// Connects, but tries no longer than `limit`.
    ///
    /// # Errors
    /// If the host has no address, no program listens there, no reply arrives in
    /// time, or this machine lacks a resource for the connection.
    pub(crate) async fn connect(
        &self,
        waits: &Waits,
        limit: Duration,
    ) -> Result<Arc<TcpStream>, ReachError> {
        let begun = Instant::now();
        let given_up = begun + limit;
        let is_found = Cell::new(false);
        let connected = waits.timeout_at(given_up, async {
            let addresses = self.addresses().await?;
            is_found.set(true);
            any(waits, addresses, begun, limit).await
        });
        connected.await.unwrap_or_else(|| {
            Err(if is_found.get() {
                no_connection(limit)
            } else {
                let (host, limit) = (&self.host, humantime::format_duration(limit));
                ReachError::Lacking(format!(
                    "no name server replied for {host} within {limit}; check the network, or \
                     name the player by its address"
                ))
            })
        })
    }

    async fn addresses(&self) -> Result<&[SocketAddr], ReachError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = match self.host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, self.port)],
            Err(_) => look_up(&self.host, self.port).await?,
        };
        Ok(self.found.get_or_init(|| found))
    }
}

/// Asks the system for a host's addresses on its own thread, which is abandoned if the wait
/// ends: a look-up cannot be interrupted.
async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, ReachError> {
    let (answer, answered) = oneshot::channel();
    let wanted = (host.to_owned(), port);
    thread::Builder::new()
        .name("look-up".to_owned())
        .spawn(move || {
            let found = wanted.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            // The wait may have ended.
            let _ = answer.send(found);
        })
        .map_err(|error| ReachError::Lacking(no_thread(&error)))?;
    let nothing = || io::Error::other("no addresses");
    match answered.await.unwrap_or_else(|_| Err(nothing())) {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(not_found(host, &nothing())),
        Err(error) => Err(not_found(host, &error)),
    }
}

/// Why a host has no address. Only the text of the system's error says whether there
/// is no such name, which is the player's fault, or no name server that answers.
fn not_found(host: &str, error: &io::Error) -> ReachError {
    let words = error.to_string();
    // The standard library puts this before the words of the system.
    let words = words.trim_start_matches("failed to lookup address information: ");
    let has_no_server = ["Temporary failure", "Try again", "System error"]
        .iter()
        .any(|phrase| words.contains(phrase));
    if let Some(what) = lack(error) {
        return ReachError::Lacking(what);
    }
    if has_no_server {
        return ReachError::Lacking(format!(
            "the host name {host} cannot be looked up ({words}); check the network, or name the \
             player by its address"
        ));
    }
    ReachError::Unreachable(format!("unknown host {host}: {words}"))
}

/// A connection to the first address that takes one. Each has an equal part of
/// the time that is left.
async fn any(
    waits: &Waits,
    addresses: &[SocketAddr],
    begun: Instant,
    limit: Duration,
) -> Result<Arc<TcpStream>, ReachError> {
    loop {
        let (mut refused, mut lacking, mut is_silent) = (None, None, false);
        for (index, &address) in addresses.iter().enumerate() {
            let n_left = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let now = Instant::now();
            let part = (begun + limit).saturating_duration_since(now) / n_left;
            match waits.timeout_at(now + part, connect(waits, address)).await {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => match lack(&error) {
                    Some(what) => lacking = Some(what),
                    None => refused = Some(format!("cannot connect to {address}: {error}")),
                },
                None => is_silent = true,
            }
        }
        match (refused, lacking) {
            (Some(why), _) => return Err(ReachError::Unreachable(why)),
            _ if is_silent => return Err(no_connection(limit)),
            (None, Some(what)) if begun.elapsed() >= WANT_LIMIT => {
                return Err(ReachError::Lacking(what));
            }
            (None, _) => waits.sleep_until(Instant::now() + WANT_PAUSE).await,
        }
    }
}

/// A connection to `address`.
async fn connect(waits: &Waits, address: SocketAddr) -> io::Result<Arc<TcpStream>> {
    let kind = Type::STREAM.nonblocking();
    let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
    // Only a matter of speed.
    let _ = socket.set_tcp_nodelay(true);
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) => {
            return Err(error);
        }
        _ => {}
    }
    let stream = Arc::new(TcpStream::from(socket));
    waits.connected(&stream).await;
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(stream),
    }
}

fn no_connection(limit: Duration) -> ReachError {
    ReachError::Unreachable(format!("no connection within {}", humantime::format_duration(limit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_apart_from_a_silent_name_server() {
        let check = |words: &str| not_found("host.example", &io::Error::other(words.to_owned()));
        let unreachable = |error| matches!(error, ReachError::Unreachable(_));
        let prefix = "failed to lookup address information: ";
        assert!(unreachable(check(&format!("{prefix}Name or service not known"))));
        assert!(unreachable(check(&format!("{prefix}No address associated with hostname"))));
        assert!(!unreachable(check(&format!("{prefix}Temporary failure in name resolution"))));
        assert_eq!(
            check("Name or service not known"),
            ReachError::Unreachable(
                "unknown host host.example: Name or service not known".to_owned()
            )
        );
    }
}
