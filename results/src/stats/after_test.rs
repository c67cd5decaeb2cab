//! The strength after a test that stopped early.
//!
//! A test that stops when it has seen enough stops at a favourable moment, so
//! that the plain estimate is too extreme. The log-likelihood ratio behaves
//! like a Brownian motion with drift between two absorbing bounds; the estimate
//! is the strength at which an outcome at least as good as the observed one has
//! probability one half (*median unbiased*), the interval's ends those at which
//! it has 2.5 % and 97.5 %. Outcomes are ordered by where and when the motion
//! leaves: Siegmund, "Sequential analysis" (1985), chapter III; the formulas of
//! fishtest (`sprt`, `brownian`, M. Van den Bergh).

use crate::stats::brownian::Brownian;
use crate::stats::elo::elo_of_score;
use crate::stats::frequencies::Frequencies;
use crate::stats::gsprt::{ErrorRates, NORMALIZED_ELO_PER_T, logistic_score};

/// Strength estimated from the outcome of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AfterTest {
    /// Median-unbiased logistic Elo.
    pub elo: f64,
    /// Its interval at the level asked for.
    pub interval: [f64; 2],
    /// Probability of a worse outcome if the players were equally strong.
    pub superiority: f64,
}

/// Which Elo a test's hypotheses were given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EloScale {
    /// By the logistic curve.
    Logistic,
    /// In standard deviations of a game; each observation is of so many games.
    Normalized {
        /// Games of an observation.
        games: u32,
    },
}

/// What was tested, and what came of it.
#[derive(Clone, Debug)]
struct Outcome {
    variance: f64,
    /// The hypotheses, as scores.
    scores: [f64; 2],
    bounds: [f64; 2],
    /// When the motion stood at `llr`, observations.
    time: f64,
    llr: f64,
}

/// The strength behind `seen`, the observations of a test of `elo` with
/// `errors` at the moment it stopped (or now, if it did not). `None` without
/// observations or hypotheses that differ.
#[must_use]
pub fn after_test(
    seen: &Frequencies,
    elo: [f64; 2],
    scale: EloScale,
    errors: ErrorRates,
    level: f64,
) -> Option<AfterTest> {
    let outcome = Outcome::new(seen, elo, scale, errors)?;
    let tail = (1.0 - level) / 2.0;
    let logistic = outcome.scores.map(elo_of_score);
    let at = |p| outcome.elo_at(p, logistic);
    Some(AfterTest {
        elo: at(0.5),
        interval: [at(tail), at(1.0 - tail)],
        superiority: outcome.worse(0.0),
    })
}

impl Outcome {
    fn new(seen: &Frequencies, elo: [f64; 2], scale: EloScale, errors: ErrorRates) -> Option<Self> {
        if seen.n() == 0.0 {
            return None;
        }
        let seen = seen.regularized();
        let (n, mean, variance) = (seen.n(), seen.mean(), seen.variance());
        let scores = elo.map(|elo| match scale {
            EloScale::Logistic => logistic_score(elo),
            EloScale::Normalized { games } => {
                0.5 + elo / NORMALIZED_ELO_PER_T * (f64::from(games) * variance).sqrt()
            }
        });
        let bounds = errors.bounds();
        let mut outcome = Self { variance, scores, bounds, time: n, llr: 0.0 };
        let (slope, spread) = outcome.drift(mean);
        if !(spread > 0.0 && spread.is_finite()) {
            return None;
        }
        // The last observation overshoots the bound; the motion met it before.
        outcome.llr = (n * slope).clamp(bounds[0], bounds[1]);
        if outcome.llr != n * slope {
            outcome.time = outcome.llr / slope;
        }
        Some(outcome)
    }

    /// Drift and variance of the log-likelihood ratio for each observation if
    /// the true score is `score` (`GSPRT_approximation.pdf`), with the variance
    /// that was observed.
    fn drift(&self, score: f64) -> (f64, f64) {
        let [null, alternative] = self.scores;
        let (variance, width) = (self.variance, alternative - null);
        ((score - (null + alternative) / 2.0) * width / variance, width * width / variance)
    }

    /// Probability of a worse outcome at a true strength of `elo`.
    fn worse(&self, elo: f64) -> f64 {
        let (drift, variance) = self.drift(logistic_score(elo));
        let motion = Brownian { bounds: self.bounds, drift, variance };
        motion.left_of(self.time, self.llr)
    }

    /// The Elo at which the probability of an outcome at least as good is `p`,
    /// by bisection: the probability of a worse one falls with strength.
    fn elo_at(&self, p: f64, [null, alternative]: [f64; 2]) -> f64 {
        let (middle, width) = ((null + alternative) / 2.0, (alternative - null).abs());
        let (mut low, mut high) = (middle, middle);
        let mut reach = width;
        while self.worse(low) < 1.0 - p && low > -1000.0 {
            low = (middle - reach).max(-1000.0);
            reach *= 2.0;
        }
        reach = width;
        while self.worse(high) > 1.0 - p && high < 1000.0 {
            high = (middle + reach).min(1000.0);
            reach *= 2.0;
        }
        for _ in 0..80 {
            let elo = (low + high) / 2.0;
            if self.worse(elo) > 1.0 - p {
                low = elo;
            } else {
                high = elo;
            }
        }
        (low + high) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_observations_there_is_nothing_to_say() {
        let seen = Frequencies::even(&[0, 0, 0]);
        let after = after_test(&seen, [0.0, 5.0], EloScale::Logistic, ErrorRates::default(), 0.95);
        assert_eq!(after, None);
    }

    #[test]
    fn the_estimate_lies_within_its_interval_and_is_odd() {
        let seen = Frequencies::even(&[40, 90, 160, 120, 60]);
        let errors = ErrorRates::default();
        let ours = after_test(&seen, [-5.0, 5.0], EloScale::Logistic, errors, 0.95).unwrap();
        let theirs =
            after_test(&seen.mirrored(), [-5.0, 5.0], EloScale::Logistic, errors, 0.95).unwrap();
        assert!(ours.interval[0] < ours.elo && ours.elo < ours.interval[1]);
        assert!((ours.elo + theirs.elo).abs() < 1e-6, "{ours:?} {theirs:?}");
        assert!((ours.interval[0] + theirs.interval[1]).abs() < 1e-6);
    }
}
