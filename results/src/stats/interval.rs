//! The interval of a mean over several strata: one rule for all means.
//!
//! A mean is a weighted sum of means of strata (a game under a clock), each of
//! independent blocks. Where the blocks of a stratum differ, their spread says
//! how sure its mean is: the interval is Student's t with Welch's degrees of
//! freedom (B. Welch, "The generalization of 'Student's' problem when several
//! different population variances are involved", 1947), which holds from two
//! blocks of each stratum on. Where all blocks of a stratum are the same, a
//! spread of zero says nothing; then [`unlike_blocks`] bounds what others could
//! weigh. Both are combined as limits of independent parts of a sum (G. Zou & A.
//! Donner, "Construction of confidence limits about effect measures", 2008): the
//! squares of the distances from the mean add up.

use crate::stats::student::{t_cdf, t_quantile};

/// What a reward may be, points.
pub const REWARDS: [f64; 2] = [0.0, 100.0];
/// What a difference of two rewards may be, points.
pub const DIFFERENCES: [f64; 2] = [-100.0, 100.0];

/// The mean of one stratum, as part of a larger mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// How much it weighs; weights of all parts add up to 1.
    pub weight: f64,
    /// Its mean.
    pub mean: f64,
    /// The estimated variance of that mean, not of a block.
    pub variance: f64,
    /// Independent blocks.
    pub n: usize,
}

/// Spreads below this share of what is possible come from rounding: thirds of
/// rewards leave some 1e-16.
const ROUNDING: f64 = 1e-9;

impl Part {
    /// The plain mean of `values`, one a block, with a weight of 1. `None`
    /// without values; the variance of a single value is unknown: not a number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = squares / (n as f64 - 1.0) / n as f64;
        Some(Self { weight: 1.0, mean, variance, n })
    }

    fn weighted_variance(&self) -> f64 {
        self.weight * self.weight * self.variance
    }

    fn varies(&self, bounds: [f64; 2]) -> bool {
        // Of n blocks the mean's deviation is that of a block over the root of n.
        self.variance.sqrt() * (self.n as f64).sqrt() > ROUNDING * (bounds[1] - bounds[0])
    }
}

/// The mean of all parts.
#[must_use]
pub fn mean(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.weight * part.mean).sum()
}

/// Parts of fewer than two blocks, whose spread is unknown: intervals hold them at
/// their means.
#[must_use]
pub fn n_exact(parts: &[Part]) -> u64 {
    parts.iter().filter(|part| part.n < 2).count() as u64
}

/// The interval of the mean of `parts`, of which each value lies within `bounds`;
/// the truth lies below it with the first probability of `tails`, above it with
/// the second. Parts of fewer than two blocks are held at their means. `None` if
/// there are no others.
///
/// # Panics
/// If the tails are not within 0 and one half.
#[must_use]
pub fn interval(parts: &[Part], bounds: [f64; 2], tails: [f64; 2]) -> Option<[f64; 2]> {
    let [down, up] = reach(parts, bounds, tails)?;
    let mean = mean(parts);
    Some([(mean - down).max(bounds[0].min(mean)), (mean + up).min(bounds[1].max(mean))])
}

/// How far the ends of the interval are below and above the weighted sum of the
/// means of `parts`, whose weights may be of either sign; otherwise as
/// [`interval`].
///
/// # Panics
/// If the tails are not within 0 and one half.
#[must_use]
pub fn reach(parts: &[Part], bounds: [f64; 2], tails: [f64; 2]) -> Option<[f64; 2]> {
    assert!(tails.iter().all(|tail| *tail > 0.0 && *tail < 0.5), "tails within 0 and one half");
    let known: Vec<&Part> = parts.iter().filter(|part| part.n > 1).collect();
    if known.is_empty() {
        return None;
    }
    let (varied, unvaried): (Vec<&Part>, Vec<&Part>) =
        known.iter().partition(|part| part.varies(bounds));
    let variances: Vec<(f64, f64)> =
        varied.iter().map(|part| (part.weighted_variance(), part.n as f64 - 1.0)).collect();
    let standard_error = variances.iter().map(|(variance, _)| variance).sum::<f64>().sqrt();
    let reach = |up: f64, tail: f64| {
        let spread = match welch(&variances) {
            Some(degrees) => t_quantile(1.0 - tail, degrees) * standard_error,
            None => 0.0,
        };
        let unlike: Vec<(f64, usize)> = (unvaried.iter())
            .map(|part| {
                let bound = bounds[usize::from(part.weight * up > 0.0)];
                (part.weight.abs() * (part.mean - bound).abs(), part.n)
            })
            .collect();
        spread.hypot(unlike_blocks(&unlike, tail))
    };
    Some([reach(-1.0, tails[0]), reach(1.0, tails[1])])
}

/// The standard error of the weighted sum of the means of `parts`, those of fewer
/// than two blocks held at their means; `None` if there are no others.
#[must_use]
pub fn standard_error(parts: &[Part]) -> Option<f64> {
    let variances = || parts.iter().filter(|part| part.n > 1).map(Part::weighted_variance);
    variances().next().map(|_| variances().sum::<f64>().sqrt())
}

/// The likelihood of superiority: the confidence with which the mean of `parts` is
/// above 0, by Student's t with Welch's degrees of freedom; one half at a mean of 0.
/// Nothing is surer than `1 - 2^-n` after `n` blocks, since a mean of 0 gives as
/// one-sided a result with that probability. Parts of fewer than two blocks are held
/// at their means; `None` if there are no others.
#[must_use]
pub fn superiority(parts: &[Part], bounds: [f64; 2]) -> Option<f64> {
    let known: Vec<&Part> = parts.iter().filter(|part| part.n > 1).collect();
    if known.is_empty() {
        return None;
    }
    let mean = mean(parts);
    // Sums of fractions that cancel leave some 1e-14.
    if mean.abs() <= ROUNDING * (bounds[1] - bounds[0]) {
        return Some(0.5);
    }
    let varied = known.iter().filter(|part| part.varies(bounds));
    let variances: Vec<(f64, f64)> =
        varied.map(|part| (part.weighted_variance(), part.n as f64 - 1.0)).collect();
    let sum: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let confidence = match welch(&variances) {
        Some(degrees) => t_cdf(mean / sum.sqrt(), degrees),
        None => f64::from(u8::from(mean > 0.0)),
    };
    let n: usize = known.iter().map(|part| part.n).sum();
    let least = 0.5f64.powi(n.min(1000) as i32);
    Some(confidence.clamp(least, 1.0 - least))
}

/// The interval at `level`, such as 0.95, with equal tails.
#[must_use]
pub fn interval_at(parts: &[Part], bounds: [f64; 2], level: f64) -> Option<[f64; 2]> {
    interval(parts, bounds, [(1.0 - level) / 2.0; 2])
}

/// Welch's degrees of freedom of a sum of variances, each with degrees of its
/// own, in the form that does not count the chance in the variances as a
/// difference between them (1947, section 6). `None` without variances.
fn welch(variances: &[(f64, f64)]) -> Option<f64> {
    let sum: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let squares: f64 = variances.iter().map(|(v, degrees)| v * v / (degrees + 2.0)).sum();
    let fewest = variances.iter().map(|(_, degrees)| *degrees).fold(f64::INFINITY, f64::min);
    let all: f64 = variances.iter().map(|(_, degrees)| *degrees).sum();
    (sum > 0.0).then(|| (sum * sum / squares - 2.0).clamp(fewest, all.max(fewest)))
}

/// How far blocks that were never seen could move a mean, if all blocks of each
/// stratum were the same. `strata` holds the distance that it would move if all
/// blocks of a stratum were others, and the number of blocks seen.
///
/// With a share of `q` of other blocks, `n` blocks show none with probability
/// `(1 - q)^n`. The result is the greatest sum of `q` times the distance over
/// all shares under which nothing else is seen with a probability of `tail` or
/// more: for one stratum `1 - tail^(1/n)` of the distance (C. Clopper & E.
/// Pearson, 1934), for several the same for all blocks together.
#[must_use]
pub fn unlike_blocks(strata: &[(f64, usize)], tail: f64) -> f64 {
    let strata: Vec<(f64, f64)> =
        strata.iter().filter(|(d, n)| *d > 0.0 && *n > 0).map(|&(d, n)| (d, n as f64)).collect();
    let most = strata.iter().map(|(distance, n)| distance / n).fold(0.0, f64::max);
    if most == 0.0 {
        return 0.0;
    }
    // At the maximum, distance times (1 - q) is the same for all blocks seen,
    // but where that would be more than all of the distance.
    let alike = |level: f64, (distance, n): (f64, f64)| (level * n / distance).min(1.0);
    let ln_seen = |level: f64| strata.iter().map(|&s| s.1 * alike(level, s).ln()).sum::<f64>();
    let (mut low, mut high) = (0.0, most);
    for _ in 0..200 {
        let level = (low + high) / 2.0;
        if ln_seen(level) < tail.ln() {
            low = level;
        } else {
            high = level;
        }
    }
    strata.iter().map(|&s| s.0 * (1.0 - alike(high, s))).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::laps::{t_interval, unvaried_interval};

    const POINTS: [f64; 2] = [0.0, 100.0];

    fn parts(strata: &[&[f64]]) -> Vec<Part> {
        let weight = 1.0 / strata.len() as f64;
        strata.iter().map(|values| Part { weight, ..Part::of(values).unwrap() }).collect()
    }

    #[test]
    fn one_block_is_no_evidence() {
        assert_eq!(interval_at(&parts(&[&[50.0]]), POINTS, 0.95), None);
        assert_eq!(interval_at(&parts(&[&[50.0], &[60.0]]), POINTS, 0.95), None);
        assert_eq!(interval_at(&[], POINTS, 0.95), None);
        assert_eq!(Part::of(&[]), None);
    }

    /// What is known is unsure; what is not is held at its mean.
    #[test]
    fn a_stratum_of_one_block_is_held_at_its_mean() {
        let parts = parts(&[&[50.0, 60.0, 10.0], &[30.0]]);
        let tails = [0.025; 2];
        assert_eq!(reach(&parts, POINTS, tails), reach(&parts[..1], POINTS, tails));
        assert_eq!((mean(&parts), n_exact(&parts)), (35.0, 1));
        assert_eq!(standard_error(&parts), Some(0.5 * parts[0].variance.sqrt()));
        assert_eq!(standard_error(&parts[1..]), None);
    }

    #[test]
    fn superiority_is_where_students_interval_begins_at_zero() {
        let bounds = [-100.0, 100.0];
        let part = Part::of(&[10.0, -5.0, 30.0, 20.0]).unwrap();
        let found = superiority(&[part], bounds).unwrap();
        let [low, _] = interval(&[part], bounds, [1.0 - found; 2]).unwrap();
        assert!(found > 0.5 && low.abs() < 1e-6, "{found} {low}");
        let other = superiority(&[Part { mean: -part.mean, ..part }], bounds).unwrap();
        assert!((found + other - 1.0).abs() < 1e-9);
        assert_eq!(superiority(&[Part { mean: 1e-14, ..part }], bounds), Some(0.5));
        assert_eq!(superiority(&[Part::of(&[5.0]).unwrap()], bounds), None);
    }

    #[test]
    fn few_blocks_are_never_sure() {
        let bounds = [-100.0, 100.0];
        for values in [[50.0, 50.0, 50.0], [50.0, 50.0, 50.001]] {
            let part = Part::of(&values).unwrap();
            assert_eq!(superiority(&[part], bounds), Some(0.875));
            assert_eq!(superiority(&[Part { mean: -50.0, ..part }], bounds), Some(0.125));
        }
    }

    #[test]
    fn of_one_stratum_it_is_students_interval() {
        let values = [50.0, -50.0, 100.0, 0.0, 0.0, 10.0];
        let found = interval_at(&parts(&[&values]), [-100.0, 100.0], 0.95).unwrap();
        let expected = t_interval(&values, 0.95).unwrap().interval;
        assert!((found[0] - expected[0]).abs() < 1e-9 && (found[1] - expected[1]).abs() < 1e-9);
    }

    #[test]
    fn equal_blocks_leave_room_for_others() {
        for n in [2, 3, 10, 1000] {
            let found = interval_at(&parts(&[&vec![100.0; n]]), POINTS, 0.95).unwrap();
            let expected = unvaried_interval(100.0, n, 0.95, POINTS);
            assert!((found[0] - expected[0]).abs() < 1e-9, "{n}: {found:?} {expected:?}");
            assert_eq!(found[1], 100.0);
        }
        // As many blocks in several strata say the same.
        let [low, _] = interval_at(&parts(&[&[0.0; 10][..]; 2]), [-100.0, 100.0], 0.95).unwrap();
        let expected = unvaried_interval(0.0, 20, 0.95, [-100.0, 100.0])[0];
        assert!((low - expected).abs() < 1e-9, "{low} {expected}");
    }

    /// Thirds of rewards leave a spread of some 1e-15, which is none.
    #[test]
    fn rounding_is_no_spread() {
        let third = 100.0 / 3.0;
        let values = [third, third + 7e-15, third, third - 7e-15];
        let [low, high] = interval_at(&parts(&[&values]), POINTS, 0.95).unwrap();
        assert!(low < third - 10.0 && high > third + 10.0, "{low} {high}");
    }

    #[test]
    fn no_interval_is_beyond_what_is_possible() {
        let [low, high] = interval_at(&parts(&[&[90.0, 100.0]]), POINTS, 0.95).unwrap();
        assert!(low >= 0.0 && high <= 100.0, "{low} {high}");
    }

    #[test]
    fn the_larger_stratum_bounds_the_degrees_of_freedom() {
        assert!((welch(&[(2.0, 7.0)]).unwrap() - 7.0).abs() < 1e-12);
        assert_eq!(welch(&[(1.0, 5.0), (1.0, 5.0)]), Some(10.0));
        assert!((welch(&[(1.0, 5.0), (1e-12, 900.0)]).unwrap() - 5.0).abs() < 1e-6);
        assert_eq!(welch(&[]), None);
    }

    proptest! {
        /// The shares found are allowed, and no other allowed ones weigh more.
        #[test]
        fn unlike_blocks_weigh_at_most_so_much(
            strata in proptest::collection::vec((0.1f64..10.0, 1usize..40), 1..5),
            shares in proptest::collection::vec(0.0f64..1.0, 5),
        ) {
            let most = unlike_blocks(&strata, 0.025);
            prop_assert!(most > 0.0 && most <= strata.iter().map(|(d, _)| d).sum::<f64>() + 1e-9);
            // Other shares, scaled until they are just allowed.
            let seen = |scale: f64| -> f64 {
                strata.iter().zip(&shares).map(|((_, n), q)| *n as f64 * (-scale * q).ln_1p()).sum()
            };
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let scale = (low + high) / 2.0;
                if seen(scale) > 0.025f64.ln() { low = scale } else { high = scale }
            }
            let weighs: f64 = strata.iter().zip(&shares).map(|((d, _), q)| d * low * q).sum();
            prop_assert!(weighs <= most + 1e-6, "{} {}", weighs, most);
        }
    }
}
