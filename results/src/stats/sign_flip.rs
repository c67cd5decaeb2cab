//! A test that a mean difference is zero, without assumptions on how blocks are
//! distributed.
//!
//! If two players are equally strong, each block could as well have had the
//! opposite difference. The p-value is the share of all assignments of signs
//! whose mean is at least the observed one (Fisher, "The design of
//! experiments", 1935, section 21). It is counted exactly where blocks are few, or
//! all are multiples of a common unit. Else signs are drawn; the observed
//! assignment counts as one of the draws, so that the p-value is never too small
//! (Phipson & Smyth, "Permutation p-values should never be zero", 2010). What is
//! too rare to be drawn is bounded from above: see [`upper_bound`].

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::stats::block::BlockScore;
use crate::stats::laps::weights;
use crate::stats::mean::by_stratum;
use crate::stats::normal::normal_cdf;

/// Maximum number of blocks whose signs are all tried.
pub const MAX_EXACT: usize = 20;

/// Maximum number of steps of counting all assignments by their sum: a step for each block and
/// possible sum.
const MAX_STEPS: f64 = 5e7;

/// Maximum number of signs that are drawn.
const MAX_DRAWN: f64 = 3e8;

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// Probability of a mean at least this high if there were no difference.
    pub greater: f64,
    /// Probability of a mean at least this low.
    pub less: f64,
    /// Probability of a mean at least this far from zero.
    pub two_sided: f64,
    /// Whether all assignments of signs were counted.
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
    if terms.len() <= MAX_EXACT {
        let mut counts = Counts::of(&terms);
        all_sums(&terms, |sum| counts.add(sum));
        return counts.shares(true);
    }
    if let Some(multiples) = multiples(&terms) {
        return counted(&multiples);
    }
    sampled(&terms, n_draws, seed)
}

/// The terms in units of which all are multiples, if sums of those can be counted.
fn multiples(terms: &[f64]) -> Option<Vec<i64>> {
    let most = terms.iter().fold(0.0, |most: f64, term| most.max(term.abs()));
    let tolerance = 1e-9 * most;
    let mut unit: f64 = 0.0;
    for term in terms {
        // Euclid's algorithm, for numbers with a rounding error.
        let (mut a, mut b) = (unit.max(term.abs()), unit.min(term.abs()));
        while b > tolerance {
            let rest = a - (a / b).round() * b;
            (a, b) = (b, rest.abs());
        }
        unit = a;
        let sum = terms.len() as f64 * most / unit;
        if sum * terms.len() as f64 > MAX_STEPS * 100.0 {
            return None;
        }
    }
    let multiples: Vec<i64> = terms.iter().map(|term| (term / unit).round() as i64).collect();
    let sum: i64 = multiples.iter().map(|term| term.abs()).sum();
    let exact = terms.iter().zip(&multiples);
    let exact = exact.into_iter().all(|(term, &n)| (term - n as f64 * unit).abs() < 1e-6 * unit);
    (exact && sum as f64 * terms.len() as f64 <= MAX_STEPS).then_some(multiples)
}

/// Counts all assignments by the sum of the terms that are taken as positive.
fn counted(terms: &[i64]) -> SignFlip {
    let sizes: Vec<usize> = terms.iter().map(|term| term.unsigned_abs() as usize).collect();
    let all: usize = sizes.iter().sum();
    let mut shares = vec![0.0; all + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for size in sizes {
        reached += size;
        for sum in (0..=reached).rev() {
            let without = if sum + size <= reached { shares[sum] } else { 0.0 };
            let with = if sum >= size { shares[sum - size] } else { 0.0 };
            shares[sum] = 0.5 * (without + with);
        }
    }
    // Sums are symmetric, and this one is 2 positive - all.
    let observed: i64 = terms.iter().sum();
    let positive = (all as i64 + observed.abs()) as usize / 2;
    // What is left of shares too small for any number is more than nothing.
    let beyond = shares[positive..].iter().rev().sum::<f64>().clamp(f64::MIN_POSITIVE, 1.0);
    let short_of = (shares[..=positive].iter().sum::<f64>()).min(1.0);
    let (greater, less) = if observed >= 0 { (beyond, short_of) } else { (short_of, beyond) };
    let two_sided = if observed == 0 { 1.0 } else { (2.0 * beyond).min(1.0) };
    SignFlip { greater, less, two_sided, exact: true }
}

/// Draws signs, where they are not too many; beyond what draws can show, and where
/// there are none, takes the bound.
fn sampled(terms: &[f64], n_draws: u32, seed: u64) -> SignFlip {
    let bound = upper_bound(terms);
    let observed: f64 = terms.iter().sum();
    let (greater, less) = if observed >= 0.0 { (bound, 1.0) } else { (1.0, bound) };
    let bounded = SignFlip { greater, less, two_sided: (2.0 * bound).min(1.0), exact: false };
    if n_draws == 0 || f64::from(n_draws) * terms.len() as f64 > MAX_DRAWN {
        return bounded;
    }
    let mut counts = Counts::of(terms);
    counts.add(observed);
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    (0..n_draws).for_each(|_| counts.add(drawn_sum(terms, &mut rng)));
    let drawn = counts.shares(false);
    // A p-value may not be chosen for being small. A bound so far below what draws
    // can show is taken whatever they showed.
    let rare = |bound: f64| bound * 100.0 * f64::from(n_draws) < 1.0;
    let either = |bound: f64, drawn: f64| if rare(bound) { bound } else { drawn };
    SignFlip {
        greater: either(bounded.greater, drawn.greater),
        less: either(bounded.less, drawn.less),
        two_sided: either(bounded.two_sided, drawn.two_sided),
        exact: false,
    }
}

/// At least the probability of a sum of `terms` with random signs that is as far
/// from zero to the observed side: the lesser of two bounds by the normal
/// distribution. Its tail times 3.178 is one, for any terms (V. Bentkus & D.
/// Dzindzalieta, "A tight Gaussian bound for weighted sums of Rademacher random
/// variables", Bernoulli 21, 2015); the tail and 0.56 times the sum of cubes over
/// the cube of the standard deviation is the other (I. Shevtsova, "An improvement
/// of convergence rate estimates in the Lyapunov theorem", 2010).
#[must_use]
pub fn upper_bound(terms: &[f64]) -> f64 {
    let sd = terms.iter().map(|term| term * term).sum::<f64>().sqrt();
    if sd == 0.0 {
        return 1.0;
    }
    let tail = normal_cdf(-(terms.iter().sum::<f64>() / sd).abs());
    let cubes: f64 = terms.iter().map(|term| (term / sd).abs().powi(3)).sum();
    (3.178 * tail).min(tail + 0.56 * cubes).clamp(f64::MIN_POSITIVE, 1.0)
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
    fn of(terms: &[f64]) -> Self {
        let scale: f64 = terms.iter().map(|term| term.abs()).sum();
        Self { observed: terms.iter().sum(), tolerance: 1e-9 * scale, ..Self::default() }
    }

    fn shares(&self, exact: bool) -> SignFlip {
        let share = |n: u64| n as f64 / self.n as f64;
        let (greater, less) = (share(self.n_greater), share(self.n_less));
        SignFlip { greater, less, two_sided: share(self.n_beyond), exact }
    }

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
    fn multiples_of_a_unit_are_counted() {
        // 40 equal blocks, 27 won: the sum is that of a binomial variable.
        let terms: Vec<f64> = (0..40).map(|i| if i < 27 { 0.1 } else { -0.1 }).collect();
        let found = sign_flip_terms(&terms, 0, 0);
        assert!(found.exact);
        assert!((found.greater - 0.019_238_654_142_100_13).abs() < 1e-12, "{found:?}");
        // Far beyond what draws could show.
        let all_won = sign_flip_terms(&[25.0; 64], 99, 1);
        assert!((all_won.greater / 0.5f64.powi(64) - 1.0).abs() < 1e-9, "{all_won:?}");
        assert!((all_won.less - 1.0).abs() < 1e-12);
        let none = sign_flip_terms(&[-100.0; 5000], 0, 0);
        assert!(none.exact && none.less > 0.0 && none.less < 1e-300, "{none:?}");
    }

    /// Counting sums, trying all signs and drawing say the same.
    #[test]
    fn all_ways_agree() {
        let odd = |i: usize| {
            (1.0 + (i as f64 * 0.7).sin()) * if i.is_multiple_of(3) { -1.0 } else { 1.0 }
        };
        let whole: Vec<f64> = (0..18).map(|i| (10.0 * odd(i)).round()).collect();
        let terms: Vec<f64> = whole.iter().copied().filter(|&term| term != 0.0).collect();
        let counted = counted(&multiples(&terms).unwrap());
        let tried = sign_flip_terms(&whole, 0, 0);
        assert!((counted.greater - tried.greater).abs() < 1e-12, "{counted:?} {tried:?}");
        assert!((counted.less - tried.less).abs() < 1e-12);
        assert!((counted.two_sided - tried.two_sided).abs() < 1e-12);
        let many: Vec<f64> = (0..60).map(|i| odd(i) + 1e-7 * i as f64).collect();
        assert_eq!(multiples(&many), None);
        let drawn = sign_flip_terms(&many, 20_000, 1);
        assert!(!drawn.exact && drawn.greater <= upper_bound(&many) + 0.01, "{drawn:?}");
        assert_eq!(drawn, sign_flip_terms(&many, 20_000, 1));
    }

    /// Terms without a common unit, all won: what draws cannot show is bounded.
    #[test]
    fn rare_results_are_bounded_from_above() {
        let terms: Vec<f64> = (0..100).map(|i| 1.0 + (i as f64).sqrt() / 7.0).collect();
        let found = sign_flip_terms(&terms, 10_000, 1);
        // Truly 2^-100.
        assert!(!found.exact && found.greater > 0.5f64.powi(100) && found.greater < 1e-15);
        assert_eq!(found.greater, upper_bound(&terms));
        assert_eq!(found.less, 1.0);
        // Too many to be drawn.
        let many: Vec<f64> = (0..100_000).map(|i| 1.0 + (f64::from(i)).sqrt()).collect();
        assert!(sign_flip_terms(&many, 10_000, 1).greater < 1e-300);
    }

    /// No p-value is too small: equal players give one of at most alpha in no more
    /// than alpha of cases.
    #[test]
    fn false_alarms_are_as_rare_as_promised() {
        use rand::RngExt;
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        for unit in [25.0, 25.1e-5] {
            let rejected = (0..2000)
                .filter(|_| {
                    let terms: Vec<f64> = (0..40)
                        .map(|i| {
                            unit * f64::from(rng.random_range(-4..=4i32))
                                * (1.0 + 1e-6 * f64::from(i))
                        })
                        .collect();
                    sign_flip_terms(&terms, 400, 5).two_sided <= 0.05
                })
                .count();
            // 5 % of 2000 are 100; three standard deviations are 29.
            assert!(rejected <= 129, "{unit}: {rejected}");
        }
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
