//! How many blocks it takes to see a difference, and what so many can show.
//!
//! For a one-sided test of the mean with normal quantiles, `n = ((z_{1-alpha} +
//! z_{power}) sd / difference)^2`: J. Cohen, "Statistical power analysis"
//! (1988), chapter 2. The standard deviation is that of blocks: 25 to 45 points
//! for most games.

use crate::stats::normal::{normal_cdf, normal_quantile};

/// What is known of a comparison before it is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Standard deviation of one block, points.
    pub sd: f64,
    /// Probability of seeing a difference that is not there.
    pub alpha: f64,
    /// Probability of seeing one that is there.
    pub power: f64,
}

impl Design {
    fn reach(&self) -> f64 {
        (normal_quantile(1.0 - self.alpha) + normal_quantile(self.power)) * self.sd
    }

    /// Blocks needed to see a `difference` in points; infinite for none.
    #[must_use]
    pub fn blocks_for(&self, difference: f64) -> f64 {
        (self.reach() / difference).powi(2)
    }

    /// The minimal detectable effect: the difference, points, that `n_blocks`
    /// show with the power asked for; infinite for none.
    #[must_use]
    pub fn detectable(&self, n_blocks: u64) -> f64 {
        self.reach() / (n_blocks as f64).sqrt()
    }

    /// The probability that `n_blocks` show a `difference` in points.
    #[must_use]
    pub fn power_of(&self, n_blocks: u64, difference: f64) -> f64 {
        let t = difference / self.sd * (n_blocks as f64).sqrt();
        normal_cdf(t - normal_quantile(1.0 - self.alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_blocks() {
        let table = [
            (25.0, [(2.0, 1691.0, 967.0), (5.0, 271.0, 155.0), (10.0, 68.0, 39.0)]),
            (35.0, [(2.0, 3315.0, 1894.0), (5.0, 531.0, 303.0), (10.0, 133.0, 76.0)]),
            (45.0, [(2.0, 5479.0, 3130.0), (5.0, 877.0, 501.0), (10.0, 220.0, 126.0)]),
        ];
        // The table is rounded, some entries up.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1.0, "{found}");
        for (sd, row) in table {
            for (difference, strict, lenient) in row {
                close(Design { sd, alpha: 0.05, power: 0.95 }.blocks_for(difference), strict);
                close(Design { sd, alpha: 0.05, power: 0.8 }.blocks_for(difference), lenient);
            }
        }
    }

    #[test]
    fn the_three_questions_are_one() {
        let design = Design { sd: 40.0, alpha: 0.05, power: 0.9 };
        let difference = design.detectable(321);
        assert!((design.blocks_for(difference) - 321.0).abs() < 1e-6);
        assert!((design.power_of(321, difference) - 0.9).abs() < 1e-9);
    }
}
