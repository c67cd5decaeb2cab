//! Each player beside each other: who is ahead, and how sure that is.

use serde::Serialize;

use super::Sampling;
use super::means::{difference_of, sampled_difference};
use super::rows::Difference;
use crate::bootstrap::Bootstrap;
use crate::evidence::Evidence;

/// Most players of which every pair is compared: the work grows with the number of
/// pairs, and nobody reads so many rows. Of more, those next to each other are.
const MOST: usize = 32;

/// A player beside one that has a lower place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The player.
    pub player: String,
    /// The other, which is behind it in the standings.
    pub opponent: String,
    /// The player's mean less the other's, over the games that both played.
    #[serde(flatten)]
    pub difference: Difference,
    /// The likelihood of superiority: the share of resamples in which the player's
    /// mean is the greater, those with equal means by half; `None` like the
    /// interval.
    pub superiority: Option<f64>,
}

/// All pairs in the order of the standings, or only neighbours of very many.
pub(crate) fn pairs(evidence: &Evidence, sampling: &Sampling, bootstrap: &Bootstrap) -> Vec<Pair> {
    let order = &sampling.order;
    let reach = if order.len() <= MOST { order.len() } else { 1 };
    let mut pairs = vec![];
    for (place, &first) in order.iter().enumerate() {
        for &second in order.iter().skip(place + 1).take(reach) {
            let (records, name) = (&sampling.records, &evidence.players);
            let Some((sample, n_games)) =
                sampled_difference(&records[first], &records[second], evidence, bootstrap)
            else {
                continue;
            };
            pairs.push(Pair {
                player: name[first].clone(),
                opponent: name[second].clone(),
                superiority: sample.resamples.as_deref().map(superiority),
                difference: difference_of(&sample, n_games, bootstrap),
            });
        }
    }
    pairs
}

/// The share of differences above 0; zeros count by half.
fn superiority(differences: &[f64]) -> f64 {
    // Sums of fractions that cancel leave some 1e-14.
    let ahead = |difference: &f64| match difference {
        d if d.abs() < 1e-9 => 0.5,
        d if *d > 0.0 => 1.0,
        _ => 0.0,
    };
    differences.iter().map(ahead).sum::<f64>() / differences.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_resamples_count_by_half() {
        assert!((superiority(&[1.0, -1.0, 0.0, 1e-14]) - 0.5).abs() < 1e-12);
        assert!((superiority(&[2.0, 3.0]) - 1.0).abs() < 1e-12);
    }
}
