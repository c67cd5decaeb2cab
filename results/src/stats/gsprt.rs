//! The generalised sequential probability ratio test on a finite support.
//!
//! Two hypotheses about the distribution of outcomes are compared by the
//! likelihood of the most likely distribution under each: M. Van den Bergh,
//! "A practical introduction to the GSPRT" and "The maximum likelihood
//! estimator of a multinomial distribution with given expectation"
//! (cantate.be/Fishtest, `support_MLE_multinomial.pdf`), and for normalized Elo
//! "Normalized Elo: practical" (`normalized_elo_practical.pdf`), as in fishtest
//! and fastchess. There the outcomes are those of games or pairs of games; here
//! of blocks with any rewards. Stop when the log-likelihood ratio leaves the
//! interval of [`ErrorRates::bounds`] (Wald, "Sequential analysis", 1947).
//!
//! The error rates hold approximately: the ratio is that of fitted
//! distributions, and the last block may overshoot the bound. From the first
//! few blocks a distribution cannot be fitted, hence
//! [`sequential`](crate::stats::sequential)'s least number of blocks.

use crate::stats::frequencies::Frequencies;

/// Elo for each unit of mean/standard deviation: 800 / ln 10.
pub const NORMALIZED_ELO_PER_T: f64 = 347.435_585_522_601_46;

/// How often a test may err.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// Probability of accepting the alternative if the null hypothesis holds.
    pub alpha: f64,
    /// Probability of accepting the null hypothesis if the alternative holds.
    pub beta: f64,
}

impl Default for ErrorRates {
    fn default() -> Self {
        Self { alpha: 0.05, beta: 0.05 }
    }
}

impl ErrorRates {
    /// Wald's bounds: accept the null hypothesis at a log-likelihood ratio of at
    /// most the first, the alternative at one of at least the second.
    #[must_use]
    pub fn bounds(self) -> [f64; 2] {
        let Self { alpha, beta } = self;
        [(beta / (1.0 - alpha)).ln(), ((1.0 - beta) / alpha).ln()]
    }
}

/// What the two hypotheses say, the null hypothesis first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hypotheses {
    /// The mean score, between 0 and 1.
    Score([f64; 2]),
    /// The mean difference of rewards, points. On the scale of scores 200
    /// points are 1.
    Points([f64; 2]),
    /// Elo by the logistic curve: a score of `1 / (1 + 10^(-elo / 400))`.
    LogisticElo([f64; 2]),
    /// The mean difference in standard deviations of one observation. What a
    /// test takes to decide hardly depends on the game then.
    Normalized([f64; 2]),
    /// Normalized Elo: [`NORMALIZED_ELO_PER_T`] times the mean difference in
    /// standard deviations of one *game*.
    NormalizedElo {
        /// The hypotheses.
        elo: [f64; 2],
        /// Games that make one observation: 1 for the trinomial, 2 for the
        /// pentanomial.
        games: u32,
    },
}

/// What is fixed by a hypothesis.
#[derive(Clone, Copy, Debug)]
enum Fixed {
    /// The mean.
    Mean([f64; 2]),
    /// (mean - 1/2) / standard deviation; each observation is the mean of this number of games.
    TValue([f64; 2], f64),
}

impl Hypotheses {
    fn fixed(self) -> Fixed {
        match self {
            Self::Score(scores) => Fixed::Mean(scores),
            Self::Points(points) => Fixed::Mean(points.map(|points| (points + 100.0) / 200.0)),
            Self::LogisticElo(elo) => Fixed::Mean(elo.map(logistic_score)),
            Self::Normalized(t) => Fixed::TValue(t, 1.0),
            Self::NormalizedElo { elo, games } => {
                let scale = f64::from(games).sqrt() / NORMALIZED_ELO_PER_T;
                Fixed::TValue(elo.map(|elo| elo * scale), games.into())
            }
        }
    }

    /// The exact log-likelihood ratio of the alternative to the null hypothesis.
    /// Counts of zero are replaced by a thousandth. `None` if there is no
    /// observation, or the fit does not converge, or a mean is demanded that no
    /// distribution on these scores has.
    #[must_use]
    pub fn exact(self, seen: &Frequencies) -> Option<f64> {
        if seen.n() == 0.0 {
            return None;
        }
        let seen = seen.regularized();
        let n = seen.n();
        let shares: Vec<f64> = seen.counts().iter().map(|count| count / n).collect();
        let fit = |index: usize| match self.fixed() {
            Fixed::Mean(means) => with_mean(seen.values(), &shares, means[index]),
            Fixed::TValue(ts, _) => with_t_value(seen.values(), &shares, ts[index]),
        };
        let (null, alternative) = (fit(0)?, fit(1)?);
        let terms = shares.iter().zip(null.iter().zip(&alternative));
        let sum: f64 =
            terms.map(|(share, (null, alternative))| share * (alternative / null).ln()).sum();
        Some(n * sum).filter(|llr| llr.is_finite())
    }

    /// The ratio in closed form: for a mean, as if scores were normal with the
    /// observed variance; for a t value `normalized_elo_practical.pdf`, section
    /// 4.2. Close to [`exact`](Self::exact) unless hypotheses are far apart or
    /// nearly all observations are equal. Not a number without observations.
    #[must_use]
    pub fn closed_form(self, seen: &Frequencies) -> f64 {
        let seen = seen.regularized();
        let (n, mean, variance) = (seen.n(), seen.mean(), seen.variance());
        match self.fixed() {
            Fixed::Mean([null, alternative]) => {
                n * (alternative - null) * (2.0 * mean - null - alternative) / (2.0 * variance)
            }
            Fixed::TValue([null, alternative], games) => {
                let t = (mean - 0.5) / variance.sqrt();
                let term = |fixed: f64| ((t - fixed).powi(2) / games).ln_1p();
                n * games / 2.0 * (term(null) - term(alternative))
            }
        }
    }

    /// For a mean, half the logarithm of the ratio of the mean squared distances
    /// from both means, times n (`support_MLE_multinomial.pdf`); for a t value
    /// the closed form.
    #[must_use]
    pub fn logarithmic(self, seen: &Frequencies) -> f64 {
        let Fixed::Mean(means) = self.fixed() else { return self.closed_form(seen) };
        let seen = seen.regularized();
        let [null, alternative] = means.map(|mean| {
            seen.iter().map(|(value, count)| count * (value - mean).powi(2)).sum::<f64>()
        });
        seen.n() / 2.0 * (null / alternative).ln()
    }

    /// The log-likelihood ratio: exact, or in closed form where that fails; 0
    /// without observations.
    #[must_use]
    pub fn llr(self, seen: &Frequencies) -> f64 {
        if seen.n() == 0.0 {
            return 0.0;
        }
        self.exact(seen).unwrap_or_else(|| self.closed_form(seen))
    }
}

/// The expected score at a difference of `elo`.
#[must_use]
pub fn logistic_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The most likely distribution with a given mean
/// (`support_MLE_multinomial.pdf`, proposition 1.1).
fn with_mean(values: &[f64], shares: &[f64], mean: f64) -> Option<Vec<f64>> {
    let distances: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let x = secular(&distances, shares)?;
    Some(distances.iter().zip(shares).map(|(d, share)| share / (1.0 + x * d)).collect())
}

/// Rounds after which the fit of a t value has usually converged, and those
/// after which it is given up.
const MAX_ROUNDS: usize = 100;
/// Change of a probability at which the fit has converged.
const CONVERGED: f64 = 1e-9;

/// The most likely distribution with a given (mean - 1/2) / standard deviation
/// (`normalized_elo_practical.pdf`, section 4.1).
fn with_t_value(values: &[f64], shares: &[f64], t: f64) -> Option<Vec<f64>> {
    let mut fitted = vec![1.0 / values.len() as f64; values.len()];
    let mut terms = vec![0.0; values.len()];
    for _ in 0..MAX_ROUNDS {
        let mean: f64 = values.iter().zip(&fitted).map(|(value, p)| value * p).sum();
        let variance: f64 =
            values.iter().zip(&fitted).map(|(value, p)| p * (value - mean).powi(2)).sum();
        let sd = variance.sqrt();
        for (term, value) in terms.iter_mut().zip(values) {
            let distance = (value - mean) / sd;
            *term = value - 0.5 - t * sd * (1.0 + distance * distance) / 2.0;
        }
        let x = secular(&terms, shares)?;
        let mut change: f64 = 0.0;
        for ((p, term), share) in fitted.iter_mut().zip(&terms).zip(shares) {
            let next = share / (1.0 + x * term);
            change = change.max((next - *p).abs());
            *p = next;
        }
        if change < CONVERGED {
            return Some(fitted);
        }
    }
    None
}

/// Share of the sum of absolute terms that is left where positive and negative
/// ones cancel.
const CANCELLED: f64 = 1e-6;

/// The root of `sum p a / (1 + x a)` among the `x` for which all `1 + x a` are
/// positive. The sum falls from plus to minus infinity there, so that there is
/// one root, unless all `a` have the same sign: then there is none.
fn secular(a: &[f64], p: &[f64]) -> Option<f64> {
    let least = a.iter().copied().fold(f64::INFINITY, f64::min);
    let most = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(least < 0.0 && most > 0.0) {
        return None;
    }
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mut x = 0.0;
    for _ in 0..200 {
        let (mut value, mut slope, mut scale) = (0.0, 0.0, 0.0);
        for (a, p) in a.iter().zip(p) {
            let term = a / (1.0 + x * a);
            value += p * term;
            slope -= p * term * term;
            scale += (p * term).abs();
        }
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let step = value / slope;
        // Judged before the bounds are: the root may have become one of them. Next to
        // a bound one term outgrows all others and steps are tiny as well, but terms
        // do not cancel there.
        if step.abs() <= 1e-15 * (1.0 + x.abs()) && value.abs() <= CANCELLED * scale {
            break;
        }
        let newton = x - step;
        x = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::block::Difference;
    use crate::stats::frequencies::Tally;

    #[test]
    fn bounds_are_walds() {
        let [low, high] = ErrorRates::default().bounds();
        assert!((low + 19f64.ln()).abs() < 1e-12 && (high - 19f64.ln()).abs() < 1e-12);
    }

    /// Of losses by 100 and 50 points, draws, and wins, at a margin of 3 and 10 points;
    /// by bracketing (scipy 1.17.1, `brentq`). In the first rows the first step of
    /// Newton's method ends next to a bound.
    #[test]
    fn the_ratio_is_that_of_a_bracketed_root() {
        let table = [
            ([4, 20, 19, 4, 1], 3.0, -1.151597689721),
            ([0, 14, 19, 2, 1], 3.0, -0.730097679544),
            ([4, 20, 13, 4, 1], 3.0, -1.010958440555),
            ([4, 20, 19, 4, 1], 10.0, -3.452225348878),
            ([32, 0, 0, 0, 0], 3.0, -0.945939880553),
            ([32, 0, 0, 0, 0], 10.0, -3.050106293670),
            ([0, 0, 32, 0, 0], 3.0, 0.967324607294),
            ([0, 0, 0, 0, 40], 10.0, 4.214641377984),
            ([10, 0, 0, 0, 0], 3.0, -0.295646212813),
            ([1, 0, 0, 0, 0], 3.0, -0.029616751652),
            ([6, 20, 48, 20, 6], 3.0, 0.204131170869),
            ([600, 2000, 4800, 2000, 600], 3.0, 20.413117086860),
            ([60000, 200000, 480000, 200000, 60000], 1.0, 227.221320574053),
            ([0, 1, 999, 0, 0], 3.0, 29.357286759540),
            ([0, 0, 1, 0, 0], 10.0, 0.100474840160),
        ];
        for (counts, margin, expected) in table {
            let found = Hypotheses::Points([-margin, 0.0]).exact(&Frequencies::even(&counts));
            let found = found.unwrap();
            assert!((found - expected).abs() < 1e-7, "{counts:?} {margin}: {found} {expected}");
        }
    }

    #[test]
    fn a_mean_outside_the_scores_has_no_distribution() {
        let seen = Frequencies::new([(0.4, 3.0), (0.6, 5.0)]);
        let hypotheses = Hypotheses::Score([0.3, 0.5]);
        assert_eq!(hypotheses.exact(&seen), None);
        assert_eq!(hypotheses.llr(&seen), hypotheses.closed_form(&seen));
        assert_eq!(hypotheses.llr(&Frequencies::even(&[0, 0, 0])), 0.0);
    }

    /// For two outcomes the mean says all, and the test is Wald's for a coin.
    #[test]
    fn two_outcomes_give_walds_test_of_a_coin() {
        let (wins, losses) = (37.0, 25.0);
        let seen = Frequencies::new([(0.0, losses), (1.0, wins)]);
        let expected = wins * (0.6f64 / 0.5).ln() + losses * (0.4f64 / 0.5).ln();
        let found = Hypotheses::Score([0.5, 0.6]).exact(&seen).unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    fn frequencies() -> impl Strategy<Value = Frequencies> {
        proptest::collection::vec(1u64..200, 3..8).prop_map(|counts| Frequencies::even(&counts))
    }

    proptest! {
        #[test]
        fn the_other_side_sees_the_opposite(seen in frequencies(), low in -0.3f64..0.0, width in 0.01f64..0.3) {
            let close = |a: f64, b: f64| prop_assert_close(a, b, 1e-6);
            let t = Hypotheses::Normalized([low, low + width]);
            let mirrored = Hypotheses::Normalized([-low, -low - width]);
            close(t.llr(&seen), mirrored.llr(&seen.mirrored()))?;
            let exchanged = Hypotheses::Normalized([low + width, low]);
            close(t.llr(&seen), -exchanged.llr(&seen))?;
            let score = Hypotheses::Score([0.5 + low, 0.5 + low + width]);
            let mirrored = Hypotheses::Score([0.5 - low, 0.5 - low - width]);
            close(score.llr(&seen), mirrored.llr(&seen.mirrored()))?;
        }

        #[test]
        fn a_win_speaks_for_the_stronger_hypothesis(counts in proptest::collection::vec(50u64..60, 3), width in 0.01f64..0.2) {
            // From one-sided data it need not: a surprise also widens the fitted distribution.
            let mut more = counts.clone();
            more[2] += 1;
            let t = Hypotheses::Score([0.5, 0.5 + width]);
            prop_assert!(t.llr(&Frequencies::even(&more)) > t.llr(&Frequencies::even(&counts)));
        }

        /// Normalized hypotheses have no unit, and so a test of them has none.
        #[test]
        fn the_size_of_rewards_does_not_matter(points in proptest::collection::vec(-10i64..=10, 5..40)) {
            let of = |factor: i64| {
                let mut tally = Tally::within(10 * factor as u8);
                points.iter().for_each(|points| tally.add(Difference::whole(factor * points)));
                Hypotheses::Normalized([0.0, 0.15]).llr(&tally.frequencies())
            };
            if points.iter().any(|&points| points != 0) {
                prop_assert_close(of(1), of(7), 1e-5)?;
            }
        }

        #[test]
        fn twice_the_evidence_is_twice_the_ratio(counts in proptest::collection::vec(1u64..200, 5), t in -0.2f64..0.2) {
            let twice: Vec<u64> = counts.iter().map(|count| 2 * count).collect();
            let hypotheses = Hypotheses::Normalized([0.0, t]);
            let (once, twice) = (hypotheses.llr(&Frequencies::even(&counts)), hypotheses.llr(&Frequencies::even(&twice)));
            prop_assert_close(2.0 * once, twice, 1e-6)?;
        }
    }

    fn prop_assert_close(a: f64, b: f64, tolerance: f64) -> Result<(), TestCaseError> {
        prop_assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{} is not {}", a, b);
        Ok(())
    }
}
