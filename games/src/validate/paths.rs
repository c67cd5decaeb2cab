//! Dependency graphs: edges, components and paths.

use std::collections::VecDeque;

use crate::span::Span;

/// A dependency; the node that it leads from is the place of its list.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    pub(crate) negative: bool,
    pub(crate) span: Span,
}

/// The strongly connected component of each node; edges lead to equal or smaller
/// numbers.
pub(crate) fn components(edges: &[Vec<Edge>]) -> Vec<usize> {
    crate::components::components(edges.len(), |node, k| Some(edges[node].get(k)?.to))
}

/// The nodes of a shortest path through allowed nodes, both ends included.
pub(crate) fn shortest_path(
    edges: &[Vec<Edge>],
    from: usize,
    to: usize,
    allowed: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut came_from = vec![usize::MAX; edges.len()];
    let mut queue = VecDeque::from([from]);
    came_from[from] = from;
    while let Some(node) = queue.pop_front() {
        if node == to {
            let mut path = vec![to];
            let mut node = to;
            while node != from {
                node = came_from[node];
                path.push(node);
            }
            path.reverse();
            return Some(path);
        }
        for edge in &edges[node] {
            if came_from[edge.to] == usize::MAX && allowed(edge.to) {
                came_from[edge.to] = node;
                queue.push_back(edge.to);
            }
        }
    }
    None
}

/// A path in words, shortened if it is long.
pub(crate) fn way(mut names: Vec<&str>) -> String {
    if names.len() > 8 {
        names.splice(4..names.len() - 3, ["..."]);
    }
    names.join(" -> ")
}
