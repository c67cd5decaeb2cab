//! Two threads for one tree: one descends and brings rewards up, the other one plays.
//!
//! Passes are brought up in the order in which they were made, and as many are under way at
//! any time, whichever thread is faster. So what is found depends on the seed alone.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use games::{ReasoningError, StateMachine};

use super::pass::Pass;
use crate::Stop;

/// Passes under way, at most: enough that neither thread waits for the other one.
const MOST: usize = 4;

/// A pass whose playouts were tried, or the panic of the thread that tried.
type Played = Result<(Box<Pass>, Result<(), ReasoningError>), Box<dyn Any + Send>>;

/// Passes under way.
#[derive(Default)]
pub(super) struct Pipeline {
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    /// Passes that nobody plays yet, in order, with their numbers.
    waiting: VecDeque<(u64, Box<Pass>)>,
    /// Passes that were played, in any order.
    played: Vec<(u64, Played)>,
    /// Passes that were added and taken.
    n_added: u64,
    n_taken: u64,
    is_closed: bool,
}

/// Ends the thread that helps when it goes out of scope.
pub(super) struct Closing<'p>(&'p Pipeline);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl Pipeline {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays the passes of another thread until that closes the pipeline.
    pub(super) fn help(&self, machine: &mut dyn StateMachine, stop: &Stop) {
        let mut shared = self.lock();
        loop {
            if let Some(next) = shared.waiting.pop_front() {
                drop(shared);
                shared = self.play(next, machine, stop);
            } else if shared.is_closed {
                return;
            } else {
                shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// What closes the pipeline in the end, also when its thread panics.
    pub(super) fn closing(&self) -> Closing<'_> {
        Closing(self)
    }

    /// Whether a pass has to be taken before the next one is added.
    pub(super) fn is_full(&self) -> bool {
        self.n_under_way() >= MOST
    }

    /// Whether no pass is under way.
    pub(super) fn is_empty(&self) -> bool {
        self.n_under_way() == 0
    }

    fn n_under_way(&self) -> usize {
        let shared = self.lock();
        (shared.n_added - shared.n_taken) as usize
    }

    /// Adds a pass that is to be played.
    pub(super) fn add(&self, pass: Box<Pass>) {
        let mut shared = self.lock();
        let number = shared.n_added;
        shared.n_added += 1;
        shared.waiting.push_back((number, pass));
        drop(shared);
        self.changed.notify_all();
    }

    /// Takes the first pass under way, if there is one, as soon as it was played. The caller's
    /// thread plays, too, while it waits.
    ///
    /// # Panics
    /// If the other thread did.
    pub(super) fn take(
        &self,
        machine: &mut dyn StateMachine,
        stop: &Stop,
    ) -> Option<(Box<Pass>, Result<(), ReasoningError>)> {
        let mut shared = self.lock();
        if shared.n_taken == shared.n_added {
            return None;
        }
        let first = shared.n_taken;
        shared.n_taken += 1;
        loop {
            if let Some(at) = shared.played.iter().position(|&(number, _)| number == first) {
                let (_, played) = shared.played.swap_remove(at);
                drop(shared);
                return Some(played.unwrap_or_else(|panic| resume_unwind(panic)));
            }
            if let Some(next) = shared.waiting.pop_front() {
                drop(shared);
                shared = self.play(next, machine, stop);
            } else {
                shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Plays a pass and puts it where its owner finds it.
    fn play(
        &self,
        (number, mut pass): (u64, Box<Pass>),
        machine: &mut dyn StateMachine,
        stop: &Stop,
    ) -> MutexGuard<'_, Shared> {
        let played = catch_unwind(AssertUnwindSafe(|| {
            let result = pass.play(machine, stop);
            (pass, result)
        }));
        let mut shared = self.lock();
        shared.played.push((number, played));
        self.changed.notify_all();
        shared
    }
}
