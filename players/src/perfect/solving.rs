//! Solves in a thread of its own: a step may take seconds, for example when tables grow, and the
//! move must not wait for it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use games::solve::{Alone, Phase, SolveError, Solver};

use crate::Stop;

/// States of a step, so that most take little time.
const STEP_STATES: u64 = 32;
/// No step begins in the last tenth of the time, or in its last 10 ms if that is shorter. A step
/// that is still running at the end is left to itself.
const LAST_STEP: Duration = Duration::from_millis(10);
/// How often a wait looks whether it was cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A solver that is done or needs more time, or why it cannot go on.
pub(super) type Outcome = Result<Box<Solver>, SolveError>;

/// The solver panicked.
struct Panicked;

/// A solver at work.
pub(super) struct Solving {
    outcome: Receiver<Outcome>,
    thread: JoinHandle<()>,
    /// States expanded since it began, and how many of them were reported.
    n_expanded: Arc<AtomicU64>,
    n_reported: u64,
}

impl Solving {
    /// Solves until `stop` is due, by states that are expanded from now on.
    ///
    /// # Errors
    /// If the machine has no thread for it. The solver is lost.
    pub(super) fn begin(mut solver: Box<Solver>, stop: &Stop) -> io::Result<Self> {
        let (outcomes, outcome) = channel();
        let n_expanded = Arc::new(AtomicU64::new(0));
        let (stop, counted) = (stop.clone(), Arc::clone(&n_expanded));
        let thread = thread::Builder::new().name("solver".to_owned()).spawn(move || {
            // Nobody waits for it once the match is over.
            let _ = match solve(&mut solver, &stop, &counted) {
                Ok(()) => outcomes.send(Ok(solver)),
                // The error is sent first, since freeing the solver's memory may take a second.
                Err(error) => outcomes.send(Err(error)),
            };
        })?;
        Ok(Self { outcome, thread, n_expanded, n_reported: 0 })
    }

    /// What came of it, or what is at work if a step takes longer than `stop` allows.
    ///
    /// Adds the states that were expanded since the last call to `n_expanded`.
    ///
    /// # Panics
    /// As the solver, if it panicked.
    pub(super) fn wait(mut self, stop: &Stop, n_expanded: &mut u64) -> Result<Outcome, Self> {
        let outcome = self.wait_for_outcome(stop);
        let expanded = self.n_expanded.load(Ordering::Relaxed);
        *n_expanded += expanded - std::mem::replace(&mut self.n_reported, expanded);
        match outcome {
            Ok(Some(outcome)) => Ok(outcome),
            Ok(None) => Err(self),
            Err(Panicked) => match self.thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("a solver that returns sends an outcome"),
            },
        }
    }

    /// The outcome, or `None` if it took too long.
    fn wait_for_outcome(&self, stop: &Stop) -> Result<Option<Outcome>, Panicked> {
        loop {
            let left = stop.deadline().map(|end| end.duration_since(Instant::now()));
            let left = left.unwrap_or(BETWEEN_LOOKS);
            match self.outcome.recv_timeout(left.min(BETWEEN_LOOKS)) {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(RecvTimeoutError::Timeout) => {
                    if left.is_zero() || stop.cancel().is_cancelled() {
                        return Ok(None);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Panicked),
            }
        }
    }
}

/// The same stop, a tenth of the time earlier, at most [`LAST_STEP`].
pub(super) fn early(stop: &Stop) -> Stop {
    let Some(end) = stop.deadline() else { return stop.clone() };
    let left = end.duration_since(Instant::now());
    let earlier = end.checked_sub((left / 10).min(LAST_STEP));
    stop.clone().at(earlier.unwrap_or(end))
}

fn solve(solver: &mut Solver, stop: &Stop, counted: &AtomicU64) -> Result<(), SolveError> {
    let mut n_expanded = 0;
    while solver.progress().phase != Phase::Done && !stop.is_due(n_expanded) {
        let before = solver.progress().n_expanded;
        let left = stop.node_budget().map_or(STEP_STATES, |budget| budget - n_expanded);
        solver.step_within(&Alone, left.min(STEP_STATES) as usize)?;
        n_expanded += solver.progress().n_expanded.saturating_sub(before).max(1);
        counted.store(n_expanded, Ordering::Relaxed);
    }
    Ok(())
}
