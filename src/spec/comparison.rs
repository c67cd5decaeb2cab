//! The pairings by which two players are compared under equal conditions.
//!
//! *Base* and *head* sit in turn beside every set of opponents, at the same
//! games, with the same seeds and seats, so that a difference in their rewards comes
//! from the players. Without opponents they play each other, at games for two. The
//! *canary* is a copy of the head: if its results differ from those of the head, the
//! machine is at fault.

use crate::schedule::{PlannedPairing, binomial, combination};

/// The draw key of every compared player. Since it does not depend on the player, a
/// comparison keeps its seeds and seats when a player changes.
pub(super) const DRAW_KEY: &str = "compared";

/// Blocks of base and head for one of the canary.
pub const BLOCKS_PER_CANARY: u32 = 4;

/// The compared players of a spec. All others are opponents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Index of the current player.
    pub base: usize,
    /// Index of the player that may replace it.
    pub head: usize,
    /// Index of the copy of the head.
    pub canary: Option<usize>,
}

impl Comparison {
    /// Whether the player is one of those that are compared.
    #[must_use]
    pub fn concerns(&self, player: usize) -> bool {
        player == self.base || player == self.head || self.canary == Some(player)
    }

    /// The pairings of a game with `n_seats` seats among these players; empty if base and
    /// head cannot be compared at it.
    pub(super) fn pairings(&self, able: &[usize], n_seats: usize) -> Vec<PlannedPairing> {
        if n_seats == 0 || !(able.contains(&self.base) && able.contains(&self.head)) {
            return vec![];
        }
        let compared = [(self.base, BLOCKS_PER_CANARY), (self.head, BLOCKS_PER_CANARY)];
        let compared = compared.into_iter().chain(self.canary.map(|canary| (canary, 1)));
        let opponents: Vec<usize> =
            able.iter().copied().filter(|&player| !self.concerns(player)).collect();
        if opponents.len() >= n_seats - 1 {
            let n_sets = binomial(opponents.len() as u64, n_seats as u64 - 1);
            let sets = (0..n_sets).map(|set| combination(opponents.len(), n_seats - 1, set));
            let sets: Vec<Vec<usize>> =
                sets.map(|set| set.into_iter().map(|index| opponents[index]).collect()).collect();
            return compared
                .flat_map(|(player, weight)| {
                    (0..).zip(&sets).map(move |(number, set)| {
                        let players = [&[player][..], set].concat();
                        PlannedPairing { players, weight, set: number }
                    })
                })
                .collect();
        }
        if n_seats != 2 {
            return vec![];
        }
        let duel =
            |one, other, weight| PlannedPairing { players: vec![one, other], weight, set: 0 };
        let canary = self.canary.map(|canary| duel(self.head, canary, 1));
        [duel(self.base, self.head, BLOCKS_PER_CANARY)].into_iter().chain(canary).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISON: Comparison = Comparison { base: 0, head: 1, canary: Some(2) };

    fn check(n_players: usize, n_seats: usize, expected: &[(&[usize], u32)]) {
        let able: Vec<usize> = (0..n_players).collect();
        let found = COMPARISON.pairings(&able, n_seats);
        let found: Vec<(&[usize], u32)> =
            found.iter().map(|pairing| (&pairing.players[..], pairing.weight)).collect();
        assert_eq!(found, expected, "{n_players} {n_seats}");
    }

    #[test]
    fn who_meets_whom_is_a_table() {
        check(3, 1, &[(&[0], 4), (&[1], 4), (&[2], 1)]);
        check(3, 2, &[(&[0, 1], 4), (&[1, 2], 1)]);
        check(3, 3, &[]);
        check(4, 2, &[(&[0, 3], 4), (&[1, 3], 4), (&[2, 3], 1)]);
        check(4, 3, &[]);
        check(5, 3, &[(&[0, 3, 4], 4), (&[1, 3, 4], 4), (&[2, 3, 4], 1)]);
        check(5, 0, &[]);
    }

    #[test]
    fn who_cannot_play_is_not_compared() {
        assert_eq!(COMPARISON.pairings(&[0, 2, 3], 2), []);
        let without_canary = Comparison { canary: None, ..COMPARISON };
        let expected = PlannedPairing { players: vec![0, 1], weight: 4, set: 0 };
        assert_eq!(without_canary.pairings(&[0, 1], 2), [expected]);
    }
}
