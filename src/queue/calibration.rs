//! How fast and how punctual this machine is, measured before and while it plays.

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
    pub(super) fn is_possible(&self) -> bool {
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
pub(super) struct Calibrator(Arc<Mutex<(u64, Calibration)>>);

/// The number of the reading that was taken last for some purpose; 0 if there was none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken(u64);

impl Calibrator {
    /// Makes the first reading, and starts the thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let latest = Arc::new(Mutex::new((1, Calibration::measure())));
        let weak: Weak<_> = Arc::downgrade(&latest);
        let read = move || {
            loop {
                std::thread::sleep(INTERVAL);
                let Some(latest) = weak.upgrade() else { return };
                let reading = Calibration::measure();
                let mut latest = lock(&latest);
                *latest = (latest.0 + 1, reading);
            }
        };
        std::thread::Builder::new().name("calibration".into()).spawn(read)?;
        Ok(Self(latest))
    }

    /// The latest reading, if it was not the one that was taken last.
    pub(super) fn take(&self, taken: &mut Taken) -> Option<Calibration> {
        let (number, reading) = *lock(&self.0);
        let is_new = number != taken.0;
        taken.0 = number;
        is_new.then_some(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_gets_a_reading_once() {
        let calibrator = Calibrator::start().unwrap();
        let (mut one, mut other) = (Taken::default(), Taken::default());
        let reading = calibrator.take(&mut one).unwrap();
        assert!(reading.is_possible());
        assert_eq!(calibrator.take(&mut one), None);
        assert_eq!(calibrator.take(&mut other), Some(reading));
    }
}
