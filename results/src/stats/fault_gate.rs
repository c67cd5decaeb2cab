//! Whether one player commits faults more often than another: Fisher's exact
//! test ("The design of experiments", 1935, section 12).
//!
//! For a fixed number of matches; while matches are still played, use
//! [`fault_test`](crate::stats::fault_test). Count matches with a fault, not
//! faults: those of one match come together.

/// Matches of one player, and in how many of them it committed a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultyMatches {
    /// Matches with a fault.
    pub faulty: u64,
    /// All matches.
    pub all: u64,
}

/// The two-sided p-value: the probability of all tables that are no more likely
/// than the one seen.
///
/// # Panics
/// If there are more faulty matches than matches.
#[must_use]
pub fn different_faults(base: FaultyMatches, head: FaultyMatches) -> f64 {
    let table = FaultTable::new(base, head);
    let seen = table.weight(head.faulty);
    // Equally likely tables may differ by rounding.
    table.share(|_, weight| weight <= seen * (1.0 + 1e-7))
}

/// The hypergeometric distribution of the faulty matches of `head`, given how
/// many there are in all. Probabilities are taken relative to the most likely
/// number, from one number to the next: binomial coefficients themselves leave
/// the range of floating-point numbers at some thousand matches.
struct FaultTable {
    /// Matches of the head, and faulty ones of both.
    head: u64,
    faulty: u64,
    /// Matches of the base.
    base: u64,
    /// The first number whose weight is kept.
    first: u64,
    /// Probabilities, relative to the largest; what is left out is below the
    /// smallest positive floating-point number.
    weights: Vec<f64>,
}

impl FaultTable {
    fn new(base: FaultyMatches, head: FaultyMatches) -> Self {
        assert!(
            base.faulty <= base.all && head.faulty <= head.all,
            "no more faulty ones than matches"
        );
        let faulty = base.faulty + head.faulty;
        let (least, most) = (faulty.saturating_sub(base.all), faulty.min(head.all));
        let mode = (u128::from(faulty) + 1) * (u128::from(head.all) + 1)
            / (u128::from(base.all) + u128::from(head.all) + 2);
        let mode = u64::try_from(mode).unwrap_or(most).clamp(least, most);
        let mut table =
            Self { head: head.all, faulty, base: base.all, first: mode, weights: vec![] };
        let mut below = vec![];
        let mut weight = 1.0;
        for n in (least..mode).rev() {
            weight /= table.step(n);
            if weight == 0.0 {
                break;
            }
            below.push(weight);
        }
        table.first = mode - below.len() as u64;
        table.weights.extend(below.into_iter().rev());
        weight = 1.0;
        table.weights.push(weight);
        for n in mode..most {
            weight *= table.step(n);
            if weight == 0.0 {
                break;
            }
            table.weights.push(weight);
        }
        table
    }

    /// The probability of `n + 1` faulty matches of the head over that of `n`.
    fn step(&self, n: u64) -> f64 {
        let up = (self.faulty - n) as f64 * (self.head - n) as f64;
        let sound = (self.base + n + 1).saturating_sub(self.faulty);
        up / ((n + 1) as f64 * sound as f64)
    }

    /// How likely this number is, relative to the most likely one.
    fn weight(&self, n: u64) -> f64 {
        let index = n.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.weights.get(index)).copied().unwrap_or(0.0)
    }

    /// The probability of the numbers that are wanted, by number and weight.
    fn share(&self, wanted: impl Fn(u64, f64) -> bool) -> f64 {
        // From both ends to the middle, so that small terms are not lost.
        let middle = self.weights.partition_point(|&weight| weight < 1.0);
        let indices = (0..middle).chain((middle..self.weights.len()).rev());
        let (mut part, mut all) = (0.0, 0.0);
        for index in indices {
            let weight = self.weights[index];
            all += weight;
            if wanted(self.first + index as u64, weight) {
                part += weight;
            }
        }
        (part / all).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(base: [u64; 2], head: [u64; 2], two_sided: f64) {
        let [base, head] = [base, head].map(|[faulty, all]| FaultyMatches { faulty, all });
        let found = different_faults(base, head);
        assert!((found - two_sided).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_lady_tasting_tea_and_others() {
        // Of four cups of each kind three were told right: 34/70.
        check([1, 4], [3, 4], 34.0 / 70.0);
        check([0, 4], [4, 4], 2.0 / 70.0);
        check([0, 100], [0, 100], 1.0);
        // 100 choose 5 of the head's matches over 200 choose 5 of all.
        check([0, 100], [5, 100], 0.059_383_210_468_587);
    }

    /// Faulty matches and all matches of base and head, and the p-values of
    /// scipy's `fisher_exact`.
    const VECTORS: [([u64; 2], [u64; 2], f64); 25] = [
        ([0, 624], [68, 624], 9.828_316_523_466_061e-22),
        ([0, 515], [0, 515], 1.0),
        ([515, 515], [515, 515], 1.0),
        ([3, 515], [5, 515], 0.725_494_902_244_852_4),
        ([5, 1000], [9, 1000], 0.422_293_970_479_993_9),
        ([0, 1000], [1, 1000], 1.0),
        ([100, 10_000], [140, 10_000], 0.011_168_845_370_852_606),
        ([0, 10_000], [10, 10_000], 0.001_948_733_325_030_328_2),
        ([5000, 10_000], [5100, 10_000], 0.161_469_291_508_458_23),
        ([0, 100_000], [12, 100_000], 0.000_488_120_134_506_177_5),
        ([1000, 100_000], [1150, 100_000], 0.001_229_322_608_529_524),
        ([50_000, 100_000], [50_500, 100_000], 0.025_639_596_625_392_31),
        ([10, 1_000_000], [31, 1_000_000], 0.001_450_332_976_665_098_3),
        ([500_000, 1_000_000], [501_500, 1_000_000], 0.034_013_735_157_752_34),
        ([3, 10_000_000], [12, 10_000_000], 0.035_156_183_345_638_47),
        ([5_000_000, 10_000_000], [5_004_000, 10_000_000], 0.073_710_314_967_076_63),
        ([0, 1], [1, 1], 1.0),
        ([0, 2], [2, 2], 1.0 / 3.0),
        ([0, 3], [3, 3], 0.1),
        ([1, 10], [7, 10], 0.019_766_611_097_880_447),
        ([2, 7], [5, 1000], 0.000_856_292_569_202_348),
        ([999, 1000], [990, 1000], 0.011_504_767_503_741_683),
        ([0, 10], [200, 300], 2.404_328_522_156_019_3e-5),
        ([0, 0], [3, 5], 1.0),
        ([0, 300], [300, 300], 1.480_297_879_199_679_6e-179),
    ];

    #[test]
    fn the_p_values_are_those_of_scipy() {
        for (base, head, two_sided) in VECTORS {
            let [base, head] = [base, head].map(|[faulty, all]| FaultyMatches { faulty, all });
            let found = different_faults(base, head);
            assert!((found / two_sided - 1.0).abs() < 1e-8, "{base:?} {head:?}: {found}");
        }
    }

    /// Smaller than the smallest number, and still no nonsense.
    #[test]
    fn however_many_matches_there_is_a_probability() {
        for all in [1_000, 1_030, 100_000, 10_000_000] {
            let [none, half, every] = [0, all / 2, all].map(|faulty| FaultyMatches { faulty, all });
            for (base, head) in [(none, every), (every, none), (none, half), (half, half)] {
                let p = different_faults(base, head);
                assert!((0.0..=1.0).contains(&p), "{base:?} {head:?}: {p}");
            }
            assert!(different_faults(none, every) < 1e-300);
            assert_eq!(different_faults(half, half), 1.0);
            assert_eq!(different_faults(none, none), 1.0);
        }
    }

    proptest! {
        #[test]
        fn it_is_symmetric(base in 0u64..20, head in 0u64..30) {
            let (base, head) = (FaultyMatches { faulty: base, all: 20 }, FaultyMatches { faulty: head, all: 30 });
            prop_assert!((different_faults(base, head) - different_faults(head, base)).abs() < 1e-9);
        }
    }
}
