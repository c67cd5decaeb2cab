//! The normal distribution, as the other modules want it.
//!
//! `statrs` is right here to ten digits and more, which vectors check; its Student's
//! t is not (see [`student`](crate::stats::student)).

use statrs::distribution::{ContinuousCDF, Normal};

pub use crate::stats::student::t_quantile;

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
