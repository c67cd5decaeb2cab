//! Makes room in a tree that reached its bound: nodes that play can no longer reach are
//! dropped, and the children of nodes that are seldom visited.

use std::time::Instant;

use super::tree::{Kind, Tree};
use crate::Stop;

/// Time to drop nodes, for each of all nodes, in seconds; more than it takes.
const TIME_PER_NODE: f64 = 300e-9;

/// Keeps what can be reached from the root. Gives the root's new number.
pub(super) fn keep_reachable(tree: &mut Tree, root: u32) -> u32 {
    keep(tree, root, 0)
}

/// Drops the children of the coldest nodes, so that about half of the memory is free.
/// Gives the root's new number, or `None` if there is not enough time.
pub(super) fn recycle(tree: &mut Tree, root: u32, stop: &Stop, memory: usize) -> Option<u32> {
    if let Some(deadline) = stop.deadline() {
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        if left < TIME_PER_NODE * tree.nodes.len() as f64 {
            return None;
        }
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
    let root = keep(tree, root, least);
    // A tree of few, large nodes: nothing but the root and its children is left.
    if tree.n_bytes() > memory {
        return Some(keep(tree, root, u32::MAX));
    }
    Some(root)
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
