//! Remote players that are in a match: each plays one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::locking::lock;

/// Host and port of a player.
pub(super) type Address = (String, u16);

/// Longest wait before the next look whether the run was interrupted.
const PATIENCE: Duration = Duration::from_millis(100);

/// Addresses that matches use. Who waits for one of them is woken when that one is free,
/// and not whenever any match ends: with hundreds of matches at once that would cost more
/// than the matches.
#[derive(Default)]
pub(super) struct Claims(Mutex<BTreeMap<Address, Arc<Condvar>>>);

/// Addresses of remote players that one match uses, until it is dropped.
pub(super) struct Claim<'a> {
    claims: &'a Claims,
    addresses: BTreeSet<Address>,
}

impl Claims {
    /// Waits until no other match uses any of `addresses`, or `is_interrupted`.
    pub(super) fn claim(
        &self,
        addresses: BTreeSet<Address>,
        is_interrupted: impl Fn() -> bool,
    ) -> Claim<'_> {
        let mut in_use = lock(&self.0);
        while !is_interrupted()
            && let Some(freed) = addresses.iter().find_map(|address| in_use.get(address))
        {
            let freed = Arc::clone(freed);
            // The limit covers an interruption between the look and the wait.
            let wait = freed.wait_timeout(in_use, PATIENCE);
            in_use = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        for address in &addresses {
            in_use.entry(address.clone()).or_default();
        }
        drop(in_use);
        Claim { claims: self, addresses }
    }

    /// Lets those that wait look whether the run was interrupted.
    pub(super) fn wake_all(&self) {
        lock(&self.0).values().for_each(|freed| freed.notify_all());
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut in_use = lock(&self.claims.0);
        for address in &self.addresses {
            if let Some(freed) = in_use.remove(address) {
                freed.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn of(players: &[u16]) -> BTreeSet<Address> {
        players.iter().map(|&port| ("localhost".to_owned(), port)).collect()
    }

    #[test]
    fn a_player_is_in_one_match_at_a_time() {
        let claims = Claims::default();
        let players = [(); 3].map(|()| AtomicU32::new(0));
        let play = |pair: [u16; 2]| {
            for _ in 0..200 {
                let _claim = claims.claim(of(&pair), || false);
                for player in pair.map(usize::from) {
                    assert_eq!(players[player].fetch_add(1, Ordering::SeqCst), 0);
                }
                std::thread::yield_now();
                for player in pair.map(usize::from) {
                    players[player].fetch_sub(1, Ordering::SeqCst);
                }
            }
        };
        std::thread::scope(|scope| {
            for pair in [[0, 1], [1, 2], [0, 2], [2, 1]] {
                scope.spawn(move || play(pair));
            }
        });
        assert!(lock(&claims.0).is_empty());
    }

    #[test]
    fn who_is_interrupted_does_not_wait() {
        let claims = Claims::default();
        let _first = claims.claim(of(&[1]), || false);
        drop(claims.claim(of(&[1, 2]), || true));
        claims.wake_all();
    }
}
