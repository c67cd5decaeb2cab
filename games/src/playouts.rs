//! Random playouts, one from each of some states.

use smallvec::SmallVec;

use crate::state::GoalReading;

/// How a playout ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnd {
    /// Steps from where it started.
    pub length: u32,
    /// By role, what the rules say of the goals in the terminal state. Empty if
    /// it did not come to one: it was given up at the greatest length, or some role
    /// had no legal move.
    pub goals: SmallVec<[GoalReading; 2]>,
}

/// What some playouts came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnds {
    /// By playout, in the order of their starts; `None` if it was abandoned.
    pub ends: Vec<Option<PlayoutEnd>>,
    /// States entered, where they started not counted.
    pub n_states: u64,
}

impl PlayoutEnds {
    /// Nothing came of so many yet.
    pub(crate) fn clear(&mut self, n: usize) {
        self.ends.clear();
        self.ends.resize(n, None);
        self.n_states = 0;
    }
}
