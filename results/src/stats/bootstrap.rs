//! How sure a mean or a rank is: blocks are the evidence.
//!
//! Matches of one block share an opening, a seed and opponents, so that they
//! are no independent evidence; blocks are. The interval of a mean is computed
//! from the deviation between blocks within each stratum (a game under a clock), by
//! [`interval`](crate::stats::interval). Ranks are found by drawing whole blocks
//! anew, separately in each stratum, by
//! [`rank_bootstrap`](crate::stats::rank_bootstrap).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use crate::stats::interval::Part;

/// Maximum number of clusters that are kept of a stratum. More blocks are first merged at random
/// into that many groups, which are independent as well; the standard error from
/// 500 groups is itself known to 3 % (1 / sqrt(2 * 500)). Groups of consecutive
/// blocks would not do: the schedule balances opponents within a lap, so that
/// they would differ less than blocks do.
pub(crate) const MAX_CLUSTERS: usize = 500;

/// How intervals and rank probabilities are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples from which rank probabilities are.
    pub n_resamples: usize,
    /// Probability that an interval covers the truth.
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

    fn blocks(&self) -> impl Iterator<Item = &[Total]> {
        self.cells.chunks_exact(self.n_columns)
    }

    /// The sum over all blocks of a column.
    pub(crate) fn total(&self, column: usize) -> Total {
        let mut total = Total::default();
        self.blocks().for_each(|block| total.add(block[column]));
        total
    }

    /// Matches of the first column.
    pub(crate) fn n_matches(&self) -> f64 {
        self.total(0).n
    }

    /// Blocks with matches in a column.
    pub(crate) fn n_blocks(&self, column: usize) -> usize {
        self.blocks().filter(|block| block[column].n > 0.0).count()
    }

    /// The mean of the first column, with a weight of 1; `None` without matches.
    pub(crate) fn mean(&self) -> Option<Part> {
        let total = self.total(0);
        let mean = total.mean()?;
        let deviations = self.blocks().map(|block| (block[0].sum - mean * block[0].n) / total.n);
        Some(part(mean, deviations, self.n_blocks(0)))
    }

    /// The mean of the first column less that of the second, with a weight of 1;
    /// `None` if one of them has no matches. What blocks of both share cancels.
    pub(crate) fn difference(&self) -> Option<Part> {
        let totals = [self.total(0), self.total(1)];
        let means = [totals[0].mean()?, totals[1].mean()?];
        let deviations = self.blocks().map(|block| {
            let [first, second] = [0, 1].map(|column| {
                (block[column].sum - means[column] * block[column].n) / totals[column].n
            });
            first - second
        });
        // The mean with fewer blocks is the one that is less sure.
        let n = self.n_blocks(0).min(self.n_blocks(1));
        Some(part(means[0] - means[1], deviations, n))
    }
}

/// A mean, its variance from the part that each block has in its deviation: a
/// mean over matches is a ratio of sums over blocks, linearised (W. Cochran,
/// "Sampling techniques", 1977, section 6.4).
fn part(mean: f64, deviations: impl Iterator<Item = f64>, n: usize) -> Part {
    let squares: f64 = deviations.map(|deviation| deviation * deviation).sum();
    let variance = squares * n as f64 / (n as f64 - 1.0);
    Part { weight: 1.0, mean, variance, n }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::stats::interval::interval_at;

    const POINTS: [f64; 2] = [-100.0, 100.0];

    fn clusters(values: &[f64]) -> Clusters {
        let mut clusters = Clusters::new(1);
        for &sum in values {
            clusters.push()[0] = Total { sum, n: 1.0 };
        }
        clusters
    }

    fn interval(values: &[f64]) -> Option<[f64; 2]> {
        interval_at(&[clusters(values).mean()?], POINTS, 0.95)
    }

    #[test]
    fn blocks_of_one_match_each_have_students_interval() {
        let [low, high] = interval(&[50.0, -50.0, 100.0, 0.0, 0.0, 10.0]).unwrap();
        assert!((low + 35.348_830_135_018_59).abs() < 1e-9, "{low}");
        assert!((high - 72.015_496_801_685_25).abs() < 1e-9, "{high}");
        assert_eq!(interval(&[50.0]), None);
        assert_eq!(interval(&[]), None);
    }

    /// Twice the matches of a block weigh twice, and are no more evidence.
    #[test]
    fn a_mean_over_matches_is_a_ratio() {
        let mut clusters = Clusters::new(1);
        for (sum, n) in [(100.0, 1.0), (100.0, 2.0), (90.0, 3.0)] {
            clusters.push()[0] = Total { sum, n };
        }
        let found = clusters.mean().unwrap();
        let mean = 290.0 / 6.0;
        let squares: f64 = [(100.0, 1.0), (100.0, 2.0), (90.0, 3.0)]
            .map(|(sum, n): (f64, f64)| ((sum - mean * n) / 6.0).powi(2))
            .iter()
            .sum();
        assert!((found.mean - mean).abs() < 1e-12 && found.n == 3);
        assert!((found.variance - squares * 1.5).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_two_players_share_cancels_in_their_difference() {
        let mut clusters = Clusters::new(2);
        for (first, second) in [(90.0, 80.0), (50.0, 40.0), (20.0, 10.0)] {
            let block = clusters.push();
            block[0] = Total { sum: first, n: 1.0 };
            block[1] = Total { sum: second, n: 1.0 };
        }
        let found = clusters.difference().unwrap();
        assert!((found.mean - 10.0).abs() < 1e-12 && found.variance < 1e-12 && found.n == 3);
        assert_eq!(Clusters::new(2).difference(), None);
    }

    #[test]
    fn intervals_cover_the_mean_as_often_as_they_say() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        for n_blocks in [2, 3, 5, 10, 40] {
            let covered = (0..1000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n_blocks)
                        .map(|_| f64::from(rng.random_range(-2..=2i32)) * 50.0)
                        .collect();
                    let [low, high] = interval(&values).unwrap();
                    (low..=high).contains(&0.0)
                })
                .count();
            // 95 % of 1000 are 950; three standard deviations are 21. With few blocks
            // of few outcomes they cover more.
            assert!((925..=1000).contains(&covered), "{n_blocks}: {covered}");
        }
    }
}
