//! Quantiles of many times in little memory.

use std::collections::BTreeMap;

/// Buckets of each power of two; values within a bucket differ by less than 1 / 128.
const PER_OCTAVE: u64 = 128;

/// Counts of values in buckets that grow with the value: quantiles are within
/// 0.4 % of the true ones, however many values there are. It takes 8 bytes for each bucket
/// between the least and the greatest value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Of the buckets from `first` on.
    counts: Vec<u64>,
    first: usize,
    n: u64,
    max: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        self.make_room(bucket, bucket + 1);
        self.counts[bucket - self.first] += 1;
        self.n += 1;
        self.max = self.max.max(value);
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        self.make_room(other.first, other.first + other.counts.len());
        let counts = &mut self.counts[other.first - self.first..];
        counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.n += other.n;
        self.max = self.max.max(other.max);
    }

    /// Has counts of the buckets from `from` to before `to`. Buckets in front are added by
    /// the octave, so that few values move those that are there.
    fn make_room(&mut self, from: usize, to: usize) {
        if self.counts.is_empty() {
            self.first = from;
        }
        if from < self.first {
            let first = from - from % PER_OCTAVE as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - first));
            self.first = first;
        }
        if to - self.first > self.counts.len() {
            self.counts.resize(to - self.first, 0);
        }
    }

    /// Number of values.
    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// The greatest value, exactly.
    pub(crate) fn max(&self) -> Option<u64> {
        (self.n > 0).then_some(self.max)
    }

    /// The values counted anew in wider buckets, `per_octave` of them to a power
    /// of two: bucket `b` holds those from `2^(b / per_octave)` on. A value of 0
    /// counts as 1. Empty buckets are left out.
    pub(crate) fn counted(&self, per_octave: u32) -> BTreeMap<i32, u64> {
        let mut counted = BTreeMap::new();
        for (index, &n) in self.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let value = middle((self.first + index) as u64).max(1) as f64;
            let wide = (value.log2() * f64::from(per_octave)).floor() as i32;
            *counted.entry(wide).or_default() += n;
        }
        counted
    }

    /// The least value that is not below a share `q` of all.
    pub(crate) fn quantile(&self, q: f64) -> Option<u64> {
        let rank = ((q * self.n as f64).ceil() as u64).max(1);
        let mut below = 0;
        let index = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        Some(middle((self.first + index) as u64).min(self.max))
    }
}

/// Values below `PER_OCTAVE` have a bucket each; above, the highest bits tell.
fn bucket(value: u64) -> usize {
    let octave = (value / PER_OCTAVE).checked_ilog2().map_or(0, |log| u64::from(log) + 1);
    let within = if octave == 0 { value } else { (value >> (octave - 1)) - PER_OCTAVE };
    (octave * PER_OCTAVE + within) as usize
}

fn middle(bucket: u64) -> u64 {
    let (octave, within) = (bucket / PER_OCTAVE, bucket % PER_OCTAVE);
    if octave == 0 {
        return within;
    }
    let width = 1u64 << (octave - 1);
    (PER_OCTAVE + within) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_near_the_true_ones() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.max()), (None, None));
        for value in 1..=100_000 {
            histogram.add(value);
        }
        for (q, value) in [(0.5, 50_000.0), (0.95, 95_000.0), (0.99, 99_000.0), (0.001, 100.0)] {
            let quantile = histogram.quantile(q).unwrap() as f64;
            assert!((quantile / value - 1.0).abs() < 0.005, "{q}: {quantile}");
        }
        assert_eq!((histogram.max(), histogram.quantile(1.0)), (Some(100_000), Some(100_000)));
        assert_eq!(histogram.n(), 100_000);
    }

    #[test]
    fn the_order_of_values_does_not_matter() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            histogram
        };
        let shown = |histogram: &Histogram| {
            let quantiles = [0.01, 0.3, 0.5, 0.8, 1.0].map(|q| histogram.quantile(q));
            (histogram.n(), histogram.max(), quantiles, histogram.counted(8))
        };
        let rising = [0, 3, 200, 200, 5000, 70_000, 850_000, 860_000];
        let expected = shown(&of(&rising));
        let mixed = [850_000, 200, 860_000, 70_000, 0, 5000, 200, 3];
        assert_eq!(shown(&of(&mixed)), expected);
        for split in 0..=mixed.len() {
            let mut merged = of(&mixed[..split]);
            merged.merge(&of(&mixed[split..]));
            assert_eq!(shown(&merged), expected, "merged after {split}");
        }
    }

    #[test]
    fn wide_buckets_hold_the_same_values() {
        let mut histogram = Histogram::default();
        [0, 1, 2, 3, 4, 7, 8, 1000, 1023, 1024].iter().for_each(|&value| histogram.add(value));
        let counted: Vec<(i32, u64)> = histogram.counted(1).into_iter().collect();
        assert_eq!(counted, [(0, 2), (1, 2), (2, 2), (3, 1), (9, 2), (10, 1)]);
    }

    #[test]
    fn every_value_is_near_the_middle_of_its_bucket() {
        for value in (0..5000).chain([1 << 20, (1 << 40) + 12345, u64::MAX / 3]) {
            let middle = middle(bucket(value) as u64);
            assert!(middle.abs_diff(value) <= value / 256, "{value} {middle}");
        }
    }
}
