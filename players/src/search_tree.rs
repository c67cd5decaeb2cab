//! A tree as it was searched: every state entered, with the window it was entered with
//! and what was found there.

use games::MoveId;

use crate::ValueBound;
use crate::recorded_tree::RecordedTree;

/// The tree of the last iteration of a search; its nodes are states.
pub type SearchTree = RecordedTree<SearchNode>;

/// A state of a [`SearchTree`].
#[derive(Clone, Debug, PartialEq)]
pub struct SearchNode {
    /// The state before, by its index; `None` for the root.
    pub parent: Option<usize>,
    /// The joint move that led here; empty for the root.
    pub joint_move: Vec<MoveId>,
    /// What the player could reach elsewhere when the state was entered, and what the
    /// others would not allow.
    pub window: (f64, f64),
    /// What the state is worth to the player, 0 to 100; `None` if the search was stopped
    /// before that was known.
    pub value: Option<f64>,
    /// What the value says.
    pub bound: ValueBound,
    /// How the value was found.
    pub found: Found,
    /// The joint moves that were never looked at, the first of them
    /// (at most [`MAX_LEFT_OUT`]).
    pub left_out: Vec<Vec<MoveId>>,
    /// How many they are in all.
    pub n_left_out: u64,
}

/// Maximum number of joint moves that are named as never looked at, for each state.
pub const MAX_LEFT_OUT: usize = 64;

/// How the value of a state was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// By searching below.
    Searched,
    /// It is terminal.
    Terminal,
    /// It lies at the depth limit and was evaluated.
    CutOff,
    /// Some role has no legal move there.
    DeadEnd,
    /// In the transposition table.
    Remembered,
}
