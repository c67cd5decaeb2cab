//! Checks before the first match that players are ready.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::locking::lock;
use crate::manager::{Manager, PlayerConfig, PlayerSource, PreflightError};

/// Remote players that are asked at once: they think on machines of their own.
const ASKED_AT_ONCE: usize = 64;

/// Checks the players until one is not ready, or until `is_interrupted`: remote ones together,
/// the others one by one, since they start on this machine.
///
/// # Errors
/// What is wrong with a player that is not ready.
pub(super) fn check(
    manager: &Manager,
    players: &[&PlayerConfig],
    is_interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<(), PreflightError> {
    let is_remote = |player: &&PlayerConfig| matches!(player.source, PlayerSource::Remote { .. });
    let (remote, here): (Vec<_>, Vec<_>) = players.iter().copied().partition(is_remote);
    together(manager, &remote, is_interrupted)?;
    here.into_iter().try_for_each(|player| manager.preflight(player))
}

/// Asks the players from several threads; of several errors, that of the first player counts.
fn together(
    manager: &Manager,
    players: &[&PlayerConfig],
    is_interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<(), PreflightError> {
    let next = AtomicUsize::new(0);
    let first_error: Mutex<Option<(usize, PreflightError)>> = Mutex::default();
    let ask = || {
        while lock(&first_error).is_none() && !is_interrupted() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(player) = players.get(index) else { return };
            if let Err(error) = manager.preflight(player) {
                let mut first = lock(&first_error);
                if first.as_ref().is_none_or(|(before, _)| index < *before) {
                    *first = Some((index, error));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..ASKED_AT_ONCE.min(players.len()) {
            scope.spawn(ask);
        }
    });
    let first = lock(&first_error).take();
    first.map_or(Ok(()), |(_, error)| Err(error))
}
