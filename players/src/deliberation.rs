//! What a player can say about its last answer: how it was found, what else was
//! considered, and how the match is expected to go on.

use std::sync::Arc;

use games::{MoveId, RoleId};

#[cfg(doc)]
use crate::Player;
use crate::SearchTree;
use crate::belief::LikelyStates;
use crate::belief_tree::BeliefTree;
use crate::bound_tree::BoundTree;
use crate::visit_tree::VisitTree;

/// How a player reached its last answer; counters start at the question. What a player
/// does not know stays at zero, empty or `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deliberation {
    /// States entered, the root included; those answered from memory are not.
    pub nodes: u64,
    /// Terminal states and cut-offs evaluated.
    pub leaves: u64,
    /// Successors computed.
    pub next_calls: u64,
    /// Subtrees cut off without being entered.
    pub prunings: u64,
    /// States answered from the transposition table.
    pub table_hits: u64,
    /// Random playouts.
    pub playouts: u64,
    /// Joint moves that the last finished iteration looked ahead.
    pub depth: u32,
    /// Deepest level reached, in joint moves.
    pub selective_depth: u32,
    /// What the answer is expected to be worth, 0 to 100: with chance a mean. Of a
    /// search that was stopped, the value of the last depth finished.
    pub value: Option<f64>,
    /// The search ended by itself: neither its [`Stop`](crate::Stop) ended it, nor the greatest
    /// depth that any search has.
    pub completed: bool,
    /// The value is a result of complete analysis under the true rules: neither an estimate or
    /// a mean of samples, nor the result of an assumption on what other roles know or want.
    pub proven: bool,
    /// The moves that were looked at, in the order of the player's list of legal moves.
    pub candidates: Vec<Candidate>,
    /// The principal variation or the plan: what is expected to be played from the
    /// root on, a step each.
    pub line: Vec<ExpectedStep>,
    /// The plan that the answer is the first step of, of players that plan to the end.
    pub plan: Option<Arc<PlanStep>>,
    /// The most probable states of the player's belief, of players that keep one.
    pub belief: Option<Arc<LikelyStates>>,
    /// The tree that was searched, if it was asked for ([`Player::record_tree`]).
    pub tree: Option<Arc<SearchTree>>,
    /// The same of a search of beliefs.
    pub belief_tree: Option<Arc<BeliefTree>>,
    /// The same of Monte-Carlo tree search.
    pub visit_tree: Option<Arc<VisitTree>>,
    /// The same of a tree that is grown by bounds.
    pub bound_tree: Option<Arc<BoundTree>>,
    /// What else matters for reading the answer, a sentence each, without a full stop: a
    /// limit that was reached, a method that was used instead, a proven bound.
    pub notes: Vec<String>,
}

/// One move that a player considered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The move.
    pub action: MoveId,
    /// What it is worth, 0 to 100, as far as that is known.
    pub value: Option<f64>,
    /// What the value says.
    pub bound: ValueBound,
    /// Playouts or visits.
    pub visits: u64,
    /// Probability with which the player chooses it, where its answer is drawn.
    pub probability: Option<f64>,
}

/// What a value says of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueBound {
    /// It is the value.
    Exact,
    /// The value is at least that.
    AtLeast,
    /// The value is at most that: the move was cut off once it could not be the best.
    AtMost,
    /// The value rests on estimates, although the result of the search is proven: it ended
    /// at a move that no other can surpass.
    Estimate,
}

/// The moves of one step, of the roles that have a choice; of all roles if none has.
pub type ExpectedStep = Vec<(RoleId, MoveId)>;

/// A step of a plan to the end of the match, whatever the others do.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The player's move.
    pub action: MoveId,
    /// Number of its legal moves.
    pub n_legal: usize,
    /// What to do after each joint move that may be played; `None` if the match is over
    /// then. A plan that does not depend on replies has one entry.
    pub after: Vec<(Vec<MoveId>, Option<Arc<PlanStep>>)>,
}
