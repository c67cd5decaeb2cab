//! Means with what they are made of, and how they are averaged over clocks and games.

use super::rows::Estimate;
use super::strata::Stratum;
use crate::stats::bootstrap::{Bootstrap, Clusters};
use crate::stats::interval::{Part, REWARDS, interval_at, n_exact};

/// A mean and the strata it is over, before it is summed up in an [`Estimate`].
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) mean: f64,
    /// Means of independent strata; their weights add up to 1.
    pub(super) parts: Vec<Part>,
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

pub(super) fn sample(strata: &[Stratum]) -> Vec<Sampled> {
    let of = |clusters: &Clusters, n_blocks: u64| {
        sample_of(clusters, n_blocks).expect("a stratum has matches")
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

/// The mean of some blocks of one column; `None` without matches.
pub(super) fn sample_of(clusters: &Clusters, n_blocks: u64) -> Option<Sample> {
    let part = clusters.mean()?;
    let n_matches = clusters.n_matches() as u64;
    Some(Sample { mean: part.mean, parts: vec![part], n_matches, n_blocks })
}

/// The mean of means, each weighing the same. Samples of different strata are
/// independent.
pub(super) fn average<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Sample> {
    let mut samples = samples.into_iter();
    let mut average = samples.next()?.clone();
    let mut n = 1.0;
    for sample in samples {
        n += 1.0;
        average.mean += sample.mean;
        average.n_matches += sample.n_matches;
        average.n_blocks += sample.n_blocks;
        average.parts.extend(&sample.parts);
    }
    average.mean /= n;
    average.parts.iter_mut().for_each(|part| part.weight /= n);
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
    /// Games and clocks of fewer than two blocks.
    pub(super) fn n_exact(&self) -> u64 {
        n_exact(&self.parts)
    }

    fn interval(&self, bootstrap: &Bootstrap) -> Option<[f64; 2]> {
        Some(interval_at(&self.parts, REWARDS, bootstrap.level)?.map(rounded))
    }
}

pub(super) fn estimate(sample: Option<&Sample>, bootstrap: &Bootstrap) -> Estimate {
    sample.map_or_else(Estimate::default, |sample| Estimate {
        mean: Some(rounded(sample.mean)),
        interval: sample.interval(bootstrap),
        n_exact: sample.n_exact(),
        n_matches: sample.n_matches,
        n_blocks: sample.n_blocks,
    })
}

/// Four decimals, without the minus of a zero.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}
