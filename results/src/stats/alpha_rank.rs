//! Alpha-rank: S. Omidshafiei et al., "α-Rank: multi-agent evaluation by
//! evolution" (2019).
//!
//! A population of one strategy is now and then invaded by a mutant of another,
//! which dies out or takes over, with a probability that grows with its payoff.
//! A strategy's mass is the share of time in which the whole population plays it. Works for
//! any number of roles and without zero sums, and shows cycles where ratings on
//! a line cannot. Formulas as in OpenSpiel's `alpharank`.

/// How evolution goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaRank {
    /// Size of a population.
    pub population: u32,
    /// Selection: how strongly payoffs matter, in 1 / their unit. From 0 for not
    /// at all; results settle as it grows.
    pub alpha: f64,
}

/// The least probability of taking over, so that no strategy is a dead end.
const LEAST: f64 = 1e-200;

impl AlphaRank {
    /// Masses of the strategies of a symmetric game of two: `payoffs[i][j]` is
    /// what `i` gets against `j`. All players of one game whose roles were
    /// rotated are such strategies.
    ///
    /// # Panics
    /// If the matrix is not square or the population below 2.
    #[must_use]
    pub fn one_population(&self, payoffs: &[Vec<f64>]) -> Vec<f64> {
        let n = payoffs.len();
        assert!(payoffs.iter().all(|row| row.len() == n), "a square matrix");
        assert!(self.population >= 2, "a population of two or more");
        let mut rates = vec![vec![0.0; n]; n];
        for (resident, rates) in rates.iter_mut().enumerate() {
            for (mutant, rate) in rates.iter_mut().enumerate().filter(|(m, _)| *m != resident) {
                *rate = self.takes_over(payoffs, resident, mutant) / (n - 1) as f64;
            }
        }
        stationary(rates)
    }

    /// Probability that one mutant among residents takes over the population:
    /// a birth-death process with fitness `exp(alpha payoff)`, each meeting all
    /// others.
    fn takes_over(&self, payoffs: &[Vec<f64>], resident: usize, mutant: usize) -> f64 {
        let others = f64::from(self.population - 1);
        // What a mutant is ahead changes evenly with their number; where it does not
        // change, as in games of zero sum, the sum is a geometric one.
        let ahead = |mutants: f64| {
            let residents = f64::from(self.population) - mutants;
            let of_mutant =
                (mutants - 1.0) * payoffs[mutant][mutant] + residents * payoffs[mutant][resident];
            let of_resident = mutants * payoffs[resident][mutant]
                + (residents - 1.0) * payoffs[resident][resident];
            (of_mutant - of_resident) / others
        };
        let (one, all) = (ahead(1.0), ahead(others));
        if (one - all).abs() <= 1e-12 * one.abs() {
            return self.takes_over_by(one);
        }
        let mut exponent = 0.0;
        let mut sum = 1.0;
        for n_mutants in 1..self.population {
            exponent -= self.alpha * ahead(f64::from(n_mutants));
            sum += exponent.exp();
        }
        (1.0 / sum).max(LEAST)
    }

    /// The same where the payoff does not depend on how many mutants there are.
    fn takes_over_by(&self, advantage: f64) -> f64 {
        let u = self.alpha * advantage;
        let population = f64::from(self.population);
        let p = if u.abs() < 1e-12 {
            1.0 / population
        } else {
            (-u).exp_m1() / (-population * u).exp_m1()
        };
        if p.is_finite() { p.max(LEAST) } else { LEAST }
    }
}

/// The stationary distribution of a chain with these rates, by the elimination
/// of W. Grassmann, M. Taksar & D. Heyman (1985), which subtracts nothing and so
/// is exact to the last digits however different the rates.
fn stationary(mut rates: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rates.len();
    for last in (1..n).rev() {
        let out: f64 = rates[last][..last].iter().sum();
        for i in 0..last {
            rates[i][last] /= out;
            for j in (0..last).filter(|&j| j != i) {
                rates[i][j] += rates[i][last] * rates[last][j];
            }
        }
    }
    let mut masses = vec![0.0; n];
    if n > 0 {
        masses[0] = 1.0;
    }
    for last in 1..n {
        masses[last] = (0..last).map(|i| masses[i] * rates[i][last]).sum();
        // Rates differ so much that masses may overflow before they are scaled.
        let sum: f64 = masses[..=last].iter().sum();
        masses[..=last].iter_mut().for_each(|mass| *mass /= sum);
    }
    masses
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STRONG: AlphaRank = AlphaRank { population: 50, alpha: 100.0 };

    fn check(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_cycle_shares_and_a_dominant_strategy_takes_all() {
        let cycle = [vec![0.0, -1.0, 1.0], vec![1.0, 0.0, -1.0], vec![-1.0, 1.0, 0.0]];
        check(&STRONG.one_population(&cycle), &[1.0 / 3.0; 3]);
        let line = [vec![0.0, 1.0, 1.0], vec![-1.0, 0.0, 1.0], vec![-1.0, -1.0, 0.0]];
        check(&STRONG.one_population(&line), &[1.0, 0.0, 0.0]);
        check(&STRONG.one_population(&[vec![3.0]]), &[1.0]);
    }

    #[test]
    fn without_selection_all_are_alike() {
        let neutral = AlphaRank { alpha: 0.0, ..STRONG };
        let line = [vec![0.0, 1.0, 1.0], vec![-1.0, 0.0, 1.0], vec![-1.0, -1.0, 0.0]];
        check(&neutral.one_population(&line), &[1.0 / 3.0; 3]);
    }

    proptest! {
        #[test]
        fn masses_add_up_and_follow_the_strategies(payoffs in proptest::collection::vec(-1.0f64..1.0, 16), alpha in 0.0f64..50.0) {
            let evolution = AlphaRank { population: 30, alpha };
            let matrix: Vec<Vec<f64>> = payoffs.chunks(4).map(<[f64]>::to_vec).collect();
            let reversed: Vec<Vec<f64>> = payoffs.rchunks(4).map(|row| row.iter().rev().copied().collect()).collect();
            let (found, other) = (evolution.one_population(&matrix), evolution.one_population(&reversed));
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (mass, other) in found.iter().zip(other.iter().rev()) {
                prop_assert!((mass - other).abs() < 1e-6);
            }
        }
    }
}
