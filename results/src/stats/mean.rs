//! The mean difference of two players.

use std::collections::BTreeMap;

use crate::stats::block::BlockScore;
use crate::stats::interval::{DIFFERENCES, Part, interval_at, mean, n_exact, standard_error};
use crate::stats::laps::weights;
use crate::stats::scored::Stratum;

/// A mean difference and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanDifference {
    /// Points: games weigh the same, clocks the same within a game, blocks the
    /// same within both.
    pub mean: f64,
    /// Standard error, from the variance of blocks within each stratum; `None`
    /// if all strata have a single block.
    pub standard_error: Option<f64>,
    /// The interval, as explained in [`interval`](crate::stats::interval); `None` if
    /// all strata have a single block.
    pub interval: Option<[f64; 2]>,
    /// Strata of a single block, which error and interval treat as exact.
    pub n_exact: u64,
    /// Blocks.
    pub n_blocks: usize,
}

/// The mean difference over `blocks`, which are those of one pairing, with its
/// interval at `level`, such as 0.95. `None` without blocks.
#[must_use]
pub fn mean_difference(blocks: &[BlockScore], level: f64) -> Option<MeanDifference> {
    if blocks.is_empty() {
        return None;
    }
    let weights = weights(blocks);
    let part = |(stratum, points): (&Stratum, Vec<f64>)| {
        Some(Part { weight: weights[stratum], ..Part::of(&points)? })
    };
    let parts: Vec<Part> = by_stratum(blocks).into_iter().filter_map(part).collect();
    Some(MeanDifference {
        mean: mean(&parts),
        standard_error: standard_error(&parts),
        interval: interval_at(&parts, DIFFERENCES, level),
        n_exact: n_exact(&parts),
        n_blocks: blocks.len(),
    })
}

/// The points of the blocks of each stratum.
pub(crate) fn by_stratum(blocks: &[BlockScore]) -> BTreeMap<&Stratum, Vec<f64>> {
    let mut strata: BTreeMap<&Stratum, Vec<f64>> = BTreeMap::new();
    for block in blocks {
        strata.entry(&block.stratum).or_default().push(block.difference.points());
    }
    strata
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::block::made_up;

    #[test]
    fn six_blocks() {
        let blocks = made_up([50, -50, 100, 0, 0, 10]);
        let found = mean_difference(&blocks, 0.95).unwrap();
        assert!((found.mean - 55.0 / 3.0).abs() < 1e-9);
        assert!((found.standard_error.unwrap() - 20.883_273_476_902_783).abs() < 1e-9);
        let [low, high] = found.interval.unwrap();
        assert!((low + 35.348_830).abs() < 1e-6 && (high - 72.015_497).abs() < 1e-6);
    }

    #[test]
    fn one_block_has_a_mean_only() {
        let found = mean_difference(&made_up([7]), 0.95).unwrap();
        assert_eq!((found.mean, found.standard_error, found.interval), (7.0, None, None));
        assert_eq!(mean_difference(&[], 0.95), None);
    }

    proptest! {
        #[test]
        fn swapping_the_players_negates_the_mean(points in proptest::collection::vec(-100i64..=100, 2..30)) {
            let found = mean_difference(&made_up(points.clone()), 0.95).unwrap();
            let negated = points.into_iter().map(|points| -points);
            let other = mean_difference(&made_up(negated), 0.95).unwrap();
            prop_assert!((found.mean + other.mean).abs() < 1e-9);
            let ([low, high], [other_low, other_high]) = (found.interval.unwrap(), other.interval.unwrap());
            prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
            prop_assert!(low <= high);
        }
    }
}
