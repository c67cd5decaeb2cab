//! The bytes of one connection, beneath HTTP: counted, taken in small pieces, and
//! with the time at which they arrived.
//!
//! - No connection takes more bytes than its limit, whatever they are: interim
//!   replies, headers, chunk extensions, trailers or a body.
//! - The kernel notes when bytes arrive (`SO_TIMESTAMPNS`, see socket(7)), so
//!   that a reply which waited to be read does not count as late. A reply
//!   counts as arrived with the last of its bytes. [`Stamps`] keeps the kernel at it.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use super::waits::Waits;

/// Maximum number of bytes that are taken at a time.
const PIECE: usize = 512;

/// Keeps the kernel noting when bytes arrive.
///
/// It does so for all sockets as long as some socket asks for it, and a moment later
/// than the first one asks: the switch is thrown by a work queue (`net_enable_timestamp`
/// in Linux). If each connection asked for itself, about a third of short exchanges
/// would go without a stamp, and the time until we read them would be charged to the
/// player.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// Without a socket, replies arrive when they are read; that ends no match.
    _socket: Option<UdpSocket>,
}

impl Stamps {
    /// Until this is dropped, and from shortly after now.
    pub(crate) fn hold() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok();
        let asked = socket.filter(|socket| setsockopt(socket, ReceiveTimestampns, &true).is_ok());
        Self { _socket: asked }
    }
}

/// The bytes of one connection.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Arc<TcpStream>,
    /// Bytes that may still come.
    n_left: usize,
    /// When the last bytes came; before any did, a moment at which there were none.
    arrived: Instant,
    /// A moment at which all bytes there were had been taken.
    emptied: Instant,
    /// When the last write began.
    wrote: Instant,
}

impl Wire {
    /// Reads at most `max_bytes` from `stream`, and writes to it.
    pub(crate) fn new(stream: Arc<TcpStream>, max_bytes: usize) -> Self {
        // Without it, bytes arrive when they are read.
        let _ = setsockopt(&stream, ReceiveTimestampns, &true);
        let now = Instant::now();
        Self { stream, n_left: max_bytes, arrived: now, emptied: now, wrote: now }
    }

    /// When the last bytes came; before any did, when the connection was made.
    pub(crate) fn arrived(&self) -> Instant {
        self.arrived
    }

    /// When the last write began; before any did, when the connection was made.
    pub(crate) fn wrote(&self) -> Instant {
        self.wrote
    }

    /// Whether no more bytes are taken, because the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.n_left == 0
    }

    /// Writes some of `bytes`: how many.
    pub(crate) fn poll_write(&mut self, waits: &Waits, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.wrote = Instant::now();
        match send(&*self.stream, bytes, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => {
                waits.want(&self.stream, PollFlags::OUT);
                Poll::Pending
            }
            sent => Poll::Ready(sent.map_err(io::Error::from)),
        }
    }

    /// Waits for bytes and takes a piece of them; none at the end of the connection or the
    /// limit.
    pub(crate) fn poll_read(&mut self, waits: &Waits) -> Poll<io::Result<Vec<u8>>> {
        // Bytes may come between the look and the time.
        let looked = Instant::now();
        match receive(&self.stream, self.n_left) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.emptied = looked;
                waits.want(&self.stream, PollFlags::IN);
                Poll::Pending
            }
            received => Poll::Ready(received.map(|received| self.note(received))),
        }
    }

    /// Takes a piece of the bytes that came by `deadline`, without waiting; `None` if there
    /// are no more.
    pub(crate) fn read_until(&mut self, deadline: Instant) -> Option<io::Result<Vec<u8>>> {
        match receive(&self.stream, self.n_left) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) => Some(Err(error)),
            // It is late. What it says does not matter any more.
            Ok((bytes, stamp)) if !bytes.is_empty() && arrival(stamp, self.emptied) > deadline => {
                None
            }
            Ok(received) => Some(Ok(self.note(received))),
        }
    }

    /// Notes that bytes came, and returns them.
    fn note(&mut self, (bytes, stamp): (Vec<u8>, Option<TimeSpec>)) -> Vec<u8> {
        if !bytes.is_empty() {
            self.arrived = arrival(stamp, self.emptied);
            self.n_left -= bytes.len();
        }
        bytes
    }
}

/// Takes a piece of what has come, at most `n_most` bytes, without waiting, and when the
/// kernel got the last of it.
///
/// Not inlined: once a page of a stack was used it stays in memory, so the buffer must not be
/// on the stack beneath what reads the bytes.
#[inline(never)]
fn receive(stream: &TcpStream, n_most: usize) -> io::Result<(Vec<u8>, Option<TimeSpec>)> {
    let mut piece = [0; PIECE];
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut slices = [IoSliceMut::new(&mut piece[..n_most.min(PIECE)])];
    let flags = MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut slices, Some(&mut space), flags)?;
    let stamp = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp),
        _ => None,
    });
    let n_bytes = message.bytes;
    Ok((piece[..n_bytes].to_vec(), stamp))
}

/// The moment that a stamp of the kernel means, which counts on a clock that may
/// be set: not before `after`, and not after now. Now if there is no stamp.
fn arrival(stamp: Option<TimeSpec>, after: Instant) -> Instant {
    let now = Instant::now();
    let wall_clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age =
        stamp.map_or(Duration::ZERO, |stamp| wall_clock.saturating_sub(Duration::from(stamp)));
    now.checked_sub(age).map_or(after, |arrived| arrived.max(after))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    /// Stamps that the kernel has begun to make.
    pub(crate) fn begun_stamps() -> Stamps {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stamps = Stamps::hold();
        let begun = (0..100_000).any(|_| is_stamped(&listener));
        assert!(begun, "the kernel begins to stamp");
        stamps
    }

    /// Whether the kernel says when the bytes of a short exchange came.
    fn is_stamped(listener: &TcpListener) -> bool {
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let wire = Wire::new(Arc::new(stream), 100);
        listener.accept().unwrap().0.write_all(b"noop").unwrap();
        // Waits until the bytes are there.
        assert_eq!(wire.stream.peek(&mut [0; 100]).unwrap(), 4);
        let (bytes, stamp) = receive(&wire.stream, 100).unwrap();
        assert_eq!(bytes, b"noop");
        stamp.is_some()
    }

    /// One connection after the other, so that between them nobody asks for stamps.
    #[test]
    fn every_reply_is_stamped_while_stamps_are_held() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _stamps = begun_stamps();
        let n_stamped = (0..200).filter(|_| is_stamped(&listener)).count();
        assert_eq!(n_stamped, 200);
    }
}
