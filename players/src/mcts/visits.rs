//! The part of the tree that a person may want to see: the positions that were visited most.

use games::RoleId;
use rustc_hash::FxHashMap;

use super::search::Search;
use super::tree::{Edge, Kind, NONE, by_role};
use crate::ExpectedStep;
use crate::most_visited::{Line, MostVisited, most_visited};
use crate::visit_tree::{Known, VisitEvent, VisitNode, VisitTree};

/// A position that was visited or proven, on the way to be shown.
struct Seen {
    /// The moves that lead there, of the roles that have a choice.
    step: ExpectedStep,
    visits: u32,
    /// The visits are an upper bound.
    is_most: bool,
    /// Its node in the tree.
    at: u32,
}

impl Search {
    /// The most visited positions below a node, `max_nodes` at most, with values for `me`.
    pub(super) fn visit_tree(&self, root: u32, me: RoleId, max_nodes: usize) -> VisitTree {
        let visits = self.tree.node(root).visits;
        let first = Seen { step: Vec::new(), visits, is_most: false, at: root };
        let visits = |position: &Seen| u64::from(position.visits);
        let MostVisited { nodes: shown, n_cut } =
            most_visited(first, max_nodes, visits, |line| self.seen_below(line));
        let mut distinct: Vec<u32> = shown.iter().map(|(_, position)| position.at).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let n_unrecorded = self.n_visited(root).saturating_sub(distinct.len() as u64);
        let node = |(parent, position)| self.visit_node(position, parent, me);
        let nodes = shown.into_iter().map(node).collect();
        VisitTree { nodes, n_unrecorded, n_lines_cut: n_cut, n_earlier: 0 }
    }

    /// The children of the last position that were visited or proven. Lines may lead back to
    /// where they were; such moves are left out.
    fn seen_below(&self, line: &Line<'_, Seen>) -> Vec<Seen> {
        let mut children = self.seen_children(line.last().at);
        children.retain(|child| line.upwards().all(|above| above.at != child.at));
        children
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

    fn visit_node(&self, position: Seen, parent: Option<usize>, me: RoleId) -> VisitNode {
        let Seen { step, visits, is_most, at } = position;
        let node = self.tree.node(at);
        let role = usize::from(me.0);
        let bounds = self.tree.bounds(at)[role];
        let looks = match self.is_evaluating() {
            true => self.tree.estimates(at)[role],
            false => self.tree.means(at)[role],
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
        let (_, edges) = self.tree.edges(at);
        let is_mine = edges.iter().filter(|edge| edge.role == me).count() > 1;
        let (event, visits) = (VisitEvent::Position(step), u64::from(visits));
        VisitNode { parent, event, visits, is_most, value, known, is_mine }
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
