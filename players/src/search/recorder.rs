//! Recording the tree that is searched, for those who want to see it.

use super::{Arrival, Frame, SearchRoles, bound};
use crate::ValueBound;
use crate::recorded_tree::TreeRecord;
use crate::search_tree::{Found, MAX_LEFT_OUT, SearchNode, SearchTree};

/// Records a tree as it is searched.
#[derive(Clone, Debug)]
pub(super) struct Recorder(TreeRecord<SearchNode>);

impl Recorder {
    /// An empty record for at most `max_nodes` states.
    pub(super) fn new(max_nodes: usize) -> Self {
        Self(TreeRecord::new(max_nodes))
    }

    /// What was recorded since [`begin`](Self::begin).
    pub(super) fn tree(&self) -> &SearchTree {
        self.0.tree()
    }

    /// A new search begins at the root.
    pub(super) fn begin(&mut self) {
        self.0.begin();
    }

    /// The state in the frame of `level` is entered.
    #[cold]
    pub(super) fn enter(&mut self, frames: &[Frame], level: usize, window: (f64, f64)) {
        self.0.enter(|parent| SearchNode {
            parent,
            joint_move: if level == 0 { Vec::new() } else { frames[level - 1].joint.clone() },
            window,
            value: None,
            bound: ValueBound::Exact,
            found: Found::Searched,
            left_out: Vec::new(),
            n_left_out: 0,
        });
    }

    /// The state entered last has a value; `None` for `arrival` if it was remembered.
    #[cold]
    pub(super) fn leave(
        &mut self,
        frame: &mut Frame,
        roles: &SearchRoles,
        score: f64,
        arrival: Option<Arrival>,
    ) {
        let Some(at) = self.0.leave() else { return };
        if arrival == Some(Arrival::Inner) {
            self.leave_out(at, frame, roles);
        }
        let node = self.0.node(at);
        node.value = Some(score.clamp(0.0, 100.0));
        node.bound = bound(score, node.window.0, node.window.1);
        node.found = match arrival {
            Some(Arrival::Inner) => Found::Searched,
            Some(Arrival::Terminal) => Found::Terminal,
            Some(Arrival::CutOff) => Found::CutOff,
            Some(Arrival::DeadEnd) => Found::DeadEnd,
            None => Found::Remembered,
        };
        if matches!(node.found, Found::Terminal | Found::DeadEnd | Found::CutOff) {
            node.bound = ValueBound::Exact;
        }
    }

    /// Notes which joint moves of an inner state were not tried.
    fn leave_out(&mut self, at: usize, frame: &mut Frame, roles: &SearchRoles) {
        if self.tree().n_unrecorded > 0 {
            // What was tried is not known any more.
            return;
        }
        let children = self.tree().nodes[at + 1..].iter().filter(|node| node.parent == Some(at));
        let mut tried: Vec<_> = children.map(|child| child.joint_move.clone()).collect();
        // Star2 tries a move after some outcomes before it searches them.
        tried.sort_unstable();
        tried.dedup();
        let n_moves = |role: &usize| frame.legal[*role].len() as u64;
        let n_all = (0..roles.n_roles).map(|role| n_moves(&role)).fold(1, u64::saturating_mul);
        let node = self.0.node(at);
        node.n_left_out = n_all.saturating_sub(tried.len() as u64);
        if node.n_left_out == 0 {
            return;
        }
        let me = roles.index();
        let n_outcomes = roles.chance.map_or(1, |chance| frame.legal[chance].len());
        let kept = frame.joint.clone();
        'all: for index in 0..frame.legal[me].len() {
            frame.pick(me, index);
            for reply in 0..roles.n_replies(frame) {
                roles.set_reply(frame, reply);
                for outcome in 0..n_outcomes {
                    if let Some(chance) = roles.chance {
                        frame.pick(chance, outcome);
                    }
                    if node.left_out.len() == MAX_LEFT_OUT {
                        break 'all;
                    }
                    if !tried.contains(&frame.joint) {
                        node.left_out.push(frame.joint.clone());
                    }
                }
            }
        }
        frame.joint = kept;
    }
}
