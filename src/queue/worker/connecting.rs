//! Connects a worker to the server, however long that takes.

use work_queue::{Client, Link, ServerError, pause};

use super::settings::{WorkerSettings, WorkerStop};
use crate::queue::WorkerNews;

/// A connection; `None` if the worker is to leave before there is one.
pub(super) async fn connect(
    settings: &WorkerSettings,
    stop: &WorkerStop,
    say: &mut dyn FnMut(WorkerNews),
) -> Result<Option<(Client, Link)>, ServerError> {
    let mut attempt = 0;
    let mut said = None;
    while !stop.is_draining() {
        let name = format!("gamemaster worker {}", settings.name);
        let connected = tokio::select! {
            connected = settings.server.connect(&name) => connected,
            () = stop.asked() => break,
        };
        match connected {
            Ok(connection) => {
                let (name, url) = (settings.name.clone(), settings.server.url());
                say(WorkerNews::Connected { name, url, at_once: settings.at_once });
                return Ok(Some(connection));
            }
            Err(error @ (ServerError::Connect { .. } | ServerError::NoJetStream { .. })) => {
                let reason = error.to_string();
                if said.as_ref() != Some(&reason) {
                    said = Some(reason);
                    say(WorkerNews::Unreachable(error));
                }
                let wait = tokio::time::timeout(pause(attempt), stop.asked());
                let _ = wait.await;
                attempt = attempt.saturating_add(1);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
