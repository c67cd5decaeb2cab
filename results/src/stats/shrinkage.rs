//! What the true ratings may be, given the estimated ones and how they scatter.
//!
//! The estimate of who came out first is too high, the more so the more players
//! there are and the less they differ: taken at its word, "first, 62 %" was right
//! in 32 % of cases. So players are taken to be a sample themselves (C. Stein,
//! 1956; B. Efron & C. Morris, "Data analysis using Stein's estimator", 1975):
//! true ratings scatter around their mean with an unknown standard deviation,
//! which the estimates show, too. If they differ by no more than chance explains,
//! all are drawn to the middle; if by far more, they stay where they are. The
//! standard deviation has a half-Cauchy prior (A. Gelman, "Prior distributions
//! for variance parameters in hierarchical models", 2006) on the scale of the
//! mean standard error, the scatter of estimates an uncertain scale with as many
//! degrees of freedom as there are blocks beyond the first of each stratum. From
//! fewer blocks than players most directions seem not to scatter at all, so the
//! scatter is mixed with one that is the same for all players (O. Ledoit & M. Wolf,
//! "A well-conditioned estimator for large-dimensional covariance matrices", 2004),
//! as if that had been seen in as many blocks as there are players.

use nalgebra::{DMatrix, DVector};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::stats::normal::normal_quantile;

/// Values of the standard deviation that are weighed, each with the same prior
/// probability.
const N_SPREADS: usize = 64;
/// Variances below this share of the largest come from rounding.
const ROUNDING: f64 = 1e-12;

/// What is known of the true ratings.
pub(crate) struct Belief {
    /// The estimates, less their mean.
    centred: DVector<f64>,
    /// Directions in which estimates scatter, one a column.
    directions: DMatrix<f64>,
    /// By direction: variance of the estimate.
    variances: DVector<f64>,
    /// By direction: the estimate.
    seen: DVector<f64>,
    degrees: f64,
    /// Of an error: the factor of what was seen, and the standard deviation of what
    /// is mixed in.
    mixture: [f64; 2],
    /// Ascending: the standard deviation of true ratings, its share of belief.
    spreads: Vec<(f64, f64)>,
}

impl Belief {
    /// What `estimate` says if errors scatter like `errors` (each as long as the
    /// estimate), whose scale is known with `degrees` degrees of freedom.
    pub(crate) fn of(estimate: &[f64], errors: &[Vec<f64>], degrees: f64) -> Self {
        let n = estimate.len();
        let centred = centred(estimate);
        let mut covariance = DMatrix::zeros(n, n);
        for error in errors {
            let error = self::centred(error);
            covariance.ger(1.0 / errors.len() as f64, &error, &error, 1.0);
        }
        let n_free = n.saturating_sub(1).max(1) as f64;
        let alike = covariance.trace() / n_free;
        let [seen, mixed] = [degrees, n_free].map(|weight| weight / (degrees + n_free));
        let contrasts = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)) - 1.0 / n as f64);
        let eigen = (covariance * seen + contrasts * (mixed * alike)).symmetric_eigen();
        let most = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> =
            (0..n).filter(|&i| most > 0.0 && eigen.eigenvalues[i] > ROUNDING * most).collect();
        let directions = eigen.eigenvectors.select_columns(&kept);
        let variances = kept.iter().map(|&i| eigen.eigenvalues[i]);
        let variances = DVector::from_iterator(kept.len(), variances);
        let parts = directions.transpose() * &centred;
        let mixture = [seen.sqrt(), (mixed * alike).sqrt()];
        let mut belief =
            Self { centred, directions, variances, seen: parts, degrees, mixture, spreads: vec![] };
        belief.spreads = belief.spreads();
        belief
    }

    /// By standard deviation of true ratings: how believable it is.
    fn spreads(&self) -> Vec<(f64, f64)> {
        let n = self.variances.len();
        if n == 0 {
            return vec![];
        }
        let unit = self.variances.mean().sqrt();
        let spread = |place: usize| {
            let quantile = (place as f64 + 0.5) / N_SPREADS as f64;
            unit * (std::f64::consts::FRAC_PI_2 * quantile).tan()
        };
        let logs: Vec<(f64, f64)> =
            (0..N_SPREADS).map(spread).map(|spread| (spread, self.ln_likelihood(spread))).collect();
        let most = logs.iter().map(|(_, ln)| *ln).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|(_, ln)| (ln - most).exp()).sum();
        logs.into_iter().map(|(spread, ln)| (spread, (ln - most).exp() / sum)).collect()
    }

    /// Up to a constant, with the errors' scale integrated out.
    fn ln_likelihood(&self, spread: f64) -> f64 {
        let square = spread * spread;
        let logs: f64 = self.variances.iter().map(|variance| (variance + square).ln()).sum();
        let n = self.variances.len() as f64;
        -0.5 * logs - 0.5 * (self.degrees + n) * (1.0 + self.squares(spread) / self.degrees).ln()
    }

    /// Squares of the estimates in units of what is expected.
    fn squares(&self, spread: f64) -> f64 {
        let square = spread * spread;
        let seen = self.seen.iter().zip(self.variances.iter());
        seen.map(|(seen, variance)| seen * seen / (variance + square)).sum()
    }

    /// True ratings that may be behind the estimate, less their mean, for an error
    /// such as those given in the beginning. Where nothing scatters, the estimate.
    pub(crate) fn draw(&self, error: &[f64], rng: &mut Pcg64Mcg) -> Vec<f64> {
        if self.spreads.is_empty() {
            return self.centred.iter().copied().collect();
        }
        let spread = self.draw_spread(rng);
        let n = self.variances.len() as f64;
        let degrees = self.degrees + n;
        let scale = ((self.degrees + self.squares(spread)) / chi_squared(degrees, rng)).sqrt();
        let error = self.directions.transpose() * centred(error);
        // A draw from before anything was seen, moved by what was seen of it.
        let square = spread * spread;
        let parts = DVector::from_fn(self.variances.len(), |i, _| {
            let mixed = self.mixture[0] * error[i] + self.mixture[1] * standard_normal(rng);
            let before = scale * spread * standard_normal(rng);
            let trust = square / (square + self.variances[i]);
            before + trust * (self.seen[i] - before - scale * mixed)
        });
        (&self.directions * parts).iter().copied().collect()
    }

    fn draw_spread(&self, rng: &mut Pcg64Mcg) -> f64 {
        let mut left: f64 = rng.random();
        for &(spread, share) in &self.spreads {
            left -= share;
            if left < 0.0 {
                return spread;
            }
        }
        self.spreads[self.spreads.len() - 1].0
    }
}

fn centred(values: &[f64]) -> DVector<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    DVector::from_iterator(values.len(), values.iter().map(|value| value - mean))
}

fn standard_normal(rng: &mut Pcg64Mcg) -> f64 {
    // Open at both ends, where the quantile is infinite.
    normal_quantile(rng.random::<f64>().clamp(1e-16, 1.0 - 1e-16))
}

/// A chi-squared variable with `degrees` degrees of freedom, of at least two (G.
/// Marsaglia & W. Tsang, "A simple method for generating gamma variables", 2000).
fn chi_squared(degrees: f64, rng: &mut Pcg64Mcg) -> f64 {
    let shape = degrees / 2.0 - 1.0 / 3.0;
    loop {
        let x = standard_normal(rng);
        let cube = (1.0 + x / (9.0 * shape).sqrt()).powi(3);
        let u: f64 = rng.random();
        if cube > 0.0 && u.ln() < x * x / 2.0 + shape * (1.0 - cube + cube.ln()) {
            return 2.0 * shape * cube;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn rng() -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(3)
    }

    #[test]
    fn what_does_not_scatter_is_sure() {
        let belief = Belief::of(&[3.0, 1.0, 1.0], &[vec![0.0; 3], vec![0.0; 3]], 1.0);
        let drawn = belief.draw(&[0.0; 3], &mut rng());
        assert_eq!(drawn[1], drawn[2]);
        assert!((drawn[0] - drawn[1] - 2.0).abs() < 1e-12);
    }

    /// Of fewer blocks than players errors have few directions; the others are no
    /// more certain.
    #[test]
    fn directions_that_were_not_seen_are_unsure_too() {
        let errors = [vec![1.0, -1.0, 0.0, 0.0], vec![-1.0, 1.0, 0.0, 0.0]];
        let belief = Belief::of(&[0.0, 0.0, 0.2, -0.2], &errors, 1.0);
        let mut rng = rng();
        let above = (0..400).filter(|at| {
            let drawn = belief.draw(&errors[at % 2], &mut rng);
            drawn[2] > drawn[3]
        });
        let above = above.count();
        assert!((200..320).contains(&above), "{above}");
    }

    #[test]
    fn differences_within_chance_are_drawn_to_the_middle_and_clear_ones_stay() {
        let errors: Vec<Vec<f64>> = (0..200)
            .map(|i| (0..4).map(|j| if (i >> j) % 2 == 0 { 1.0 } else { -1.0 }).collect())
            .collect();
        let gap = |estimate: [f64; 4]| {
            let belief = Belief::of(&estimate, &errors, 100.0);
            let mut rng = rng();
            let drawn = errors.iter().map(|error| belief.draw(error, &mut rng));
            drawn.map(|drawn| drawn[0] - drawn[3]).sum::<f64>() / 200.0
        };
        let (close, far) = (gap([0.6, 0.1, -0.1, -0.6]), gap([60.0, 10.0, -10.0, -60.0]));
        assert!(close > 0.0 && close < 0.8, "{close}");
        assert!((far - 120.0).abs() < 3.0, "{far}");
    }

    #[test]
    fn chi_squared_has_its_mean_and_variance() {
        let mut rng = rng();
        for degrees in [2.0, 7.5, 300.0] {
            let drawn: Vec<f64> = (0..4000).map(|_| chi_squared(degrees, &mut rng)).collect();
            let mean = drawn.iter().sum::<f64>() / 4000.0;
            let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
            assert!((mean / degrees - 1.0).abs() < 0.06, "{mean}");
            assert!((variance / (2.0 * degrees) - 1.0).abs() < 0.2, "{variance}");
        }
    }
}
