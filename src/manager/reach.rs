//! Finding a player: its name looked up, and a connection to it, with what this
//! machine lacks told apart from what the player does.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout_at};

/// How long this machine may lack something before that is told. Others give
/// back what they use.
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
    /// The player is not there: why, in words.
    Unreachable(String),
    /// This machine, or its network, lacks something: what, in words.
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
    /// If the host has no address, nobody listens there, nothing comes back in
    /// time, or this machine lacks what a connection takes.
    pub(crate) async fn connect(&self, limit: Duration) -> Result<TcpStream, ReachError> {
        let begun = Instant::now();
        let given_up = begun + limit;
        let is_found = Cell::new(false);
        let connected = timeout_at(given_up.into(), async {
            let addresses = self.addresses().await?;
            is_found.set(true);
            any(addresses, begun, limit).await
        });
        connected.await.unwrap_or_else(|_| {
            Err(if is_found.get() {
                nobody(limit)
            } else {
                let (host, limit) = (&self.host, humantime::format_duration(limit));
                ReachError::Lacking(format!("no name server answered for {host} within {limit}"))
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

/// Asks the system for a host's addresses, on a thread of its own that is left
/// behind if nobody waits any more: a look-up cannot be broken off.
async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, ReachError> {
    let (tell, told) = oneshot::channel();
    let wanted = (host.to_owned(), port);
    thread::Builder::new()
        .name("look-up".to_owned())
        .spawn(move || {
            let found = wanted.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            // Perhaps nobody waits any more.
            let _ = tell.send(found);
        })
        .map_err(|error| ReachError::Lacking(format!("no thread to look up {host}: {error}")))?;
    let nothing = || io::Error::other("no addresses");
    match told.await.unwrap_or_else(|_| Err(nothing())) {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(not_found(host, &nothing())),
        Err(error) => Err(not_found(host, &error)),
    }
}

/// Why a host has no address. The system tells only in words whether there is no
/// such name, which is the player's affair, or nobody to ask.
fn not_found(host: &str, error: &io::Error) -> ReachError {
    let words = error.to_string();
    let is_nobody_to_ask = ["Temporary failure", "Try again", "System error"]
        .iter()
        .any(|phrase| words.contains(phrase));
    if is_nobody_to_ask || is_lacking(error) {
        return ReachError::Lacking(format!("the name {host} cannot be looked up: {words}"));
    }
    ReachError::Unreachable(format!("no host is called {host}: {words}"))
}

/// A connection to the first address that takes one. Each has an equal part of
/// the time that is left.
async fn any(
    addresses: &[SocketAddr],
    begun: Instant,
    limit: Duration,
) -> Result<TcpStream, ReachError> {
    loop {
        let (mut refused, mut lacking, mut is_silent) = (None, None, false);
        for (index, &address) in addresses.iter().enumerate() {
            let n_left = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let now = Instant::now();
            let part = (begun + limit).saturating_duration_since(now) / n_left;
            match timeout_at((now + part).into(), TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Only a matter of speed.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) if is_lacking(&error) => lacking = Some(error.to_string()),
                Ok(Err(error)) => refused = Some(error.to_string()),
                Err(_) => is_silent = true,
            }
        }
        match (refused, lacking) {
            (Some(why), _) => return Err(ReachError::Unreachable(why)),
            _ if is_silent => return Err(nobody(limit)),
            (None, Some(what)) if begun.elapsed() >= WANT_LIMIT => {
                return Err(ReachError::Lacking(what));
            }
            (None, _) => sleep(WANT_PAUSE).await,
        }
    }
}

fn nobody(limit: Duration) -> ReachError {
    ReachError::Unreachable(format!("no connection within {}", humantime::format_duration(limit)))
}

/// Whether an error tells of what this machine lacks: descriptors, ports or memory.
pub(crate) fn is_lacking(error: &io::Error) -> bool {
    let ours = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::ADDRNOTAVAIL, Errno::NOMEM];
    error.raw_os_error().is_some_and(|code| ours.iter().any(|ours| ours.raw_os_error() == code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_told_apart() {
        for (errno, expected) in [
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOBUFS, true),
            (Errno::ADDRNOTAVAIL, true),
            (Errno::NOMEM, true),
            (Errno::CONNREFUSED, false),
            (Errno::CONNRESET, false),
            (Errno::HOSTUNREACH, false),
            (Errno::TIMEDOUT, false),
        ] {
            assert_eq!(is_lacking(&errno.into()), expected, "{errno:?}");
        }
        assert!(!is_lacking(&io::Error::other("no number")));
    }

    #[test]
    fn a_name_that_is_not_there_is_told_from_nobody_to_ask() {
        let check = |words: &str| not_found("host.example", &io::Error::other(words.to_owned()));
        let unreachable = |error| matches!(error, ReachError::Unreachable(_));
        let prefix = "failed to lookup address information: ";
        assert!(unreachable(check(&format!("{prefix}Name or service not known"))));
        assert!(unreachable(check(&format!("{prefix}No address associated with hostname"))));
        assert!(!unreachable(check(&format!("{prefix}Temporary failure in name resolution"))));
        assert_eq!(
            check("Name or service not known"),
            ReachError::Unreachable(
                "no host is called host.example: Name or service not known".to_owned()
            )
        );
    }
}
