//! Mixed strategies where two opposed roles choose at once, by regret matching: a move is made as
//! often as the role regrets not to have made it (Hart and Mas-Colell 2000), in every node of the
//! tree (Lanctot, Lisy and Winands, "Monte Carlo tree search in simultaneous move games with
//! applications to Goofspiel", 2013). Regrets do not fall below 0 (Tammelin 2014).
//!
//! A node's visits are the strategy that was played on average. Those of an equilibrium are
//! approached by it, where the moves that UCB1 tries most often may go in circles.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::expansion::joint_index;
use super::pass::Hop;
use super::tree::{Edge, NONE, Tree, by_role};
use crate::seed;

/// Probability of a random move in place of one by regret.
const EXPLORATION: f64 = 0.05;
/// Moves that were made less often than this share of the most frequent one are not played: most
/// of them are left from the time when nothing was known.
const LEAST_SHARE: f64 = 0.25;

/// Buffers that are kept from node to node.
#[derive(Default)]
pub(super) struct Regrets {
    /// By role that chooses.
    chosen: Vec<u32>,
    /// By edge: what its move would have brought more.
    gains: Vec<f32>,
}

impl Regrets {
    /// Learns from a descent through a joint node what each role would have got for its other
    /// moves against the moves of the others. `hops` are those of this node.
    pub(super) fn learn(&mut self, tree: &mut Tree, hops: &[Hop]) {
        let node = hops[0].node;
        let (first, edges) = tree.edges(node);
        self.chosen.clear();
        let mut offset = 0;
        for (moves, hop) in by_role(edges).zip(hops) {
            self.chosen.push(hop.edge - first - offset);
            offset += moves.len() as u32;
        }
        self.gains.clear();
        for (at, moves) in by_role(edges).enumerate() {
            let role = usize::from(moves[0].role.0);
            let made = self.chosen[at];
            let now = worth(tree, node, &self.chosen, role);
            for other in 0..moves.len() as u32 {
                self.chosen[at] = other;
                self.gains.push(worth(tree, node, &self.chosen, role) - now);
            }
            self.chosen[at] = made;
        }
        for (edge, gain) in (first..).zip(&self.gains) {
            let edge = tree.edge_mut(edge);
            edge.regret = (edge.regret + gain).max(0.0);
        }
    }
}

/// What a joint move is worth to a role; as much as its node if it was never made.
fn worth(tree: &Tree, node: u32, chosen: &[u32], role: usize) -> f32 {
    let (_, edges) = tree.edges(node);
    match tree.joint_child(node, joint_index(edges, chosen)) {
        child if child != NONE && (tree.node(child).visits > 0 || tree.is_settled(child)) => {
            tree.bounds(child)[role].clamp(tree.means(child)[role])
        }
        _ => tree.means(node)[role],
    }
}

/// The move of a role to follow in a descent.
pub(super) fn choose(moves: &[Edge], rng: &mut Pcg64) -> usize {
    let regrets = moves.iter().map(|edge| f64::from(edge.regret));
    let by_regret = if rng.random_bool(EXPLORATION) { None } else { seed::draw(regrets, rng) };
    by_regret.unwrap_or_else(|| rng.random_range(0..moves.len()))
}

/// The probabilities with which moves are to be played that were tried so many times; `None` if
/// that says nothing.
pub(super) fn probabilities(visits: impl Iterator<Item = u32>) -> Option<Vec<f64>> {
    let mut shares: Vec<f64> = visits.map(f64::from).collect();
    let explored = EXPLORATION * shares.iter().sum::<f64>() / shares.len() as f64;
    shares.iter_mut().for_each(|share| *share = (*share - explored).max(0.0));
    let least = LEAST_SHARE * shares.iter().copied().fold(0.0, f64::max);
    shares.iter_mut().filter(|share| **share < least).for_each(|share| *share = 0.0);
    let sum: f64 = shares.iter().sum();
    (sum > 0.0).then(|| shares.into_iter().map(|share| share / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_only_explored_is_not_played() {
        let of = |visits: &[u32]| probabilities(visits.iter().copied());
        assert_eq!(of(&[0, 0]), None);
        assert_eq!(of(&[950, 25, 25]), Some(vec![1.0, 0.0, 0.0]));
        let mixed = of(&[600, 400]).unwrap();
        assert!((mixed[0] - 575.0 / 950.0).abs() < 1e-9, "{mixed:?}");
        // A fifth of the most frequent one.
        assert_eq!(of(&[820, 180]), Some(vec![1.0, 0.0]));
    }
}
