//! Which part of a large tree to show: the nodes that were visited most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A node that is shown.
struct Shown<T> {
    node: T,
    parent: Option<usize>,
    /// The shown nodes below it, the most visited first.
    below: Vec<usize>,
}

/// A shown node with those above it.
pub(crate) struct Line<'a, T> {
    shown: &'a [Shown<T>],
    last: usize,
}

impl<'a, T> Line<'a, T> {
    /// The node at the end of the line.
    pub(crate) fn last(&self) -> &'a T {
        &self.shown[self.last].node
    }

    /// The nodes from the last one to the root.
    pub(crate) fn upwards(&self) -> impl Iterator<Item = &'a T> {
        let shown = self.shown;
        std::iter::successors(Some(self.last), |&at| shown[at].parent).map(|at| &shown[at].node)
    }
}

/// The part of a tree that is shown.
pub(crate) struct MostVisited<T> {
    /// The nodes, each with the index of the one above it. Those below a node follow it, the most
    /// visited first.
    pub(crate) nodes: Vec<(Option<usize>, T)>,
    /// Nodes directly below these that are not shown.
    pub(crate) n_cut: u64,
}

/// The most visited nodes of a tree, `max_nodes` at most; of equals, those that `below` gives
/// first.
pub(crate) fn most_visited<T>(
    root: T,
    max_nodes: usize,
    visits: impl Fn(&T) -> u64,
    mut below: impl FnMut(&Line<'_, T>) -> Vec<T>,
) -> MostVisited<T> {
    let mut shown: Vec<Shown<T>> = Vec::new();
    // Of equals, those that were found first.
    let mut by_visits = BinaryHeap::from([(visits(&root), Reverse(0))]);
    let mut waiting = vec![Some((None, root))];
    while shown.len() < max_nodes
        && let Some((_, Reverse(next))) = by_visits.pop()
    {
        let (parent, node) = waiting[next].take().expect("each one is taken once");
        let index = shown.len();
        if let Some(parent) = parent {
            let above: &mut Shown<T> = &mut shown[parent];
            above.below.push(index);
        }
        shown.push(Shown { node, parent, below: Vec::new() });
        for child in below(&Line { shown: &shown, last: index }) {
            by_visits.push((visits(&child), Reverse(waiting.len())));
            waiting.push(Some((Some(index), child)));
        }
    }
    MostVisited { nodes: walk(shown), n_cut: by_visits.len() as u64 }
}

/// The nodes in the order of a walk through the tree.
fn walk<T>(shown: Vec<Shown<T>>) -> Vec<(Option<usize>, T)> {
    let mut nodes = Vec::with_capacity(shown.len());
    let mut shown: Vec<Option<Shown<T>>> = shown.into_iter().map(Some).collect();
    let mut left = vec![(0, None)];
    while let Some((index, parent)) = left.pop() {
        let Some(Shown { node, below, .. }) = shown.get_mut(index).and_then(Option::take) else {
            continue;
        };
        let at = nodes.len();
        nodes.push((parent, node));
        left.extend(below.into_iter().rev().map(|below| (below, Some(at))));
    }
    nodes
}
