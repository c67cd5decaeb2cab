//! How many PLAYs wait for the thread of a match.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most PLAYs that wait for the thread of a match. Only the newest is answered by the
/// player; the others are needed to follow the state.
const MAX_WAITING: usize = 8;

/// One of the PLAYs that wait, until it is dropped.
pub(super) struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// Unless there are too many.
    pub(super) fn enter(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(waiting));
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        (before < MAX_WAITING).then_some(place)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
