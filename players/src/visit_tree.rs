//! A tree of Monte-Carlo search: the nodes that were visited most, with their visits and mean
//! rewards.

use games::MoveId;

use crate::ExpectedStep;
use crate::belief_tree::Seen;
use crate::recorded_tree::RecordedTree;

/// Maximum number of nodes, where no other is wanted: as many as one likes to read.
pub(crate) const MAX_NODES: usize = 100;

/// The most visited nodes of a tree of Monte-Carlo search; the first is the root, and those
/// below a node follow it, the most visited first. Nodes that were visited less often are not
/// recorded.
pub type VisitTree = RecordedTree<VisitNode>;

/// A node of a [`VisitTree`]: a position, reached by one line of play (where several lines lead
/// to the same position, each has a node of its own), or what one role knows or does.
#[derive(Clone, Debug, PartialEq)]
pub struct VisitNode {
    /// The node before, by its index; `None` for the root.
    pub parent: Option<usize>,
    /// What the node stands for.
    pub event: VisitEvent,
    /// How often the search came here from the node before. For a position, how often its moves
    /// were tried in the position before, also where other lines led to it.
    pub visits: u64,
    /// The number of visits is an upper bound: several joint moves lead to the same position.
    pub is_most: bool,
    /// What the node is worth to the player, 0 to 100: proven, or the mean of playouts (or
    /// of an evaluation) within the bounds that are proven.
    pub value: f64,
    /// How the value is known.
    pub known: Known,
    /// Whether the player has a choice in the node, as far as its moves are known.
    pub is_mine: bool,
}

/// What a [`VisitNode`] stands for. A tree has positions only, or information sets and moves in
/// turn.
#[derive(Clone, Debug, PartialEq)]
pub enum VisitEvent {
    /// A position, after these moves of the roles that had a choice; of one role if none had.
    /// Empty for the root.
    Position(ExpectedStep),
    /// An information set of the player's role: it has a choice, after it saw this since its last
    /// choice, in each step. Empty for the root.
    Knows(Vec<Seen>),
    /// The role makes this move.
    Moves {
        /// The move.
        action: MoveId,
        /// How often the move was legal when the search chose one, also in descents that were
        /// stopped and do not count as visits.
        n_available: u64,
    },
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
