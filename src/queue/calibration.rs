//! How fast and how punctual this machine is, measured before and while it plays.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::locking::lock;
use crate::yardstick::rounds_per_cpu_second;

/// CPU time of a reading while matches are played: as little as gives two digits.
const CPU_SECONDS: f64 = 0.01;

/// Time between readings.
const INTERVAL: Duration = Duration::from_secs(30);

/// A timer of this length is set so often for a reading.
const TIMER: Duration = Duration::from_millis(2);
const N_TIMERS: u32 = 20;

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    /// Rounds of the yardstick in a second of CPU time, in millions.
    pub(super) speed: f64,
    /// How late a timer woke up, mean of several, microseconds.
    pub(super) lateness_us: f64,
}

impl Calibration {
    /// Whether the numbers can be those of a machine.
    fn is_possible(&self) -> bool {
        (1e-3..1e9).contains(&self.speed) && (0.0..1e9).contains(&self.lateness_us)
    }

    fn measure() -> Self {
        let speed = rounds_per_cpu_second(CPU_SECONDS) / 1e6;
        let begun = Instant::now();
        (0..N_TIMERS).for_each(|_| std::thread::sleep(TIMER));
        let late = begun.elapsed().saturating_sub(TIMER * N_TIMERS);
        Self { speed, lateness_us: late.as_secs_f64() * 1e6 / f64::from(N_TIMERS) }
    }
}

/// Reads now and then, on a thread of its own, until it is dropped.
pub(super) struct Calibrator(Arc<Mutex<Calibration>>);

impl Calibrator {
    /// Makes the first reading, and starts the thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let latest = Arc::new(Mutex::new(Calibration::measure()));
        let weak: Weak<_> = Arc::downgrade(&latest);
        let read = move || {
            loop {
                std::thread::sleep(INTERVAL);
                let Some(latest) = weak.upgrade() else { return };
                let reading = Calibration::measure();
                *lock(&latest) = reading;
            }
        };
        std::thread::Builder::new().name("calibration".into()).spawn(read)?;
        Ok(Self(latest))
    }

    /// The latest reading.
    pub(super) fn latest(&self) -> Calibration {
        *lock(&self.0)
    }
}

/// Readings of a worker that are remembered: several workers may have its name.
const MAX_KNOWN: usize = 8;

/// The latest readings of each worker. A worker sends its latest one with each result, since any
/// result may be lost.
#[derive(Default)]
pub(super) struct KnownReadings(BTreeMap<String, VecDeque<Calibration>>);

impl KnownReadings {
    /// The reading, if it can be one of a machine and was not seen before.
    pub(super) fn new_one(&mut self, worker: &str, reading: Calibration) -> Option<Calibration> {
        if !reading.is_possible() {
            return None;
        }
        let known = self.0.entry(worker.to_owned()).or_default();
        if known.contains(&reading) {
            return None;
        }
        known.truncate(MAX_KNOWN - 1);
        known.push_front(reading);
        Some(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_counts_once_for_each_worker() {
        let reading = Calibrator::start().unwrap().latest();
        let other = Calibration { speed: reading.speed * 2.0, ..reading };
        let mut known = KnownReadings::default();
        assert_eq!(known.new_one("w", reading), Some(reading));
        assert_eq!(known.new_one("w", other), Some(other));
        assert_eq!((known.new_one("w", reading), known.new_one("w", other)), (None, None));
        assert_eq!(known.new_one("v", reading), Some(reading));
        let impossible = Calibration { lateness_us: f64::NAN, ..reading };
        assert_eq!(known.new_one("w", impossible), None);
    }
}
