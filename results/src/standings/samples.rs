//! Means with their resamples, and how they are averaged over clocks and games.

use rand_pcg::Pcg64Mcg;

use super::rows::Estimate;
use super::strata::Stratum;
use crate::bootstrap::{Bootstrap, Clusters, percentile_interval};

/// A mean and its resamples, before it is summed up in an [`Estimate`].
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) mean: f64,
    /// `None` if the mean's uncertainty is unknown: it has a single block, or some
    /// resamples have no mean.
    pub(super) resamples: Option<Vec<f64>>,
    /// Of the games and clocks that it is over, those whose uncertainty is unknown.
    pub(super) n_fixed: u64,
    pub(super) n_matches: u64,
    pub(super) n_blocks: u64,
}

/// A [`Stratum`]'s samples.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    pub(super) game: u32,
    pub(super) clock: u32,
    pub(super) overall: Sample,
    /// By role, of those the player had.
    pub(super) roles: Vec<(u32, Sample)>,
}

pub(super) fn sample(strata: &[Stratum], bootstrap: &Bootstrap) -> Vec<Sampled> {
    let mut rng = bootstrap.rng();
    let mut of =
        |clusters: &Clusters, n_blocks: u64| sample_of(clusters, n_blocks, bootstrap, &mut rng);
    let sampled = strata.iter().map(|stratum| Sampled {
        game: stratum.game,
        clock: stratum.clock,
        overall: of(&stratum.clusters(|_| true), stratum.n_blocks),
        roles: (stratum.n_blocks_by_role.iter())
            .map(|&(role, n)| (role, of(&stratum.clusters(|cell| cell.role == role), n)))
            .collect(),
    });
    sampled.collect()
}

/// The mean of some blocks of one column, of which there is at least one.
pub(super) fn sample_of(
    clusters: &Clusters,
    n_blocks: u64,
    bootstrap: &Bootstrap,
    rng: &mut Pcg64Mcg,
) -> Sample {
    let total = clusters.totals()[0];
    let mut means = Vec::with_capacity(bootstrap.n_resamples);
    let defined = clusters.resample(bootstrap, rng, |totals| {
        means.extend(totals[0].mean());
        true
    });
    Sample {
        mean: total.mean().expect("a stratum has matches"),
        resamples: defined.then_some(means),
        n_fixed: u64::from(!defined),
        n_matches: total.n as u64,
        n_blocks,
    }
}

/// The mean of means, each weighing the same. Samples of different strata are
/// independent, so that their resamples may be combined one by one; what has none is
/// held at its mean. There are none if nothing has any.
pub(super) fn average<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Sample> {
    let samples: Vec<&Sample> = samples.into_iter().collect();
    let n = samples.len() as f64;
    let fixed = samples.iter().filter(|sample| sample.resamples.is_none());
    let fixed: f64 = fixed.map(|sample| sample.mean).sum();
    let mut sums: Option<Vec<f64>> = None;
    for resamples in samples.iter().filter_map(|sample| sample.resamples.as_ref()) {
        let sums = sums.get_or_insert_with(|| vec![fixed; resamples.len()]);
        sums.iter_mut().zip(resamples).for_each(|(sum, value)| *sum += value);
    }
    sums.iter_mut().flatten().for_each(|sum| *sum /= n);
    (!samples.is_empty()).then(|| Sample {
        mean: samples.iter().map(|sample| sample.mean).sum::<f64>() / n,
        resamples: sums,
        n_fixed: samples.iter().map(|sample| sample.n_fixed).sum(),
        n_matches: samples.iter().map(|sample| sample.n_matches).sum(),
        n_blocks: samples.iter().map(|sample| sample.n_blocks).sum(),
    })
}

/// The mean over games of the means over clocks.
pub(super) fn average_over_games(sampled: &[&Sampled]) -> Option<Sample> {
    let games: Vec<Sample> = sampled
        .chunk_by(|a, b| a.game == b.game)
        .filter_map(|strata| average(strata.iter().map(|stratum| &stratum.overall)))
        .collect();
    average(&games)
}

impl Sample {
    pub(super) fn interval(&self, bootstrap: &Bootstrap) -> Option<[f64; 2]> {
        let interval = percentile_interval(self.resamples.as_ref()?, bootstrap.level)?;
        Some(interval.map(rounded))
    }
}

pub(super) fn estimate(sample: Option<&Sample>, bootstrap: &Bootstrap) -> Estimate {
    sample.map_or_else(Estimate::default, |sample| Estimate {
        mean: Some(rounded(sample.mean)),
        interval: sample.interval(bootstrap),
        n_fixed: sample.n_fixed,
        n_matches: sample.n_matches,
        n_blocks: sample.n_blocks,
    })
}

/// Four decimals, without the minus of a zero.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}
