//! A tree of what a role may come to know, as it was searched: its moves, what it may see
//! after each, and what it does then.

use games::{Expression, MoveId};

use crate::recorded_tree::RecordedTree;

/// The tree of the last depth that a search of beliefs finished; its root is what the role
/// knows now.
pub type BeliefTree = RecordedTree<BeliefNode>;

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
    /// The match ends.
    Ends {
        /// After this joint move, the first of those with this reward.
        joint_move: Vec<MoveId>,
        /// Number of the others.
        n_others: usize,
    },
}

/// What a role sees of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Its percepts, in a game of hidden information.
    Percepts(Vec<Expression>),
    /// The joint move, in other games.
    JointMove(Vec<MoveId>),
}
