//! A built-in player as an HTTP server for any Gamemaster.
//!
//! One match at a time. Each match has a thread, which follows the state and
//! calls the player; requests only send it orders and wait, so that INFO is
//! answered while the player thinks. A thread that does not come back is left
//! behind with its match.
//!
//! What is said is decided here, how a player thinks is not; and nothing here
//! trusts its peer: bodies are capped, terms are not nested without end, and
//! every request gets an answer.

mod candidates;
mod follow;
mod joint_moves;
mod track;

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, Version, header};
use games::Cancel;
use players::{Kind, OptionError, Options};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{timeout, timeout_at};

use crate::protocol::{Message, News};
use follow::{Follower, Order};

/// Largest request: several times the longest START known, and little enough
/// that a hostile one costs some tens of megabytes.
const MAX_REQUEST_BYTES: usize = 2 << 20;

/// How long a request may take to arrive.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Kept back of each clock for the way to the Gamemaster, but never more than a
/// fifth of the clock.
const MARGIN: Duration = Duration::from_millis(300);

/// How long the end of a match is waited for.
const FAREWELL: Duration = Duration::from_millis(500);

/// What is served.
#[derive(Clone)]
pub struct ServeSettings {
    /// The kind of player.
    pub kind: &'static Kind,
    /// Its options.
    pub options: Options,
    /// Host name or address to listen on.
    pub host: String,
    /// Port to listen on; 0 for any that is free.
    pub port: u16,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The player refuses its options.
    #[error("make the player")]
    Options(#[from] Box<OptionError>),
    /// Somebody else listens there.
    #[error("listen on {host}:{port}: the port is taken; choose another with --port")]
    PortTaken {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The address is not ours, or forbidden.
    #[error("listen on {host}:{port}")]
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
    #[error("start the server")]
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
                if source.kind() == io::ErrorKind::AddrInUse {
                    ServeError::PortTaken { host: host.clone(), port }
                } else {
                    ServeError::Listen { host: host.clone(), port, source }
                }
            })?;
        let address = listener.local_addr().map_err(ServeError::Start)?;
        let service = Arc::new(Service { settings, seated: Mutex::new(None) });
        let router = Router::new().fallback(answer).with_state(service);
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    tokio::select! {
                        _ = axum::serve(listener, router) => {}
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

struct Service {
    settings: ServeSettings,
    seated: Mutex<Option<Seated>>,
}

/// The match being played.
#[derive(Clone)]
struct Seated {
    id: String,
    orders: mpsc::Sender<Order>,
    /// Of the question being thought about.
    cancel: Cancel,
    /// Of the match as a whole.
    ended: Cancel,
    /// What to say if the player does not answer.
    fallback: Arc<Mutex<String>>,
    play_clock: Duration,
    /// Nobody who keeps these clocks is silent for longer.
    patience: Duration,
    heard: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response<Body> {
    let arrived = Instant::now();
    let (parts, body) = request.into_parts();
    let message = match parts.method {
        Method::OPTIONS => return respond(StatusCode::OK, String::new()),
        Method::GET => match url_decoded(parts.uri.path().trim_start_matches('/')) {
            empty if empty.is_empty() => "(INFO)".to_owned(),
            message => message,
        },
        Method::POST => match timeout(REQUEST_LIMIT, to_bytes(body, MAX_REQUEST_BYTES)).await {
            Ok(Ok(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(Err(_)) => return respond(StatusCode::PAYLOAD_TOO_LARGE, "what".to_owned()),
            Err(_) => return respond(StatusCode::REQUEST_TIMEOUT, "what".to_owned()),
        },
        _ => return respond(StatusCode::METHOD_NOT_ALLOWED, String::new()),
    };
    let reply = match message.parse::<Message>() {
        Ok(message) => service.reply(message, arrived).await,
        // What Lisp players say to what they do not understand.
        Err(_) => "what".to_owned(),
    };
    respond(StatusCode::OK, reply)
}

fn respond(status: StatusCode, body: String) -> Response<Body> {
    let length = body.len();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.version_mut() = Version::HTTP_10;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/acl"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    // Browsers want to be told that they may talk to us. `Allow-Age` is what
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

impl Service {
    async fn reply(&self, message: Message, arrived: Instant) -> String {
        match message {
            Message::Info => {
                let status = if self.is_busy(arrived) { "busy" } else { "available" };
                let name = self.settings.kind.name;
                format!("( ( name {name} ) ( status {status} ) ( species alien ) )")
            }
            Message::Preview { .. } => "ready".to_owned(),
            Message::Start { id, role, rules, start_clock_s, play_clock_s } => {
                if self.is_busy(arrived) && lock(&self.seated).as_ref().is_some_and(|s| s.id != id)
                {
                    return "busy".to_owned();
                }
                let start_clock = Duration::from_secs(start_clock_s.min(86_400));
                let play_clock = Duration::from_secs(play_clock_s.min(86_400));
                let deadline = arrived + start_clock - margin(start_clock);
                let cancel = Cancel::new();
                let hurry = Cancel::new();
                tokio::spawn(raise(hurry.clone(), arrived + start_clock / 2));
                let order = Order::Start {
                    role,
                    rules,
                    start_clock,
                    play_clock,
                    deadline,
                    cancel: cancel.clone(),
                    hurry,
                };
                self.start(id, order, cancel, (start_clock, play_clock), arrived).await
            }
            Message::Play { id, news } => {
                let Some(seated) = self.hear(&id, arrived) else { return "busy".to_owned() };
                let deadline = arrived + seated.play_clock - margin(seated.play_clock);
                let (reply, answer) = oneshot::channel();
                let cancel = seated.cancel.clone();
                let order = Order::Play { news, deadline, cancel: cancel.clone(), reply };
                if seated.orders.send(order).is_err() {
                    return lock(&seated.fallback).clone();
                }
                // A player that stops when it should has half the margin left.
                let given_up = deadline + margin(seated.play_clock) / 2;
                match timeout_at(given_up.into(), answer).await {
                    Ok(Ok(answer)) => answer,
                    _ => {
                        // Nobody waits any longer; the thread is wanted for the next question.
                        cancel.cancel();
                        lock(&seated.fallback).clone()
                    }
                }
            }
            Message::Stop { id, news } => self.end(&id, Some(news), arrived, "done").await,
            Message::Abort { id } => self.end(&id, None, arrived, "aborted").await,
        }
    }

    /// Whether a match is on that somebody may still want to go on with.
    fn is_busy(&self, now: Instant) -> bool {
        lock(&self.seated)
            .as_ref()
            .is_some_and(|seated| now.saturating_duration_since(seated.heard) < seated.patience)
    }

    async fn start(
        &self,
        id: String,
        order: Order,
        cancel: Cancel,
        (start_clock, play_clock): (Duration, Duration),
        arrived: Instant,
    ) -> String {
        if let Some(old) = lock(&self.seated).take() {
            old.cancel.cancel();
            old.ended.cancel();
        }
        let (orders, receiver) = mpsc::channel();
        let fallback = Arc::new(Mutex::new("nil".to_owned()));
        let ended = Cancel::new();
        let (ready, is_ready) = oneshot::channel();
        let follower = Follower::new(
            self.settings.kind,
            self.settings.options.clone(),
            Arc::clone(&fallback),
            ended.clone(),
        );
        let spawned = thread::Builder::new()
            .name("match".to_owned())
            .stack_size(16 << 20)
            .spawn(move || follower.follow(order, ready, &receiver));
        if spawned.is_err() {
            return "busy".to_owned();
        }
        let seated = Seated {
            id: id.clone(),
            orders,
            cancel,
            ended,
            fallback,
            play_clock,
            patience: start_clock + play_clock * 2 + Duration::from_secs(10),
            heard: arrived,
        };
        *lock(&self.seated) = Some(seated);
        let given_up = arrived + start_clock - margin(start_clock) / 2;
        match timeout_at(given_up.into(), is_ready).await {
            // Still busy with the rules: there may be an answer by the first PLAY.
            Ok(Ok(true)) | Err(_) => "ready".to_owned(),
            // The rules are no game, or the player cannot play it.
            Ok(Ok(false) | Err(_)) => {
                let mut seated = lock(&self.seated);
                if seated.as_ref().is_some_and(|seated| seated.id == id) {
                    *seated = None;
                }
                "busy".to_owned()
            }
        }
    }

    /// The match, if it is the one being played. An older question is cancelled:
    /// who asks again has given up on it.
    fn hear(&self, id: &str, arrived: Instant) -> Option<Seated> {
        let mut seated = lock(&self.seated);
        let seated = seated.as_mut().filter(|seated| seated.id == id)?;
        seated.cancel.cancel();
        seated.cancel = Cancel::new();
        seated.heard = arrived;
        Some(seated.clone())
    }

    async fn end(
        &self,
        id: &str,
        news: Option<News>,
        arrived: Instant,
        reply: &'static str,
    ) -> String {
        let Some(seated) = self.hear(id, arrived) else { return "busy".to_owned() };
        *lock(&self.seated) = None;
        let (done, is_done) = oneshot::channel();
        let (deadline, cancel) = (arrived + FAREWELL, seated.cancel.clone());
        if seated.orders.send(Order::End { news, deadline, cancel, done }).is_ok() {
            let _ = timeout(FAREWELL, is_done).await;
        }
        // Whatever still computes, nobody will ask for it.
        seated.cancel.cancel();
        seated.ended.cancel();
        reply.to_owned()
    }
}

/// Raises a flag at some time.
async fn raise(flag: Cancel, at: Instant) {
    tokio::time::sleep_until(at.into()).await;
    flag.cancel();
}

fn margin(clock: Duration) -> Duration {
    MARGIN.min(clock / 5)
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
