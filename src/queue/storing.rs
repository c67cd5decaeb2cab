//! Stores what workers have to know of a run on the server.

use async_nats::jetstream::Context;

use super::{QueueError, Server};

/// Whether the server accepts a message of this size.
///
/// # Errors
/// If not.
pub(super) fn check_size(context: &Context, what: &str, payload: &[u8]) -> Result<(), QueueError> {
    let (bytes, limit) = (payload.len(), context.client().max_payload());
    match bytes > limit {
        true => Err(QueueError::TooLarge { what: what.to_owned(), bytes, limit }),
        false => Ok(()),
    }
}

/// Stores a message in the stream of runs.
pub(super) async fn store(
    server: &Server,
    context: &Context,
    subject: &str,
    what: &str,
    payload: &[u8],
) -> Result<(), QueueError> {
    check_size(context, what, payload)?;
    let refused = server.refused("store the spec and the rulesheets");
    let stored = context.publish(subject.to_owned(), payload.to_vec().into()).await;
    let stored = stored.map_err(|error| refused(&error))?;
    stored.await.map_err(|error| refused(&error))?;
    Ok(())
}
