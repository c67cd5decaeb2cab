//! Probabilities of ranks: whole blocks are resampled, and players are rated on each
//! resample.
//!
//! Works with any rating, since it only sees what comes out. A rank without the
//! probability of the others is not worth printing.
//!
//! What comes out of resamples alone is surer than it should be: from few blocks
//! they scatter too little, and who came out first by luck comes out first again.
//! So the errors of the resamples are scaled to this number of blocks, and true ratings are
//! drawn that may be lower than the observed ones, by `shrinkage`.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::stats::bootstrap::Bootstrap;
use crate::stats::shrinkage::Belief;

/// What the ratings of resamples say.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDistribution {
    /// By player, then rank from the best: the probability that the player has
    /// that rank. Players that are level share their ranks.
    pub probabilities: Vec<Vec<f64>>,
    /// Resamples that could be rated.
    pub n_resamples: usize,
    /// Resamples that could not.
    pub n_failed: usize,
}

impl RankDistribution {
    /// The mean rank of each player; 1 is the best.
    #[must_use]
    pub fn mean_ranks(&self) -> Vec<f64> {
        let mean = |p: &Vec<f64>| p.iter().enumerate().map(|(rank, p)| (rank + 1) as f64 * p).sum();
        self.probabilities.iter().map(mean).collect()
    }
}

/// Rates all blocks, then draws as many blocks from each stratum as it has, with
/// replacement, and rates what was drawn, `bootstrap.n_resamples` times. `rate` is
/// given the blocks with a number each, since a block may come several times and
/// is then several clusters; it returns a rating for each player, higher is
/// better, or `None` if it cannot tell. Strata of a single block are held at what it
/// gave. `None` if there are no others, or all blocks or every resample cannot be
/// rated.
///
/// Nothing is surer than `1 - 2^-n` after `n` blocks: equally strong players give
/// as one-sided a result with that probability (see
/// [`sign_flip`](crate::stats::sign_flip)); the rest is shared by all ranks.
///
/// # Panics
/// If `rate` returns ratings of different numbers of players.
pub fn rank_distribution<T>(
    strata: &[Vec<T>],
    bootstrap: &Bootstrap,
    mut rate: impl FnMut(&[(u64, &T)]) -> Option<Vec<f64>>,
) -> Option<RankDistribution> {
    // Drawing from single blocks gives them all again, as if nothing were unsure.
    if strata.iter().all(|blocks| blocks.len() < 2) {
        return None;
    }
    let finite = |rated: &Vec<f64>| rated.iter().all(|rating| rating.is_finite());
    let all: Vec<(u64, &T)> = (0..).zip(strata.iter().flatten()).collect();
    let estimate = rate(&all).filter(finite)?;
    let mut rng = bootstrap.rng();
    let mut errors: Vec<Vec<f64>> = vec![];
    let known = || strata.iter().filter(|blocks| blocks.len() > 1);
    let n: usize = known().map(Vec::len).sum();
    let widening = widening(known());
    let mut drawn = vec![];
    for _ in 0..bootstrap.n_resamples {
        draw(strata, &mut rng, &mut drawn);
        if let Some(rated) = rate(&drawn).filter(finite) {
            assert_eq!(rated.len(), estimate.len(), "a rating for each player");
            let pairs = rated.iter().zip(&estimate);
            errors.push(pairs.map(|(rating, estimate)| (rating - estimate) * widening).collect());
        }
    }
    if errors.is_empty() {
        return None;
    }
    let belief = Belief::of(&estimate, &errors, (n - known().count()) as f64);
    let n_players = estimate.len();
    let chance = 0.5f64.powi(n.min(1000) as i32);
    let mut probabilities = vec![vec![chance / n_players as f64; n_players]; n_players];
    for error in &errors {
        let weight = (1.0 - chance) / errors.len() as f64;
        add_ranks(&belief.draw(error, &mut rng), weight, &mut probabilities);
    }
    let n_failed = bootstrap.n_resamples - errors.len();
    Some(RankDistribution { probabilities, n_resamples: errors.len(), n_failed })
}

/// Draws as many blocks from each stratum as it has, with replacement.
fn draw<'a, T>(strata: &'a [Vec<T>], rng: &mut Pcg64Mcg, drawn: &mut Vec<(u64, &'a T)>) {
    drawn.clear();
    for blocks in strata {
        for _ in 0..blocks.len() {
            // 32 bits, since the generator's draws of a usize differ by platform.
            let block = rng.random_range(0..blocks.len() as u32) as usize;
            drawn.push((drawn.len() as u64, &blocks[block]));
        }
    }
}

/// By how much errors of resamples are too small: the variance of what is drawn
/// from `n` blocks is `(n - 1) / n` of theirs.
fn widening<'a, T: 'a>(strata: impl Iterator<Item = &'a Vec<T>> + Clone) -> f64 {
    let variance =
        |less: f64| strata.clone().map(|blocks| 1.0 / (blocks.len() as f64 - less)).sum();
    let (true_variance, drawn): (f64, f64) = (variance(1.0), variance(0.0));
    if drawn > 0.0 { (true_variance / drawn).sqrt() } else { 1.0 }
}

/// Adds `weight` to the rank of each player; those that are level share.
fn add_ranks(ratings: &[f64], weight: f64, probabilities: &mut [Vec<f64>]) {
    let mut order: Vec<usize> = (0..ratings.len()).collect();
    order.sort_by(|&a, &b| ratings[b].total_cmp(&ratings[a]));
    let mut rank = 0;
    for level in order.chunk_by(|&a, &b| ratings[a] == ratings[b]) {
        let share = weight / level.len() as f64;
        for &player in level {
            let places = &mut probabilities[player][rank..rank + level.len()];
            places.iter_mut().for_each(|place| *place += share);
        }
        rank += level.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::stats::bradley_terry::BradleyTerry;
    use crate::stats::by_match::{Scoring, blocks_by_stratum, comparisons, mean_rewards, payoffs};
    use crate::stats::nash::nash_average;
    use crate::stats::scored::ScoredMatch;

    fn bootstrap(n_resamples: usize) -> Bootstrap {
        Bootstrap { n_resamples, ..Bootstrap::default() }
    }

    fn means(blocks: &[(u64, &[f64; 3])]) -> Option<Vec<f64>> {
        let n = blocks.len() as f64;
        Some((0..3).map(|i| blocks.iter().map(|(_, block)| block[i]).sum::<f64>() / n).collect())
    }

    #[test]
    fn clear_differences_have_sure_ranks_and_level_players_share() {
        let strata = [vec![[9.0, 5.0, 5.0]; 4], vec![[8.0, 2.0, 2.0]; 2]];
        let found = rank_distribution(&strata, &bootstrap(50), means).unwrap();
        // Six blocks may all be luck.
        let (most, luck) = (63.0 / 64.0, 1.0 / 192.0);
        let close = |found: &[f64], expected: [f64; 3]| {
            assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{found:?}");
        };
        close(&found.probabilities[0], [most + luck, luck, luck]);
        close(&found.probabilities[1], [luck, most / 2.0 + luck, most / 2.0 + luck]);
        assert_eq!((found.n_resamples, found.n_failed), (50, 0));
        let many = [vec![[9.0, 5.0, 5.0]; 40]];
        let found = rank_distribution(&many, &bootstrap(50), means).unwrap();
        close(&found.mean_ranks(), [1.0, 2.5, 2.5]);
    }

    /// Of two blocks, one won by each side, neither shows who is better.
    #[test]
    fn two_contradicting_blocks_leave_it_open() {
        let strata = [vec![[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]];
        let found = rank_distribution(&strata, &bootstrap(4000), means).unwrap();
        assert!((found.probabilities[0][0] - found.probabilities[1][0]).abs() < 0.04, "{found:?}");
        assert_eq!(found, rank_distribution(&strata, &bootstrap(4000), means).unwrap());
    }

    #[test]
    fn single_blocks_say_nothing_alone() {
        let single = [vec![[1.0, 0.0, -1.0]], vec![[1.0, 0.0, -1.0]]];
        assert_eq!(rank_distribution(&single, &bootstrap(10), means), None);
        // Beside others one is treated as exact, and adds no certainty: five blocks
        // leave 2^-5.
        let mixed = [vec![[1.0, 0.0, -1.0]], vec![[1.0, 0.0, -1.0]; 5]];
        let found = rank_distribution(&mixed, &bootstrap(10), means).unwrap();
        let sure = 1.0 - 0.5f64.powi(5) * 2.0 / 3.0;
        assert!((found.probabilities[0][0] - sure).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn resamples_that_cannot_be_rated_are_counted() {
        let strata = [vec![[1.0, 0.0, 0.0]; 3]];
        let mut n = 0;
        let found = rank_distribution(&strata, &bootstrap(10), |_| {
            n += 1;
            (n % 2 == 1).then(|| vec![1.0, f64::from(n)])
        });
        let found = found.unwrap();
        assert_eq!((found.n_resamples, found.n_failed), (5, 5));
        assert_eq!(rank_distribution(&strata, &bootstrap(10), |_| None), None);
    }

    /// Each row and column of probabilities adds up to 1, for real ratings.
    #[test]
    fn ratings_of_matches_can_be_bootstrapped() {
        let matches: Vec<ScoredMatch> = sample::records().iter().map(ScoredMatch::from).collect();
        let players = ["alpha", "beta", "gamma"];
        let strata = blocks_by_stratum(&matches);
        assert_eq!(strata.len(), 2);
        let bradley_terry = |blocks: &[(u64, &Vec<&ScoredMatch>)]| {
            let mut games = vec![];
            for (cluster, block) in blocks {
                let found = comparisons(block.iter().copied(), &players, Scoring::Order);
                games.extend(found.into_iter().map(|mut c| {
                    c.cluster = *cluster;
                    c
                }));
            }
            let prior = BradleyTerry { prior_draws: 1.0, advantage: false };
            Some(prior.rate(3, &games).ok()?.elo)
        };
        let nash = |blocks: &[(u64, &Vec<&ScoredMatch>)]| {
            let matches = blocks.iter().flat_map(|(_, block)| block.iter().copied());
            Some(nash_average(&payoffs(matches, &players)).shares)
        };
        for found in [
            rank_distribution(&strata, &bootstrap(50), bradley_terry).unwrap(),
            rank_distribution(&strata, &bootstrap(50), nash).unwrap(),
        ] {
            for i in 0..3 {
                assert!((found.probabilities[i].iter().sum::<f64>() - 1.0).abs() < 1e-9);
                assert!((found.probabilities.iter().map(|p| p[i]).sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
        let means = mean_rewards(&matches, &players);
        assert_eq!((means.len(), means[0].len()), (2, 3));
    }
}
