//! Makes room in a tree that reached its bound: nodes that play can no longer reach are
//! dropped, and the children of nodes that are seldom visited.

use std::time::{Duration, Instant};

use super::tree::{Kind, Tree};
use crate::Stop;

/// Drops nodes, and knows how long that takes.
#[derive(Clone, Debug)]
pub(super) struct Recycler {
    /// Maximum number of bytes of the tree.
    memory: usize,
    /// Time to go through the tree once, for each of its nodes.
    per_node: Duration,
}

/// What became of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recycled {
    /// The number of the root now.
    Root(u32),
    /// There was not enough time.
    NoTime,
}

impl Recycler {
    /// For trees of at most `memory` bytes.
    pub(super) fn new(memory: usize) -> Self {
        Self { memory, per_node: Duration::from_nanos(200) }
    }

    /// Whether the tree is full.
    pub(super) fn is_full(&self, tree: &Tree) -> bool {
        tree.n_bytes() > self.memory
    }

    /// A new question: drops what play can no longer reach, once half of the memory is
    /// used and where that takes a quarter of the time at most. A full tree for which
    /// there is never enough time is dropped as a whole.
    pub(super) fn begin(&mut self, tree: &mut Tree, state: &[u64], stop: &Stop) -> u32 {
        let (root, is_new) = tree.find_or_add(state);
        if tree.n_bytes() < self.memory / 2 {
            return root;
        }
        if !is_new && self.has_time(tree, stop, 4) {
            return self.timed(tree, |tree| keep(tree, root, 0));
        }
        if is_new || self.is_full(tree) {
            tree.clear();
        }
        tree.find_or_add(state).0
    }

    /// Drops the children of the coldest nodes, so that about half of the memory is free,
    /// where that takes half of the time left at most.
    pub(super) fn recycle(&mut self, tree: &mut Tree, root: u32, stop: &Stop) -> Recycled {
        if !self.has_time(tree, stop, 2) {
            return Recycled::NoTime;
        }
        // By order of magnitude of visits: the children that nodes of such visits have.
        let mut n_children = [0_u64; 33];
        for node in &tree.nodes {
            n_children[32 - node.visits.leading_zeros() as usize] += u64::from(node.n_edges());
        }
        let all: u64 = n_children.iter().sum();
        let (mut order, mut dropped) = (0, 0);
        while order < 32 && dropped * 2 <= all {
            dropped += n_children[order];
            order += 1;
        }
        let least = 1_u32.checked_shl(order as u32 - 1).unwrap_or(u32::MAX);
        let mut root = self.timed(tree, |tree| keep(tree, root, least));
        if self.is_full(tree) {
            // A tree of few, large nodes: nothing but the root and its children is left.
            root = keep(tree, root, u32::MAX);
        }
        Recycled::Root(root)
    }

    /// Whether going through the tree takes no more than this part of the time left.
    fn has_time(&self, tree: &Tree, stop: &Stop, part: u32) -> bool {
        let Some(deadline) = stop.deadline() else { return true };
        let left = deadline.saturating_duration_since(Instant::now());
        self.per_node.as_secs_f64() * tree.nodes.len() as f64 * f64::from(part) < left.as_secs_f64()
    }

    /// Goes through the tree and notes how long that took.
    fn timed(&mut self, tree: &mut Tree, work: impl FnOnce(&mut Tree) -> u32) -> u32 {
        let (began, n) = (Instant::now(), tree.nodes.len().max(1));
        let root = work(tree);
        // No shorter than is plausible on a machine that is busy the next time.
        let per_node = began.elapsed().div_f64(n as f64);
        self.per_node = (per_node * 2).max(Duration::from_nanos(50));
        root
    }
}

/// Keeps the root, and of the nodes below it the children of those with at least `least`
/// visits.
fn keep(tree: &mut Tree, root: u32, least: u32) -> u32 {
    let n = tree.nodes.len();
    let (mut kept, mut open) = (vec![false; n], vec![false; n]);
    kept[root as usize] = true;
    let mut queue = vec![root];
    while let Some(at) = queue.pop() {
        let node = tree.node(at);
        let is_warm = at == root || node.visits >= least;
        if !is_warm || matches!(node.kind, Kind::Leaf | Kind::End) {
            continue;
        }
        open[at as usize] = true;
        tree.children(at, &mut |child| {
            if !std::mem::replace(&mut kept[child as usize], true) {
                queue.push(child);
            }
        });
    }
    tree.retain(&kept, &open)[root as usize]
}
