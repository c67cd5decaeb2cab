//! Times at which this process did not run.
//!
//! The process may be stopped, its virtual machine paused, or its machine overloaded.
//! A thread ticks; if its ticks are missing for long, all clocks count as stopped
//! meanwhile, so that no player has less time because of it. Players cannot make ticks
//! late at will: everything they send is read in small pieces by other threads.
//!
//! Delays shorter than [`STALL`] are not seen here. They need not be: the kernel
//! notes when the bytes of a remote player arrive, and a built-in player's
//! thread when it has an answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::locking::lock;

/// Time between two ticks.
const TICK: Duration = Duration::from_millis(25);

/// The shortest time without a tick that stops the clocks. On a machine with
/// many more threads than processors a tick comes late by some tens of
/// milliseconds.
const STALL: Duration = Duration::from_millis(200);

/// Stalls that are remembered. A question during which there are more gives
/// its player a little less than it should.
const MAX_STALLS: usize = 1000;

/// Records stalls, from when it is made until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch(Arc<Mutex<Ticks>>);

#[derive(Debug)]
struct Ticks {
    last: Instant,
    /// When each stall began and ended, the latest last.
    stalls: VecDeque<(Instant, Instant)>,
}

impl Watch {
    /// Begins to tick.
    ///
    /// # Errors
    /// If its thread cannot be started.
    pub(crate) fn begin() -> std::io::Result<Self> {
        let watch = Self::at(Instant::now());
        let ticks = Arc::downgrade(&watch.0);
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(64 << 10)
            .spawn(move || keep(&ticks))?;
        Ok(watch)
    }

    fn at(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Ticks { last: now, stalls: VecDeque::new() })))
    }

    /// How long the process stood still between two moments.
    pub(crate) fn stalled(&self, from: Instant, to: Instant) -> Duration {
        lock(&self.0).stalled(from, to)
    }

    /// What a clock of `limit` shows at `to` if it was started at `from`: stalls are
    /// looked at only where it would show more than the limit.
    pub(crate) fn used(&self, from: Instant, to: Instant, limit: Duration) -> Duration {
        let passed = to.saturating_duration_since(from);
        if passed <= limit { passed } else { passed.saturating_sub(self.stalled(from, to)) }
    }

    /// The moment at which such a clock runs out, as far as is known now.
    pub(crate) fn deadline(&self, from: Instant, limit: Duration) -> Instant {
        from + limit + self.stalled(from, Instant::now())
    }
}

impl Ticks {
    fn tick(&mut self, now: Instant) {
        if now.saturating_duration_since(self.last) >= STALL {
            if self.stalls.len() >= MAX_STALLS {
                self.stalls.pop_front();
            }
            self.stalls.push_back((self.last, now));
        }
        self.last = now;
    }

    fn stalled(&self, from: Instant, to: Instant) -> Duration {
        // Whoever wakes first after a stall asks before there is a tick.
        let is_open = to.saturating_duration_since(self.last) >= STALL;
        let open = is_open.then_some((self.last, to));
        let stalls = self.stalls.iter().copied().chain(open);
        stalls.map(|(began, ended)| ended.min(to).saturating_duration_since(began.max(from))).sum()
    }
}

fn keep(ticks: &Weak<Mutex<Ticks>>) {
    loop {
        thread::sleep(TICK);
        let Some(ticks) = ticks.upgrade() else { return };
        lock(&ticks).tick(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_counts_as_far_as_it_overlaps() {
        let began = Instant::now();
        let at = |ms: u64| began + Duration::from_millis(ms);
        let watch = Watch::at(began);
        // Ticks until 100 ms, none until 1100 ms, then again until 1500 ms.
        for ms in (25..=100).step_by(25).chain((1100..=1500).step_by(25)) {
            lock(&watch.0).tick(at(ms));
        }
        for (from, to, expected) in [
            (0, 100, 0),
            (0, 1500, 1000),
            (100, 1100, 1000),
            (600, 1500, 500),
            (0, 600, 500),
            (300, 400, 100),
            (1100, 1500, 0),
            // What is late by less is no stall.
            (1100, 1690, 0),
            // A stall that lasts: there was no tick since 1500 ms.
            (1400, 2500, 1000),
            (1600, 2500, 900),
        ] {
            let stalled = watch.stalled(at(from), at(to));
            assert_eq!(stalled, Duration::from_millis(expected), "{from} to {to}");
        }
    }

    #[test]
    fn only_so_many_stalls_are_remembered() {
        let began = Instant::now();
        let watch = Watch::at(began);
        let n = u32::try_from(MAX_STALLS).unwrap() * 2;
        for index in 1..=n {
            lock(&watch.0).tick(began + STALL * index);
        }
        assert_eq!(watch.stalled(began, began + STALL * n), STALL * (n / 2));
    }
}
