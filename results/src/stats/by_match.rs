//! What tests hold faster reckonings against: the same, match by match.

use std::collections::BTreeMap;

use crate::stats::bradley_terry::Comparison;
use crate::stats::scored::{ScoredMatch, Stratum};

/// How rewards of one match become a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scoring {
    /// The player with more wins; equal rewards are a draw.
    #[default]
    Order,
    /// One half plus the difference over 200.
    Reward,
}

/// The comparisons of all pairs of players in each match that was scored.
/// Matches with a player that is not among `players` are compared without it.
pub(crate) fn comparisons<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
    players: &[&str],
    scoring: Scoring,
) -> Vec<Comparison> {
    let index: BTreeMap<&str, usize> =
        players.iter().zip(0..).map(|(&name, i)| (name, i)).collect();
    let mut comparisons = vec![];
    for played in matches {
        let seats: Vec<(usize, f64)> = (played.seats.iter())
            .filter_map(|seat| Some((*index.get(&*seat.player)?, f64::from(seat.reward?))))
            .collect();
        for (place, &(first, reward)) in seats.iter().enumerate() {
            for &(second, other) in &seats[place + 1..] {
                let score = match scoring {
                    Scoring::Reward => 0.5 + (reward - other) / 200.0,
                    Scoring::Order if reward == other => 0.5,
                    Scoring::Order => f64::from(u8::from(reward > other)),
                };
                let cluster = played.block;
                comparisons.push(Comparison { first, second, score, weight: 1.0, cluster });
            }
        }
    }
    comparisons
}

/// The matches of each block, by stratum: what is drawn from.
pub(crate) fn blocks_by_stratum<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
) -> Vec<Vec<Vec<&'a ScoredMatch>>> {
    let mut strata: BTreeMap<&Stratum, BTreeMap<u64, Vec<&ScoredMatch>>> = BTreeMap::new();
    for played in matches {
        let blocks = strata.entry(&played.stratum).or_default();
        blocks.entry(played.block).or_default().push(played);
    }
    strata.into_values().map(|blocks| blocks.into_values().collect()).collect()
}

/// Mean rewards by stratum, then player: a row is a voter's opinion for
/// [`vase`](crate::stats::vase), the mean over rows a plain rating.
pub(crate) fn mean_rewards<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
    players: &[&str],
) -> Vec<Vec<Option<f64>>> {
    let index: BTreeMap<&str, usize> =
        players.iter().zip(0..).map(|(&name, i)| (name, i)).collect();
    let mut strata: BTreeMap<&Stratum, Vec<(f64, f64)>> = BTreeMap::new();
    for played in matches {
        let sums = strata.entry(&played.stratum).or_insert_with(|| vec![(0.0, 0.0); players.len()]);
        for seat in &played.seats {
            if let (Some(&player), Some(reward)) = (index.get(&*seat.player), seat.reward) {
                sums[player].0 += f64::from(reward);
                sums[player].1 += 1.0;
            }
        }
    }
    let mean = |&(sum, n): &(f64, f64)| (n > 0.0).then(|| sum / n);
    strata.into_values().map(|sums| sums.iter().map(mean).collect()).collect()
}

/// What each player won from each other on average: the mean difference of
/// rewards in matches that both played, each stratum weighing the same; 0 where
/// they never met. Antisymmetric: for [`nash`](crate::stats::nash) and
/// [`alpha_rank`](crate::stats::alpha_rank).
pub(crate) fn payoffs<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
    players: &[&str],
) -> Vec<Vec<f64>> {
    let n = players.len();
    let index: BTreeMap<&str, usize> =
        players.iter().zip(0..).map(|(&name, i)| (name, i)).collect();
    let mut strata: BTreeMap<&Stratum, Vec<(f64, f64)>> = BTreeMap::new();
    for played in matches {
        let sums = strata.entry(&played.stratum).or_insert_with(|| vec![(0.0, 0.0); n * n]);
        let seats: Vec<(usize, f64)> = (played.seats.iter())
            .filter_map(|seat| Some((*index.get(&*seat.player)?, f64::from(seat.reward?))))
            .collect();
        for &(i, reward) in &seats {
            for &(j, other) in seats.iter().filter(|(j, _)| *j != i) {
                sums[i * n + j].0 += reward - other;
                sums[i * n + j].1 += 1.0;
            }
        }
    }
    let payoff = |i: usize, j: usize| {
        let met = strata.values().map(|sums| sums[i * n + j]).filter(|(_, n)| *n > 0.0);
        let (sum, n) = met.fold((0.0, 0.0), |(sum, n), (s, m)| (sum + s / m, n + 1.0));
        if n > 0.0 { sum / n } else { 0.0 }
    };
    (0..n).map(|i| (0..n).map(|j| payoff(i, j)).collect()).collect()
}
