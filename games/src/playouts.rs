//! The ends of random playouts, one from each of some states.

use smallvec::SmallVec;

use crate::state::GoalReading;

/// How a playout ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnd {
    /// Steps since its start.
    pub length: u32,
    /// By role, the goals in the terminal state. Empty if it reached none: it was given
    /// up at the greatest length, or some role had no legal move.
    pub goals: SmallVec<[GoalReading; 2]>,
}

/// The ends of some playouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnds {
    /// By playout, in the order of the starts; `None` if it was abandoned.
    pub ends: Vec<Option<PlayoutEnd>>,
    /// States entered, starts not included.
    pub n_states: u64,
}

impl PlayoutEnds {
    /// Resets to `n` pending playouts.
    pub(crate) fn clear(&mut self, n: usize) {
        self.ends.clear();
        self.ends.resize(n, None);
        self.n_states = 0;
    }
}
