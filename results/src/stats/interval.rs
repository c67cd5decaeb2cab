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

use crate::stats::student::t_quantile;

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

/// The interval of the mean of `parts`, of which each value lies within `bounds`;
/// the truth lies below it with the first probability of `tails`, above it with
/// the second. `None` without parts, or if one has fewer than two blocks.
///
/// # Panics
/// If the tails are not within 0 and one half.
#[must_use]
pub fn interval(parts: &[Part], bounds: [f64; 2], tails: [f64; 2]) -> Option<[f64; 2]> {
    assert!(tails.iter().all(|tail| *tail > 0.0 && *tail < 0.5), "tails within 0 and one half");
    if parts.is_empty() || parts.iter().any(|part| part.n < 2) {
        return None;
    }
    let mean = mean(parts);
    let (varied, unvaried): (Vec<Part>, Vec<Part>) =
        parts.iter().partition(|part| part.varies(bounds));
    let variances: Vec<(f64, f64)> = (varied.iter())
        .map(|part| (part.weight * part.weight * part.variance, part.n as f64 - 1.0))
        .collect();
    let standard_error = variances.iter().map(|(variance, _)| variance).sum::<f64>().sqrt();
    let reach = |bound: f64, tail: f64| {
        let spread = match welch(&variances) {
            Some(degrees) => t_quantile(1.0 - tail, degrees) * standard_error,
            None => 0.0,
        };
        let unlike: Vec<(f64, usize)> = (unvaried.iter())
            .map(|part| (part.weight * (part.mean - bound).abs(), part.n))
            .collect();
        spread.hypot(unlike_blocks(&unlike, tail))
    };
    let low = (mean - reach(bounds[0], tails[0])).max(bounds[0].min(mean));
    let high = (mean + reach(bounds[1], tails[1])).min(bounds[1].max(mean));
    Some([low, high])
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
        assert_eq!(interval_at(&parts(&[&[50.0, 60.0], &[50.0]]), POINTS, 0.95), None);
        assert_eq!(interval_at(&[], POINTS, 0.95), None);
        assert_eq!(Part::of(&[]), None);
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
