//! Notices that a worker cannot leave in an orderly way.

use std::time::{Duration, Instant};

use work_queue::Client;

use super::settings::WorkerStop;

/// How long a worker that is to leave waits for a server that does not reply.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time between questions whether the server is there.
const PAUSE: Duration = Duration::from_millis(250);

/// Ends when the worker was asked to leave, and the server has not replied for some time. What
/// the worker has is then of no use to it: the server gives the blocks to others.
pub(super) async fn unanswered(client: &Client, stop: &WorkerStop) {
    while !stop.is_draining() {
        tokio::time::sleep(PAUSE).await;
    }
    let mut heard = Instant::now();
    while heard.elapsed() < PATIENCE {
        // Also when the connection seems to be there: the server may be suspended.
        if tokio::time::timeout(PATIENCE, client.replies()).await == Ok(true) {
            heard = Instant::now();
        }
        tokio::time::sleep(PAUSE).await;
    }
}
