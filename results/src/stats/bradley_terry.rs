//! Ratings from comparisons of two: R. Bradley & M. Terry, "Rank analysis of
//! incomplete block designs" (1952). Scores may be fractions; a draw is one
//! half. The fit does not depend on the order of matches, unlike Elo's updates.

use crate::stats::luce::{Alternative, Choice, Model, RatingError, Ratings, fit};

/// One comparison of two players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the player that sat first.
    pub first: usize,
    /// Index of the other.
    pub second: usize,
    /// What the first made of it: 1 for a win, 0 for a loss, or between.
    pub score: f64,
    /// How much it counts.
    pub weight: f64,
    /// The block: comparisons of the same block are correlated.
    pub cluster: u64,
}

/// What to fit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BradleyTerry {
    /// Whether sitting first may be worth something.
    pub advantage: bool,
    /// Draws that each player is thought to have had beforehand, spread evenly
    /// over the others. 0 for the plain maximum of the likelihood, which need
    /// not exist; with 1 or 2 it always does, and is drawn to the middle a little.
    pub prior_draws: f64,
}

impl BradleyTerry {
    /// Rates players 0 to `n_players - 1`.
    ///
    /// # Errors
    /// If no finite ratings are the most likely ones, or players were never
    /// compared, not even through third ones.
    ///
    /// # Panics
    /// If a comparison is of an unknown player, or its score not within 0 and 1.
    pub fn rate(
        &self,
        n_players: usize,
        comparisons: &[Comparison],
    ) -> Result<Ratings, RatingError> {
        self.fit(n_players, comparisons, false)
    }

    /// As [`rate`](Self::rate), but a prior may connect players that were never
    /// compared: for resamples of comparisons that connect all.
    pub(crate) fn rate_resample(
        &self,
        n_players: usize,
        comparisons: &[Comparison],
    ) -> Result<Ratings, RatingError> {
        self.fit(n_players, comparisons, true)
    }

    fn fit(
        &self,
        n_players: usize,
        comparisons: &[Comparison],
        loose: bool,
    ) -> Result<Ratings, RatingError> {
        let choice = |comparison: &Comparison| {
            let Comparison { first, second, score, weight, cluster } = *comparison;
            assert!((0.0..=1.0).contains(&score) && weight >= 0.0, "a score from 0 to 1");
            let side = |player, favoured, share| {
                assert!(player < n_players, "a known player");
                Alternative { player, favoured, chosen: share * weight }
            };
            let alternatives =
                vec![side(first, self.advantage, score), side(second, false, 1.0 - score)];
            Choice { alternatives, cluster }
        };
        let choices: Vec<Choice> = comparisons.iter().map(choice).collect();
        let Self { advantage, prior_draws } = *self;
        fit(Model { n_players, advantage, prior_draws, loose }, &choices)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample;
    use crate::stats::by_match::{Scoring, comparisons};
    use crate::stats::elo::elo_of_score;
    use crate::stats::scored::ScoredMatch;

    fn comparison(first: usize, second: usize, score: f64, cluster: u64) -> Comparison {
        Comparison { first, second, score, weight: 1.0, cluster }
    }

    #[test]
    fn of_two_players_the_score_is_the_rating() {
        let games: Vec<Comparison> =
            (0..40).map(|n| comparison(0, 1, if n < 30 { 1.0 } else { 0.0 }, n)).collect();
        let ratings = BradleyTerry::default().rate(2, &games).unwrap();
        let (ahead, error) = ratings.difference(0, 1);
        assert!((ahead - elo_of_score(0.75)).abs() < 1e-6, "{ahead}");
        // Of a coin: 1 / sqrt(n p q) logits, by either way.
        let expected = crate::stats::luce::ELO_PER_LOGIT / (40.0f64 * 0.75 * 0.25).sqrt();
        assert!((error - expected).abs() < 1e-6, "{error}");
        assert!((ratings.naive_errors[0] - expected / 2.0).abs() < 1e-6);
    }

    #[test]
    fn who_never_lost_has_no_rating_without_a_prior() {
        let games = [comparison(0, 1, 1.0, 0), comparison(1, 2, 0.5, 1)];
        assert_eq!(BradleyTerry::default().rate(3, &games), Err(RatingError::Unbounded));
        let prior = BradleyTerry { prior_draws: 1.0, ..BradleyTerry::default() };
        let ratings = prior.rate(3, &games).unwrap();
        assert!(ratings.elo[0] > ratings.elo[1]);
        assert!(ratings.elo.iter().sum::<f64>().abs() < 1e-6);
    }

    /// A prior gives players that never met the same rating of 0, which says nothing.
    #[test]
    fn players_that_never_met_are_not_rated() {
        let games = [comparison(0, 1, 1.0, 0), comparison(2, 3, 0.5, 1), comparison(2, 3, 0.0, 2)];
        let prior = BradleyTerry { prior_draws: 1.0, ..BradleyTerry::default() };
        assert_eq!(prior.rate(4, &games), Err(RatingError::Disconnected));
        assert_eq!(prior.rate(3, &games[..1]), Err(RatingError::Disconnected));
        assert!(prior.rate(2, &games[..1]).is_ok());
        assert!(prior.rate_resample(4, &games).is_ok());
    }

    /// The prior's standard error is that of `prior_draws` draws.
    #[test]
    fn a_prior_is_no_certainty() {
        let prior = BradleyTerry { prior_draws: 2.0, ..BradleyTerry::default() };
        let unplayed = prior.rate_resample(2, &[]).unwrap();
        // Two draws of a coin: 1 / sqrt(2 / 4) logits between the two.
        let (_, error) = unplayed.difference(0, 1);
        assert!((error - crate::stats::luce::ELO_PER_LOGIT * 2f64.sqrt()).abs() < 1e-6, "{error}");
        assert_eq!(unplayed.errors, unplayed.naive_errors);
    }

    /// A field in which strengths differ by up to 3,000 Elo, with many games.
    #[test]
    fn large_fields_and_many_games_converge() {
        for (n_players, n_games) in [(2, 10_000_000), (14, 1000), (14, 100_000), (64, 100_000)] {
            let elo = |player: usize| 3000.0 * player as f64 / (n_players - 1) as f64;
            let mut games = vec![];
            for second in 1..n_players {
                for first in 0..second {
                    let expected = crate::stats::elo::score_of_elo(elo(first) - elo(second));
                    let cluster = games.len() as u64;
                    let weight = f64::from(n_games);
                    games.push(Comparison { first, second, score: expected, weight, cluster });
                }
            }
            for prior_draws in [0.0, 1.0] {
                let fit = BradleyTerry { prior_draws, advantage: false };
                let ratings = fit.rate(n_players, &games).unwrap();
                if prior_draws == 0.0 {
                    for player in 0..n_players {
                        let expected = elo(player) - 1500.0;
                        let found = ratings.elo[player];
                        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
                    }
                }
                assert!(ratings.errors.iter().all(|error| error.is_finite()));
            }
        }
    }

    /// Whoever is stronger wins every game: with a prior ratings are finite, but may
    /// be far apart.
    #[test]
    fn a_strict_order_has_ratings_however_many_games_there_are() {
        for (n_players, n_games) in [(2, 10_000_000), (14, 1000), (30, 100_000), (64, 100_000)] {
            let mut games = vec![];
            for second in 1..n_players {
                for first in 0..second {
                    let (weight, cluster) = (f64::from(n_games), games.len() as u64);
                    games.push(Comparison { first, second, score: 1.0, weight, cluster });
                }
            }
            let prior = BradleyTerry { prior_draws: 1.0, advantage: false };
            let ratings = prior.rate(n_players, &games).unwrap();
            assert!(ratings.elo.windows(2).all(|pair| pair[0] > pair[1] + 100.0), "{ratings:?}");
            assert!(ratings.errors.iter().all(|error| error.is_finite()), "{ratings:?}");
            // What is most likely scores as much as was seen, and the prior's half draws.
            let expected = |player: usize, other: usize| {
                crate::stats::elo::score_of_elo(ratings.elo[player] - ratings.elo[other])
            };
            let draws = 1.0 / (n_players - 1) as f64;
            let others =
                (1..n_players).map(|other| expected(0, other) * (f64::from(n_games) + draws));
            let seen = f64::from(n_games) * (n_players - 1) as f64 + 0.5;
            assert!((others.sum::<f64>() - seen).abs() < 1e-6, "{n_players} players");
        }
    }

    #[test]
    fn an_advantage_is_told_from_strength() {
        // Whoever sits first scores three of four.
        let games: Vec<Comparison> = (0..80)
            .map(|n| {
                let (first, second) = if n % 2 == 0 { (0, 1) } else { (1, 0) };
                comparison(first, second, if n / 2 % 4 == 0 { 0.0 } else { 1.0 }, n / 2)
            })
            .collect();
        let with = BradleyTerry { advantage: true, ..BradleyTerry::default() };
        let ratings = with.rate(2, &games).unwrap();
        assert!(ratings.difference(0, 1).0.abs() < 1e-6);
        let (advantage, _) = ratings.advantage.unwrap();
        assert!((advantage - elo_of_score(0.75)).abs() < 1e-6, "{advantage}");
        // Blocks of swapped seats cancel, so that the clustered error is nothing.
        assert!(ratings.errors[0] < 1e-6 && ratings.naive_errors[0] > 10.0);
    }

    #[test]
    fn matches_become_comparisons() {
        let mut played = ScoredMatch::from(&sample::record(0, "g", ["alpha", "beta"], [70, 20]));
        let both = ["alpha", "beta"];
        assert_eq!(comparisons([&played], &both, Scoring::Order), [comparison(0, 1, 1.0, 0)]);
        assert_eq!(comparisons([&played], &both, Scoring::Reward), [comparison(0, 1, 0.75, 0)]);
        assert_eq!(comparisons([&played], &["alpha"], Scoring::Order), []);
        played.seats[1].reward = None;
        assert_eq!(comparisons([&played], &both, Scoring::Order), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn renaming_players_renames_ratings(scores in proptest::collection::vec(0u8..=2, 12)) {
            let games = |rename: fn(usize) -> usize| -> Vec<Comparison> {
                scores.iter().enumerate().map(|(n, &score)| {
                    let (first, second) = [(0, 1), (1, 2), (2, 0)][n % 3];
                    comparison(rename(first), rename(second), f64::from(score) / 2.0, n as u64)
                }).collect()
            };
            let prior = BradleyTerry { prior_draws: 0.5, advantage: false };
            let plain = prior.rate(3, &games(|player| player)).unwrap();
            let renamed = prior.rate(3, &games(|player| (player + 1) % 3)).unwrap();
            for player in 0..3 {
                prop_assert!((plain.elo[player] - renamed.elo[(player + 1) % 3]).abs() < 1e-6);
                prop_assert!((plain.errors[player] - renamed.errors[(player + 1) % 3]).abs() < 1e-6);
            }
        }

        #[test]
        fn one_more_win_never_lowers_a_rating(scores in proptest::collection::vec(0u8..=2, 12)) {
            let mut games: Vec<Comparison> = scores.iter().enumerate().map(|(n, &score)| {
                let (first, second) = [(0, 1), (1, 2), (2, 0)][n % 3];
                comparison(first, second, f64::from(score) / 2.0, n as u64)
            }).collect();
            let prior = BradleyTerry { prior_draws: 0.5, advantage: false };
            let before = prior.rate(3, &games).unwrap();
            games.push(comparison(0, 1, 1.0, 99));
            let after = prior.rate(3, &games).unwrap();
            prop_assert!(after.elo[0] >= before.elo[0] - 1e-6 && after.elo[1] <= before.elo[1] + 1e-6);
        }
    }
}
