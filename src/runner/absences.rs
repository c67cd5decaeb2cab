//! Players that are missing in match after match.
//!
//! A match without one of its players is aborted and played by a later run. A player that
//! is restarted is soon back. If a player is gone for good, all its matches would be
//! aborted; so the run stops.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use results::record::AbortReason;

use super::StopFlag;

use crate::locking::lock;

/// How often a player may be missing in a row.
const MAX_MISSED: u32 = 5;

/// Time between two matches for which the same player is missing, so that there is
/// time to start it again. What is missed sooner, by other workers, counts once.
const PAUSE: Duration = Duration::from_millis(500);

/// How often a worker that pauses checks whether to continue.
const LOOK: Duration = Duration::from_millis(20);

/// Why a run ends before its matches are played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    /// The player.
    pub(super) player: usize,
    /// Why the last match was aborted.
    pub(super) reason: AbortReason,
}

/// Counts for each player in how many matches in a row it was missing.
#[derive(Debug, Default)]
pub(super) struct Absences {
    missed: Mutex<BTreeMap<usize, Missed>>,
    given_up: OnceLock<GivenUp>,
}

#[derive(Debug)]
struct Missed {
    n: u32,
    last: Instant,
}

impl Absences {
    /// These players were there.
    pub(super) fn were_there(&self, players: impl Iterator<Item = usize>) {
        let mut missed = self.missed();
        if !missed.is_empty() {
            for player in players {
                missed.remove(&player);
            }
        }
    }

    /// This player was not there at `now`.
    pub(super) fn was_missing(&self, player: usize, reason: AbortReason, now: Instant) {
        let mut missed = self.missed();
        let streak = missed.entry(player).or_insert(Missed { n: 0, last: now });
        if streak.n > 0 && now.saturating_duration_since(streak.last) < PAUSE {
            return;
        }
        (streak.n, streak.last) = (streak.n + 1, now);
        if streak.n >= MAX_MISSED {
            let _ = self.given_up.set(GivenUp { player, reason });
        }
    }

    /// The player that ended the run, if one did.
    pub(super) fn given_up(&self) -> Option<&GivenUp> {
        self.given_up.get()
    }

    /// Waits before the next match, but not longer than there is one to come.
    pub(super) fn pause(&self, stop: &StopFlag) {
        let end = Instant::now() + PAUSE;
        while Instant::now() < end && !stop.is_raised() && self.given_up().is_none() {
            thread::sleep(LOOK);
        }
    }

    fn missed(&self) -> MutexGuard<'_, BTreeMap<usize, Missed>> {
        lock(&self.missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_that_stays_away_ends_the_run_by_this_table() {
        let absences = Absences::default();
        let begun = Instant::now();
        let miss =
            |player, n| absences.was_missing(player, AbortReason::Interrupted, begun + PAUSE * n);
        (1..MAX_MISSED).for_each(|n| miss(3, n));
        // At the same time as before, by other workers.
        (0..100).for_each(|_| miss(3, MAX_MISSED - 1));
        assert_eq!(absences.given_up(), None);
        // Other players do not count, and a player that returns starts again from 0.
        miss(4, MAX_MISSED);
        absences.were_there([3, 5].into_iter());
        (1..MAX_MISSED).for_each(|n| miss(3, MAX_MISSED + n));
        assert_eq!(absences.given_up(), None);
        miss(3, 3 * MAX_MISSED);
        let expected = GivenUp { player: 3, reason: AbortReason::Interrupted };
        assert_eq!(absences.given_up(), Some(&expected));
    }
}
