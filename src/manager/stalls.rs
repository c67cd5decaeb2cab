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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::cpu_pressure::CpuPressure;
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

/// Ticks between two looks at the pressure on the cores.
const LOOK: u32 = 4;

/// Records stalls, from when it is made until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    ticks: Arc<Mutex<Ticks>>,
    cores_are_scarce: Arc<AtomicBool>,
}

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
        let ticks = Arc::downgrade(&watch.ticks);
        let scarce = Arc::clone(&watch.cores_are_scarce);
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(64 << 10)
            .spawn(move || keep(&ticks, &scarce))?;
        Ok(watch)
    }

    fn at(now: Instant) -> Self {
        let ticks = Ticks { last: now, stalls: VecDeque::new() };
        Self { ticks: Arc::new(Mutex::new(ticks)), cores_are_scarce: Arc::default() }
    }

    /// Whether programs had to wait for a core of this machine during most of the last tenth of a
    /// second.
    pub(crate) fn cores_are_scarce(&self) -> bool {
        self.cores_are_scarce.load(Ordering::Relaxed)
    }

    /// How long the process stood still between two moments.
    pub(crate) fn stalled(&self, from: Instant, to: Instant) -> Duration {
        lock(&self.ticks).stalled(from, to)
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

fn keep(ticks: &Weak<Mutex<Ticks>>, cores_are_scarce: &AtomicBool) {
    let pressure = CpuPressure::open();
    let look = || Some((Instant::now(), pressure.as_ref()?.waited()?));
    let mut last = look();
    for number in (0..LOOK).cycle() {
        thread::sleep(TICK);
        let Some(ticks) = ticks.upgrade() else { return };
        lock(&ticks).tick(Instant::now());
        drop(ticks);
        if number == 0 {
            let now = look();
            if let (Some((from, before)), Some((to, after))) = (last, now) {
                let is_scarce = after.saturating_sub(before) * 2 > to.duration_since(from);
                cores_are_scarce.store(is_scarce, Ordering::Relaxed);
            }
            last = now;
        }
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
            lock(&watch.ticks).tick(at(ms));
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
            lock(&watch.ticks).tick(began + STALL * index);
        }
        assert_eq!(watch.stalled(began, began + STALL * n), STALL * (n / 2));
    }
}
