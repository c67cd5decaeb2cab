//! The part of the tree that a person may want to see: the positions that were visited most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use games::RoleId;

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
            let children = self.visited_children(at);
            let n_lead_to = |node: u32| children.iter().filter(|it| it.2 == node).count();
            for (step, visits, child) in &children {
                let (step, visits, child) = (step.clone(), *visits, *child);
                // Lines may lead back to where they were.
                let mut before = Some(index);
                while let Some(above) = before
                    && shown[above].at != child
                {
                    before = shown[above].parent;
                }
                if before.is_none() {
                    let parent = Some(index);
                    most_visited.push((visits, Reverse(waiting.len())));
                    waiting.push(Some(Shown {
                        at: child,
                        parent,
                        step,
                        visits,
                        is_most: n_lead_to(child) > 1,
                        below: Vec::new(),
                    }));
                }
            }
        }
        shown
    }

    /// The children of a node that were visited or proven: the moves to them, of the roles that
    /// have a choice, and the visits.
    fn visited_children(&self, at: u32) -> Vec<(ExpectedStep, u32, u32)> {
        let (_, edges) = self.tree.edges(at);
        let is_seen =
            |visits: u32, child: u32| child != NONE && (visits > 0 || self.tree.is_settled(child));
        let mut children = Vec::new();
        match self.tree.node(at).kind {
            Kind::Leaf | Kind::End => {}
            Kind::Choice(_) | Kind::Chance => {
                for edge in edges.iter().filter(|edge| is_seen(edge.visits, edge.child)) {
                    children.push((vec![(edge.role, edge.action)], edge.visits, edge.child));
                }
            }
            Kind::Joint => {
                let by_role: Vec<&[Edge]> = by_role(edges).collect();
                self.tree.joint_children(at, &mut |index, child| {
                    let mut visits = self.tree.node(child).visits;
                    if !is_seen(visits, child) {
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
                    children.push((step, visits, child));
                });
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
                let is_seen = child != NONE
                    && (self.tree.node(child).visits > 0 || self.tree.is_settled(child));
                if is_seen && !std::mem::replace(&mut is_met[child as usize], true) {
                    left.push(child);
                }
            });
        }
        n
    }
}
