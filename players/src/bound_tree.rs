//! A tree that is grown by bounds: the states that were visited most, each with the bounds of
//! its value.

use games::RoleId;

use crate::ExpectedStep;
use crate::recorded_tree::RecordedTree;

/// The most visited states of a tree that is grown by bounds; the first is the root, and those
/// below a state follow it, the most visited first. States that were visited less often are not
/// recorded.
pub type BoundTree = RecordedTree<BoundNode>;

/// A state of a [`BoundTree`], reached by one line of play (where several lines lead to the same
/// state, each has a node of its own).
#[derive(Clone, Debug, PartialEq)]
pub struct BoundNode {
    /// The state before, by its index; `None` for the root.
    pub parent: Option<usize>,
    /// The moves that led here, of the roles that had a choice (also of chance); of all roles if
    /// none had. Empty for the root.
    pub step: ExpectedStep,
    /// Lower and upper bound of what the state is worth to the player, 0 to 100.
    pub bounds: (f64, f64),
    /// The value itself, if the bounds meet.
    pub value: Option<f64>,
    /// How often the search came to this state, by any line.
    pub visits: u64,
    /// What the search knows of the state.
    pub stage: Stage,
    /// The roles that have a choice in the state (also chance). Known of expanded states only.
    pub choosers: Vec<RoleId>,
}

/// What a search that grows a tree knows of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing yet: it may also be terminal.
    Unexpanded,
    /// Its children are in the tree.
    Expanded,
    /// It is terminal.
    Terminal,
    /// Some role has no legal move there.
    DeadEnd,
}
