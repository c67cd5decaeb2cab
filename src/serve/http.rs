//! One HTTP request: read within limits, parsed, and answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use tokio::time::timeout;

use super::memory::MAX_REQUEST_BYTES;
use super::message_log::Received;
use super::service::{Heard, Service};
use crate::protocol::Message;

/// Largest request that is parsed at once, on the server's own thread: that
/// takes less than a millisecond.
const MAX_SMALL_BYTES: usize = 16 << 10;

/// Largest PLAY or STOP. They name the moves of one step, or what one role saw.
const MAX_NEWS_BYTES: usize = 256 << 10;

/// How long a request may take to arrive once its header is there.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Answers one request; `heard` is raised when it is known what it says.
pub(super) async fn answer(
    service: &Arc<Service>,
    request: Request<Incoming>,
    heard: &AtomicBool,
) -> Response<Full<Bytes>> {
    let arrived = Instant::now();
    let (parts, body) = request.into_parts();
    let text = match parts.method {
        Method::OPTIONS => return respond(StatusCode::OK, String::new()),
        Method::GET => match url_decoded(parts.uri.path().trim_start_matches('/')) {
            empty if empty.is_empty() => Bytes::from_static(b"(INFO)"),
            message => message.into(),
        },
        Method::POST => {
            let body = Limited::new(body, MAX_REQUEST_BYTES);
            match timeout(REQUEST_LIMIT, body.collect()).await {
                Ok(Ok(body)) => body.to_bytes(),
                Ok(Err(error)) if error.is::<LengthLimitError>() => {
                    return respond(StatusCode::PAYLOAD_TOO_LARGE, "what".to_owned());
                }
                Ok(Err(_)) => return respond(StatusCode::BAD_REQUEST, "what".to_owned()),
                Err(_) => return respond(StatusCode::REQUEST_TIMEOUT, "what".to_owned()),
            }
        }
        _ => return respond(StatusCode::METHOD_NOT_ALLOWED, String::new()),
    };
    let n_bytes = text.len();
    let parsed = parse(service, text).await;
    heard.store(true, Ordering::Relaxed);
    let log = service.message_log();
    let message = parsed.as_ref().map(|heard| &heard.message);
    let received = log.map(|log| (log, Received::new(message, arrived)));
    let (status, reply) = match parsed {
        Some(Heard { message: Message::Play { .. } | Message::Stop { .. }, .. })
            if n_bytes > MAX_NEWS_BYTES =>
        {
            (StatusCode::PAYLOAD_TOO_LARGE, "what".to_owned())
        }
        Some(heard) => (StatusCode::OK, service.reply(heard, arrived).await),
        // What Lisp players say to what they do not understand.
        None => (StatusCode::OK, "what".to_owned()),
    };
    if let Some((log, received)) = received {
        log.add(&received, &reply);
    }
    respond(status, reply)
}

/// The message in a text, if there is one. A large one is parsed on another thread, so that
/// the server's thread stays free.
async fn parse(service: &Service, text: Bytes) -> Option<Heard> {
    let read = |text: &[u8]| String::from_utf8_lossy(text).parse().ok();
    if text.len() <= MAX_SMALL_BYTES {
        return Some(Heard { message: read(&text)?, large: None });
    }
    let large = service.large_message().await;
    let parsed = tokio::task::spawn_blocking(move || read(&text)).await;
    Some(Heard { message: parsed.ok().flatten()?, large: Some(large) })
}

fn respond(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let length = body.len();
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    *response.version_mut() = Version::HTTP_10;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/acl"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    // Browsers need permission to talk to us. `Allow-Age` is what
    // ggp-base calls it.
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "POST, GET, OPTIONS"),
        ("access-control-allow-headers", "Content-Type"),
        ("access-control-allow-age", "86400"),
        ("access-control-max-age", "86400"),
        // Some Gamemasters read to the end of the connection.
        ("connection", "close"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// `%28` for `(` and `+` for a blank.
fn url_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let decoded = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, decoded) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(if first == b'+' { b' ' } else { first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(url_decoded("%28INFO%29"), "(INFO)");
        assert_eq!(url_decoded("(play+m%20nil)"), "(play m nil)");
        assert_eq!(url_decoded("100%"), "100%");
        assert_eq!(url_decoded("%2"), "%2");
        assert_eq!(url_decoded("%zz%ff"), "%zz\u{fffd}");
    }
}
