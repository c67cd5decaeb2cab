//! The part of the tree of the player's role that a person may want to see: the information sets
//! and moves that were visited most.
//!
//! A forest finds its nodes by what a role knows and has no edges, so a [`Record`] keeps them
//! while the tree grows. The trees of the other roles are not shown: each begins in many
//! information sets, and of what led there only a hash is kept, so they have no names.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rustc_hash::FxHashMap;

use super::{Arm, Forest, Node};
use crate::belief_tree::Seen;
use crate::most_visited::{MostVisited, most_visited};
use crate::visit_tree::{Known, VisitEvent, VisitNode, VisitTree};

/// How the information sets of the player's role follow each other.
pub(super) struct Record {
    max_nodes: usize,
    origins: Vec<Origin>,
    /// The role's last choice in this iteration.
    chosen: Option<Chosen>,
    /// What it saw since, in each step.
    seen: Vec<Seen>,
}

/// A node, by its index, and a move in it.
type Chosen = (usize, MoveId);

/// How a role comes to an information set: it never forgets, so there is one way.
struct Origin {
    node: usize,
    /// The choice before; `None` where the search began.
    after: Option<Chosen>,
    /// What the role saw since that choice, in each step.
    seen: Vec<Seen>,
}

impl Record {
    /// An empty record, of whose tree at most `max_nodes` nodes are shown.
    pub(super) fn new(max_nodes: usize) -> Self {
        Self { max_nodes, origins: Vec::new(), chosen: None, seen: Vec::new() }
    }

    /// The forest is cleared.
    pub(super) fn clear(&mut self) {
        self.origins.clear();
    }

    /// An iteration begins.
    pub(super) fn begin(&mut self) {
        self.chosen = None;
        self.seen.clear();
    }

    /// The role chooses a move in a node.
    pub(super) fn choose(&mut self, node: usize, is_new: bool, action: MoveId) {
        let seen = std::mem::take(&mut self.seen);
        if is_new {
            self.origins.push(Origin { node, after: self.chosen, seen });
        }
        self.chosen = Some((node, action));
    }

    /// The role `me` sees a step.
    pub(super) fn see(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        joint_move: &[MoveId],
        me: RoleId,
    ) -> Result<(), ReasoningError> {
        self.seen.push(match machine.game().kind().hidden_information {
            true => Seen::Percepts(machine.percepts(state, joint_move, me)?),
            false => Seen::JointMove(joint_move.to_vec()),
        });
        Ok(())
    }
}

/// A node to be shown.
enum Place<'a> {
    /// An information set, by the index of its node, and what the role saw before it.
    Set(usize, &'a [Seen]),
    /// A move in a node of this index.
    Move(usize, &'a Arm),
}

/// The information sets after each move, by the node and the move.
type SetsAfter<'a> = FxHashMap<Chosen, Vec<&'a Origin>>;

impl Forest {
    /// The most visited part of the tree below a node of the player's role, if it is recorded;
    /// `None` if the node has no visits.
    pub(super) fn visit_tree(&self, root: usize) -> Option<VisitTree> {
        let record = self.record.as_ref().filter(|_| self.nodes[root].visits() > 0)?;
        let mut sets_after: SetsAfter<'_> = FxHashMap::default();
        for origin in &record.origins {
            if let Some(chosen) = origin.after {
                sets_after.entry(chosen).or_default().push(origin);
            }
        }
        let root = Place::Set(root, &[]);
        let n_visited = self.n_visited(&root, &sets_after);
        let visits = |place: &Place<'_>| self.visits(place);
        let MostVisited { nodes: shown, n_cut } =
            most_visited(root, record.max_nodes, visits, |line| {
                self.below(line.last(), &sets_after)
            });
        let n_unrecorded = n_visited - shown.len() as u64;
        let node = |(parent, place): &(_, Place<'_>)| self.visit_node(*parent, place);
        let nodes = shown.iter().map(node).collect();
        Some(VisitTree { nodes, n_unrecorded, n_lines_cut: n_cut, n_earlier: 0 })
    }

    /// What was visited directly below a place.
    fn below<'a>(&'a self, place: &Place<'a>, sets_after: &SetsAfter<'a>) -> Vec<Place<'a>> {
        match *place {
            Place::Set(node, _) => {
                let visited = self.nodes[node].arms.iter().filter(|arm| arm.n > 0);
                visited.map(|arm| Place::Move(node, arm)).collect()
            }
            Place::Move(node, arm) => {
                let sets = sets_after.get(&(node, arm.action)).into_iter().flatten();
                let visited = sets.filter(|set| self.nodes[set.node].visits() > 0);
                visited.map(|set| Place::Set(set.node, &set.seen)).collect()
            }
        }
    }

    /// How many places below one, itself included, were visited.
    fn n_visited<'a>(&'a self, place: &Place<'a>, sets_after: &SetsAfter<'a>) -> u64 {
        let (mut left, mut n) = (self.below(place, sets_after), 1);
        while let Some(place) = left.pop() {
            n += 1;
            left.extend(self.below(&place, sets_after));
        }
        n
    }

    fn visits(&self, place: &Place<'_>) -> u64 {
        match place {
            Place::Set(node, _) => self.nodes[*node].visits(),
            Place::Move(_, arm) => arm.n.into(),
        }
    }

    fn visit_node(&self, parent: Option<usize>, place: &Place<'_>) -> VisitNode {
        let (event, value) = match *place {
            Place::Set(node, seen) => (VisitEvent::Knows(seen.to_vec()), self.nodes[node].mean()),
            Place::Move(_, arm) => {
                let n_available = arm.n_available.into();
                (VisitEvent::Moves { action: arm.action, n_available }, arm.mean())
            }
        };
        let is_mine = matches!(place, Place::Set(..));
        let (visits, is_most, known) = (self.visits(place), false, Known::Sampled);
        VisitNode { parent, event, visits, is_most, value, known, is_mine }
    }
}

impl Node {
    /// How often a move was chosen here.
    fn visits(&self) -> u64 {
        self.arms.iter().map(|arm| u64::from(arm.n)).sum()
    }

    /// The mean reward of the role.
    fn mean(&self) -> f64 {
        let sum: f64 = self.arms.iter().map(|arm| arm.sum).sum();
        sum / self.visits().max(1) as f64
    }
}
