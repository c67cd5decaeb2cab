//! One message to a player and its reply, over HTTP, under a clock.
//!
//! The request has the bytes that ggp-base sends: HTTP/1.0, its headers in its
//! order and spelling, header and body in one write. One connection carries one
//! message; nothing is retried, redirected or pooled.
//!
//! **The clock.** It starts when the kernel has taken the last byte of the
//! request: hyper drops the body's buffer then, and [`SentMark`] notes when. It
//! ends with the last byte of the reply. Connecting has a limit of its own. The
//! limit is on the whole exchange, so that a player gains nothing by dribbling.
//!
//! **Tolerance.** The status code is ignored, lines may end in LF, chunks are
//! decoded, interim responses are skipped, a body shorter than promised is used
//! as it came, and one longer is cut. Without a length the body ends with the
//! connection. Three replies some servers would take are beyond the library
//! and count as unreadable: no status line at all, chunks under `HTTP/1.0`, and
//! more than 100 headers. A header block beyond the cap is refused by us; the
//! library itself would give up at 408 KiB, so that an endless one costs no
//! more memory than that.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use reqwest::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
};
use reqwest::{Client, Method, Request, Response, Url, Version};
use tokio::sync::oneshot;
use tokio::time::timeout_at;

/// Where a player listens, and how it is addressed.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    url: Url,
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
    /// Most bytes of the reply's header.
    pub(crate) max_header_bytes: usize,
    /// Most bytes of the reply's body.
    pub(crate) max_body_bytes: usize,
}

/// What came of one message.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The reply's body.
    pub(crate) reply: Result<String, ExchangeError>,
    /// From the last byte of the request to the last byte of the reply, or to
    /// the end of the wait; zero if the request was not sent.
    pub(crate) wall: Duration,
    /// Until the connection stood and the request was written.
    pub(crate) connect: Duration,
}

/// Why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// Its time was over.
    #[error("get an answer in time")]
    Late,
    /// No connection, or it broke before anything was said.
    #[error("reach it")]
    Unreachable,
    /// What came is no HTTP, or breaks a cap.
    #[error("make sense of what it answers")]
    Unreadable,
}

/// A host and port that make no address.
#[derive(Debug, thiserror::Error)]
#[error("make an address of `{host}` and port {port}")]
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
        let url = Url::parse(&format!("http://{written}:{port}/")).map_err(|_| wrong())?;
        // `host/path` or `user@host` would parse, but as something else.
        if url.path() != "/" || url.query().is_some() || !url.username().is_empty() {
            return Err(wrong());
        }
        let host = HeaderValue::from_str(&written).map_err(|_| wrong())?;
        let receiver = HeaderValue::from_str(name).unwrap_or_else(|_| HeaderValue::from_static(""));
        Ok(Self { url, host, receiver })
    }
}

/// A client for [`exchange`].
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .no_proxy()
        .http1_only()
        .http1_title_case_headers()
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        // A PLAY sent twice would be answered twice.
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(0)
        .build()
}

/// Sends `message` to `target` and waits for the reply, but not longer than `limits` say.
pub(crate) async fn exchange(
    client: &Client,
    target: &Target,
    message: String,
    limits: Limits,
) -> Exchange {
    let begun = Instant::now();
    let (mark, mut sent) = oneshot::channel();
    let reply = receive(client.execute(request(target, message, mark)), limits);
    tokio::pin!(reply);

    let mut early = None;
    let connected = timeout_at((begun + limits.connect).into(), async {
        tokio::select! {
            biased;
            at = &mut sent => at.ok(),
            reply = &mut reply => {
                early = Some((reply, Instant::now()));
                sent.try_recv().ok()
            }
        }
    });
    let sent_at = connected.await.unwrap_or(None);
    let Some(sent_at) = sent_at else {
        // A player may answer before it has read all; then its time is short.
        let reply = early.map_or(Err(ExchangeError::Unreachable), |(reply, _)| reply);
        return Exchange { reply, wall: Duration::ZERO, connect: begun.elapsed() };
    };
    let (reply, done) = match early {
        Some(early) => early,
        None => match timeout_at((sent_at + limits.reply).into(), &mut reply).await {
            Ok(reply) => (reply, Instant::now()),
            Err(_) => (Err(ExchangeError::Late), Instant::now()),
        },
    };
    let wall = done.saturating_duration_since(sent_at);
    // Timers tick in milliseconds; the clock does not.
    let reply = if wall > limits.reply { Err(ExchangeError::Late) } else { reply };
    Exchange { reply, wall, connect: sent_at.saturating_duration_since(begun) }
}

fn request(target: &Target, message: String, mark: oneshot::Sender<Instant>) -> Request {
    let mut request = Request::new(Method::POST, target.url.clone());
    *request.version_mut() = Version::HTTP_10;
    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(ACCEPT, HeaderValue::from_static("text/delim"));
    headers.insert(HOST, target.host.clone());
    headers.insert(HeaderName::from_static("sender"), HeaderValue::from_static("GAMESERVER"));
    headers.insert(HeaderName::from_static("receiver"), target.receiver.clone());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/acl"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(message.len()));
    *request.headers_mut() = headers;
    let taken = Arc::new(AtomicBool::new(false));
    let mark = SentMark { sender: Some(mark), taken: Arc::clone(&taken) };
    let body = OneFrame { bytes: Some(Bytes::from_owner(Marked { message, _mark: mark })), taken };
    *request.body_mut() = Some(reqwest::Body::wrap(body));
    request
}

async fn receive(
    response: impl Future<Output = Result<Response, reqwest::Error>>,
    limits: Limits,
) -> Result<String, ExchangeError> {
    let mut response = response.await.map_err(|error| classify(&error))?;
    let header_bytes: usize =
        response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let promised = response.content_length().unwrap_or(0);
    if header_bytes > limits.max_header_bytes || promised > limits.max_body_bytes as u64 {
        return Err(ExchangeError::Unreadable);
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => break,
            Ok(Some(chunk)) if body.len() + chunk.len() > limits.max_body_bytes => {
                return Err(ExchangeError::Unreadable);
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            // Less came than was promised.
            Err(_) if !body.is_empty() => break,
            Err(error) => return Err(classify(&error)),
        }
    }
    Ok(String::from_utf8_lossy(&body).trim().to_owned())
}

fn classify(error: &reqwest::Error) -> ExchangeError {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_parse() || error.is_parse_too_large())
        {
            return ExchangeError::Unreadable;
        }
        source = error.source();
    }
    ExchangeError::Unreachable
}

/// Tells when it is dropped, if the connection took it before.
struct SentMark {
    sender: Option<oneshot::Sender<Instant>>,
    taken: Arc<AtomicBool>,
}

impl Drop for SentMark {
    fn drop(&mut self) {
        if let (Some(sender), true) = (self.sender.take(), self.taken.load(Ordering::Relaxed)) {
            // Nobody listens any more if the exchange was cut.
            let _ = sender.send(Instant::now());
        }
    }
}

struct Marked {
    message: String,
    _mark: SentMark,
}

impl AsRef<[u8]> for Marked {
    fn as_ref(&self) -> &[u8] {
        self.message.as_bytes()
    }
}

/// A body that nobody can clone, so that its buffer is dropped when written.
struct OneFrame {
    bytes: Option<Bytes>,
    taken: Arc<AtomicBool>,
}

impl Body for OneFrame {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.taken.store(true, Ordering::Relaxed);
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, Bytes::len) as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const LIMITS: Limits = Limits {
        reply: Duration::from_millis(200),
        connect: Duration::from_secs(5),
        max_header_bytes: 64 << 10,
        max_body_bytes: 64 << 10,
    };

    /// Sends `message` to a server that reads all of it, writes each of `parts`
    /// and then, if `closes`, closes; what it read, and what came of it.
    fn talk(message: &str, parts: &[&[u8]], closes: bool) -> (String, Exchange) {
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
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let target = Target::new("Random Player", "127.0.0.1", port).unwrap();
        let client = client().unwrap();
        let message = message.to_owned();
        let came = runtime.block_on(async {
            let came = exchange(&client, &target, message, LIMITS).await;
            tokio::task::yield_now().await;
            came
        });
        drop(runtime);
        (server.join().unwrap(), came)
    }

    #[test]
    fn requests_have_the_bytes_of_ggp_base() {
        let reply = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nready";
        let (request, came) = talk("( PLAY test.tt.1 NIL )", &[reply], true);
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
        assert_eq!(came.reply.as_deref(), Ok("ready"));
        let long = format!("( PLAY m ({}) )", "noop ".repeat(100_000));
        let (request, came) = talk(&long, &[reply], true);
        assert!(request.ends_with(&format!("Content-Length: {}\r\n\r\n{long}", long.len())));
        assert_eq!(came.reply.as_deref(), Ok("ready"));
    }

    #[test]
    fn replies_are_framed_by_this_table() {
        let check = |parts: &[&[u8]], closes, expected: Result<&str, ExchangeError>| {
            let (_, came) = talk("( INFO )", parts, closes);
            let shown: Vec<_> = parts
                .iter()
                .map(|part| String::from_utf8_lossy(&part[..part.len().min(100)]))
                .collect();
            assert_eq!(came.reply.as_deref(), expected.as_ref().copied(), "{shown:?}");
        };
        let ok = Ok("(mark 1 1)");
        // With a length, whether or not the player closes; without, to the end.
        check(&[b"HTTP/1.0 200 OK\r\nContent-length: 10\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n(mark 1 1)"], false, ok);
        check(&[b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)"], true, ok);
        check(&[b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)"], false, Err(ExchangeError::Late));
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
        check(&[], true, Err(ExchangeError::Unreachable));
        check(&[b"HTTP/1.0 200 OK\r\nConte"], true, Err(ExchangeError::Unreachable));
        check(&[], false, Err(ExchangeError::Late));
        check(
            &[b"HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n(mar"],
            false,
            Err(ExchangeError::Late),
        );
        // No HTTP.
        check(&[b"(mark 1 1)"], true, Err(ExchangeError::Unreadable));
        check(&[b"\x00\x01\x02\x03 garbage\r\n\r\n"], true, Err(ExchangeError::Unreadable));
        check(
            &[b"HTTP/1.0 200 OK\r\nContent-Length: ten\r\n\r\n(mark 1 1)"],
            true,
            Err(ExchangeError::Unreadable),
        );
        check(
            &[b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n(mark 1 1)\r\n0\r\n\r\n"],
            true,
            Err(ExchangeError::Unreadable),
        );
        // Too much.
        let too_long = [b"HTTP/1.0 200 OK\r\n\r\n".as_slice(), &[b'x'; 70_000]].concat();
        check(&[&too_long], false, Err(ExchangeError::Unreadable));
        check(
            &[b"HTTP/1.0 200 OK\r\nContent-Length: 2000000000\r\n\r\n(mark 1 1)"],
            false,
            Err(ExchangeError::Unreadable),
        );
        let header =
            [b"HTTP/1.0 200 OK\r\nX: ".as_slice(), &[b'x'; 70_000], b"\r\n\r\nmove"].concat();
        check(&[&header], true, Err(ExchangeError::Unreadable));
        let header = [b"HTTP/1.0 200 OK\r\n".as_slice(), &b"X: x\r\n".repeat(100_000)].concat();
        check(&[&header], false, Err(ExchangeError::Unreadable));
    }

    #[test]
    fn nobody_there_is_unreachable() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let target = Target::new("p", "127.0.0.1", port).unwrap();
        let client = client().unwrap();
        let came = runtime.block_on(exchange(&client, &target, String::new(), LIMITS));
        assert_eq!(came.reply, Err(ExchangeError::Unreachable));
        assert_eq!(came.wall, Duration::ZERO);
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
