//! A test that a mean difference is zero, without assumptions on how blocks are
//! distributed.
//!
//! If two players are equally strong, each block could as well have had the
//! opposite difference. The p-value is the share of all assignments of signs
//! whose mean is at least the observed one (Fisher, "The design of
//! experiments", 1935, section 21). With many blocks signs are drawn instead;
//! the observed assignment counts as one of the draws, so that the p-value is
//! never too small (Phipson & Smyth, "Permutation p-values should never be
//! zero", 2010).

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::stats::block::BlockScore;
use crate::stats::laps::weights;
use crate::stats::mean::by_stratum;

/// Most blocks whose signs are all tried.
pub const MAX_EXACT: usize = 20;

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// Probability of a mean at least this high if there were no difference.
    pub greater: f64,
    /// Probability of a mean at least this low.
    pub less: f64,
    /// Probability of a mean at least this far from zero.
    pub two_sided: f64,
    /// Whether all assignments of signs were tried.
    pub exact: bool,
}

/// Tests the mean over `blocks`, weighted as in [`mean`](crate::stats::mean).
/// For more than [`MAX_EXACT`] blocks `n_draws` assignments are drawn from `seed`.
#[must_use]
pub fn sign_flip(blocks: &[BlockScore], n_draws: u32, seed: u64) -> SignFlip {
    let weights = weights(blocks);
    let strata = by_stratum(blocks);
    let terms = strata.iter().flat_map(|(stratum, points)| {
        let weight = weights[*stratum] / points.len() as f64;
        points.iter().map(move |points| weight * points)
    });
    sign_flip_terms(&terms.collect::<Vec<f64>>(), n_draws, seed)
}

/// Tests a sum of `terms`, each of which could as well have the opposite sign.
#[must_use]
pub fn sign_flip_terms(terms: &[f64], n_draws: u32, seed: u64) -> SignFlip {
    // Terms of zero are the same under both signs.
    let terms: Vec<f64> = terms.iter().copied().filter(|&term| term != 0.0).collect();
    let observed: f64 = terms.iter().sum();
    let scale: f64 = terms.iter().map(|term| term.abs()).sum();
    let mut counts = Counts { observed, tolerance: 1e-9 * scale, ..Counts::default() };
    let exact = terms.len() <= MAX_EXACT;
    if exact {
        all_sums(&terms, |sum| counts.add(sum));
    } else {
        counts.add(observed);
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        (0..n_draws).for_each(|_| counts.add(drawn_sum(&terms, &mut rng)));
    }
    let share = |n: u64| n as f64 / counts.n as f64;
    SignFlip {
        greater: share(counts.n_greater),
        less: share(counts.n_less),
        two_sided: share(counts.n_beyond),
        exact,
    }
}

#[derive(Default)]
struct Counts {
    observed: f64,
    /// Sums that differ by rounding only are equal.
    tolerance: f64,
    n: u64,
    n_greater: u64,
    n_less: u64,
    n_beyond: u64,
}

impl Counts {
    fn add(&mut self, sum: f64) {
        self.n += 1;
        self.n_greater += u64::from(sum >= self.observed - self.tolerance);
        self.n_less += u64::from(sum <= self.observed + self.tolerance);
        self.n_beyond += u64::from(sum.abs() >= self.observed.abs() - self.tolerance);
    }
}

/// Visits the sums of all assignments of signs, changing one sign at a time
/// (Gray code).
fn all_sums(terms: &[f64], mut visit: impl FnMut(f64)) {
    let mut signs = vec![1.0; terms.len()];
    let mut sum: f64 = terms.iter().sum();
    visit(sum);
    for step in 1..1u64 << terms.len() {
        let flipped = step.trailing_zeros() as usize;
        signs[flipped] = -signs[flipped];
        sum += 2.0 * signs[flipped] * terms[flipped];
        visit(sum);
    }
}

fn drawn_sum(terms: &[f64], rng: &mut Pcg64Mcg) -> f64 {
    let mut sum = 0.0;
    for chunk in terms.chunks(64) {
        let mut bits = rng.next_u64();
        for term in chunk {
            sum += if bits & 1 == 1 { *term } else { -term };
            bits >>= 1;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::block::made_up;

    #[test]
    fn six_blocks_exactly() {
        let found = sign_flip(&made_up([50, -50, 100, 0, 0, 10]), 0, 0);
        assert_eq!(found, SignFlip { greater: 0.25, less: 0.875, two_sided: 0.5, exact: true });
    }

    #[test]
    fn nothing_shows_nothing() {
        let found = sign_flip(&[], 0, 0);
        assert_eq!(found, SignFlip { greater: 1.0, less: 1.0, two_sided: 1.0, exact: true });
    }

    #[test]
    fn draws_approach_the_binomial() {
        // 40 equal blocks, 27 won: the sum is that of a binomial variable.
        let terms: Vec<f64> = (0..40).map(|i| if i < 27 { 1.0 } else { -1.0 }).collect();
        let found = sign_flip_terms(&terms, 100_000, 1);
        assert!(!found.exact);
        assert!((found.greater - 0.019_239).abs() < 0.002, "{found:?}");
        assert_eq!(found, sign_flip_terms(&terms, 100_000, 1));
        // However extreme, never zero.
        assert_eq!(sign_flip_terms(&[1.0; 64], 99, 1).greater, 0.01);
    }

    proptest! {
        #[test]
        fn p_values_are_symmetric_and_shrink_with_the_effect(
            points in proptest::collection::vec(-100i32..=100, 1..10), shift in 0i32..50,
        ) {
            let terms: Vec<f64> = points.iter().map(|&points| f64::from(points)).collect();
            let negated: Vec<f64> = terms.iter().map(|term| -term).collect();
            let (found, other) = (sign_flip_terms(&terms, 0, 0), sign_flip_terms(&negated, 0, 0));
            prop_assert_eq!((found.greater, found.two_sided), (other.less, other.two_sided));
            let scaled: Vec<f64> = terms.iter().map(|term| 7.5 * term).collect();
            prop_assert_eq!(sign_flip_terms(&scaled, 0, 0), found);
            let positive: Vec<f64> = terms.iter().map(|t| t.abs() + 1.0 + f64::from(shift)).collect();
            prop_assert_eq!(sign_flip_terms(&positive, 0, 0).greater, 0.5f64.powi(points.len() as i32));
        }
    }
}
