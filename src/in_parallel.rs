//! Work on many items by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::locking::lock;

/// What `work` gives for each item, in the order of the items. Each of at most `n_threads` threads
/// makes itself a worker, and takes the next item until none is left or one has failed.
///
/// # Errors
/// The first error in the order of the items, of those that were worked on.
pub(crate) fn in_parallel<T: Sync, W, R: Send, E: Send>(
    items: &[T],
    n_threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::default();
    let run = || {
        let mut worker = worker();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let result = work(&mut worker, item);
            if result.is_err() {
                // Nobody takes another item.
                next.store(items.len(), Ordering::Relaxed);
            }
            lock(&done).push((at, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..n_threads.min(items.len()) {
            scope.spawn(run);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
