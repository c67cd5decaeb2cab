//! What is known of a mean difference after a sequential test of it that may
//! have stopped early, and what such a test finds out.
//!
//! The log-likelihood ratio is taken for a Brownian motion that is first looked
//! at after some blocks, and from then on at any time until it leaves the bounds
//! or the blocks are used up. Outcomes are ordered by where and when it leaves:
//! below, and the earlier the worse; then those still inside at the end; then
//! above. The estimate is the mean difference at which an outcome at least as
//! good as that observed has a probability of one half (*median unbiased*), and
//! the ends of the interval those at which it has that of the tails: D. Siegmund,
//! "Sequential analysis" (1985), chapters III and IV. The plain mean of a test
//! that stopped is too extreme, and its interval misses too often.

use serde::{Deserialize, Serialize};

use crate::stats::brownian::Brownian;
use crate::stats::gsprt::ErrorRates;
use crate::stats::normal::{normal_cdf, t_quantile};

/// A test of "worse by the margin" against "equal", as it is carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginTest {
    /// How much worse is too much, points.
    pub margin: f64,
    /// How often it may accept "equal" (alpha) or "worse" (beta) wrongly.
    pub errors: ErrorRates,
    /// Blocks at which it may decide first.
    pub first_look: u64,
    /// Level of the interval that decides when the blocks are used up.
    pub level: f64,
}

/// What was seen when no more was played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Blocks.
    pub n_blocks: u64,
    /// Mean difference, points.
    pub mean: f64,
    /// Standard deviation of a block, points; above 0.
    pub sd: f64,
    /// Whether the test decided, and for which side: worse, or equal.
    pub decided: Option<Side>,
}

/// The side for which a test decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Worse by the margin.
    Worse,
    /// Equal.
    Equal,
}

/// A mean difference, allowing for when a sequential test of it stopped; points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median unbiased.
    pub points: f64,
    /// The interval at the level asked for.
    pub interval: [f64; 2],
}

/// Steps of the integral over where the motion is at the first look.
const N_STEPS: u32 = 24;
/// Standard deviations on either side of the mean that the integral covers.
const REACH: f64 = 6.0;

impl MarginTest {
    /// The mean difference behind what was `seen`, at a `level` such as 0.95.
    /// `None` for fewer than two blocks or blocks that do not differ.
    #[must_use]
    pub fn estimate(&self, seen: &Seen, level: f64) -> Option<Estimate> {
        if seen.n_blocks < 2 || !(seen.sd > 0.0 && seen.sd.is_finite() && seen.mean.is_finite()) {
            return None;
        }
        let (time, height) = self.place(seen);
        let worse = |mean: f64| self.left_of(mean, seen.sd, time, height);
        // A quantile of Student's in place of the normal one: the spread is
        // estimated.
        let tail = 1.0 - normal_cdf(t_quantile((1.0 + level) / 2.0, (seen.n_blocks - 1) as f64));
        let at = |p: f64| falling_root(|mean| worse(mean) - p);
        Some(Estimate { points: at(0.5), interval: [at(1.0 - tail), at(tail)] })
    }

    /// The probability that the head is found to be worse within `n_blocks` if its
    /// mean difference is `mean` and blocks differ by `sd`.
    #[must_use]
    pub fn power(&self, mean: f64, sd: f64, n_blocks: u64) -> f64 {
        let [low, _] = self.errors.bounds();
        let n = n_blocks.max(2) as f64;
        // The interval at the end is below 0, and not above minus the margin.
        let half = t_quantile((1.0 + self.level) / 2.0, n - 1.0) * sd / n.sqrt();
        let highest = (-half).min(half - self.margin);
        let height = (n * self.drift(highest, sd).0).max(low);
        self.left_of(mean, sd, n, height)
    }

    /// How much worse a head must be for it to be found so within `n_blocks` with
    /// a probability of `power`, points; `None` if 100 points do not suffice.
    #[must_use]
    pub fn detectable(&self, sd: f64, n_blocks: u64, power: f64) -> Option<f64> {
        let misses = |mean: f64| self.power(mean, sd, n_blocks) - power;
        (misses(-100.0) >= 0.0).then(|| -falling_root(misses))
    }

    /// When and at which height the motion ended.
    fn place(&self, seen: &Seen) -> (f64, f64) {
        let n = seen.n_blocks as f64;
        let [low, high] = self.errors.bounds();
        let (slope, _) = self.drift(seen.mean, seen.sd);
        let height = n * slope;
        let bound = match seen.decided {
            None => return (n, height.clamp(low, high)),
            // Nobody looked before: how far it went beyond the bound is known.
            Some(Side::Worse) if seen.n_blocks <= self.first_look => return (n, height.min(low)),
            Some(Side::Equal) if seen.n_blocks <= self.first_look => return (n, height.max(high)),
            Some(Side::Worse) => low,
            Some(Side::Equal) => high,
        };
        // The last blocks overshot the bound; the motion met it before.
        let met = bound / slope;
        let first = self.first_look as f64;
        (if met > 0.0 && met < n { met.max(first.next_up()) } else { n }, bound)
    }

    /// Drift and variance of the log-likelihood ratio for each block.
    fn drift(&self, mean: f64, sd: f64) -> (f64, f64) {
        let variance = sd * sd;
        let margin = self.margin;
        ((mean + margin / 2.0) * margin / variance, margin * margin / variance)
    }

    /// The probability of a worse outcome than that of ending after `time` blocks at
    /// a `height`.
    fn left_of(&self, mean: f64, sd: f64, time: f64, height: f64) -> f64 {
        let (drift, variance) = self.drift(mean, sd);
        let [low, high] = self.errors.bounds();
        let first = (self.first_look as f64).min(time);
        let (centre, spread) = (first * drift, (first * variance).sqrt());
        let at_first = |height: f64| normal_cdf((height - centre) / spread);
        if time <= self.first_look as f64 {
            return at_first(height);
        }
        let from = low.max(centre - REACH * spread);
        let to = high.min(centre + REACH * spread);
        let step = (to - from) / f64::from(N_STEPS);
        let inside = |index: u32| {
            let start = from + (f64::from(index) + 0.5) * step;
            let motion = Brownian { bounds: [low - start, high - start], drift, variance };
            let weight = at_first(start + step / 2.0) - at_first(start - step / 2.0);
            weight * motion.left_of(time - first, height - start)
        };
        let inside: f64 = if step > 0.0 { (0..N_STEPS).map(inside).sum() } else { 0.0 };
        (at_first(low) + inside).clamp(0.0, 1.0)
    }
}

/// Where a function of points from -100 to 100 that falls is zero; the nearer end
/// if it is nowhere.
fn falling_root(function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if function(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::stats::block::Difference;
    use crate::stats::laps::t_interval;
    use crate::stats::operating::Outcomes;
    use crate::stats::regression::{Answer, answer, test_of_margin};
    use crate::stats::sequential::{Sequence, SequentialTest, Verdict};

    const ERRORS: ErrorRates = ErrorRates { alpha: 0.05, beta: 0.04 };

    fn test(margin: f64) -> MarginTest {
        MarginTest { margin, errors: ERRORS, first_look: 30, level: 0.95 }
    }

    /// Blocks that differ by some 47 points, of the mean asked for.
    fn outcomes(mean: f64) -> Outcomes {
        let worse = -mean / 32.0;
        let up = |weight: f64| weight * (1.0 + worse);
        let down = |weight: f64| weight * (1.0 - worse);
        let weights = [up(0.06), up(0.2), 0.48, down(0.2), down(0.06)];
        Outcomes::new([-100, -50, 0, 50, 100].map(Difference::whole).into_iter().zip(weights))
    }

    /// One comparison: what was seen, and its answer.
    fn play(mean: f64, margin: f64, max_blocks: u64, rng: &mut Pcg64Mcg) -> (Seen, Answer) {
        let outcomes = outcomes(mean);
        let mut sequence = Sequence::new(SequentialTest {
            errors: ERRORS,
            check_every: 6,
            ..test_of_margin(margin, max_blocks)
        });
        let mut points = vec![];
        while sequence.verdict() == Verdict::GoOn {
            let drawn = outcomes.draw(rng);
            sequence.finish(points.len() as u64, Some(drawn)).unwrap();
            points.push(drawn.points());
        }
        let decided = match sequence.verdict() {
            Verdict::Null => Some(Side::Worse),
            Verdict::Alternative => Some(Side::Equal),
            Verdict::Exhausted | Verdict::GoOn => None,
        };
        let found = t_interval(&points, 0.95).unwrap();
        let seen = Seen { n_blocks: found.n as u64, mean: found.mean, sd: found.sd, decided };
        (seen, answer(sequence.verdict(), Some(found.interval), margin).0)
    }

    /// Runs of the slow form, of which the documentation quotes the results.
    fn n_runs(quick: u64) -> u64 {
        let slow = std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1");
        if slow { 4000 } else { quick }
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "the documentation quotes these figures")]
    fn estimates_cover_and_are_not_biased_where_plain_means_are() {
        let n_runs = n_runs(60);
        for (mean, max_blocks) in [(0.0, 400), (-5.0, 400), (-10.0, 400), (-15.0, 150), (0.0, 60)] {
            let test = test(10.0);
            let mut rng = Pcg64Mcg::seed_from_u64(5);
            let (mut covers, mut plain_covers, mut above) = (0, 0, 0);
            let (mut bias, mut plain_bias) = (0.0, 0.0);
            for _ in 0..n_runs {
                let (seen, _) = play(mean, 10.0, max_blocks, &mut rng);
                let found = test.estimate(&seen, 0.95).unwrap();
                let half = t_quantile(0.975, (seen.n_blocks - 1) as f64) * seen.sd
                    / (seen.n_blocks as f64).sqrt();
                covers += u64::from(found.interval[0] <= mean && mean <= found.interval[1]);
                plain_covers += u64::from((seen.mean - mean).abs() <= half);
                above += u64::from(found.points > mean);
                bias += (found.points - mean) / n_runs as f64;
                plain_bias += (seen.mean - mean) / n_runs as f64;
            }
            let share = |n: u64| n as f64 / n_runs as f64;
            println!(
                "mean {mean}, {max_blocks} blocks: coverage {:.3} (plain {:.3}), above {:.3}, bias \
                 {bias:.2} (plain {plain_bias:.2})",
                share(covers),
                share(plain_covers),
                share(above)
            );
            assert!(share(covers) >= 0.91, "{mean} {max_blocks}: {}", share(covers));
            assert!((share(above) - 0.5).abs() < 0.13, "{mean} {max_blocks}: {}", share(above));
        }
    }

    /// What is announced is what is found.
    #[test]
    #[expect(clippy::print_stdout, reason = "the documentation quotes these figures")]
    fn power_is_that_of_the_test_that_is_run() {
        let n_runs = n_runs(200);
        for (margin, max_blocks) in [(10.0, 132), (3.0, 132), (10.0, 400), (5.0, 60)] {
            let test = test(margin);
            let sd = outcomes(0.0).mean_and_sd().1;
            let worse = test.detectable(sd, max_blocks, 0.95).unwrap();
            for (mean, name) in [(-worse, "worse"), (0.0, "equal")] {
                // Blocks of a greater difference are less spread.
                let sd = outcomes(mean).mean_and_sd().1;
                let power = test.power(mean, sd, max_blocks);
                let mut rng = Pcg64Mcg::seed_from_u64(max_blocks);
                let n_fails = (0..n_runs)
                    .filter(|_| play(mean, margin, max_blocks, &mut rng).1 == Answer::Fail)
                    .count();
                let share = n_fails as f64 / n_runs as f64;
                println!(
                    "{name} by {mean:.1}, margin {margin}, {max_blocks}: {share:.3} of {power:.3}"
                );
                let error = (power * (1.0 - power) / n_runs as f64).sqrt();
                assert!(
                    (share - power).abs() < 3.0 * error + 0.015,
                    "{mean} {max_blocks}: {share} {power}"
                );
            }
        }
    }

    #[test]
    fn at_the_first_look_the_estimate_is_the_plain_mean() {
        let seen = Seen { n_blocks: 30, mean: -40.0, sd: 30.0, decided: Some(Side::Worse) };
        let found = test(10.0).estimate(&seen, 0.95).unwrap();
        let half = t_quantile(0.975, 29.0) * 30.0 / 30f64.sqrt();
        assert!((found.points + 40.0).abs() < 1e-6, "{found:?}");
        assert!((found.interval[0] + 40.0 + half).abs() < 1e-6, "{found:?}");
        assert!((found.interval[1] + 40.0 - half).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_test_that_stopped_early_is_estimated_towards_the_middle() {
        let seen = |mean, decided| Seen { n_blocks: 60, mean, sd: 40.0, decided: Some(decided) };
        let worse = test(10.0).estimate(&seen(-18.0, Side::Worse), 0.95).unwrap();
        assert!(worse.points > -18.0 && worse.points < -10.0, "{worse:?}");
        let equal = test(10.0).estimate(&seen(8.0, Side::Equal), 0.95).unwrap();
        // Mirrored at half the margin, but for the error rates.
        assert!(equal.points < 8.0 && equal.points > 0.0, "{equal:?}");
    }

    #[test]
    fn without_spread_or_blocks_there_is_no_estimate() {
        let seen = Seen { n_blocks: 1, mean: 0.0, sd: 1.0, decided: None };
        assert_eq!(test(3.0).estimate(&seen, 0.95), None);
        let seen = Seen { n_blocks: 100, sd: 0.0, ..seen };
        assert_eq!(test(3.0).estimate(&seen, 0.95), None);
        let seen = Seen { mean: f64::NAN, sd: 1.0, ..seen };
        assert_eq!(test(3.0).estimate(&seen, 0.95), None);
    }

    #[test]
    fn more_blocks_detect_less_and_few_detect_nothing() {
        let test = test(3.0);
        let detects = |n| test.detectable(35.0, n, 0.95);
        let points: Vec<f64> = [30, 100, 1000, 10_000].map(|n| detects(n).unwrap()).to_vec();
        assert!(points.is_sorted_by(|a, b| a > b), "{points:?}");
        // Wald's test needs no more than the margin, and a little.
        assert!(points[3] < 3.3, "{points:?}");
        assert_eq!(test.detectable(500.0, 30, 0.95), None);
    }
}
