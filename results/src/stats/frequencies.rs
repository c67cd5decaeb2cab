//! How often each of a finite number of outcomes was seen.
//!
//! Outcomes are scores between 0 and 1, one half meaning that neither side did
//! better: 0, ½ and 1 for single games (the *trinomial*), 0, ¼, ½, ¾ and 1 for
//! pairs of games with colours swapped (the *pentanomial*), and
//! `(difference + 100) / 200` for blocks with rewards of 0 to 100.

use std::collections::BTreeMap;

use crate::stats::block::Difference;

/// What takes the place of a count of zero, as in fishtest and fastchess: a
/// likelihood ratio needs all outcomes to be possible.
const ALMOST_NOTHING: f64 = 1e-3;

/// Counts of outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frequencies {
    /// Ascending, between 0 and 1.
    values: Vec<f64>,
    counts: Vec<f64>,
}

impl Frequencies {
    /// The scores, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How often each was seen.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// How many observations there are.
    #[must_use]
    pub fn n(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// The mean score; not a number without observations.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.iter().map(|(value, count)| value * count).sum();
        sum / self.n()
    }

    /// The mean squared distance from the mean (divided by n, not n - 1).
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let sum: f64 = self.iter().map(|(value, count)| count * (value - mean).powi(2)).sum();
        sum / self.n()
    }

    /// The same with a thousandth of an observation in place of none.
    #[must_use]
    pub fn regularized(&self) -> Self {
        let some = |&count: &f64| if count == 0.0 { ALMOST_NOTHING } else { count };
        Self { values: self.values.clone(), counts: self.counts.iter().map(some).collect() }
    }

    /// Scores with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.values.iter().copied().zip(self.counts.iter().copied())
    }
}

/// Differences of blocks on their way to [`Frequencies`], one at a time.
///
/// The largest possible difference, half of it, zero, and the opposites are
/// always among the outcomes, seen or not: a test must not take for impossible
/// what is only rare. Where 9 % of blocks were lost by 90 points and more, and
/// others won by a little, a test that knew only what it had seen accepted an
/// equal player in 17 % of cases in place of 5 %. Where differences are in truth
/// all small, thinking 100 possible makes a test blunt (1.7 % in place of 5 %, and
/// 45 % more blocks at differences of some 8 points): say so if it is known.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: BTreeMap<Difference, u64>,
    n: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self::within(100)
    }
}

impl Tally {
    /// An empty tally. Differences are expected to be at most `largest` points; a larger one
    /// counts as well.
    ///
    /// # Panics
    /// If `largest` is not from 1 to 100.
    #[must_use]
    pub fn within(largest: u8) -> Self {
        assert!((1..=100).contains(&largest), "a difference from 1 to 100 points");
        let largest = i64::from(largest);
        let possible = [-2, -1, 0, 1, 2].map(|half| (Difference::new(half * largest, 2), 0));
        Self { counts: possible.into(), n: 0 }
    }

    /// Counts one block.
    pub fn add(&mut self, difference: Difference) {
        self.add_times(difference, 1);
    }

    /// Counts `n` blocks of the same difference.
    pub fn add_times(&mut self, difference: Difference, n: u64) {
        *self.counts.entry(difference).or_default() += n;
        self.n += n;
    }

    /// Blocks counted.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The frequencies of their scores.
    #[must_use]
    pub fn frequencies(&self) -> Frequencies {
        Frequencies {
            values: self.counts.keys().map(|difference| difference.score()).collect(),
            counts: self.counts.values().map(|&count| count as f64).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies made up for tests.
    impl Frequencies {
        /// Of any scores, ascending, with counts that may be fractions.
        pub(crate) fn new(pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
            let (values, counts) = pairs.into_iter().unzip();
            Self { values, counts }
        }

        /// Of evenly spaced scores from 0 to 1, the counts from low to high: losses,
        /// draws and wins, or the five outcomes of a pair of games.
        ///
        /// # Panics
        /// If there are fewer than two counts.
        pub(crate) fn even(counts: &[u64]) -> Self {
            assert!(counts.len() >= 2, "at least two outcomes");
            let last = (counts.len() - 1) as f64;
            let values = (0..counts.len()).map(|index| index as f64 / last).collect();
            Self { values, counts: counts.iter().map(|&count| count as f64).collect() }
        }

        /// Of the differences of blocks, of which none is thought to be larger than
        /// 100; see [`Tally`].
        pub(crate) fn of_differences(differences: impl IntoIterator<Item = Difference>) -> Self {
            let mut tally = Tally::default();
            differences.into_iter().for_each(|difference| tally.add(difference));
            tally.frequencies()
        }

        /// As seen by the other side: every score is one less it.
        pub(crate) fn mirrored(&self) -> Self {
            Self {
                values: self.values.iter().rev().map(|value| 1.0 - value).collect(),
                counts: self.counts.iter().rev().copied().collect(),
            }
        }
    }

    #[test]
    fn mirroring_negates_the_distance_from_one_half() {
        let seen = Frequencies::even(&[1, 2, 7]);
        let other = seen.mirrored();
        assert!((seen.mean() + other.mean() - 1.0).abs() < 1e-12);
        assert!((seen.variance() - other.variance()).abs() < 1e-12);
        assert_eq!(other.mirrored(), seen);
    }

    #[test]
    fn possible_outcomes_are_among_the_values() {
        let seen = Frequencies::of_differences([Difference::whole(50), Difference::new(100, 3)]);
        assert_eq!(seen.values(), [0.0, 0.25, 0.5, 0.5 + 100.0 / 600.0, 0.75, 1.0]);
        assert_eq!(Tally::within(30).frequencies().values(), [0.35, 0.425, 0.5, 0.575, 0.65]);
        assert_eq!(seen.n(), 2.0);
        assert!((seen.mean() - (0.75 + 0.5 + 100.0 / 600.0) / 2.0).abs() < 1e-12);
    }
}
