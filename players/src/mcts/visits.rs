//! The part of the tree that a person may want to see: the positions that were visited most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use games::RoleId;
use rustc_hash::FxHashMap;

use super::search::Search;
use super::tree::{Edge, Kind, NONE, by_role};
use crate::ExpectedStep;
use crate::visit_tree::{Known, VisitNode, VisitTree};

/// Maximum number of positions, where no other is wanted: as many as one likes to read.
pub(super) const MAX_NODES: usize = 100;

/// A position on the way to be shown.
struct Shown {
    /// Its node in the tree.
    at: u32,
    parent: Option<usize>,
    step: ExpectedStep,
    visits: u32,
    /// The visits are an upper bound.
    is_most: bool,
    /// The shown positions below it, the most visited first.
    below: Vec<usize>,
}

/// A child that was visited or proven.
struct Seen {
    /// The moves that lead there, of the roles that have a choice.
    step: ExpectedStep,
    visits: u32,
    is_most: bool,
    at: u32,
}

impl Search {
    /// The most visited positions below a node, `max_nodes` at most, with values for `me`.
    pub(super) fn visit_tree(&self, root: u32, me: RoleId, max_nodes: usize) -> VisitTree {
        let shown = self.most_visited(root, max_nodes);
        let mut nodes: Vec<VisitNode> = Vec::with_capacity(shown.len());
        let mut left = vec![(0, None)];
        while let Some((index, parent)) = left.pop() {
            let position: &Shown = &shown[index];
            let at = nodes.len();
            nodes.push(self.visit_node(position, parent, me));
            left.extend(position.below.iter().rev().map(|&below| (below, Some(at))));
        }
        let mut distinct: Vec<u32> = shown.iter().map(|position| position.at).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let n_unrecorded = self.n_visited(root).saturating_sub(distinct.len() as u64);
        VisitTree { nodes, n_unrecorded, n_earlier: 0 }
    }

    /// The most visited positions, each after the one before it.
    fn most_visited(&self, root: u32, max_nodes: usize) -> Vec<Shown> {
        let visits = self.tree.node(root).visits;
        let mut shown: Vec<Shown> = Vec::new();
        let first = Shown {
            at: root,
            parent: None,
            step: Vec::new(),
            visits,
            is_most: false,
            below: Vec::new(),
        };
        let mut waiting = vec![Some(first)];
        // Of equals, those that were found first.
        let mut most_visited = BinaryHeap::from([(visits, Reverse(0))]);
        while shown.len() < max_nodes
            && let Some((_, Reverse(next))) = most_visited.pop()
        {
            let position = waiting[next].take().expect("each one is taken once");
            let index = shown.len();
            if let Some(parent) = position.parent {
                shown[parent].below.push(index);
            }
            let at = position.at;
            shown.push(position);
            for Seen { step, visits, is_most, at } in self.seen_children(at) {
                // Lines may lead back to where they were.
                let mut before = Some(index);
                while let Some(above) = before
                    && shown[above].at != at
                {
                    before = shown[above].parent;
                }
                if before.is_none() {
                    let parent = Some(index);
                    most_visited.push((visits, Reverse(waiting.len())));
                    let below = Vec::new();
                    waiting.push(Some(Shown { at, parent, step, visits, is_most, below }));
                }
            }
        }
        shown
    }

    /// Whether a child, by moves with as many visits, was visited or proven.
    fn is_seen(&self, visits: u32, child: u32) -> bool {
        child != NONE && (visits > 0 || self.tree.is_settled(child))
    }

    /// The children of a node that were visited or proven.
    fn seen_children(&self, at: u32) -> Vec<Seen> {
        let (_, edges) = self.tree.edges(at);
        let mut children = Vec::new();
        match self.tree.node(at).kind {
            Kind::Leaf | Kind::End => {}
            Kind::Choice(_) | Kind::Chance => {
                for edge in edges.iter().filter(|edge| self.is_seen(edge.visits, edge.child)) {
                    let step = vec![(edge.role, edge.action)];
                    children.push(Seen {
                        step,
                        visits: edge.visits,
                        is_most: false,
                        at: edge.child,
                    });
                }
            }
            Kind::Joint => {
                let by_role: Vec<&[Edge]> = by_role(edges).collect();
                let mut n_ways: FxHashMap<u32, u32> = FxHashMap::default();
                self.tree.joint_children(at, &mut |index, child| {
                    let mut visits = self.tree.node(child).visits;
                    if !self.is_seen(visits, child) {
                        return;
                    }
                    let mut rest = index;
                    let mut step: ExpectedStep = Vec::new();
                    // The last role's moves change fastest.
                    for moves in by_role.iter().rev() {
                        let edge = &moves[(rest % moves.len() as u64) as usize];
                        step.push((edge.role, edge.action));
                        visits = visits.min(edge.visits);
                        rest /= moves.len() as u64;
                    }
                    step.reverse();
                    *n_ways.entry(child).or_default() += 1;
                    children.push(Seen { step, visits, is_most: false, at: child });
                });
                // How often each joint move was made is not counted, but how often its result was
                // reached, and how often each role's move was tried.
                children.iter_mut().for_each(|child| child.is_most = n_ways[&child.at] > 1);
            }
        }
        children
    }

    fn visit_node(&self, position: &Shown, parent: Option<usize>, me: RoleId) -> VisitNode {
        let Shown { at, step, visits, is_most, .. } = position;
        let node = self.tree.node(*at);
        let role = usize::from(me.0);
        let bounds = self.tree.bounds(*at)[role];
        let looks = match self.is_evaluating() {
            true => self.tree.estimates(*at)[role],
            false => self.tree.means(*at)[role],
        };
        let known = match node.kind {
            Kind::End => Known::Terminal,
            _ if bounds.is_exact() => Known::Proven,
            _ => Known::Sampled,
        };
        let value = match bounds.is_exact() {
            true => bounds.reward(),
            false => 100.0 * f64::from(bounds.clamp(looks)),
        };
        let (_, edges) = self.tree.edges(*at);
        let is_mine = edges.iter().filter(|edge| edge.role == me).count() > 1;
        let (step, visits, is_most) = (step.clone(), u64::from(*visits), *is_most);
        VisitNode { parent, step, visits, is_most, value, known, is_mine }
    }

    /// How many positions below a node, itself included, were visited or proven.
    fn n_visited(&self, root: u32) -> u64 {
        let mut is_met = vec![false; self.tree.nodes.len()];
        is_met[root as usize] = true;
        let (mut left, mut n) = (vec![root], 0);
        while let Some(at) = left.pop() {
            n += 1;
            self.tree.children(at, &mut |child| {
                let is_seen = child != NONE && self.is_seen(self.tree.node(child).visits, child);
                if is_seen && !std::mem::replace(&mut is_met[child as usize], true) {
                    left.push(child);
                }
            });
        }
        n
    }
}
