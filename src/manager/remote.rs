//! One message to a player and its reply, over HTTP, under a clock.
//!
//! The request has the bytes that ggp-base sends: HTTP/1.0, its headers in its
//! order and spelling, header and body in one write. One connection carries one
//! message; nothing is retried, redirected or pooled.
//!
//! **The clock.** It starts when the kernel has taken the last byte of the
//! request. It ends when the kernel got the last byte of the reply, which [`Wire`]
//! knows: a reply that had to wait until it was read is not late. If this thread was
//! interrupted as it sent, the reply may come before it noted the time; then the clock
//! starts with the write. Connecting has a limit of its own. The limit is on the
//! whole exchange, so that a player gains nothing by dribbling. While this process
//! stands still so does the clock ([`Watch`]).
//!
//! **Tolerance.** The status code is ignored; [`ReplyReader`] says what a reply is. All
//! bytes of a reply, interim replies, chunk sizes and trailers included, count towards
//! the sum of the two caps.
//!
//! **Memory.** Of a player that thinks, this keeps the connection and an empty
//! [`ReplyReader`]: the request is dropped when it is sent.

use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::header::HeaderValue;
use hyper::http::uri::Authority;
use tokio::sync::Semaphore;
use tokio::task::yield_now;

pub(crate) use super::http_reply::Answer;
use super::http_reply::{ReplyError, ReplyReader};
use super::machine_limit::lack;
use super::reach::{Address, ReachError};
use super::stalls::Watch;
use super::waits::Waits;
use super::wire::Wire;
use crate::printable::printable;

/// Maximum number of characters of a reply that is shown because it makes no sense.
const MAX_SHOWN: usize = 160;

/// Bytes of a reply that are kept to show what it was.
const KEPT: usize = 512;

/// Where a player listens, and how it is addressed.
#[derive(Debug)]
pub(crate) struct Target {
    address: Address,
    host: HeaderValue,
    receiver: HeaderValue,
}

/// Limits of one exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the last byte of the request to the last byte of the reply.
    pub(crate) reply: Duration,
    /// Until the connection stands.
    pub(crate) connect: Duration,
    /// Maximum number of bytes of the reply's header.
    pub(crate) max_header_bytes: usize,
    /// Maximum number of bytes of the reply's body.
    pub(crate) max_body_bytes: usize,
}

/// What came of one message.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The reply.
    pub(crate) reply: Result<Answer, ExchangeError>,
    /// From the last byte of the request to the last byte of the reply, or to
    /// the end of the wait; zero if the request was not sent.
    pub(crate) wall: Duration,
    /// Until the connection stood and the request was written.
    pub(crate) connect: Duration,
    /// How long the clock stood still, because this process did.
    pub(crate) stalled: Duration,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeError {
    /// Its time was over.
    Late,
    /// No connection, or it did not take the message: why.
    Unreachable(String),
    /// It took the message and hung up: how.
    Unanswered(String),
    /// What came is no HTTP, or breaks a cap: what.
    Unreadable(String),
    /// This machine lacks something: what.
    Lacking(String),
}

/// A host and port that are no address.
#[derive(Debug, thiserror::Error)]
#[error("invalid address: host `{host}`, port {port}; expected a name or an IP address")]
pub struct AddressError {
    host: String,
    port: u16,
}

impl Target {
    /// The player `name` at `host:port`.
    pub(crate) fn new(name: &str, host: &str, port: u16) -> Result<Self, AddressError> {
        let wrong = || AddressError { host: host.to_owned(), port };
        let is_bare_ipv6 = host.contains(':') && !host.starts_with('[');
        let written = if is_bare_ipv6 { format!("[{host}]") } else { host.to_owned() };
        let authority: Authority = format!("{written}:{port}").parse().map_err(|_| wrong())?;
        // `user@host` or `host:port` would parse, but as something else.
        if authority.host() != written || written.contains('@') || written.is_empty() {
            return Err(wrong());
        }
        let bare = written.trim_start_matches('[').trim_end_matches(']');
        if written.starts_with('[') && bare.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(wrong());
        }
        let address = Address::new(bare, port);
        let host = HeaderValue::from_str(&written).map_err(|_| wrong())?;
        let receiver = HeaderValue::from_str(name).unwrap_or_else(|_| HeaderValue::from_static(""));
        Ok(Self { address, host, receiver })
    }
}

/// Exchanges of this process with players that reply immediately. If many more began together, they
/// would wait for its cores with their clocks running, and their replies would be late.
static AT_ONCE: Semaphore = Semaphore::const_new(32);

/// A player that has not replied by then thinks: it needs no core of this process.
const THINKS: Duration = Duration::from_millis(20);

/// The same where cores are scarce, so that a player which replies at once may have to wait for
/// one. Otherwise ever more exchanges would wait for the cores, and all of their replies be late.
const THINKS_OR_WAITS: Duration = Duration::from_millis(200);

/// Whether a player thinks that has not replied after this time.
pub(crate) fn is_thinking(after: Duration, watch: &Watch) -> bool {
    after >= if watch.cores_are_scarce() { THINKS_OR_WAITS } else { THINKS }
}

/// Sends `message` to `target` and waits for the reply, but not longer than `limits` say. If the
/// player is not known to think, it waits first until few exchanges with such players are under
/// way; no clock runs then.
pub(crate) async fn exchange(
    waits: &Waits,
    target: &Target,
    message: String,
    limits: Limits,
    thinks: bool,
) -> Exchange {
    let mut exchange = pin!(carry_out(waits, target, message, limits));
    if !thinks {
        let turn = AT_ONCE.acquire().await;
        let begun = Instant::now();
        while !is_thinking(begun.elapsed(), waits.watch()) {
            let next_look = Instant::now() + THINKS;
            if let Some(exchange) = waits.timeout_at(next_look, &mut exchange).await {
                return exchange;
            }
        }
        drop(turn);
    }
    exchange.await
}

async fn carry_out(waits: &Waits, target: &Target, message: String, limits: Limits) -> Exchange {
    let begun = Instant::now();
    let unsent = |reply| Exchange {
        reply,
        wall: Duration::ZERO,
        connect: begun.elapsed(),
        stalled: Duration::ZERO,
    };
    let stream = match connect(waits, target, limits.connect).await {
        Ok(stream) => stream,
        Err(error) => return unsent(Err(error)),
    };
    let mut talk = Talk::new(stream, limits);
    let request = request(target, &message);
    drop(message);
    let sent = {
        let sending = pin!(talk.send(waits, &request));
        waits.within(begun, limits.connect, sending).await
    };
    drop(request);
    let sent_at = match sent {
        Some(Sent::All(sent_at)) => sent_at,
        // A player may answer before it has read all; then its time is short.
        Some(Sent::Early(reply)) => {
            return unsent(match reply {
                Err(ExchangeError::Unanswered(why)) => Err(ExchangeError::Unreachable(why)),
                reply => reply,
            });
        }
        None => {
            let limit = humantime::format_duration(limits.connect);
            let why = format!("the player did not read the whole message within {limit}");
            return unsent(Err(ExchangeError::Unreachable(why)));
        }
    };
    let reply = talk.await_reply(waits, sent_at, limits.reply).await;
    let wire = &talk.wire;
    let done = match &reply {
        Some(Ok(_)) => wire.arrived(),
        _ => Instant::now(),
    };
    // Where the write counts, that it took long is no fault of the player.
    let wall = match clock_start(wire.wrote(), sent_at, done) {
        start if start < sent_at => waits.watch().used(start, done, limits.reply).min(limits.reply),
        start => waits.watch().used(start, done, limits.reply),
    };
    let stalled = done.saturating_duration_since(sent_at).saturating_sub(wall);
    // Timers tick in milliseconds; the clock does not.
    let reply = reply.filter(|_| wall <= limits.reply).unwrap_or(Err(ExchangeError::Late));
    Exchange { reply, wall, connect: sent_at.saturating_duration_since(begun), stalled }
}

/// When the clock of an exchange starts whose last write began at `wrote`, of which this
/// thread learned at `sent` that the kernel took it, and whose reply came at `done`.
fn clock_start(wrote: Instant, sent: Instant, done: Instant) -> Instant {
    if done < sent { wrote } else { sent }
}

/// A connection to `target`. If this process stood still while it waited, it tries again
/// for as long as that was.
async fn connect(
    waits: &Waits,
    target: &Target,
    limit: Duration,
) -> Result<Arc<TcpStream>, ExchangeError> {
    let mut left = limit;
    loop {
        let begun = Instant::now();
        // In a box of its own, since it is larger than what is kept while the player thinks.
        let connected = Box::pin(target.address.connect(waits, left)).await;
        let stalled = waits.watch().stalled(begun, Instant::now());
        match connected {
            Ok(stream) => return Ok(stream),
            // A refusal is an answer; only time that was missing is given again.
            Err(_) if !stalled.is_zero() && begun.elapsed() >= left => left = stalled,
            Err(ReachError::Unreachable(why)) => return Err(ExchangeError::Unreachable(why)),
            Err(ReachError::Lacking(what)) => return Err(ExchangeError::Lacking(what)),
        }
    }
}

const REQUEST_LINE: &[u8] = b"POST / HTTP/1.0\r\n";

/// The bytes of a request.
fn request(target: &Target, message: &str) -> Vec<u8> {
    let length = message.len().to_string();
    let headers: [(&str, &[u8]); 6] = [
        ("Accept", b"text/delim"),
        ("Host", target.host.as_bytes()),
        ("Sender", b"GAMESERVER"),
        ("Receiver", target.receiver.as_bytes()),
        ("Content-Type", b"text/acl"),
        ("Content-Length", length.as_bytes()),
    ];
    // Of its size from the start: what had to grow does not come from the memory that the thread
    // has freed before, which the allocator keeps for it.
    let n_bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut request = Vec::with_capacity(REQUEST_LINE.len() + n_bytes + 2 + message.len());
    request.extend(REQUEST_LINE);
    for (name, value) in headers {
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            request.extend(part);
        }
    }
    request.extend(b"\r\n");
    request.extend(message.as_bytes());
    request
}

type Reply = Result<Answer, ExchangeError>;

/// How the sending of a request ends.
enum Sent {
    /// The kernel had taken all of it, at this time.
    All(Instant),
    /// The reply, or why there is none, was known before.
    Early(Reply),
}

/// A request and its reply on one connection.
struct Talk {
    wire: Wire,
    reader: ReplyReader,
    /// The first bytes that came.
    first: Vec<u8>,
}

impl Talk {
    fn new(stream: Arc<TcpStream>, limits: Limits) -> Self {
        let Limits { max_header_bytes, max_body_bytes, .. } = limits;
        Self {
            wire: Wire::new(stream, max_header_bytes.saturating_add(max_body_bytes)),
            reader: ReplyReader::new(max_header_bytes, max_body_bytes),
            first: Vec::new(),
        }
    }

    /// Sends `request`.
    async fn send(&mut self, waits: &Waits, request: &[u8]) -> Sent {
        let mut rest = request;
        poll_fn(|context| {
            while !rest.is_empty() {
                match self.wire.poll_write(waits, rest) {
                    Poll::Ready(Ok(n_bytes)) if n_bytes > 0 => rest = &rest[n_bytes..],
                    // It may have answered before it closed the connection.
                    Poll::Ready(written) => {
                        let reply = ready!(self.poll_reply(waits, context));
                        return Poll::Ready(Sent::Early(match (reply, written) {
                            (Err(ExchangeError::Unanswered(_)), Err(error)) => {
                                Err(self.explain(&error))
                            }
                            (reply, _) => reply,
                        }));
                    }
                    Poll::Pending => return self.poll_reply(waits, context).map(Sent::Early),
                }
            }
            Poll::Ready(Sent::All(Instant::now()))
        })
        .await
    }

    /// Waits for the reply until the clock is over; `None` if the clock is first. What
    /// came by then counts, even if nobody has read it yet.
    async fn await_reply(
        &mut self,
        waits: &Waits,
        sent_at: Instant,
        limit: Duration,
    ) -> Option<Reply> {
        let mut deadline = sent_at + limit;
        loop {
            let reply = poll_fn(|context| self.poll_reply(waits, context));
            if let Some(reply) = waits.timeout_at(deadline, reply).await {
                return Some(reply);
            }
            deadline = waits.watch().deadline(sent_at, limit);
            let came = self.reply_until(deadline).await;
            if came.is_some() || deadline <= Instant::now() {
                return came;
            }
        }
    }

    /// Reads a piece of the reply. Then the task gives way, so that no player's bytes,
    /// however fast they come, keep the manager from another player's.
    fn poll_reply(&mut self, waits: &Waits, context: &mut Context<'_>) -> Poll<Reply> {
        if self.wire.is_full() {
            return Poll::Ready(Err(self.too_long()));
        }
        let came = ready!(self.wire.poll_read(waits));
        self.read(came).map_or_else(
            || {
                context.waker().wake_by_ref();
                Poll::Pending
            },
            Poll::Ready,
        )
    }

    /// The reply, if all of it came by `deadline`.
    async fn reply_until(&mut self, deadline: Instant) -> Option<Reply> {
        loop {
            if self.wire.is_full() {
                return Some(Err(self.too_long()));
            }
            let came = self.wire.read_until(deadline)?;
            if let Some(reply) = self.read(came) {
                return Some(reply);
            }
            // Others have clocks, too.
            yield_now().await;
        }
    }

    /// The reply, if it is complete with the bytes that came; none come at the end of the
    /// connection.
    fn read(&mut self, came: io::Result<Vec<u8>>) -> Option<Reply> {
        let bytes = match came {
            Ok(bytes) => bytes,
            Err(error) if lack(&error).is_some() => return Some(Err(self.explain(&error))),
            Err(error) => return Some(self.reader.cut().map_err(|_| self.explain(&error))),
        };
        if bytes.is_empty() {
            return Some(self.reader.end().map_err(|error| match self.first.is_empty() {
                true => {
                    let why = "the connection was closed without a reply";
                    ExchangeError::Unanswered(why.to_owned())
                }
                false => self.unreadable(&error),
            }));
        }
        let n_kept = bytes.len().min(KEPT.saturating_sub(self.first.len()));
        self.first.extend_from_slice(&bytes[..n_kept]);
        self.reader.take(&bytes).map_err(|error| self.unreadable(&error)).transpose()
    }

    /// What an error of the connection means.
    fn explain(&self, error: &io::Error) -> ExchangeError {
        match lack(error) {
            Some(what) => ExchangeError::Lacking(what),
            None if self.first.is_empty() => {
                ExchangeError::Unanswered(format!("connection error: {error}"))
            }
            None => self.unreadable(&ReplyError::Incomplete),
        }
    }

    fn unreadable(&self, error: &ReplyError) -> ExchangeError {
        ExchangeError::Unreadable(format!("{error}: {}", self.shown()))
    }

    fn too_long(&self) -> ExchangeError {
        ExchangeError::Unreadable(format!("the reply is too long: {}", self.shown()))
    }

    fn shown(&self) -> String {
        first_line(&String::from_utf8_lossy(&self.first))
    }
}

/// The first line of a text that is not blank, cut and made printable.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing");
    printable(line, MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc::Receiver;
    use std::thread;

    use super::super::waits::tests::begun_waits;
    use super::super::wire::tests::begun_stamps;
    use super::*;

    const LIMITS: Limits = Limits {
        reply: Duration::from_secs(60),
        connect: Duration::from_secs(5),
        max_header_bytes: 64 << 10,
        max_body_bytes: 64 << 10,
    };

    /// Sends `message` to a server that reads all of it, writes each of `parts`
    /// and then, if `closes`, closes; what it read, and what came of it.
    fn talk(message: &str, parts: &[&[u8]], closes: bool, limits: Limits) -> (String, Exchange) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let end = message.to_owned();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut read = Vec::new();
            while !String::from_utf8_lossy(&read).ends_with(&end) {
                let mut chunk = [0; 4096];
                let n = stream.read(&mut chunk).unwrap();
                assert!(n > 0, "the request ends early");
                read.extend_from_slice(&chunk[..n]);
            }
            for part in parts {
                // The other side may have seen enough.
                if stream.write_all(&part).is_err() {
                    break;
                }
            }
            if !closes {
                let _ = stream.read(&mut [0; 1]);
            }
            String::from_utf8(read).unwrap()
        });
        let target = Target::new("Random Player", "127.0.0.1", port).unwrap();
        let waits = begun_waits();
        let message = message.to_owned();
        let came = waits.block_on(exchange(&waits, &target, message, limits, false));
        (server.join().unwrap(), came)
    }

    /// The text of a reply, or what kind of error it is.
    fn outcome(came: &Exchange) -> Result<&str, &'static str> {
        came.reply.as_ref().map(|answer| answer.text.as_str()).map_err(|error| match error {
            ExchangeError::Late => "late",
            ExchangeError::Unreachable(_) => "unreachable",
            ExchangeError::Unanswered(_) => "unanswered",
            ExchangeError::Unreadable(_) => "unreadable",
            ExchangeError::Lacking(_) => "lacking",
        })
    }

    #[test]
    fn requests_have_the_bytes_of_ggp_base() {
        let reply = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nready";
        let (request, came) = talk("( PLAY test.tt.1 NIL )", &[reply], true, LIMITS);
        assert_eq!(
            request,
            "POST / HTTP/1.0\r\n\
             Accept: text/delim\r\n\
             Host: 127.0.0.1\r\n\
             Sender: GAMESERVER\r\n\
             Receiver: Random Player\r\n\
             Content-Type: text/acl\r\n\
             Content-Length: 22\r\n\
             \r\n\
             ( PLAY test.tt.1 NIL )"
        );
        assert_eq!(outcome(&came), Ok("ready"));
        let long = format!("( PLAY m ({}) )", "noop ".repeat(100_000));
        let (request, came) = talk(&long, &[reply], true, LIMITS);
        assert!(request.ends_with(&format!("Content-Length: {}\r\n\r\n{long}", long.len())));
        assert_eq!(outcome(&came), Ok("ready"));
    }

    #[test]
    fn replies_are_framed_by_this_table() {
        let check = |parts: &[&[u8]], closes, expected: Result<&str, &str>| {
            // Only a reply that never comes may meet the limit, however busy the machine is.
            let limits = match expected {
                Err("late") => Limits { reply: Duration::from_millis(200), ..LIMITS },
                _ => LIMITS,
            };
            let (_, came) = talk("( INFO )", parts, closes, limits);
            let shown: Vec<_> = parts
                .iter()
                .map(|part| String::from_utf8_lossy(&part[..part.len().min(100)]))
                .collect();
            assert_eq!(outcome(&came), expected, "{shown:?}");
        };
        let ok = Ok("(mark 1 1)");
        // With a length, whether or not the player closes; without, to the end.
        check(&[b"HTTP/1.0 200 OK\r\nContent-length: 10\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n(mark 1 1)"], false, ok);
        check(&[b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)"], false, Err("late"));
        // In pieces, with LF only, with any status, with more after the body.
        check(&[b"HTTP/1.0 200 OK\r\nConte", b"nt-Length: 10\r\n\r\n(mar", b"k 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200 OK\nContent-Length: 10\n\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 500 Oops\r\nContent-Length: 10\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200\r\nContent-Length: 10\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n(mark 1 1)\r\n"], true, ok);
        check(&[b"HTTP/1.0 200 OK\r\nCONTENT-LENGTH:  12\r\n\r\n (mark 1 1)\n"], true, ok);
        check(&[b"HTTP/1.0 301 No\r\nLocation: http://0.0.0.0/\r\n\r\n(mark 1 1)"], true, ok);
        // In chunks; after an interim response; with a strange header.
        check(
            &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n(mark \r\n4\r\n1 1)\r\n0\r\n\r\n"],
            true,
            ok,
        );
        check(
            &[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n(mark 1 1)"],
            true,
            ok,
        );
        check(&[b"HTTP/1.0 200 OK\r\nno colon\r\n\r\n(mark 1 1)"], true, ok);
        // A length that is too long: what came counts. Too short: it is cut.
        check(&[b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n(mark 1 1)"], true, Ok("(mark"));
        check(&[b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"], true, Ok(""));
        check(&[b"HTTP/1.0 200 OK\r\n\r\n(\xff)"], true, Ok("(\u{fffd})"));
        // Nothing, half a header, silence.
        check(&[], true, Err("unanswered"));
        check(&[b"HTTP/1.0 200 OK\r\nConte"], true, Err("unreadable"));
        check(&[], false, Err("late"));
        check(&[b"HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n(mar"], false, Err("late"));
        // No HTTP.
        check(&[b"(mark 1 1)"], true, Err("unreadable"));
        check(&[b"\x00\x01\x02\x03 garbage\r\n\r\n"], true, Err("unreadable"));
        check(
            &[b"HTTP/1.0 200 OK\r\nContent-Length: ten\r\n\r\n(mark 1 1)"],
            true,
            Err("unreadable"),
        );
        check(
            &[b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n(mark 1 1)\r\n0\r\n\r\n"],
            true,
            Err("unreadable"),
        );
        // Too much.
        let too_long = [b"HTTP/1.0 200 OK\r\n\r\n".as_slice(), &[b'x'; 70_000]].concat();
        check(&[&too_long], false, Err("unreadable"));
        check(
            &[b"HTTP/1.0 200 OK\r\nContent-Length: 2000000000\r\n\r\n(mark 1 1)"],
            false,
            Err("unreadable"),
        );
        let header =
            [b"HTTP/1.0 200 OK\r\nX: ".as_slice(), &[b'x'; 70_000], b"\r\n\r\nmove"].concat();
        check(&[&header], true, Err("unreadable"));
        let header = [b"HTTP/1.0 200 OK\r\n".as_slice(), &b"X: x\r\n".repeat(100_000)].concat();
        check(&[&header], false, Err("unreadable"));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (begin, more) in [
            (b"".as_slice(), b"HTTP/1.1 100 Continue\r\n\r\n".as_slice()),
            (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n"),
            (b"HTTP/1.1 100 Continue\r\nX: ", b"x"),
            (chunked, b"0000000"),
            (chunked, b"1;more\r\nx\r\n"),
            (&[chunked, b"1;x=".as_slice()].concat(), b"x"),
            (&[chunked, b"0\r\n".as_slice()].concat(), b"X-Trailer: x\r\n"),
        ] {
            let flood = [begin, &more.repeat(200_000 / more.len())].concat();
            check(&[&flood], false, Err("unreadable"));
        }
        // Some of each is as good as none.
        check(
            &[
                b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000).as_slice(),
                b"HTTP/1.0 200 OK\r\n\r\nnoop",
            ],
            true,
            Ok("noop"),
        );
        check(&[chunked, b"1;x=y\r\nn\r\n3\r\noop\r\n0\r\nX-Trailer: x\r\n\r\n"], true, Ok("noop"));
    }

    #[test]
    fn nobody_there_is_unreachable() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let target = Target::new("p", "127.0.0.1", port).unwrap();
        let waits = begun_waits();
        let came = waits.block_on(exchange(&waits, &target, String::new(), LIMITS, false));
        assert_eq!(outcome(&came), Err("unreachable"));
        assert_eq!(came.wall, Duration::ZERO);
    }

    /// What comes of a long message to a player that `answers` on a connection of which it read
    /// only the first bytes. What it receives from ends when the exchange is over.
    fn talk_early(
        answers: impl FnOnce(std::net::TcpStream, Receiver<()>) + Send + 'static,
    ) -> Exchange {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::new("p", "127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let (end, over) = std::sync::mpsc::channel();
        let player = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1000]).unwrap() > 0);
            answers(stream, over);
        });
        let waits = begun_waits();
        let limits = Limits { connect: Duration::from_millis(500), ..LIMITS };
        // More than the buffers of both sides hold.
        let message = "noop ".repeat(4_000_000);
        let came = waits.block_on(exchange(&waits, &target, message, limits, false));
        drop(end);
        player.join().unwrap();
        came
    }

    #[test]
    fn a_player_may_answer_before_it_has_read_all() {
        let reply = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nnoop";
        let stays = talk_early(move |mut stream, over| {
            stream.write_all(reply).unwrap();
            let _ = over.recv();
        });
        assert_eq!(outcome(&stays), Ok("noop"));
        assert_eq!(stays.wall, Duration::ZERO);
        let hangs_up = talk_early(|stream, _| drop(stream));
        assert_eq!(outcome(&hangs_up), Err("unreachable"));
        let never_reads = talk_early(|_stream, over| {
            let _ = over.recv();
        });
        let Err(ExchangeError::Unreachable(why)) = &never_reads.reply else {
            panic!("{never_reads:?}")
        };
        assert!(why.contains("did not read the whole message within 500ms"), "{why}");
    }

    /// More of them than exchanges may be at the same time.
    #[test]
    fn exchanges_of_many_threads_take_turns() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        const N_THREADS: usize = 64;
        const N_MESSAGES: usize = 20;
        let player = thread::spawn(move || {
            for _ in 0..N_THREADS * N_MESSAGES {
                let (mut stream, _) = listener.accept().unwrap();
                thread::spawn(move || {
                    let mut chunk = [0; 4096];
                    let n_bytes = stream.read(&mut chunk).unwrap();
                    let text = String::from_utf8_lossy(&chunk[..n_bytes]).into_owned();
                    let message = text.lines().last().unwrap();
                    write!(stream, "HTTP/1.0 200 OK\r\n\r\n{message}").unwrap();
                });
            }
        });
        let target = Target::new("p", "127.0.0.1", port).unwrap();
        thread::scope(|scope| {
            for index in 0..N_THREADS {
                let target = &target;
                scope.spawn(move || {
                    let waits = begun_waits();
                    for turn in 0..N_MESSAGES {
                        let message = format!("( {index} {turn} )");
                        let sent = message.clone();
                        let came = waits.block_on(exchange(&waits, target, sent, LIMITS, false));
                        assert_eq!(outcome(&came), Ok(message.as_str()));
                    }
                });
            }
        });
        player.join().unwrap();
    }

    #[test]
    fn a_reply_before_the_send_was_noted_took_the_time_since_the_write() {
        let wrote = Instant::now();
        let [sent, done] = [2, 1].map(|ms| wrote + Duration::from_millis(ms));
        assert_eq!(clock_start(wrote, sent, done), wrote);
        assert_eq!(clock_start(wrote, sent, sent), sent);
    }

    /// Others have clocks that must not wait for a flood to be read.
    #[test]
    fn a_flood_is_read_in_turns() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::new("p", "127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let flood = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let more = b"HTTP/1.1 100 C\r\n\r\n".repeat(10_000);
            while stream.write_all(&more).is_ok() {}
        });
        let waits = begun_waits();
        let limits = Limits { max_body_bytes: 1 << 20, ..LIMITS };
        let mut n_turns = 0_usize;
        let came = waits.block_on(async {
            let mut talk = pin!(exchange(&waits, &target, "( INFO )".to_owned(), limits, false));
            poll_fn(|context| {
                n_turns += 1;
                talk.as_mut().poll(context)
            })
            .await
        });
        assert_eq!(outcome(&came), Err("unreadable"));
        let n_bytes = limits.max_header_bytes + limits.max_body_bytes;
        assert!(n_turns >= n_bytes / 4096, "{n_bytes} bytes were read in {n_turns} turns");
        flood.join().unwrap();
    }

    #[test]
    fn a_reply_that_waits_to_be_read_is_not_late() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Target::new("p", "127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let (asked, is_asked) = std::sync::mpsc::channel();
        let (allowed, is_allowed) = std::sync::mpsc::channel();
        let player = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            asked.send(()).unwrap();
            is_allowed.recv().unwrap();
            stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nnoop").unwrap();
            let _ = stream.read(&mut [0; 1]);
        });
        let waits = begun_waits();
        let _stamps = begun_stamps();
        let limits = Limits { reply: Duration::from_secs(1), ..LIMITS };
        let came = waits.block_on(async {
            let mut talk = pin!(exchange(&waits, &target, "( INFO )".to_owned(), limits, false));
            poll_fn(|context| {
                let polled = talk.as_mut().poll(context);
                if is_asked.try_recv().is_ok() {
                    // The player answers, and the thread does something else, beyond the
                    // deadline.
                    allowed.send(()).unwrap();
                    thread::sleep(limits.reply + Duration::from_millis(100));
                }
                if polled.is_pending() {
                    context.waker().wake_by_ref();
                }
                polled
            })
            .await
        });
        assert_eq!(outcome(&came), Ok("noop"));
        assert!(came.wall < limits.reply, "{:?}", came.wall);
        player.join().unwrap();
    }

    #[test]
    fn addresses_are_hosts() {
        for host in ["localhost", "127.0.0.1", "::1", "[::1]", "player.example"] {
            assert!(Target::new("p", host, 9147).is_ok(), "{host}");
        }
        for host in ["", "a b", "a/b", "user@host", "host?x", "host:80"] {
            assert!(Target::new("p", host, 9147).is_err(), "{host}");
        }
    }
}
