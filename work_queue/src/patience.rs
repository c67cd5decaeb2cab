//! Requests to a server that may be slow, restart or be away.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use super::ServerError;
use super::link::Link;

/// Time for all attempts at a request.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// Longest pause before the next attempt to connect.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Makes a request, again and again for 30 s if the server does not reply: it may restart, or its
/// disk be busy. The link of the connection, if there is one, knows whether the server refuses the
/// request, which it does without a reply.
///
/// # Errors
/// Those of the last request.
pub async fn patiently<T>(
    mut link: Option<&mut Link>,
    request: impl AsyncFn() -> Result<T, ServerError>,
) -> Result<T, ServerError> {
    let since = Instant::now();
    loop {
        let result = match &mut link {
            Some(link) => once(link, &request).await,
            None => request().await,
        };
        match result {
            Err(error) if error.is_silence() && since.elapsed() < LONG_PATIENCE => {}
            result => return result,
        }
    }
}

/// Makes a request once. If the server does not reply and says that it refuses something, the
/// error has its reason.
///
/// # Errors
/// Those of the request.
pub async fn once<T>(
    link: &mut Link,
    request: impl AsyncFnOnce() -> Result<T, ServerError>,
) -> Result<T, ServerError> {
    // What it said before is about something else.
    let _ = link.refusal();
    request().await.map_err(|error| match (error, link.refusal()) {
        (ServerError::NoReply { url, what }, Some(reason)) => {
            ServerError::Refused { url, what, reason: reason.into() }
        }
        (error, _) => error,
    })
}

/// The pause before the attempt with this number: longer each time, and different for
/// workers that lost the server together.
#[must_use]
pub fn pause(attempt: u32) -> Duration {
    let longest = Duration::from_millis(50).saturating_mul(1 << attempt.min(8)).min(MAX_PAUSE);
    longest.mul_f64(0.5 + random() as f64 / u64::MAX as f64 / 2.0)
}

/// A random number, by the keys of the standard library: another one in each call and process, as
/// far as chance allows.
#[must_use]
pub fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_have_a_limit() {
        assert!(pause(0) < Duration::from_millis(51));
        assert!(pause(20) <= MAX_PAUSE && pause(20) >= MAX_PAUSE / 2);
    }
}
