//! Voting as evaluation: M. Lanctot et al., "Evaluating agents using social
//! choice theory" (2023).
//!
//! Each game (under a clock) is a voter that ranks players by their mean reward
//! there. Only who did better counts, not by how much: the right summary where
//! rewards of different games are not comparable. Three voting methods, each of
//! which elects the player that a majority prefers to any other, if there is one.

use std::cmp::Reverse;

use crate::stats::nash::nash_average;

/// One voter's opinion of each player, higher is better; `None` for players it
/// knows nothing of. Equal opinions are a tie.
pub type Vote = Vec<Option<f64>>;

/// How many more voters prefer one player to another than the reverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Margins(pub(super) Vec<Vec<f64>>);

impl Margins {
    /// Counts votes.
    ///
    /// # Panics
    /// If votes are not all of `n_players`.
    #[must_use]
    pub fn of(n_players: usize, votes: &[Vote]) -> Self {
        let mut margins = vec![vec![0.0; n_players]; n_players];
        for vote in votes {
            assert_eq!(vote.len(), n_players, "an opinion of each player");
            for (i, row) in margins.iter_mut().enumerate() {
                for (j, margin) in row.iter_mut().enumerate() {
                    if let (Some(mine), Some(other)) = (vote[i], vote[j]) {
                        *margin += f64::from(u8::from(mine > other));
                        *margin -= f64::from(u8::from(mine < other));
                    }
                }
            }
        }
        Self(margins)
    }

    /// The player that a majority prefers to each other, if there is one.
    #[must_use]
    pub fn condorcet_winner(&self) -> Option<usize> {
        let n = self.0.len();
        (0..n).find(|&i| (0..n).all(|j| i == j || self.0[i][j] > 0.0))
    }

    /// Copeland's method: by player, the number of others that a majority
    /// prefers it to, ties one half.
    #[must_use]
    pub fn copeland(&self) -> Vec<f64> {
        let point = |margin: f64| match margin {
            m if m > 0.0 => 1.0,
            m if m < 0.0 => 0.0,
            _ => 0.5,
        };
        let rows = self.0.iter().enumerate();
        let others = |i: usize, row: &[f64]| -> f64 {
            row.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, &margin)| point(margin)).sum()
        };
        rows.map(|(i, row)| others(i, row)).collect()
    }

    /// Ranked pairs (T. Tideman, 1987): players, the best first. Majorities are
    /// accepted from the clearest on unless they contradict clearer ones;
    /// majorities of the same margin in the order of the players' indices.
    #[must_use]
    pub fn ranked_pairs(&self) -> Vec<usize> {
        let n = self.0.len();
        let mut pairs: Vec<(usize, usize)> = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .filter(|&(i, j)| self.0[i][j] > 0.0)
            .collect();
        pairs.sort_by(|a, b| self.0[b.0][b.1].total_cmp(&self.0[a.0][a.1]));
        // above[i][j]: i is above j by what was accepted so far.
        let mut above = vec![vec![false; n]; n];
        for (winner, loser) in pairs {
            if above[loser][winner] {
                continue;
            }
            let over: Vec<usize> = (0..n).filter(|&i| i == winner || above[i][winner]).collect();
            let under: Vec<usize> = (0..n).filter(|&j| j == loser || above[loser][j]).collect();
            for &i in &over {
                for &j in &under {
                    above[i][j] = true;
                }
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| Reverse(above[i].iter().filter(|&&above| above).count()));
        order
    }

    /// Maximal lotteries (P. Fishburn, 1984): the probabilities to choose players
    /// with so that no other choice is preferred on average; of several, the one
    /// of greatest entropy.
    #[must_use]
    pub fn maximal_lottery(&self) -> Vec<f64> {
        nash_average(&self.0).shares
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vote(order: [usize; 3]) -> Vote {
        let place = |player| order.iter().position(|&other| other == player).unwrap();
        (0..3).map(|player| Some(-(place(player) as f64))).collect()
    }

    #[test]
    fn a_majority_cycle_is_broken_at_its_weakest() {
        // A beats B by 5 voters, B beats C by 3, C beats A by 1.
        let mut votes = vec![vote([0, 1, 2]); 4];
        votes.extend(vec![vote([1, 2, 0]); 2]);
        votes.extend(vec![vote([2, 0, 1]); 3]);
        let margins = Margins::of(3, &votes);
        assert_eq!((margins.0[0][1], margins.0[1][2], margins.0[2][0]), (5.0, 3.0, 1.0));
        assert_eq!(margins.condorcet_winner(), None);
        assert_eq!(margins.ranked_pairs(), [0, 1, 2]);
        assert_eq!(margins.copeland(), [1.0; 3]);
        let lottery = margins.maximal_lottery();
        for (found, expected) in lottery.iter().zip([3.0 / 9.0, 1.0 / 9.0, 5.0 / 9.0]) {
            assert!((found - expected).abs() < 1e-7, "{lottery:?}");
        }
    }

    #[test]
    fn who_is_unknown_to_a_voter_is_not_voted_on() {
        let margins =
            Margins::of(3, &[vec![Some(1.0), None, Some(2.0)], vec![None, Some(0.0), Some(0.0)]]);
        assert_eq!(margins.0, [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
        assert_eq!(margins.condorcet_winner(), None);
    }

    fn votes() -> impl Strategy<Value = Vec<Vote>> {
        let vote = proptest::collection::vec(
            proptest::option::weighted(0.9, (0..6i32).prop_map(f64::from)),
            4,
        );
        proptest::collection::vec(vote, 1..9)
    }

    proptest! {
        #[test]
        fn all_methods_elect_the_condorcet_winner(votes in votes()) {
            let margins = Margins::of(4, &votes);
            if let Some(winner) = margins.condorcet_winner() {
                prop_assert_eq!(margins.copeland()[winner], 3.0);
                prop_assert_eq!(margins.ranked_pairs()[0], winner);
                prop_assert!(margins.maximal_lottery()[winner] > 1.0 - 1e-6);
            }
        }

        #[test]
        fn only_order_counts(votes in votes(), factor in 0.1f64..10.0) {
            let stretched: Vec<Vote> = votes.iter()
                .map(|vote| vote.iter().map(|opinion| opinion.map(|o| (factor * o).exp())).collect())
                .collect();
            prop_assert_eq!(Margins::of(4, &votes), Margins::of(4, &stretched));
        }
    }
}
