//! Each player beside each other: who is ahead, and how sure that is.

use serde::Serialize;

use super::Sampling;
use super::means::{difference_of, sampled_difference};
use super::rows::Difference;
use crate::evidence::Evidence;
use crate::stats::bootstrap::Bootstrap;
use crate::stats::interval::{DIFFERENCES, interval_at, superiority};

/// Maximum number of players for which all pairs are compared, because the work grows with
/// the number of pairs. With more players, only neighbours in the standings are compared.
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
    /// The likelihood of superiority: the confidence with which the player's true mean
    /// is the greater, one half where the means are equal; `None` like the interval.
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
                sampled_difference(&records[first], &records[second], evidence)
            else {
                continue;
            };
            let interval = interval_at(&sample.parts, DIFFERENCES, bootstrap.level);
            pairs.push(Pair {
                player: name[first].clone(),
                opponent: name[second].clone(),
                superiority: superiority(&sample.parts, DIFFERENCES),
                difference: difference_of(&sample, n_games, interval),
            });
        }
    }
    pairs
}
