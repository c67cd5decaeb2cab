//! The calls of predicates that are open or answered, for evaluation on demand.

use super::halt::Halt;

/// Deepest nesting of calls, which is bounded by the thread's stack.
const MAX_DEPTH: usize = 600;

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Being evaluated, at this position of the stack.
    Open(u32),
    /// Evaluated as far as the open call at this position is known.
    Provisional(u32),
    /// To be evaluated again when asked.
    Stale,
    /// All answers are in the table; for a call without open arguments,
    /// whether it holds.
    Known(bool),
}

/// The calls of the state at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// By call, the epoch its tables belong to.
    pub(super) epochs: Vec<u64>,
    /// By call and row of its table of questions.
    pub(super) status: Vec<Vec<Status>>,
    /// Open and provisional calls.
    pub(super) stack: Vec<(u32, u32)>,
    /// The lowest position of the stack that was called again.
    pub(super) low: u32,
    /// Answers found so far, to see whether there are new ones.
    pub(super) n_answers: u64,
    depth: usize,
}

impl Calls {
    pub(crate) fn make_room(&mut self, n_calls: usize) {
        self.abandon();
        self.epochs.clear();
        self.epochs.resize(n_calls, 0);
        self.status.clear();
        self.status.resize(n_calls, Vec::new());
    }

    /// Notes that calls or evaluations nest by one more.
    #[inline]
    pub(super) fn go_deeper(&mut self, component: u32) -> Result<(), Halt> {
        if self.depth >= MAX_DEPTH {
            return Err(Halt::TooDeep(component));
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    pub(super) fn come_back(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Forgets what was going on when an error ended it.
    pub(crate) fn abandon(&mut self) {
        for (call, row) in self.stack.drain(..) {
            self.status[call as usize][row as usize] = Status::Stale;
        }
        self.low = u32::MAX;
        self.depth = 0;
    }
}
