//! How a sequential test behaves: how often it decides what, after how many
//! blocks, if blocks are distributed in a given way.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::stats::block::Difference;
use crate::stats::frequencies::Tally;
use crate::stats::sequential::{Sequence, SequentialTest, Verdict};

/// How a block may turn out, with probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcomes(Vec<(Difference, f64)>);

impl Outcomes {
    /// Outcomes with weights, which need not add up to 1.
    ///
    /// # Panics
    /// If there is no outcome, or a weight is negative, or all are zero.
    #[must_use]
    pub(crate) fn new(outcomes: impl IntoIterator<Item = (Difference, f64)>) -> Self {
        let outcomes: Vec<(Difference, f64)> = outcomes.into_iter().collect();
        let sum: f64 = outcomes.iter().map(|(_, weight)| weight).sum();
        let sound = outcomes.iter().all(|(_, weight)| *weight >= 0.0);
        assert!(sound && sum > 0.0 && sum.is_finite(), "weights of outcomes are positive");
        Self(outcomes.into_iter().map(|(difference, weight)| (difference, weight / sum)).collect())
    }

    /// Mean and standard deviation, points.
    #[must_use]
    pub(crate) fn mean_and_sd(&self) -> (f64, f64) {
        let mean: f64 = self.0.iter().map(|(difference, p)| p * difference.points()).sum();
        let square = |(difference, p): &(Difference, f64)| p * (difference.points() - mean).powi(2);
        (mean, self.0.iter().map(square).sum::<f64>().sqrt())
    }

    /// Draws an outcome.
    pub(crate) fn draw(&self, rng: &mut Pcg64Mcg) -> Difference {
        let mut left: f64 = rng.random();
        for (difference, p) in &self.0 {
            left -= p;
            if left < 0.0 {
                return *difference;
            }
        }
        self.0[self.0.len() - 1].0
    }
}

/// How a test behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Characteristics {
    /// Probability of accepting the null hypothesis.
    pub(crate) null: f64,
    /// Probability of accepting the alternative.
    pub(crate) alternative: f64,
    /// Probability of reaching the limit.
    pub(crate) exhausted: f64,
    /// Mean number of blocks.
    pub(crate) mean_blocks: f64,
    /// 95 % of tests take no more blocks.
    pub p95_blocks: u64,
}

/// Plays the test `n_tests` times. A test without a limit is given one at
/// 100,000 blocks.
///
/// # Panics
/// If `n_tests` is 0.
#[must_use]
pub(crate) fn simulate(
    test: &SequentialTest,
    outcomes: &Outcomes,
    n_tests: u32,
    seed: u64,
) -> Characteristics {
    assert!(n_tests > 0, "at least one test");
    let test = SequentialTest { max_blocks: test.max_blocks.or(Some(100_000)), ..*test };
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut ends = Ends::default();
    for _ in 0..n_tests {
        let mut sequence = Sequence::new(test);
        for place in 0.. {
            let drawn = outcomes.draw(&mut rng);
            let verdict = sequence.finish(place, Some(drawn)).expect("each place once");
            if verdict != Verdict::GoOn {
                ends.add(verdict, place + 1, 1.0 / f64::from(n_tests));
                break;
            }
        }
    }
    ends.characteristics()
}

/// Follows all tests at once, exactly: the probability of each combination of
/// counts that has not been decided. `None` if the test has no limit, or if
/// there are ever more than `max_combinations` of them: `n` blocks of `k`
/// outcomes have some `n^(k-1) / (k-1)!`.
#[must_use]
pub(crate) fn exact(
    test: &SequentialTest,
    outcomes: &Outcomes,
    max_combinations: usize,
) -> Option<Characteristics> {
    let max_blocks = test.max_blocks?;
    let outcomes = &outcomes.0;
    let mut undecided: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    undecided.insert(vec![0; outcomes.len()], 1.0);
    let mut ends = Ends::default();
    for n in 1..=max_blocks {
        let mut reached: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for (counts, p) in &undecided {
            for (index, (_, share)) in outcomes.iter().enumerate().filter(|(_, o)| o.1 > 0.0) {
                let mut counts = counts.clone();
                counts[index] += 1;
                *reached.entry(counts).or_default() += p * share;
            }
        }
        if reached.len() > max_combinations {
            return None;
        }
        reached.retain(|counts, p| {
            let verdict = judge(test, outcomes, counts, n);
            if verdict != Verdict::GoOn {
                ends.add(verdict, n, *p);
            }
            verdict == Verdict::GoOn
        });
        undecided = reached;
    }
    Some(ends.characteristics())
}

fn judge(test: &SequentialTest, outcomes: &[(Difference, f64)], counts: &[u32], n: u64) -> Verdict {
    if !test.looks(n) {
        return Verdict::GoOn;
    }
    let mut tally = Tally::within(test.largest);
    for ((difference, _), count) in outcomes.iter().zip(counts) {
        tally.add_times(*difference, u64::from(*count));
    }
    test.judge(n, test.hypotheses.llr(&tally.frequencies()))
}

/// Ends of tests, and with what probability.
#[derive(Default)]
struct Ends {
    null: f64,
    alternative: f64,
    exhausted: f64,
    by_blocks: BTreeMap<u64, f64>,
}

impl Ends {
    fn add(&mut self, verdict: Verdict, n_blocks: u64, p: f64) {
        match verdict {
            Verdict::Null => self.null += p,
            Verdict::Alternative => self.alternative += p,
            Verdict::Exhausted => self.exhausted += p,
            Verdict::GoOn => unreachable!("a test that goes on has not ended"),
        }
        *self.by_blocks.entry(n_blocks).or_default() += p;
    }

    fn characteristics(self) -> Characteristics {
        let mut sum = 0.0;
        let reached = self.by_blocks.iter().find(|(_, p)| {
            sum += **p;
            sum >= 0.95 - 1e-12
        });
        Characteristics {
            null: self.null,
            alternative: self.alternative,
            exhausted: self.exhausted,
            mean_blocks: self.by_blocks.iter().map(|(&n, p)| n as f64 * p).sum(),
            p95_blocks: reached.map_or(0, |(&n, _)| n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::gsprt::Hypotheses;

    fn outcomes(weights: [f64; 3]) -> Outcomes {
        Outcomes::new([-100, 0, 100].map(Difference::whole).into_iter().zip(weights))
    }

    fn test(max_blocks: u64) -> SequentialTest {
        SequentialTest {
            min_blocks: 10,
            max_blocks: Some(max_blocks),
            ..SequentialTest::new(Hypotheses::Normalized([0.0, 0.5]))
        }
    }

    #[test]
    fn simulation_agrees_with_the_exact_probabilities() {
        let (test, outcomes) = (test(40), outcomes([1.0, 1.0, 1.5]));
        let exact = exact(&test, &outcomes, 10_000).unwrap();
        let simulated = simulate(&test, &outcomes, 2000, 5);
        assert!((exact.null + exact.alternative + exact.exhausted - 1.0).abs() < 1e-9);
        let close = |a: f64, b: f64, tolerance: f64| {
            assert!((a - b).abs() < tolerance, "{exact:?} {simulated:?}")
        };
        // Three standard errors.
        close(exact.null, simulated.null, 0.035);
        close(exact.alternative, simulated.alternative, 0.035);
        close(exact.mean_blocks, simulated.mean_blocks, 0.8);
        assert!(exact.p95_blocks.abs_diff(simulated.p95_blocks) <= 1);
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        assert_eq!(exact(&test(40), &outcomes([1.0; 3]), 10), None);
        let unlimited = SequentialTest { max_blocks: None, ..test(1) };
        assert_eq!(exact(&unlimited, &outcomes([1.0; 3]), 10_000), None);
    }

    #[test]
    fn a_longer_test_is_exhausted_less_often() {
        let outcomes = outcomes([1.0, 2.0, 1.0]);
        let [short, long] = [20, 40].map(|n| exact(&test(n), &outcomes, 10_000).unwrap());
        assert!(short.exhausted > long.exhausted && short.mean_blocks < long.mean_blocks);
        let (mean, sd) = outcomes.mean_and_sd();
        assert!(mean.abs() < 1e-12 && (sd - 5000f64.sqrt()).abs() < 1e-9);
    }
}
