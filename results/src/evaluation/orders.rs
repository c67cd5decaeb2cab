//! Finishing orders in a compact form, from which players can be rated again
//! and again: how often each order came in each block.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::standings::scores::MAX_GROUPS;
use crate::stats::bootstrap::{Bootstrap, random_groups};
use crate::stats::plackett_luce::{Ranking, rankings};
use crate::stats::rank_bootstrap::{RankDistribution, rank_distribution};
use crate::stats::scored::{ScoredMatch, Stratum};

/// Maximum number of different orders that are rated anew for each resample.
const MAX_ORDERS: usize = 2000;

/// By number of an order: how often it came in a block, or in several that are
/// drawn as one.
type Counts = BTreeMap<usize, f64>;

/// The finishing orders of a run.
pub(super) struct Orders {
    /// Each different order once.
    orders: Vec<Vec<Vec<usize>>>,
    /// By stratum: what is drawn from.
    groups: Vec<Vec<Counts>>,
}

impl Orders {
    /// Takes in the matches that were scored, and how many each stands for.
    pub(super) fn of(matches: &[(ScoredMatch, u32)], players: &[Arc<str>]) -> Self {
        let names: Vec<&str> = players.iter().map(|name| &**name).collect();
        let mut numbers: BTreeMap<Vec<Vec<usize>>, usize> = BTreeMap::new();
        let mut strata: BTreeMap<&Stratum, BTreeMap<u64, Counts>> = BTreeMap::new();
        for (played, n) in matches {
            let blocks = strata.entry(&played.stratum).or_default();
            let counts = blocks.entry(played.block).or_default();
            for ranking in rankings([played], &names) {
                let next = numbers.len();
                let number = *numbers.entry(ranking.places).or_insert(next);
                *counts.entry(number).or_default() += f64::from(*n);
            }
        }
        let mut orders = vec![vec![]; numbers.len()];
        numbers.into_iter().for_each(|(order, number)| orders[number] = order);
        let blocks = strata.into_values().map(|blocks| blocks.into_values().collect());
        Self { orders, groups: blocks.map(merged).collect() }
    }

    /// All orders, weighted by how often they came; those of a block or group are
    /// one cluster.
    pub(super) fn rankings(&self) -> Vec<Ranking> {
        let groups = self.groups.iter().flatten().zip(0..);
        groups.flat_map(|(counts, cluster)| self.weighted(counts, cluster)).collect()
    }

    fn weighted(&self, counts: &Counts, cluster: u64) -> Vec<Ranking> {
        let ranking = |(&order, &weight): (&usize, &f64)| Ranking {
            places: self.orders[order].clone(),
            weight,
            cluster,
        };
        counts.iter().map(ranking).collect()
    }

    /// Ranks on resamples of blocks. `None` if all games have a single block, or there
    /// are more than [`MAX_ORDERS`].
    pub(super) fn drawn(
        &self,
        bootstrap: &Bootstrap,
        rate: impl Fn(&[Ranking]) -> Option<Vec<f64>>,
    ) -> Option<RankDistribution> {
        if self.orders.len() > MAX_ORDERS {
            return None;
        }
        rank_distribution(&self.groups, bootstrap, |drawn: &[(u64, &Counts)]| {
            let mut sums = Counts::new();
            for (_, counts) in drawn {
                add(&mut sums, counts);
            }
            rate(&self.weighted(&sums, 0))
        })
    }
}

fn add(sums: &mut Counts, counts: &Counts) {
    counts.iter().for_each(|(&order, n)| *sums.entry(order).or_default() += n);
}

/// At most [`MAX_GROUPS`] groups of the blocks of a stratum.
fn merged(blocks: Vec<Counts>) -> Vec<Counts> {
    if blocks.len() <= MAX_GROUPS {
        return blocks;
    }
    let places = random_groups(blocks.len(), MAX_GROUPS, &mut Bootstrap::default().rng());
    let mut groups = vec![Counts::new(); MAX_GROUPS];
    for (place, block) in places.into_iter().zip(&blocks) {
        add(&mut groups[place], block);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::stats::plackett_luce::plackett_luce;

    #[test]
    fn counts_say_the_same_as_matches() {
        let matches: Vec<ScoredMatch> = sample::records().iter().map(ScoredMatch::from).collect();
        let names = ["alpha", "beta", "gamma"];
        let once: Vec<_> = matches.iter().map(|played| (played.clone(), 1)).collect();
        let orders = Orders::of(&once, &names.map(Arc::from));
        let expected = plackett_luce(3, &rankings(&matches, &names), 1.0).unwrap();
        let found = plackett_luce(3, &orders.rankings(), 1.0).unwrap();
        for player in 0..3 {
            assert!((found.elo[player] - expected.elo[player]).abs() < 1e-6);
            assert!((found.errors[player] - expected.errors[player]).abs() < 1e-6);
        }
        let rate = |rankings: &[Ranking]| Some(plackett_luce(3, rankings, 1.0).ok()?.elo);
        let ranks = orders.drawn(&Bootstrap { n_resamples: 50, ..Bootstrap::default() }, rate);
        for shares in ranks.unwrap().probabilities {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
