//! Mixed strategies where two opposed roles choose at the same time, by regret matching: each role
//! makes a move with a probability in proportion to its regret not to have made it (Hart and
//! Mas-Colell 2000), in every such node of the tree (Lanctot, Lisy and Winands, "Monte Carlo tree
//! search in simultaneous move games with applications to Goofspiel", 2013). Regrets do not fall
//! below 0 (Tammelin 2014).
//!
//! The visits of a node are the average strategy, which approaches an equilibrium. The choices of
//! UCB1 may go in circles there.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::expansion::joint_index;
use super::pass::Hop;
use super::tree::{Edge, NONE, Tree, by_role, joint_moves_of};
use crate::seed;

/// How to search, and to choose, where two opposed roles choose at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simultaneous {
    /// By UCB1 for each role, and the move that was tried most often.
    Ucb,
    /// By regret matching, and a move drawn from the average strategy.
    RegretMatching,
}

/// Buffers that are kept from node to node.
#[derive(Default)]
pub(super) struct Regrets {
    /// By role that chooses: its move.
    chosen: Vec<u32>,
    /// By edge: what its move would have brought more.
    gains: Vec<f32>,
}

impl Regrets {
    /// Learns from a descent through a joint node what each role would have got for its other
    /// moves against the moves of the others. `hops` are those of this node.
    pub(super) fn learn(&mut self, tree: &mut Tree, chance: Option<usize>, hops: &[Hop]) {
        let node = hops[0].node;
        let (first, edges) = tree.edges(node);
        self.chosen.clear();
        let mut offset = 0;
        for (moves, hop) in by_role(edges).zip(hops) {
            self.chosen.push(hop.edge - first - offset);
            offset += moves.len() as u32;
        }
        let made = joint_index(edges, &self.chosen);
        // How many joint moves further the next move of a role is.
        let mut place = joint_moves_of(edges);
        self.gains.clear();
        for (moves, &own) in by_role(edges).zip(&self.chosen) {
            place /= moves.len() as u64;
            let role = usize::from(moves[0].role.0);
            if Some(role) == chance {
                self.gains.resize(self.gains.len() + moves.len(), 0.0);
                continue;
            }
            let lowest = made.wrapping_sub(u64::from(own).wrapping_mul(place));
            let now = worth(tree, node, made, role);
            let index = |other: u64| lowest.wrapping_add(other.wrapping_mul(place));
            let gain = |other| worth(tree, node, index(other), role) - now;
            self.gains.extend((0..moves.len() as u64).map(gain));
        }
        for (edge, gain) in (first..).zip(&self.gains) {
            let edge = tree.edge_mut(edge);
            edge.regret = (edge.regret + gain).max(0.0);
        }
    }
}

/// What a joint move is worth to a role; as much as its node if it was never made.
fn worth(tree: &Tree, node: u32, index: u64, role: usize) -> f32 {
    match tree.joint_child(node, index) {
        child if child != NONE && (tree.node(child).visits > 0 || tree.is_settled(child)) => {
            tree.bounds(child)[role].clamp(tree.means(child)[role])
        }
        _ => tree.means(node)[role],
    }
}

/// The move of a role to follow in a descent through a node that was visited `n` times: any one
/// with a probability of 1 / sqrt(n + 1), else by regret.
pub(super) fn choose(moves: &[Edge], n: u32, rng: &mut Pcg64) -> usize {
    let regrets = moves.iter().map(|edge| f64::from(edge.regret));
    let explores = rng.random_bool(1.0 / (f64::from(n) + 1.0).sqrt());
    let by_regret = if explores { None } else { seed::draw(regrets, rng) };
    by_regret.unwrap_or_else(|| rng.random_range(0..moves.len()))
}

/// The probabilities with which to play moves that were tried this many times; `None` if
/// that says nothing. Left out are moves that were hardly tried but at random and at the
/// beginning, when nothing was known: with n visits, those with less than 2 sqrt(n), but none
/// that has a quarter of the visits of the most frequent one.
pub(super) fn probabilities(visits: impl Iterator<Item = u32>) -> Option<Vec<f64>> {
    let mut shares: Vec<f64> = visits.map(f64::from).collect();
    let n: f64 = shares.iter().sum();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let least = (2.0 * n.sqrt()).min(most / 4.0);
    shares.iter_mut().filter(|share| **share < least).for_each(|share| *share = 0.0);
    let sum: f64 = shares.iter().sum();
    (sum > 0.0).then(|| shares.into_iter().map(|share| share / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_hardly_tried_is_not_played() {
        let of = |visits: &[u32]| probabilities(visits.iter().copied());
        assert_eq!(of(&[0, 0]), None);
        assert_eq!(of(&[950, 25, 25]), Some(vec![1.0, 0.0, 0.0]));
        assert_eq!(of(&[600, 400]), Some(vec![0.6, 0.4]));
        // A rare move counts if it was tried often enough.
        assert_eq!(of(&[90, 10]), Some(vec![1.0, 0.0]));
        assert_eq!(of(&[90_000, 10_000]), Some(vec![0.9, 0.1]));
    }
}
