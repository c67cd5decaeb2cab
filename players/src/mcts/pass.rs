//! A pass: some descents, and the playouts of all their leaves side by side. The tree is not
//! needed while they are played.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use games::{
    PlayoutMoves, PlayoutPlan, PlayoutPolicy, PlayoutSums, ReasoningError, State, StateMachine,
};

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

/// A pass. Its buffers serve one pass after the other.
#[derive(Default)]
pub(super) struct Pass {
    /// Hops of all descents.
    pub(super) hops: Vec<Hop>,
    pub(super) descents: Vec<Descent>,
    /// At least as many as there are descents.
    starts: Vec<State>,
    pub(super) playing: Playing,
    pub(super) sums: PlayoutSums,
    /// The tree is another one each time that it was cleared.
    pub(super) tree_number: u64,
    /// It is being played, or was.
    pub(super) is_under_way: bool,
    /// States that [`NodeCount`] counts as under way for it.
    n_under_way: u64,
}

/// States entered for a question in all threads.
#[derive(Debug, Default)]
pub(super) struct NodeCount {
    /// Those that the search has counted.
    counted: AtomicU64,
    /// Those of passes that it has not counted yet.
    under_way: AtomicU64,
}

impl NodeCount {
    fn sum(&self) -> u64 {
        self.counted.load(Acquire) + self.under_way.load(Acquire)
    }
}

/// What is played from each leaf of a pass.
#[derive(Default)]
pub(super) struct Playing {
    pub(super) lanes: usize,
    pub(super) max_length: u32,
    pub(super) seed: u64,
    pub(super) policy: Option<PlayoutPolicy>,
    pub(super) moves: PlayoutMoves,
}

impl Pass {
    /// Takes what is needed to play from the leaves.
    pub(super) fn prepare(&mut self, tree: &Tree, playing: Playing) {
        self.starts.resize(self.descents.len().max(self.starts.len()), State::default());
        for (start, descent) in self.starts.iter_mut().zip(&self.descents) {
            start.set_words(tree.state(descent.leaf));
        }
        self.playing = playing;
        self.is_under_way = true;
    }

    /// The leaves.
    pub(super) fn starts(&self) -> &[State] {
        &self.starts[..self.descents.len()]
    }

    /// What is played from them.
    pub(super) fn plan(&self) -> PlayoutPlan<'_> {
        PlayoutPlan {
            per_start: self.playing.lanes,
            max_length: self.playing.max_length,
            seed: self.playing.seed,
            policy: self.playing.policy.as_ref(),
            moves: self.playing.moves,
        }
    }

    /// Forgets the question before.
    pub(super) fn forget_question(&mut self) {
        self.n_under_way = 0;
    }

    /// Notes that the search counts `nodes` by now, those of this pass included. No other thread may
    /// have the search meanwhile.
    pub(super) fn mark_counted(&mut self, count: &NodeCount, nodes: u64) {
        count.counted.store(nodes, Release);
        count.under_way.fetch_sub(std::mem::take(&mut self.n_under_way), AcqRel);
    }

    /// Plays from all leaves until `stop` is due by the states entered in all threads.
    ///
    /// # Errors
    /// As [`StateMachine::playout_sums`]; the sums are then of no use.
    pub(super) fn play(
        &mut self,
        machine: &mut dyn StateMachine,
        count: &NodeCount,
        stop: &Stop,
    ) -> Result<(), ReasoningError> {
        let mut sums = std::mem::take(&mut self.sums);
        let mut n_entered = 0;
        let mut go_on = |n_states| {
            let n_new = n_states - std::mem::replace(&mut n_entered, n_states);
            count.under_way.fetch_add(n_new, AcqRel);
            !stop.is_due(count.sum())
        };
        let played = machine.playout_sums(self.starts(), &self.plan(), &mut go_on, &mut sums);
        self.n_under_way = n_entered;
        self.sums = sums;
        played
    }
}
