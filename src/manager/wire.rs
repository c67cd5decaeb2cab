//! The bytes of one connection, beneath HTTP: counted, paused, and with the
//! time at which they arrived.
//!
//! - No connection takes more bytes than its limit, whatever they are: interim
//!   replies, headers, chunk extensions, trailers or a body.
//! - After each piece the task gives way, so that no player's bytes, however
//!   fast they come, keep the manager from another player's.
//! - The kernel notes when bytes arrive (`SO_TIMESTAMPNS`, see socket(7)), so
//!   that a reply which waited to be read does not count as late. A reply
//!   counts as arrived with the last of its bytes. [`Stamps`] keeps the kernel at it.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use hyper::rt::{Read, ReadBufCursor, Write};
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use tokio::io::{AsyncWrite, Interest};
use tokio::net::TcpStream;

/// Maximum number of bytes that are taken at a time. They lie on the stack first, of which each
/// match has one.
const PIECE: usize = 1 << 10;

/// Bytes of a reply that are kept to show what it was.
const KEPT: usize = 512;

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

/// What is known of the bytes of a connection.
#[derive(Debug)]
pub(crate) struct Traffic {
    /// Bytes that may still come.
    left: Cell<usize>,
    /// The first bytes that came.
    first: RefCell<Vec<u8>>,
    /// When the last bytes came; before any did, a moment at which there were none.
    arrived: Cell<Instant>,
    /// A moment at which all bytes there were had been taken.
    emptied: Cell<Instant>,
    /// When the last write began.
    wrote: Cell<Instant>,
    /// Bytes that come later are not taken any more.
    deadline: Cell<Option<Instant>>,
    /// A piece was taken in this turn of the task.
    has_taken: Cell<bool>,
    /// The task gave way after a piece, and has to be polled again.
    is_paused: Cell<bool>,
}

impl Traffic {
    /// For a connection that may bring at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Rc<Self> {
        let now = Instant::now();
        Rc::new(Self {
            left: Cell::new(max_bytes),
            first: RefCell::default(),
            arrived: Cell::new(now),
            emptied: Cell::new(now),
            wrote: Cell::new(now),
            deadline: Cell::new(None),
            has_taken: Cell::new(false),
            is_paused: Cell::new(false),
        })
    }

    /// When the last bytes came; before any did, when the connection was made.
    pub(crate) fn arrived(&self) -> Instant {
        self.arrived.get()
    }

    /// When the last write began; before any did, when the connection was made.
    pub(crate) fn wrote(&self) -> Instant {
        self.wrote.get()
    }

    /// Whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.left.get() == 0
    }

    /// The first bytes that came.
    pub(crate) fn first(&self) -> Vec<u8> {
        self.first.borrow().clone()
    }

    /// From now on only bytes are taken that came by `deadline`, and nobody is
    /// waited for.
    pub(crate) fn close_at(&self, deadline: Instant) {
        self.deadline.set(Some(deadline));
    }

    /// More bytes may be taken again, whenever they come.
    pub(crate) fn reopen(&self) {
        self.deadline.set(None);
    }

    /// Whoever polls the connection says so before: one piece is taken each time.
    pub(crate) fn begin_turn(&self) {
        self.has_taken.set(false);
        self.is_paused.set(false);
    }

    /// Whether the connection only waits for its task to be polled again.
    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.get()
    }
}

/// A connection.
pub(crate) struct Wire {
    stream: TcpStream,
    traffic: Rc<Traffic>,
}

impl Wire {
    /// Reads and writes `stream`.
    pub(crate) fn new(stream: TcpStream, traffic: Rc<Traffic>) -> Self {
        // Without it, bytes arrive when they are read.
        let _ = setsockopt(&stream, ReceiveTimestampns, &true);
        Self { stream, traffic }
    }

    fn poll_piece(
        &self,
        context: &mut Context<'_>,
        piece: &mut [u8],
    ) -> Poll<io::Result<(usize, Option<TimeSpec>)>> {
        if self.traffic.deadline.get().is_some() {
            // What the runtime knows of the socket may be older than a stall.
            return match receive(&self.stream, piece) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
                received => Poll::Ready(received),
            };
        }
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            let read = || receive(&self.stream, piece);
            match self.stream.try_io(Interest::READABLE, read) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.traffic.emptied.set(Instant::now());
                }
                received => return Poll::Ready(received),
            }
        }
    }
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let traffic = &self.traffic;
        if traffic.is_full() {
            return Poll::Ready(Err(io::Error::other("the reply has too many bytes")));
        }
        if traffic.has_taken.get() {
            traffic.is_paused.set(true);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let most = PIECE.min(buffer.remaining()).min(traffic.left.get());
        let mut piece = [0; PIECE];
        let (n_bytes, stamp) = ready!(self.poll_piece(context, &mut piece[..most]))?;
        if n_bytes == 0 {
            return Poll::Ready(Ok(()));
        }
        let arrived = arrival(stamp, traffic.emptied.get());
        if traffic.deadline.get().is_some_and(|deadline| arrived > deadline) {
            // It is late. What it says does not matter any more.
            return Poll::Pending;
        }
        let bytes = &piece[..n_bytes];
        traffic.has_taken.set(true);
        traffic.arrived.set(arrived);
        traffic.left.set(traffic.left.get() - n_bytes);
        let mut first = traffic.first.borrow_mut();
        let kept = n_bytes.min(KEPT.saturating_sub(first.len()));
        first.extend_from_slice(&bytes[..kept]);
        buffer.put_slice(bytes);
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.traffic.wrote.set(Instant::now());
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Does nothing: the reply is there, and the connection is closed at once.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.traffic.wrote.set(Instant::now());
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}

/// Takes what has come, without waiting, and when the kernel got the last of it.
fn receive(stream: &TcpStream, piece: &mut [u8]) -> io::Result<(usize, Option<TimeSpec>)> {
    let mut space = nix::cmsg_space!(TimeSpec);
    let mut slices = [IoSliceMut::new(piece)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut slices, Some(&mut space), flags)?;
    let stamp = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp),
        _ => None,
    });
    Ok((message.bytes, stamp))
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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let wire = Wire::new(stream, Traffic::new(100));
            listener.accept().unwrap().0.write_all(b"noop").unwrap();
            wire.stream.readable().await.unwrap();
            let (n_bytes, stamp) = receive(&wire.stream, &mut [0; 100]).unwrap();
            assert_eq!(n_bytes, 4);
            stamp.is_some()
        })
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
