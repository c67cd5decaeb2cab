//! Whether all players can be paired: perfect matchings of a graph.

use std::collections::VecDeque;

/// Whether all of `n` vertices can be paired along edges.
///
/// J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17
/// (1965): grows a matching by augmenting paths, shrinking odd cycles on the
/// way. Takes time `n^3` at most.
pub(super) fn has_perfect_matching(n: usize, edge: impl Fn(usize, usize) -> bool) -> bool {
    if !n.is_multiple_of(2) {
        return false;
    }
    let neighbours: Vec<Vec<usize>> =
        (0..n).map(|a| (0..n).filter(|&b| a != b && edge(a, b)).collect()).collect();
    // Then there is a Hamiltonian cycle (G. A. Dirac, 1952).
    if neighbours.iter().all(|own| 2 * own.len() >= n) {
        return true;
    }
    let mut search = Search { neighbours, mate: vec![None; n], ..Search::default() };
    (0..n).all(|root| search.mate[root].is_some() || search.augment(root))
}

#[derive(Default)]
struct Search {
    neighbours: Vec<Vec<usize>>,
    mate: Vec<Option<usize>>,
    parent: Vec<Option<usize>>,
    /// The vertex that stands for the shrunken cycle a vertex is in.
    base: Vec<usize>,
}

impl Search {
    /// Pairs `root`, changing other pairs if need be.
    fn augment(&mut self, root: usize) -> bool {
        let n = self.neighbours.len();
        self.parent = vec![None; n];
        self.base = (0..n).collect();
        let mut is_outer = vec![false; n];
        is_outer[root] = true;
        let mut queue = VecDeque::from([root]);
        while let Some(at) = queue.pop_front() {
            for to in self.neighbours[at].clone() {
                if self.base[at] == self.base[to] || self.mate[at] == Some(to) {
                    continue;
                }
                let closes_cycle =
                    to == root || self.mate[to].is_some_and(|mate| self.parent[mate].is_some());
                if closes_cycle {
                    self.shrink(at, to, &mut is_outer, &mut queue);
                } else if self.parent[to].is_none() {
                    self.parent[to] = Some(at);
                    match self.mate[to] {
                        None => {
                            self.flip(to);
                            return true;
                        }
                        Some(mate) => {
                            is_outer[mate] = true;
                            queue.push_back(mate);
                        }
                    }
                }
            }
        }
        false
    }

    /// Shrinks the odd cycle that the edge between two outer vertices closes.
    fn shrink(&mut self, a: usize, b: usize, is_outer: &mut [bool], queue: &mut VecDeque<usize>) {
        let stem = self.common_base(a, b);
        let mut in_cycle = vec![false; self.base.len()];
        self.mark(a, stem, b, &mut in_cycle);
        self.mark(b, stem, a, &mut in_cycle);
        for vertex in 0..self.base.len() {
            if in_cycle[self.base[vertex]] {
                self.base[vertex] = stem;
                if !is_outer[vertex] {
                    is_outer[vertex] = true;
                    queue.push_back(vertex);
                }
            }
        }
    }

    fn common_base(&self, a: usize, b: usize) -> usize {
        let mut seen = vec![false; self.base.len()];
        let mut at = a;
        loop {
            at = self.base[at];
            seen[at] = true;
            // The root has no mate.
            let Some(mate) = self.mate[at] else { break };
            at = self.parent[mate].expect("an outer vertex hangs on its mate's parent");
        }
        let mut at = b;
        loop {
            at = self.base[at];
            if seen[at] {
                return at;
            }
            let mate = self.mate[at].expect("both paths end in the root");
            at = self.parent[mate].expect("an outer vertex hangs on its mate's parent");
        }
    }

    /// Marks the cycle from `at` down to its stem.
    fn mark(&mut self, mut at: usize, stem: usize, mut child: usize, in_cycle: &mut [bool]) {
        while self.base[at] != stem {
            let mate = self.mate[at].expect("only the root is without a mate");
            in_cycle[self.base[at]] = true;
            in_cycle[self.base[mate]] = true;
            self.parent[at] = Some(child);
            child = mate;
            at = self.parent[mate].expect("an outer vertex hangs on its mate's parent");
        }
    }

    /// Pairs along the path that ends in `end`.
    fn flip(&mut self, end: usize) {
        let mut at = Some(end);
        while let Some(vertex) = at {
            let parent = self.parent[vertex].expect("a path leads to the root");
            let next = self.mate[parent];
            self.mate[vertex] = Some(parent);
            self.mate[parent] = Some(vertex);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All ways to pair, one after the other.
    fn by_trying(left: &[usize], edge: &impl Fn(usize, usize) -> bool) -> bool {
        let Some((&first, rest)) = left.split_first() else { return true };
        rest.iter().any(|&second| {
            let left: Vec<usize> = rest.iter().copied().filter(|&other| other != second).collect();
            edge(first, second) && by_trying(&left, edge)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn it_finds_a_matching_if_there_is_one(n in 0usize..11, edges in any::<u64>(), sparse: bool) {
            // Few edges, so that odd cycles matter.
            let edges = if sparse { edges & edges.rotate_left(17) } else { edges };
            let edge = |a: usize, b: usize| edges >> (a.max(b) * (a.max(b) - 1) / 2 + a.min(b)) & 1 == 1;
            let vertices: Vec<usize> = (0..n).collect();
            prop_assert_eq!(has_perfect_matching(n, edge), by_trying(&vertices, &edge));
        }
    }

    #[test]
    fn two_triangles_have_none() {
        assert!(!has_perfect_matching(6, |a, b| a / 3 == b / 3));
        assert!(has_perfect_matching(6, |a, b| a / 3 == b / 3 || a.min(b) == 2 && a.max(b) == 3));
        assert!(has_perfect_matching(0, |_, _| false));
        assert!(!has_perfect_matching(1, |_, _| true));
    }
}
