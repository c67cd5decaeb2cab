//! Means with their resamples, and how they are averaged over clocks and games.

use super::rows::Estimate;
use super::strata::Stratum;
use crate::bootstrap::{Bootstrap, Clusters, percentile_interval};

/// A mean and its resamples, before it is summed up in an [`Estimate`].
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) mean: f64,
    /// `None` if the mean's uncertainty is unknown.
    pub(super) resamples: Option<Vec<f64>>,
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
    let mut of = |clusters: &Clusters, n_blocks: u64| {
        let total = clusters.totals()[0];
        let mut means = Vec::with_capacity(bootstrap.n_resamples);
        let defined = clusters.resample(bootstrap, &mut rng, |totals| {
            means.extend(totals[0].mean());
            true
        });
        Sample {
            mean: total.mean().expect("a stratum has matches"),
            resamples: defined.then_some(means),
            n_matches: total.n as u64,
            n_blocks,
        }
    };
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

/// The mean of means, each weighing the same. Samples of different strata are
/// independent, so that their resamples may be combined one by one.
pub(super) fn average<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Sample> {
    let mut samples = samples.into_iter();
    let mut average = samples.next()?.clone();
    let mut n = 1.0;
    for sample in samples {
        n += 1.0;
        average.mean += sample.mean;
        average.n_matches += sample.n_matches;
        average.n_blocks += sample.n_blocks;
        average.resamples =
            average.resamples.zip(sample.resamples.as_ref()).map(|(mut sums, b)| {
                sums.iter_mut().zip(b).for_each(|(sum, value)| *sum += value);
                sums
            });
    }
    average.mean /= n;
    average.resamples.iter_mut().flatten().for_each(|value| *value /= n);
    Some(average)
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
        n_matches: sample.n_matches,
        n_blocks: sample.n_blocks,
    })
}

/// Four decimals, without the minus of a zero.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}
