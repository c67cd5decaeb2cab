//! A tree of Monte-Carlo search: the positions that were visited most, with their visits and
//! mean rewards.

mod most_visited;

use crate::ExpectedStep;
use crate::recorded_tree::RecordedTree;

pub(crate) use most_visited::{Line, most_visited};

/// Maximum number of nodes, where no other is wanted: as many as one likes to read.
pub(crate) const MAX_NODES: usize = 100;

/// The most visited positions of a tree of Monte-Carlo search; the first is the root, and those
/// below a position follow it, the most visited first. Positions that were visited less often
/// are not recorded.
pub type VisitTree = RecordedTree<VisitNode>;

/// A position of a [`VisitTree`], reached by one line of play. Where several lines lead to the
/// same position, each has a node of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitNode {
    /// The position before, by its index; `None` for the root.
    pub parent: Option<usize>,
    /// The moves that led here, of the roles that had a choice; of one role if none had. Empty
    /// for the root.
    pub step: ExpectedStep,
    /// How often these moves were tried in the position before, also where other lines led to
    /// it.
    pub visits: u64,
    /// The number of visits is an upper bound: several joint moves lead to the same position.
    pub is_most: bool,
    /// What the position is worth to the player, 0 to 100: proven, or the mean of playouts (or
    /// of an evaluation) within the bounds that are proven.
    pub value: f64,
    /// How the value is known.
    pub known: Known,
    /// Whether the player has a choice in the position, as far as its moves are known.
    pub is_mine: bool,
}

/// How a value in a [`VisitTree`] is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// From samples.
    Sampled,
    /// It is proven.
    Proven,
    /// The match is over, or some role has no legal move.
    Terminal,
}
