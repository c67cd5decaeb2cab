//! A Brownian motion with drift between two absorbing bounds: what the
//! log-likelihood ratio of a sequential test behaves like.
//!
//! Siegmund, "Sequential analysis" (1985), chapter III; the formulas of fishtest
//! (`brownian`, M. Van den Bergh).

use std::f64::consts::PI;

use crate::stats::normal::normal_cdf;

/// A Brownian motion from 0 between two absorbing bounds.
pub(crate) struct Brownian {
    pub(crate) bounds: [f64; 2],
    pub(crate) drift: f64,
    pub(crate) variance: f64,
}

impl Brownian {
    /// Probability of passing (or being absorbed) to the left of height `y` at
    /// `time`, where what is absorbed below earlier is further left and what is
    /// absorbed above earlier is further right.
    pub(crate) fn left_of(&self, time: f64, y: f64) -> f64 {
        let width = self.bounds[1] - self.bounds[0];
        let gamma = self.drift / self.variance;
        let slow = self.variance * time / (width * width) < 1e-2 || (gamma * width).abs() > 15.0;
        let p = if slow { self.by_reflection(time, y) } else { self.by_series(time, y) };
        p.clamp(0.0, 1.0)
    }

    /// The eigenfunction expansion of the transition density between two
    /// absorbing bounds, integrated.
    fn by_series(&self, time: f64, y: f64) -> f64 {
        let width = self.bounds[1] - self.bounds[0];
        let (x, y) = (-self.bounds[0], y - self.bounds[0]);
        let gamma = self.drift / self.variance;
        let rate = |n: f64| ((n * PI / width).powi(2) * self.variance + self.drift * gamma) / 2.0;
        let first = (-rate(1.0) * time + (y - x) * gamma).exp();
        let mut sum = 0.0;
        for n in 1..10_000 {
            let n = f64::from(n);
            let decay = (-(rate(n) - rate(1.0)) * time).exp();
            let angle = PI * n * y / width;
            let primitive = (2.0 * width * gamma * angle.sin() - 2.0 * PI * n * angle.cos())
                / ((width * gamma).powi(2) + (PI * n).powi(2));
            sum += decay * primitive * (n * PI * x / width).sin();
            if first * decay * primitive.abs() <= 1e-12 {
                break;
            }
        }
        self.absorbed_below() + first * sum
    }

    /// Probability of ever reaching the lower bound before the upper one.
    fn absorbed_below(&self) -> f64 {
        let width = self.bounds[1] - self.bounds[0];
        let x = -self.bounds[0];
        let gamma = self.drift / self.variance;
        if gamma * width > 30.0 {
            (-2.0 * gamma * x).exp()
        } else if (gamma * width).abs() < 1e-8 {
            (width - x) / width
        } else {
            (2.0 * gamma * (width - x)).exp_m1() / (2.0 * gamma * width).exp_m1()
        }
    }

    /// Siegmund's approximation, each bound for itself, for short times and
    /// steep drifts.
    fn by_reflection(&self, time: f64, y: f64) -> f64 {
        let sd = (time * self.variance).sqrt();
        let offset = self.drift * time;
        let gamma = self.drift / self.variance;
        let [below, above] = self.bounds;
        // exp(2 gamma bound) Phi(z), by Phi's asymptotic expansion where the
        // first factor is too large.
        let reflected = |bound: f64, z: f64| {
            if gamma * bound >= 5.0 {
                let tail = (1.0 / z - 1.0 / z.powi(3)) / (2.0 * PI).sqrt();
                -(-z * z / 2.0 + 2.0 * gamma * bound).exp() * tail
            } else {
                (2.0 * gamma * bound).exp() * normal_cdf(z)
            }
        };
        normal_cdf((y - offset) / sd) + reflected(below, (offset + 2.0 * below - y) / sd)
            - reflected(above, (y - offset - 2.0 * above) / sd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_agree_where_both_hold() {
        let motion = Brownian { bounds: [-3.0, 3.0], drift: 0.01, variance: 0.02 };
        for y in [-1.0, 0.0, 1.0, 2.0] {
            let (series, reflection) = (motion.by_series(30.0, y), motion.by_reflection(30.0, y));
            assert!((series - reflection).abs() < 1e-3, "{y}: {series} {reflection}");
        }
    }
}
