//! Evidence that may be looked at any time: betting against a hypothesis.
//!
//! A gambler with a capital of 1 bets on each block against the hypothesis that
//! the mean difference is no more than some value. If it is true the bets are
//! unfair to him, and he ever reaches a capital of `1 / alpha` with probability
//! `alpha` at most, whatever the distribution of blocks and whenever one looks
//! or stops (Ville's inequality). I. Waudby-Smith & A. Ramdas, "Estimating
//! means of bounded random variables by betting", JRSS B 86 (2024): theorem 1,
//! with the predictable plug-in bets of section 4; the confidence sequence is
//! the hedged capital process of section 4.4. Costs some 20 to 40 % more blocks
//! than the [GSPRT](crate::stats::gsprt), and asks for no model, no least
//! number of blocks, and no fixed moment.
//!
//! Blocks must be independent and of equal mean given the past. With several
//! games feed means of laps, or take care that games alternate.

/// Share of what would ruin the gambler in the worst case that he bets at most.
const BOLDEST: f64 = 0.5;

/// Mean and variance of the scores so far, begun with half an observation's
/// worth of prior knowledge.
#[derive(Clone, Copy, Debug)]
struct Plugin {
    n: f64,
    sum: f64,
    variance_sum: f64,
    variance: f64,
}

impl Plugin {
    fn new() -> Self {
        Self { n: 0.0, sum: 0.5, variance_sum: 0.25, variance: 0.25 }
    }

    /// The bet on the next observation, before the cap.
    fn bet(&self, log_odds: f64) -> f64 {
        let t = self.n + 1.0;
        (2.0 * log_odds / (self.variance * t * (t + 1.0).ln())).sqrt()
    }

    fn add(&mut self, score: f64) {
        self.n += 1.0;
        self.sum += score;
        let mean = self.sum / (self.n + 1.0);
        self.variance_sum += (score - mean).powi(2);
        self.variance = self.variance_sum / (self.n + 1.0);
    }
}

/// The capital of a gambler who bets that the mean score is above a value.
#[derive(Clone, Debug)]
pub struct EProcess {
    alpha: f64,
    null: f64,
    plugin: Plugin,
    /// Logarithms, since a capital may become smaller or larger than any number.
    ln_capital: f64,
    ln_most: f64,
}

impl EProcess {
    /// Bets against "the mean difference is at most `points`" with an error rate
    /// of `alpha`. To show that something is no worse than by a margin, bet
    /// against minus the margin.
    ///
    /// # Panics
    /// If `points` is not within -100 and 100 or `alpha` not within 0 and 1.
    #[must_use]
    pub fn against(points: f64, alpha: f64) -> Self {
        assert!(points > -100.0 && points < 100.0, "a mean within -100 and 100");
        assert!(alpha > 0.0 && alpha < 1.0, "an error rate within 0 and 1");
        let null = (points + 100.0) / 200.0;
        Self { alpha, null, plugin: Plugin::new(), ln_capital: 0.0, ln_most: 0.0 }
    }

    /// Takes the scores of independent blocks of one lap, each with a weight
    /// from 0 to 1. Holds against "the weighted mean of
    /// a lap is at most ..." even if blocks have different means, as those of
    /// different games have: all get the same bet, and with `m` the mean of a
    /// block beyond the hypothesis and `w` its weight, the capital is expected
    /// to change by `prod (1 + bet m)^w`, which is 1 at most if `sum w m` is not
    /// positive, since the geometric mean is not above the arithmetic one.
    ///
    /// # Panics
    /// If a score or a weight is not within 0 and 1.
    pub fn add_lap(&mut self, scores: &[(f64, f64)]) {
        let bet = self.plugin.bet((1.0 / self.alpha).ln()).min(BOLDEST / self.null);
        for &(score, weight) in scores {
            assert!((0.0..=1.0).contains(&score), "a score from 0 to 1");
            assert!((0.0..=1.0).contains(&weight), "a weight from 0 to 1");
            self.ln_capital += weight * (bet * (score - self.null)).ln_1p();
        }
        self.ln_most = self.ln_most.max(self.ln_capital);
        scores.iter().for_each(|&(score, _)| self.plugin.add(score));
    }

    /// Whether the hypothesis is rejected: the capital was once `1 / alpha`.
    #[must_use]
    pub fn rejects(&self) -> bool {
        self.ln_most >= -self.alpha.ln()
    }
}

/// Intervals for the mean difference that all hold at once, with the
/// probability of their level, whenever one looks.
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    /// Each of the two gamblers has half of the capital.
    log_target: f64,
    plugin: Plugin,
    /// Scores, and the bet on each before the cap.
    rounds: Vec<(f64, f64)>,
}

impl ConfidenceSequence {
    /// A sequence at `level`, such as 0.95.
    ///
    /// # Panics
    /// If the level is not within 0 and 1.
    #[must_use]
    pub fn new(level: f64) -> Self {
        assert!(level > 0.0 && level < 1.0, "a level within 0 and 1");
        let log_target = (2.0 / (1.0 - level)).ln();
        Self { log_target, plugin: Plugin::new(), rounds: vec![] }
    }

    /// Takes the score of the next block, from 0 to 1.
    ///
    /// # Panics
    /// If the score is not within 0 and 1.
    pub fn add(&mut self, score: f64) {
        assert!((0.0..=1.0).contains(&score), "a score from 0 to 1");
        self.rounds.push((score, self.plugin.bet(self.log_target)));
        self.plugin.add(score);
    }

    /// The interval, points: what no gambler has got rich betting against, up
    /// to now. Never wider than before. Time grows with the number of blocks.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        let low = self.lowest(self.rounds.iter().copied());
        let high = 1.0 - self.lowest(self.rounds.iter().map(|(score, bet)| (1.0 - score, *bet)));
        [low, high.max(low)].map(|score| 200.0 * score - 100.0)
    }

    /// The lowest mean that a gambler who bets on more has not refuted: his
    /// capital falls as the mean grows, in each round.
    fn lowest(&self, rounds: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
        let refuted = |mean: f64| {
            let mut log_capital = 0.0;
            rounds.clone().any(|(score, bet)| {
                let bet = bet.min(BOLDEST / mean);
                log_capital += (bet * (score - mean)).ln_1p();
                log_capital >= self.log_target
            })
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let mean = (low + high) / 2.0;
            if refuted(mean) {
                low = mean;
            } else {
                high = mean;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    impl EProcess {
        /// Takes the score of a block that is a lap, and returns the capital.
        pub(crate) fn add(&mut self, score: f64) -> f64 {
            self.add_lap(&[(score, 1.0)]);
            self.ln_capital.exp()
        }

        pub(crate) fn ln_capital(&self) -> f64 {
            self.ln_capital
        }

        /// A p-value that holds at any time, also if one looked before.
        pub(crate) fn p_value(&self) -> f64 {
            (-self.ln_most).exp()
        }
    }

    #[test]
    fn false_alarms_are_rare_however_often_one_looks() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let alarms = (0..1000)
            .filter(|_| {
                let mut process = EProcess::against(0.0, 0.05);
                for _ in 0..300 {
                    process.add(f64::from(rng.random_range(0..5u32)) / 4.0);
                }
                process.rejects()
            })
            .count();
        // 5 % are allowed; three standard errors are 21.
        assert!(alarms <= 71, "{alarms}");
    }

    #[test]
    fn false_alarms_are_rare_when_blocks_of_a_lap_differ_in_mean() {
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let alarms = (0..1000)
            .filter(|_| {
                let mut process = EProcess::against(0.0, 0.05);
                for _ in 0..60 {
                    // One game for each of the two, the second played twice as often.
                    let mut lap = vec![(f64::from(rng.random_range(0..2u32)) / 2.0 + 0.5, 1.0)];
                    for _ in 0..2 {
                        lap.push((f64::from(rng.random_range(0..2u32)) / 2.0, 0.5));
                    }
                    process.add_lap(&lap);
                }
                process.rejects()
            })
            .count();
        assert!(alarms <= 71, "{alarms}");
    }

    /// A gambler who lost nearly all may win again: his capital is not 0 for ever.
    #[test]
    fn a_capital_of_nearly_nothing_can_grow_again() {
        let mut process = EProcess::against(0.0, 0.05);
        for _ in 0..100_000 {
            process.add(0.0);
        }
        let low = process.ln_capital();
        assert!(low.is_finite() && low < -800.0, "{low}");
        (0..100).for_each(|_| {
            process.add(1.0);
        });
        assert!(process.ln_capital() > low);
        let mut rich = EProcess::against(0.0, 0.05);
        for _ in 0..100_000 {
            rich.add(1.0);
        }
        assert!(rich.rejects() && rich.ln_capital().is_finite() && rich.p_value() >= 0.0);
    }

    #[test]
    fn the_sequence_covers_the_mean_at_all_times_at_once() {
        let mut rng = Pcg64Mcg::seed_from_u64(4);
        let missed = (0..200)
            .filter(|_| {
                let mut sequence = ConfidenceSequence::new(0.95);
                for _ in 0..200 {
                    sequence.add(if rng.random_bool(0.7) { 1.0 } else { 0.0 });
                }
                let [low, high] = sequence.interval();
                !(low..=high).contains(&40.0)
            })
            .count();
        assert!(missed <= 19, "{missed}");
    }

    #[test]
    fn the_sequence_closes_in() {
        let mut sequence = ConfidenceSequence::new(0.95);
        assert_eq!(sequence.interval(), [-100.0, 100.0]);
        let mut last = 200.0;
        for n in 1..=2000 {
            sequence.add(if n % 4 == 0 { 0.0 } else { 1.0 });
            if n % 500 == 0 {
                let [low, high] = sequence.interval();
                assert!(low < 50.0 && high > 50.0 && high - low < last, "{low} {high}");
                last = high - low;
            }
        }
        assert!(last < 20.0, "{last}");
    }

    proptest! {
        #[test]
        fn the_other_side_has_the_mirrored_interval(scores in proptest::collection::vec(0u8..=4, 1..60)) {
            let [mut ours, mut theirs] = [0.95, 0.95].map(ConfidenceSequence::new);
            for score in scores {
                ours.add(f64::from(score) / 4.0);
                theirs.add(1.0 - f64::from(score) / 4.0);
            }
            let ([low, high], [other_low, other_high]) = (ours.interval(), theirs.interval());
            prop_assert!((low + other_high).abs() < 1e-6 && (high + other_low).abs() < 1e-6);
        }
    }
}
