//! A pass: descents through the tree whose leaves are played from side by side.

use games::{PlayoutPlan, PlayoutSums, ReasoningError, State, StateMachine};

use super::tree::Tree;
use crate::Stop;

/// One edge of a descent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) node: u32,
    pub(super) edge: u32,
}

/// A descent that waits for its playouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    /// Its hops begin and end here.
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) leaf: u32,
    /// The leaf was met before on the way: its visits are counted there.
    pub(super) recurs: bool,
}

/// Descents and what their playouts brought. The buffers are reused.
#[derive(Debug)]
pub(super) struct Pass {
    /// Hops of all descents.
    pub(super) hops: Vec<Hop>,
    pub(super) descents: Vec<Descent>,
    /// The states of the leaves, and room for more.
    starts: Vec<State>,
    pub(super) plan: PlayoutPlan,
    /// States that count as entered before the playouts.
    nodes_before: u64,
    /// States that the playouts are expected to enter.
    pub(super) n_expected: u64,
    pub(super) sums: PlayoutSums,
}

impl Default for Pass {
    fn default() -> Self {
        Self {
            hops: Vec::new(),
            descents: Vec::new(),
            starts: Vec::new(),
            plan: PlayoutPlan { per_start: 0, max_length: 0, seed: 0 },
            nodes_before: 0,
            n_expected: 0,
            sums: PlayoutSums::default(),
        }
    }
}

impl Pass {
    /// Removes all descents.
    pub(super) fn clear(&mut self) {
        self.hops.clear();
        self.descents.clear();
    }

    /// What is played next, after so many states entered.
    pub(super) fn prepare(&mut self, tree: &Tree, plan: PlayoutPlan, nodes_before: u64) {
        self.starts.resize(self.descents.len().max(self.starts.len()), State::default());
        for (start, descent) in self.starts.iter_mut().zip(&self.descents) {
            start.set_words(tree.state(descent.leaf));
        }
        (self.plan, self.nodes_before) = (plan, nodes_before);
    }

    /// The states of the leaves.
    pub(super) fn starts(&self) -> &[State] {
        &self.starts[..self.descents.len()]
    }

    /// Plays from all leaves, until the stop is due.
    pub(super) fn play(
        &mut self,
        machine: &mut dyn StateMachine,
        stop: &Stop,
    ) -> Result<(), ReasoningError> {
        let Self { starts, descents, plan, nodes_before, sums, .. } = self;
        let mut go_on = |n_states| !stop.is_due(*nodes_before + n_states);
        machine.playout_sums(&starts[..descents.len()], plan, &mut go_on, sums)
    }
}
