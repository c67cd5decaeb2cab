//! Means over laps: a *lap* is one block of each game and clock.
//!
//! Lap means weigh games equally, and are independent and alike from lap to
//! lap, as a t interval wants them; blocks of different games are not alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::block::BlockScore;
use crate::stats::normal::t_quantile;
use crate::stats::scored::Stratum;

/// The weight of each stratum in a mean: each game the same, and within a game
/// each clock. Weights add up to 1.
#[must_use]
pub fn weights(blocks: &[BlockScore]) -> BTreeMap<Stratum, f64> {
    let strata: BTreeSet<&Stratum> = blocks.iter().map(|block| &*block.stratum).collect();
    let mut n_clocks: BTreeMap<&str, u32> = BTreeMap::new();
    for stratum in &strata {
        *n_clocks.entry(&stratum.game).or_default() += 1;
    }
    let n_games = n_clocks.len() as f64;
    let weight = |stratum: &Stratum| 1.0 / (n_games * f64::from(n_clocks[&*stratum.game]));
    strata.into_iter().map(|stratum| (stratum.clone(), weight(stratum))).collect()
}

/// A mean with Student's t interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TInterval {
    /// The mean.
    pub mean: f64,
    /// Standard deviation of one value (divided by n - 1).
    pub sd: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Covers the true mean with the probability asked for, if values are
    /// independent, alike, and not too far from normal.
    pub interval: [f64; 2],
    /// Number of values.
    pub n: usize,
}

/// Student's t interval of `values` at `level`, such as 0.95. `None` for fewer
/// than two values.
#[must_use]
pub fn t_interval(values: &[f64], level: f64) -> Option<TInterval> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (squares / (n - 1) as f64).sqrt();
    let standard_error = sd / (n as f64).sqrt();
    let half = t_quantile((1.0 + level) / 2.0, (n - 1) as f64) * standard_error;
    Some(TInterval { mean, sd, standard_error, interval: [mean - half, mean + half], n })
}

/// An interval at `level` for the mean of values between `bounds` of which `n`
/// were seen, all equal to `value`: one that says how much others could weigh.
///
/// Such values have no spread, and Student's interval no width. But with `n`
/// values seen, other ones may have a probability of up to `1 - (a / 2)^(1 / n)`
/// (Clopper and Pearson 1934, for no event in `n` trials; `a` is `1 - level`),
/// and may be as far off as the bounds.
///
/// # Panics
/// If `n` is 0.
#[must_use]
pub fn unvaried_interval(value: f64, n: usize, level: f64, bounds: [f64; 2]) -> [f64; 2] {
    assert!(n > 0, "at least one value");
    let others = 1.0 - ((1.0 - level) / 2.0).powf(1.0 / n as f64);
    bounds.map(|bound| value + (bound - value) * others)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::stats::block::made_up;

    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    /// Others with a probability just beyond the bound would have shown among `n`
    /// values in 97.5 % of cases.
    #[test]
    fn equal_values_bound_what_others_can_weigh() {
        let [low, high] = unvaried_interval(0.0, 32, 0.95, [-100.0, 100.0]);
        assert_eq!(low, -high);
        assert!(((1.0 - high / 100.0).powi(32) - 0.025).abs() < 1e-12);
        assert!(high > 10.8 && high < 11.0, "{high}");
        assert_eq!(unvaried_interval(100.0, 32, 0.95, [-100.0, 100.0])[1], 100.0);
        assert!(unvaried_interval(0.0, 3000, 0.95, [-100.0, 100.0])[1] < 0.13);
    }

    #[test]
    fn the_t_interval_of_six_blocks() {
        let found = t_interval(&[50.0, -50.0, 100.0, 0.0, 0.0, 10.0], 0.95).unwrap();
        check(found.mean, 55.0 / 3.0);
        check(found.sd, 51.153_364_177_409_36);
        check(found.standard_error, 20.883_273_476_902_783);
        check(found.interval[0], -35.348_830_135_018_59);
        check(found.interval[1], 72.015_496_801_685_25);
        assert_eq!(t_interval(&[1.0], 0.95), None);
    }

    #[test]
    fn games_weigh_the_same_however_many_clocks_they_have() {
        let mut blocks = made_up([0, 0, 0]);
        for (index, block) in blocks.iter_mut().enumerate() {
            let mut stratum = (*block.stratum).clone();
            stratum.clock.play_clock_ms += index as u64;
            if index == 2 {
                stratum.game = "connectFour".into();
            }
            block.stratum = Arc::new(stratum);
        }
        let weights = weights(&blocks);
        assert_eq!(weights.values().copied().collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
        check(weights.values().sum(), 1.0);
    }
}
