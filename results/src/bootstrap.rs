//! How sure a mean is: the percentile bootstrap over blocks.
//!
//! Matches of one block share an opening, a seed and opponents, so that they
//! are no independent evidence; blocks are. Whole blocks are drawn with
//! replacement, separately in each stratum (a game under a clock), and the mean
//! is computed anew: the cluster bootstrap of Cameron, Gelbach & Miller,
//! "Bootstrap-based improvements for inference with clustered errors" (2008);
//! percentile intervals: Efron & Tibshirani, "An introduction to the bootstrap"
//! (1993), chapter 13. With few blocks these intervals are too narrow, as all
//! percentile intervals are; from one block there is none.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Most clusters that are drawn from. More blocks are first merged at random
/// into that many groups, which are independent as well; the standard error from
/// 500 groups is itself known to 3 % (1 / sqrt(2 * 500)). Groups of consecutive
/// blocks would not do: the schedule balances opponents within a lap, so that
/// they would differ less than blocks do.
pub(crate) const MAX_CLUSTERS: usize = 500;
/// Draws after which a mean counts as undefined because some resample has no
/// match to take it of.
const MAX_REDRAWS: u32 = 100;

/// How intervals are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub n_resamples: usize,
    /// Share of resamples within the interval.
    pub level: f64,
    /// Seed of the resamples.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { n_resamples: 2000, level: 0.95, seed: 0 }
    }
}

impl Bootstrap {
    pub(crate) fn rng(&self) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(self.seed)
    }
}

/// By block, the group it falls into when `n_blocks` are merged at random into so
/// many groups of nearly equal size. Groups of blocks are as independent as
/// blocks.
pub(crate) fn random_groups(n_blocks: usize, n_groups: usize, rng: &mut Pcg64Mcg) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_blocks).collect();
    order.shuffle(rng);
    order.into_iter().map(|place| place % n_groups).collect()
}

/// Rewards and numbers of matches of the blocks of a stratum, one row a block.
/// Each row has the same columns, such as roles or players.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters {
    n_columns: usize,
    /// Rewards and their number, by block, then column.
    cells: Vec<Total>,
}

/// A sum of rewards, and of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Total {
    pub(crate) sum: f64,
    pub(crate) n: f64,
}

impl Total {
    pub(crate) fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.n += other.n;
    }

    pub(crate) fn mean(self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }
}

impl Clusters {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { n_columns, cells: vec![] }
    }

    /// Adds a block without matches, to be filled.
    pub(crate) fn push(&mut self) -> &mut [Total] {
        let start = self.cells.len();
        self.cells.resize(start + self.n_columns, Total::default());
        &mut self.cells[start..]
    }

    pub(crate) fn n_blocks(&self) -> usize {
        self.cells.len() / self.n_columns
    }

    /// The sums over all blocks, by column.
    pub(crate) fn totals(&self) -> Vec<Total> {
        let mut totals = vec![Total::default(); self.n_columns];
        for block in self.cells.chunks_exact(self.n_columns) {
            add(&mut totals, block);
        }
        totals
    }

    /// Merges blocks at random so that there are at most [`MAX_CLUSTERS`].
    fn merged(&self, rng: &mut Pcg64Mcg) -> Self {
        let n_blocks = self.n_blocks();
        if n_blocks <= MAX_CLUSTERS {
            return self.clone();
        }
        let mut merged = Self::new(self.n_columns);
        merged.cells.resize(MAX_CLUSTERS * self.n_columns, Total::default());
        let groups = random_groups(n_blocks, MAX_CLUSTERS, rng);
        for (group, block) in groups.into_iter().zip(self.cells.chunks_exact(self.n_columns)) {
            let start = group * self.n_columns;
            add(&mut merged.cells[start..start + self.n_columns], block);
        }
        merged
    }

    /// Draws the blocks anew and calls `statistic` with the sums, once for each
    /// resample. Where `statistic` returns false because a mean has no matches
    /// in it, blocks are drawn again. False if that was of no avail, or if there
    /// are fewer than two blocks.
    pub(crate) fn resample(
        &self,
        bootstrap: &Bootstrap,
        rng: &mut Pcg64Mcg,
        mut statistic: impl FnMut(&[Total]) -> bool,
    ) -> bool {
        if self.n_blocks() < 2 {
            return false;
        }
        let merged = self.merged(rng);
        let n_clusters = u32::try_from(merged.n_blocks()).expect("at most MAX_CLUSTERS");
        let mut totals = vec![Total::default(); self.n_columns];
        (0..bootstrap.n_resamples).all(|_| {
            (0..MAX_REDRAWS).any(|_| {
                totals.fill(Total::default());
                for _ in 0..n_clusters {
                    let start = rng.random_range(0..n_clusters) as usize * self.n_columns;
                    add(&mut totals, &merged.cells[start..start + self.n_columns]);
                }
                statistic(&totals)
            })
        })
    }
}

fn add(totals: &mut [Total], block: &[Total]) {
    for (total, cell) in totals.iter_mut().zip(block) {
        total.add(*cell);
    }
}

/// The middle `level` of `values`, between neighbours by linear interpolation.
/// `None` if there are no values.
pub(crate) fn percentile_interval(values: &[f64], level: f64) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let quantile = |q: f64| {
        let position = q * last as f64;
        let below = sorted[position.floor() as usize];
        let above = sorted[position.ceil() as usize];
        below + (above - below) * position.fract()
    };
    let tail = (1.0 - level) / 2.0;
    Some([quantile(tail), quantile(1.0 - tail)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of six blocks, an example whose bootstrap is known exactly.
    const DIFFERENCES: [f64; 6] = [50.0, -50.0, 100.0, 0.0, 0.0, 10.0];

    fn clusters(values: &[f64]) -> Clusters {
        let mut clusters = Clusters::new(1);
        for &sum in values {
            clusters.push()[0] = Total { sum, n: 1.0 };
        }
        clusters
    }

    fn interval(values: &[f64], bootstrap: &Bootstrap) -> Option<[f64; 2]> {
        let mut means = vec![];
        clusters(values)
            .resample(bootstrap, &mut bootstrap.rng(), |totals| {
                means.extend(totals[0].mean());
                true
            })
            .then(|| percentile_interval(&means, bootstrap.level))?
    }

    #[test]
    fn the_full_bootstrap_of_six_blocks() {
        let mut means = vec![];
        for mut code in 0..6usize.pow(6) {
            let mut sum = 0.0;
            for _ in 0..6 {
                sum += DIFFERENCES[code % 6];
                code /= 6;
            }
            means.push(sum / 6.0);
        }
        let [low, high] = percentile_interval(&means, 0.95).unwrap();
        assert!((low + 50.0 / 3.0).abs() < 1e-9, "{low}");
        assert!((high - 175.0 / 3.0).abs() < 1e-9, "{high}");
    }

    #[test]
    fn resamples_approach_the_full_bootstrap() {
        let [low, high] = interval(&DIFFERENCES, &Bootstrap::default()).unwrap();
        assert!((low + 16.667).abs() < 2.0, "{low}");
        assert!((high - 58.333).abs() < 2.0, "{high}");
    }

    #[test]
    fn resamples_are_reproducible() {
        let default = Bootstrap::default();
        let other = Bootstrap { seed: 1, n_resamples: 50, ..default };
        assert_eq!(interval(&DIFFERENCES, &default), interval(&DIFFERENCES, &default));
        assert_ne!(interval(&DIFFERENCES, &default), interval(&DIFFERENCES, &other));
    }

    #[test]
    fn one_block_is_no_evidence() {
        assert_eq!(interval(&[50.0], &Bootstrap::default()), None);
        assert_eq!(interval(&[50.0, 50.0], &Bootstrap::default()), Some([50.0, 50.0]));
    }

    #[test]
    fn merging_blocks_keeps_sums_and_the_width_of_the_interval() {
        let clusters = clusters(&DIFFERENCES.repeat(1000));
        let merged = clusters.merged(&mut Bootstrap::default().rng());
        assert_eq!(merged.n_blocks(), MAX_CLUSTERS);
        assert_eq!(merged.totals(), clusters.totals());
        let [low, high] = interval(&DIFFERENCES.repeat(1000), &Bootstrap::default()).unwrap();
        // The standard deviation is 46.70, so that the width is 2 * 1.96 * 46.70 / sqrt(6000).
        assert!((high - low - 2.36).abs() < 0.25, "{low} {high}");
    }

    #[test]
    fn intervals_cover_the_mean_as_often_as_they_say() {
        let bootstrap = Bootstrap { n_resamples: 400, ..Bootstrap::default() };
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let covered = (0..300)
            .filter(|_| {
                let values: Vec<f64> =
                    (0..40).map(|_| f64::from(rng.random_range(0..3u32)) * 50.0).collect();
                let [low, high] = interval(&values, &bootstrap).unwrap();
                (low..=high).contains(&50.0)
            })
            .count();
        // 95 % of 300 is 285; three standard deviations are 11.
        assert!((270..=298).contains(&covered), "{covered}");
    }
}
