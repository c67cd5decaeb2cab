//! The mean difference of two players, with the cluster bootstrap over blocks.

use std::collections::BTreeMap;

use crate::bootstrap::{Bootstrap, Clusters, Total, percentile_interval};
use crate::stats::block::BlockScore;
use crate::stats::laps::weights;
use crate::stats::scored::Stratum;

/// A mean difference and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanDifference {
    /// Points: games weigh the same, clocks the same within a game, blocks the
    /// same within both.
    pub mean: f64,
    /// Standard error, from the variance of blocks within each stratum; `None`
    /// if some stratum has a single block.
    pub standard_error: Option<f64>,
    /// Percentile interval of the stratified cluster bootstrap, as explained in
    /// [`bootstrap`](crate::bootstrap); `None` if some stratum has a single
    /// block.
    pub interval: Option<[f64; 2]>,
    /// Blocks.
    pub n_blocks: usize,
}

/// The mean difference over `blocks`, which are those of one pairing. `None`
/// without blocks.
#[must_use]
pub fn mean_difference(blocks: &[BlockScore], bootstrap: &Bootstrap) -> Option<MeanDifference> {
    if blocks.is_empty() {
        return None;
    }
    let weights = weights(blocks);
    let strata = by_stratum(blocks);
    let mut rng = bootstrap.rng();
    let mut mean = 0.0;
    let mut variance = Some(0.0);
    let mut means = Some(vec![0.0; bootstrap.n_resamples]);
    for (stratum, points) in &strata {
        let weight = weights[*stratum];
        mean += weight * points.iter().sum::<f64>() / points.len() as f64;
        variance = variance.zip(variance_of_mean(points)).map(|(sum, v)| sum + weight * weight * v);
        let resampled = resampled_means(points, bootstrap, &mut rng);
        means = means.zip(resampled).map(|(mut means, resampled)| {
            means.iter_mut().zip(resampled).for_each(|(sum, mean)| *sum += weight * mean);
            means
        });
    }
    Some(MeanDifference {
        mean,
        standard_error: variance.map(f64::sqrt),
        interval: means.and_then(|means| percentile_interval(&means, bootstrap.level)),
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

fn variance_of_mean(points: &[f64]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = points.iter().sum::<f64>() / n;
    let squares: f64 = points.iter().map(|value| (value - mean).powi(2)).sum();
    (points.len() > 1).then(|| squares / (n - 1.0) / n)
}

fn resampled_means(
    points: &[f64],
    bootstrap: &Bootstrap,
    rng: &mut rand_pcg::Pcg64Mcg,
) -> Option<Vec<f64>> {
    let mut clusters = Clusters::new(1);
    for &sum in points {
        clusters.push()[0] = Total { sum, n: 1.0 };
    }
    let mut means = Vec::with_capacity(bootstrap.n_resamples);
    let enough = clusters.resample(bootstrap, rng, |totals| {
        means.extend(totals[0].mean());
        true
    });
    enough.then_some(means)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::block::made_up;

    #[test]
    fn six_blocks() {
        let blocks = made_up([50, -50, 100, 0, 0, 10]);
        let found = mean_difference(&blocks, &Bootstrap::default()).unwrap();
        assert!((found.mean - 55.0 / 3.0).abs() < 1e-9);
        assert!((found.standard_error.unwrap() - 20.883_273_476_902_783).abs() < 1e-9);
        let [low, high] = found.interval.unwrap();
        assert!((low + 16.667).abs() < 2.0 && (high - 58.333).abs() < 2.0, "{low} {high}");
    }

    #[test]
    fn one_block_has_a_mean_only() {
        let found = mean_difference(&made_up([7]), &Bootstrap::default()).unwrap();
        assert_eq!((found.mean, found.standard_error, found.interval), (7.0, None, None));
        assert_eq!(mean_difference(&[], &Bootstrap::default()), None);
    }

    proptest! {
        #[test]
        fn swapping_the_players_negates_the_mean(points in proptest::collection::vec(-100i64..=100, 2..30)) {
            let bootstrap = Bootstrap { n_resamples: 100, ..Bootstrap::default() };
            let found = mean_difference(&made_up(points.clone()), &bootstrap).unwrap();
            let negated = points.into_iter().map(|points| -points);
            let other = mean_difference(&made_up(negated), &bootstrap).unwrap();
            prop_assert!((found.mean + other.mean).abs() < 1e-9);
            let ([low, high], [other_low, other_high]) = (found.interval.unwrap(), other.interval.unwrap());
            prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
            prop_assert!(low <= high);
        }
    }
}
