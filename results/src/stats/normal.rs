//! The normal and Student's t distribution, as the other modules want them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Probability that a standard normal variable is at most `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    Normal::standard().cdf(x)
}

/// The value below which a standard normal variable is with probability `p`.
///
/// # Panics
/// If `p` is outside 0 to 1.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// The value below which Student's t with `degrees` degrees of freedom is with
/// probability `p`. For more than ten million degrees that of the normal.
///
/// # Panics
/// If `degrees` is not positive or `p` is outside 0 to 1.
#[must_use]
pub fn t_quantile(p: f64, degrees: f64) -> f64 {
    if degrees > 1e7 {
        return normal_quantile(p);
    }
    let t = StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive");
    // A few steps of Newton on the library's quantile, whose bisection stops early.
    let mut quantile = t.inverse_cdf(p);
    for _ in 0..3 {
        let density = statrs::distribution::Continuous::pdf(&t, quantile);
        let step = (t.cdf(quantile) - p) / density;
        if !step.is_finite() {
            break;
        }
        quantile -= step;
    }
    quantile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        let check = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        check(normal_quantile(0.975), 1.959_963_984_540_054);
        check(normal_cdf(1.959_963_984_540_054), 0.975);
        check(t_quantile(0.975, 5.0), 2.570_581_835_636_314);
        check(t_quantile(0.975, 1.0), 12.706_204_736_432_095);
        check(t_quantile(0.975, 1e9), 1.959_963_984_540_054);
        check(t_quantile(0.025, 30.0), -2.042_272_456_301_238);
    }
}
