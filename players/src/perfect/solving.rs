//! Solving in a thread of its own. Some steps of a solver take seconds, as when its tables grow,
//! and no move is to be late for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use games::solve::{Alone, Phase, SolveError, Solver};

use crate::Stop;

/// States of a step, so that most take little time.
const STEP_STATES: u64 = 32;
/// How long a step may go on after the end of the time before it is left to itself.
const GRACE: Duration = Duration::from_millis(10);
/// How often a wait looks whether it was cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A solver that is done or needs more time, or why it cannot go on.
pub(super) type Outcome = Result<Box<Solver>, SolveError>;

/// A solver at work.
pub(super) struct Solving {
    outcome: Receiver<Outcome>,
    n_expanded: Arc<AtomicU64>,
}

impl Solving {
    /// Solves until `stop` is due, by states that are expanded from now on.
    pub(super) fn begin(mut solver: Box<Solver>, stop: &Stop) -> Self {
        let (outcomes, outcome) = channel();
        let n_expanded = Arc::new(AtomicU64::new(0));
        let (stop, counted) = (stop.clone(), Arc::clone(&n_expanded));
        thread::spawn(move || {
            // Nobody waits for it once the match is over.
            let _ = match solve(&mut solver, &stop, &counted) {
                Ok(()) => outcomes.send(Ok(solver)),
                // To free the memory of a solver may take a second, too: that is done here, now
                // that the error is on its way.
                Err(error) => outcomes.send(Err(error)),
            };
        });
        Self { outcome, n_expanded }
    }

    /// Counts the states expanded so far.
    pub(super) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.n_expanded)
    }

    /// What came of it, or what is at work if a step takes longer than `stop` allows.
    ///
    /// # Panics
    /// If the solver panicked.
    pub(super) fn wait(self, stop: &Stop) -> Result<Outcome, Self> {
        loop {
            let left = stop.deadline().map(|end| (end + GRACE).duration_since(Instant::now()));
            let left = left.unwrap_or(BETWEEN_LOOKS);
            match self.outcome.recv_timeout(left.min(BETWEEN_LOOKS)) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Timeout) => {
                    if left.is_zero() || stop.cancel().is_cancelled() {
                        return Err(self);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the solver panicked"),
            }
        }
    }
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
