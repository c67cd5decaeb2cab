//! Ratings from finishing orders: R. Luce, "Individual choice behavior" (1959);
//! R. Plackett, "The analysis of permutations" (1975). First the winner is
//! chosen among all, then the second among the rest, and so on.
//!
//! Players of equal reward share a place. Every order of theirs is supposed to
//! be the true one with the same share, so that a draw of two is half a win of
//! each, as in Bradley-Terry.

use std::collections::BTreeMap;

use crate::stats::luce::{Alternative, Choice, Model, RatingError, Ratings, fit};
use crate::stats::scored::ScoredMatch;

/// Maximum number of players that may share a place in one match: with `n` of them `2^n`
/// choices are looked at.
pub const MAX_TIED: usize = 12;

/// How one match ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// Indices of players, the best first; those of one group share a place.
    pub places: Vec<Vec<usize>>,
    /// The block: rankings of the same block are correlated.
    pub cluster: u64,
    /// How many matches ended so; 1 for a single one.
    pub weight: f64,
}

/// Rates players 0 to `n_players - 1` by their finishing orders. The prior is that each
/// player has drawn `prior_draws` matches of two, spread evenly over the others.
///
/// # Errors
/// If no finite ratings are the most likely ones, players were never compared,
/// not even through third ones, or more than [`MAX_TIED`] players share a place in
/// one match.
///
/// # Panics
/// If a ranking names an unknown player.
pub fn plackett_luce(
    n_players: usize,
    rankings: &[Ranking],
    prior_draws: f64,
) -> Result<Ratings, RatingError> {
    rate(Model { n_players, advantage: false, prior_draws, loose: false }, rankings)
}

/// As [`plackett_luce`], but a prior may connect players that were never compared:
/// for resamples of rankings that connect all.
pub(crate) fn plackett_luce_resample(
    n_players: usize,
    rankings: &[Ranking],
    prior_draws: f64,
) -> Result<Ratings, RatingError> {
    rate(Model { n_players, advantage: false, prior_draws, loose: true }, rankings)
}

fn rate(model: Model, rankings: &[Ranking]) -> Result<Ratings, RatingError> {
    let n_players = model.n_players;
    let mut choices = vec![];
    for ranking in rankings {
        for (place, tied) in ranking.places.iter().enumerate() {
            if tied.len() > MAX_TIED {
                return Err(RatingError::TooManyTied(tied.len()));
            }
            let behind: Vec<usize> = ranking.places[place + 1..].concat();
            assert!(tied.iter().chain(&behind).all(|&player| player < n_players), "a known player");
            choices_of(tied, &behind, ranking, &mut choices);
        }
    }
    fit(model, &choices)
}

/// The choices that the players `tied` were chosen by before those `behind`,
/// over all orders of theirs: of each set of tied players that may be left, each
/// is next in an equal share of the orders.
fn choices_of(tied: &[usize], behind: &[usize], ranking: &Ranking, choices: &mut Vec<Choice>) {
    let cluster = ranking.cluster;
    for set in 1u32..1 << tied.len() {
        let n = set.count_ones();
        if n as usize + behind.len() < 2 {
            continue;
        }
        let share = ranking.weight / (binomial(tied.len() as u32, n) * f64::from(n));
        let left = (0..tied.len()).filter(|index| set >> index & 1 == 1);
        let left = left.map(|index| (tied[index], share));
        let alternatives = left.chain(behind.iter().map(|&player| (player, 0.0)));
        let alternative = |(player, chosen)| Alternative { player, favoured: false, chosen };
        choices.push(Choice { alternatives: alternatives.map(alternative).collect(), cluster });
    }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// The finishing orders of the matches that were scored, by reward. Players that
/// are not among `players` are left out.
#[must_use]
pub fn rankings<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
    players: &[&str],
) -> Vec<Ranking> {
    let index: BTreeMap<&str, usize> =
        players.iter().zip(0..).map(|(&name, i)| (name, i)).collect();
    let mut rankings = vec![];
    for played in matches {
        let mut places: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for seat in &played.seats {
            if let (Some(&player), Some(reward)) = (index.get(&*seat.player), seat.reward) {
                places.entry(100 - reward.min(100)).or_default().push(player);
            }
        }
        if places.values().map(Vec::len).sum::<usize>() > 1 {
            let places = places.into_values().collect();
            rankings.push(Ranking { places, cluster: played.block, weight: 1.0 });
        }
    }
    rankings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::bradley_terry::{BradleyTerry, Comparison};

    fn ranking(cluster: u64, places: &[&[usize]]) -> Ranking {
        let places = places.iter().map(|tied| tied.to_vec()).collect();
        Ranking { places, cluster, weight: 1.0 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn of_two_players_it_is_bradley_terry(scores in proptest::collection::vec(0u8..=2, 9..20)) {
            let (mut rankings, mut games) = (vec![], vec![]);
            for (n, &score) in scores.iter().enumerate() {
                let (first, second) = [(0, 1), (1, 2), (2, 0)][n % 3];
                let cluster = n as u64 / 3;
                let score_of_first = f64::from(score) / 2.0;
                games.push(Comparison { first, second, score: score_of_first, weight: 1.0, cluster });
                rankings.push(match score {
                    0 => ranking(cluster, &[&[second], &[first]]),
                    1 => ranking(cluster, &[&[second, first]]),
                    _ => ranking(cluster, &[&[first], &[second]]),
                });
            }
            let bt = BradleyTerry { prior_draws: 0.5, advantage: false }.rate(3, &games).unwrap();
            let pl = plackett_luce(3, &rankings, 0.5).unwrap();
            for player in 0..3 {
                prop_assert!((bt.elo[player] - pl.elo[player]).abs() < 1e-6);
                prop_assert!((bt.errors[player] - pl.errors[player]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_tie_of_all_is_all_orders_once() {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let strict: Vec<Ranking> = (orders.iter())
            .map(|[a, b, c]| ranking(0, &[&[*a], &[*b], &[*c]]))
            .chain([ranking(1, &[&[0], &[1], &[2]])])
            .collect();
        let tied: Vec<Ranking> = (0..6)
            .map(|_| ranking(0, &[&[0, 1, 2]]))
            .chain([ranking(1, &[&[0], &[1], &[2]])])
            .collect();
        let [strict, tied] =
            [strict, tied].map(|rankings| plackett_luce(3, &rankings, 0.0).unwrap());
        for player in 0..3 {
            assert!((strict.elo[player] - tied.elo[player]).abs() < 1e-6, "{strict:?} {tied:?}");
        }
    }

    #[test]
    fn too_many_at_one_place_are_refused() {
        let all: Vec<usize> = (0..13).collect();
        let error = plackett_luce(13, &[ranking(0, &[&all])], 1.0).unwrap_err();
        assert_eq!(error, RatingError::TooManyTied(13));
    }
}
