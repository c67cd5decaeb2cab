//! A tree of what a role may come to know, as it was searched: its moves, what it may see
//! after each, and what it does then.

use games::{Expression, MoveId};

/// The tree of the last depth that a search of beliefs finished, in the order in which it
/// was searched; the first node is what the role knows now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeliefTree {
    /// The nodes.
    pub nodes: Vec<BeliefNode>,
    /// Nodes that were searched after the record was full.
    pub n_unrecorded: u64,
}

/// A node of a [`BeliefTree`].
#[derive(Clone, Debug, PartialEq)]
pub struct BeliefNode {
    /// The node before, by its index; `None` for the root.
    pub parent: Option<usize>,
    /// What the node stands for.
    pub event: BeliefEvent,
    /// What it is worth to the role, 0 to 100; `None` if the search was stopped first.
    pub value: Option<f64>,
}

/// What a [`BeliefNode`] stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum BeliefEvent {
    /// The role is to move: it knows that the state is one of some.
    Knows {
        /// What it saw after its last move; `None` at the root.
        seen: Option<Seen>,
        /// Number of states that it thinks possible.
        n_states: usize,
        /// The best move; `None` at the depth limit, where the value is an estimate.
        best: Option<MoveId>,
    },
    /// The role makes this move.
    Moves(MoveId),
    /// The match may end, with this reward.
    Ends,
}

/// What a role sees of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Its percepts, in a game of hidden information.
    Percepts(Vec<Expression>),
    /// The joint move, in other games.
    JointMove(Vec<MoveId>),
}

/// Records a tree as it is searched.
#[derive(Debug)]
pub(crate) struct BeliefRecorder {
    tree: BeliefTree,
    max_nodes: usize,
    /// The nodes from the root to the present one; `None` where the record is full.
    path: Vec<Option<usize>>,
}

impl BeliefRecorder {
    /// An empty record for at most `max_nodes` nodes.
    pub(crate) fn new(max_nodes: usize) -> Self {
        Self { tree: BeliefTree::default(), max_nodes, path: Vec::new() }
    }

    /// A search to a new depth begins.
    pub(crate) fn begin(&mut self) {
        self.tree = BeliefTree::default();
        self.path.clear();
    }

    /// What was recorded since [`begin`](Self::begin).
    pub(crate) fn tree(&self) -> &BeliefTree {
        &self.tree
    }

    /// A node below the present one is entered.
    pub(crate) fn enter(&mut self, event: BeliefEvent) {
        if self.tree.nodes.len() >= self.max_nodes {
            self.tree.n_unrecorded += 1;
            self.path.push(None);
            return;
        }
        let parent = self.path.last().copied().flatten();
        self.path.push(Some(self.tree.nodes.len()));
        self.tree.nodes.push(BeliefNode { parent, event, value: None });
    }

    /// The present node is left, with this value and this best move.
    pub(crate) fn leave(&mut self, value: f64, chosen: Option<MoveId>) {
        let Some(at) = self.path.pop().flatten() else { return };
        let node = &mut self.tree.nodes[at];
        node.value = Some(value.clamp(0.0, 100.0));
        if let BeliefEvent::Knows { best, .. } = &mut node.event {
            *best = chosen;
        }
    }
}
