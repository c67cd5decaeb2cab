//! Connections: how many there may be, and how long each may take to send its request.
//!
//! At the limit, the oldest connection without a complete request makes room for a new
//! one, so that a client that opens connections and sends nothing keeps no other out.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use super::http;
use super::service::Service;
use crate::locking::lock;

/// How long the header of a request may take to arrive.
const HEADER_LIMIT: Duration = Duration::from_secs(10);

/// Maximum number of bytes of a header, and of what is read ahead.
const MAX_BUFFER_BYTES: usize = 64 << 10;

/// How long to wait if the system cannot accept a connection, for lack of
/// descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The connections of one server.
#[derive(Clone)]
pub(super) struct Connections {
    max: usize,
    open: Arc<Mutex<Open>>,
}

/// Connections by their number; older ones have smaller numbers.
#[derive(Default)]
struct Open {
    next: u64,
    slots: BTreeMap<u64, Slot>,
}

struct Slot {
    /// Whether a whole request has arrived and was understood.
    heard: Arc<AtomicBool>,
    /// None until the task runs that serves it.
    task: Option<AbortHandle>,
}

/// A place among the connections, given back when it is dropped.
struct Place {
    number: u64,
    heard: Arc<AtomicBool>,
    open: Arc<Mutex<Open>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.open).slots.remove(&self.number);
    }
}

impl Connections {
    pub(super) fn new(max: usize) -> Self {
        Self { max: max.max(1), open: Arc::default() }
    }

    /// Accepts connections and replies to requests, for ever.
    pub(super) async fn serve(self, listener: TcpListener, service: Arc<Service>) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.begin(stream, Arc::clone(&service)),
                // The next attempt would fail, too.
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn begin(&self, stream: TcpStream, service: Arc<Service>) {
        // Dropping the stream closes the connection: all others are being answered.
        let Some(place) = self.place() else { return };
        let number = place.number;
        let task = tokio::spawn(answer(stream, service, place));
        if let Some(slot) = lock(&self.open).slots.get_mut(&number) {
            slot.task = Some(task.abort_handle());
        }
    }

    /// A place for one more, at the cost of the oldest that has said nothing yet.
    fn place(&self) -> Option<Place> {
        let mut open = lock(&self.open);
        if open.slots.len() >= self.max {
            let (&silent, _) =
                open.slots.iter().find(|(_, slot)| !slot.heard.load(Ordering::Relaxed))?;
            let slot = open.slots.remove(&silent).expect("it was found there");
            if let Some(task) = slot.task {
                task.abort();
            }
        }
        let number = open.next;
        open.next += 1;
        let heard = Arc::new(AtomicBool::new(false));
        open.slots.insert(number, Slot { heard: Arc::clone(&heard), task: None });
        Some(Place { number, heard, open: Arc::clone(&self.open) })
    }
}

/// Answers the one request of a connection.
async fn answer(stream: TcpStream, service: Arc<Service>, place: Place) {
    let _ = stream.set_nodelay(true);
    let heard = &place.heard;
    let respond = service_fn(|request| {
        let (service, heard) = (Arc::clone(&service), Arc::clone(heard));
        async move { Ok::<_, Infallible>(http::answer(&service, request, &heard).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_LIMIT)
        .max_buf_size(MAX_BUFFER_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), respond);
    // After an error the connection is not read any more.
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_silent_connection_makes_room() {
        let connections = Connections::new(3);
        let numbers = || lock(&connections.open).slots.keys().copied().collect::<Vec<_>>();
        let mut places: Vec<Place> = (0..3).map(|_| connections.place().unwrap()).collect();
        places[0].heard.store(true, Ordering::Relaxed);
        places.push(connections.place().unwrap());
        assert_eq!(numbers(), [0, 2, 3]);
        places[2].heard.store(true, Ordering::Relaxed);
        places[3].heard.store(true, Ordering::Relaxed);
        assert!(connections.place().is_none(), "all are being answered");
        // One that has to go gives nothing back.
        drop(places.remove(1));
        assert_eq!(numbers(), [0, 2, 3]);
        drop(places.remove(0));
        assert_eq!(numbers(), [2, 3]);
        assert_eq!(connections.place().unwrap().number, 4);
    }
}
