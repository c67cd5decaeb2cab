//! Whether one player commits faults more often than another, asked while
//! matches are still played.
//!
//! Matches come in pairs that differ only in which of the two players sat there.
//! A gambler bets against "in no pair is the head more likely than the base to
//! commit a fault"; if that is true he ever multiplies his capital by `1 / alpha`
//! with probability `alpha` at most, whenever one looks (Ville's inequality). For
//! two independent matches with faults of probability `b` and `h` he would expect,
//! each outcome pays its probability over that under the closest equal
//! probability, `(b + h) / 2`: R. Turner, A. Ly & P. Grünwald, "Generic E-variables
//! for exact sequential k-sample tests that allow for optional stopping" (2024),
//! section 2. The probabilities themselves may change from pair to pair, as they
//! do on a machine under load. Where both players sit in one match, their faults
//! may exclude each other; then only pairs in which one of the two is faulty pay,
//! as in a sign test, which holds however the faults depend on each other.
//!
//! What the gambler expects is not known beforehand: he divides his capital among
//! bets on rates from one in a thousand to nearly all, half of it on a base
//! without any fault.

/// How often the head may be expected to commit a fault.
const HEAD_RATES: [f64; 9] = [0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.8, 0.95, 0.999];
/// How often a base that commits faults may be expected to.
const BASE_RATES: [f64; 8] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.8];

/// Which of two players that sat in the same place committed a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultyPair {
    /// The base did.
    pub base: bool,
    /// The head did.
    pub head: bool,
    /// Both played in the same match.
    pub same_match: bool,
}

/// Bets on what faults the two players commit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bet {
    base: f64,
    head: f64,
    /// Natural logarithm of the share of the capital.
    log_share: f64,
}

/// The test under way.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultTest {
    /// Pairs of two matches by outcome: nobody, base, head, both.
    apart: [u64; 4],
    /// Pairs within one match by the same.
    together: [u64; 4],
    log_most: f64,
}

impl Default for FaultTest {
    fn default() -> Self {
        Self { apart: [0; 4], together: [0; 4], log_most: 0.0 }
    }
}

impl FaultTest {
    /// Takes the next pair, and returns the natural logarithm of the capital.
    pub fn add(&mut self, pair: FaultyPair) -> f64 {
        let outcome = usize::from(pair.base) + 2 * usize::from(pair.head);
        let counts = if pair.same_match { &mut self.together } else { &mut self.apart };
        counts[outcome] += 1;
        let log_capital = self.log_capital();
        self.log_most = self.log_most.max(log_capital);
        log_capital
    }

    /// Natural logarithm of the capital now: evidence that the head commits
    /// faults more often; 0 for none.
    #[must_use]
    pub fn log_capital(&self) -> f64 {
        let logs: Vec<f64> =
            bets().map(|bet| bet.log_share + bet.log_gain(&self.apart, &self.together)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
    }

    /// A p-value that holds at any time: the probability that the capital ever
    /// grows as much as it once had if the head were as reliable as the base.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        (-self.log_most).exp()
    }

    /// Whether the head commits faults more often, with an error of `alpha`.
    #[must_use]
    pub fn rejects(&self, alpha: f64) -> bool {
        self.log_most >= -alpha.ln()
    }

    /// Pairs seen.
    #[must_use]
    pub fn n_pairs(&self) -> u64 {
        self.apart.iter().chain(&self.together).sum()
    }
}

fn bets() -> impl Iterator<Item = Bet> {
    let faultless = HEAD_RATES.into_iter().map(|head| (0.0, head));
    let faulty = BASE_RATES.into_iter().flat_map(|base| HEAD_RATES.map(|head| (base, head)));
    let faulty = faulty.filter(|(base, head)| base < head);
    let (n_faultless, n_faulty) = (faultless.clone().count(), faulty.clone().count());
    let share = |n: usize| -(2.0 * n as f64).ln();
    let bet = |log_share: f64| move |(base, head)| Bet { base, head, log_share };
    faultless.map(bet(share(n_faultless))).chain(faulty.map(bet(share(n_faulty))))
}

impl Bet {
    /// Natural logarithm of what the bet has multiplied its capital by.
    fn log_gain(self, apart: &[u64; 4], together: &[u64; 4]) -> f64 {
        let Self { base, head, .. } = self;
        let equal = (base + head) / 2.0;
        let sound = |rate: f64| (1.0 - rate) / (1.0 - equal);
        let faulty = |rate: f64| rate / equal;
        let pays = [
            sound(base) * sound(head),
            faulty(base) * sound(head),
            sound(base) * faulty(head),
            faulty(base) * faulty(head),
        ];
        // Of pairs in which one of the two is faulty, how often it is the head.
        let odds = [base * (1.0 - head), head * (1.0 - base)];
        let share = odds[1] / (odds[0] + odds[1]);
        let pays_together = [1.0, 2.0 * (1.0 - share), 2.0 * share, 1.0];
        let gain = |counts: &[u64; 4], pays: [f64; 4]| -> f64 {
            // What never happened costs nothing, also where it would cost all.
            let terms = counts.iter().zip(pays).filter(|(n, _)| **n > 0);
            terms.map(|(&n, pays)| n as f64 * pays.ln()).sum()
        };
        gain(apart, pays) + gain(together, pays_together)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// The share of the gate in a usual comparison.
    const ALPHA: f64 = 0.01;

    /// Shares of runs in which the head is found out, and the mean number of pairs
    /// that it takes.
    fn found_out(
        n_runs: u64,
        n_pairs: u32,
        same_match: bool,
        mut draw: impl FnMut(&mut Pcg64Mcg) -> [bool; 2],
    ) -> (f64, f64) {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let (mut n_found, mut n_played) = (0, 0);
        for _ in 0..n_runs {
            let mut test = FaultTest::default();
            for _ in 0..n_pairs {
                let [base, head] = draw(&mut rng);
                test.add(FaultyPair { base, head, same_match });
                if test.rejects(ALPHA) {
                    n_found += 1;
                    n_played += test.n_pairs();
                    break;
                }
            }
        }
        (n_found as f64 / n_runs as f64, n_played as f64 / n_found.max(1) as f64)
    }

    fn rates(base: f64, head: f64) -> impl FnMut(&mut Pcg64Mcg) -> [bool; 2] {
        move |rng| [rng.random_bool(base), rng.random_bool(head)]
    }

    #[test]
    fn false_alarms_are_rare_at_any_rate() {
        for rate in [0.0, 0.01, 0.1, 0.5, 1.0] {
            for same_match in [false, true] {
                let (share, _) = found_out(200, 300, same_match, rates(rate, rate));
                // 1 % is allowed, and three standard errors of 200 runs.
                assert!(share <= 0.031, "{rate} {same_match}: {share}");
            }
        }
    }

    /// A busy machine: for some pairs in a row every other match is late.
    #[test]
    fn false_alarms_are_rare_when_rates_change() {
        let mut left = 0;
        let busy = move |rng: &mut Pcg64Mcg| {
            left = if left > 0 { left - 1 } else { 20 * u32::from(rng.random_bool(0.01)) };
            let rate = if left > 0 { 0.5 } else { 0.001 };
            [rng.random_bool(rate), rng.random_bool(rate)]
        };
        let (share, _) = found_out(200, 300, false, busy);
        assert!(share <= 0.031, "{share}");
    }

    /// One of the two is faulty in every match, by the throw of a coin.
    #[test]
    fn faults_that_exclude_each_other_give_no_false_alarm_within_a_match() {
        let either = |rng: &mut Pcg64Mcg| {
            let head = rng.random_bool(0.5);
            [!head, head]
        };
        let (share, _) = found_out(200, 300, true, either);
        assert!(share <= 0.031, "{share}");
    }

    #[test]
    fn a_less_reliable_head_is_found_out() {
        for (head, n_pairs, same_match) in [
            (1.0, 5, false),
            (1.0, 9, true),
            (0.1, 300, false),
            (0.1, 300, true),
            (0.01, 2500, false),
        ] {
            let (share, _) = found_out(50, n_pairs, same_match, rates(0.0, head));
            assert!(share >= 0.95, "{head} {n_pairs} {same_match}: {share}");
        }
    }

    #[test]
    fn how_many_faults_it_takes_is_a_table() {
        let check = |pair: FaultyPair, alpha: f64, expected: u64| {
            let mut test = FaultTest::default();
            while !test.rejects(alpha) {
                test.add(pair);
            }
            assert_eq!(test.n_pairs(), expected, "{pair:?} {alpha}");
        };
        let head = FaultyPair { base: false, head: true, same_match: false };
        check(head, 0.01, 5);
        check(head, 0.002, 6);
        check(FaultyPair { same_match: true, ..head }, 0.01, 7);
    }

    proptest! {
        /// What a bet pays is a probability over a probability: on average it is 1
        /// if both players are alike, and less if the base is less reliable.
        #[test]
        fn no_bet_pays_more_than_it_costs(base in 0f64..=1.0, share in 0f64..=1.0) {
            let head = base * share;
            for bet in bets() {
                let mean = |pays: &dyn Fn(usize) -> f64| {
                    let p = [(1.0 - base) * (1.0 - head), base * (1.0 - head), (1.0 - base) * head, base * head];
                    (0..4).map(|outcome| p[outcome] * pays(outcome)).sum::<f64>()
                };
                let one = |outcome: usize| { let mut counts = [0; 4]; counts[outcome] = 1; counts };
                let apart = mean(&|outcome| bet.log_gain(&one(outcome), &[0; 4]).exp());
                let together = mean(&|outcome| bet.log_gain(&[0; 4], &one(outcome)).exp());
                prop_assert!(apart <= 1.0 + 1e-12 && together <= 1.0 + 1e-12, "{:?}", bet);
            }
        }

        #[test]
        fn evidence_is_a_number_however_much_there_is(
            apart in proptest::array::uniform4(0u64..1_000_000_000),
            together in proptest::array::uniform4(0u64..1_000_000_000),
        ) {
            let mut test = FaultTest { apart, together, log_most: 0.0 };
            let log = test.add(FaultyPair { base: false, head: true, same_match: false });
            prop_assert!(!log.is_nan() && log < f64::INFINITY);
            prop_assert!((0.0..=1.0).contains(&test.p_value()));
        }
    }
}
