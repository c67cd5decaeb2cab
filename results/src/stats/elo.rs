//! Elo and normalized Elo of a match between two players, with error bars.
//!
//! Formulas of fishtest (`stat_util`), fastchess (`elo`) and OpenBench
//! (`stats`). The variance is that of the observations given: for blocks and
//! pairs of games it takes the correlation of their games into account, which
//! counts of single games do not.

use crate::stats::frequencies::Frequencies;
use crate::stats::gsprt::{NORMALIZED_ELO_PER_T, logistic_score};
use crate::stats::laps::unvaried_interval;
use crate::stats::normal::{normal_cdf, normal_quantile, t_quantile};

/// A score in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elo {
    /// Difference by the logistic curve.
    pub elo: f64,
    /// Half the width of its 95 % interval.
    pub elo_error: f64,
    /// Mean in standard deviations of one game, times 800 / ln 10: comparable
    /// between games with many and few draws.
    pub normalized: f64,
    /// Half the width of its 95 % interval.
    pub normalized_error: f64,
    /// Likelihood of superiority: probability that the true score is above one
    /// half, by the normal approximation with a flat prior.
    pub superiority: f64,
}

/// The difference in Elo at which `score` is expected: infinite at 0 and 1.
#[must_use]
pub fn elo_of_score(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// Elo of observations, each of so many `games`. `None` without observations
/// or if all are equal, which no error bar can be computed of.
#[must_use]
pub fn elo(seen: &Frequencies, games: u32) -> Option<Elo> {
    let n = seen.n();
    let (mean, sd) = (seen.mean(), seen.variance().sqrt());
    if !(n > 0.0 && sd > 0.0) {
        return None;
    }
    let standard_error = sd / n.sqrt();
    let z = normal_quantile(0.975);
    let game_sd = sd * f64::from(games).sqrt();
    let normalized = |score: f64| (score - 0.5) / game_sd * NORMALIZED_ELO_PER_T;
    let [low, high] = [mean - z * standard_error, mean + z * standard_error];
    // A score of 0 or 1 is infinitely many Elo; a quarter of a game is none that n
    // games could show.
    let edge = (0.25 / n).min(1e-6);
    let clamped = |score: f64| elo_of_score(score.clamp(edge, 1.0 - edge));
    Some(Elo {
        elo: elo_of_score(mean),
        elo_error: (clamped(high) - clamped(low)) / 2.0,
        normalized: normalized(mean),
        normalized_error: (normalized(high) - normalized(low)) / 2.0,
        superiority: normal_cdf((mean - 0.5) / standard_error),
    })
}

/// Lower end, estimate and upper end of Elo by Student's t at `level`, as
/// OpenBench computes them; where all observations are equal, by what others could
/// weigh (see [`unvaried_interval`]). `None` for fewer than two observations.
#[must_use]
pub fn elo_t_interval(seen: &Frequencies, level: f64) -> Option<[f64; 3]> {
    let n = seen.n();
    if n < 2.0 {
        return None;
    }
    let (mean, standard_error) = (seen.mean(), (seen.variance() / n).sqrt());
    if standard_error * n.sqrt() < 1e-9 {
        let [low, high] = unvaried_interval(mean, n as usize, level, [0.0, 1.0]);
        return Some([low, mean, high].map(elo_of_score));
    }
    let half = t_quantile((1.0 + level) / 2.0, n - 1.0) * standard_error;
    Some([mean - half, mean, mean + half].map(|score| elo_of_score(score.clamp(0.0, 1.0))))
}

/// The score expected at a difference of `elo`; the inverse of [`elo_of_score`].
#[must_use]
pub fn score_of_elo(elo: f64) -> f64 {
    logistic_score(elo)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_observations_have_no_error_bar() {
        assert_eq!(elo(&Frequencies::even(&[0, 9, 0]), 1), None);
        assert_eq!(elo(&Frequencies::even(&[0, 0, 0]), 1), None);
    }

    /// One loss among ten million games: the error bar is wide, not 0.
    #[test]
    fn nearly_all_won_has_an_error_bar() {
        for n in [10, 1000, 100_000, 10_000_000] {
            let found = elo(&Frequencies::even(&[1, 0, n - 1]), 1).unwrap();
            assert!(found.elo.is_finite() && found.elo_error > 100.0, "{n}: {found:?}");
            assert!(found.elo_error.is_finite() && found.superiority > 0.5, "{n}: {found:?}");
        }
    }

    #[test]
    fn two_hundred_points_are_three_to_one() {
        assert!((elo_of_score(0.75) - 190.848_501_887_865).abs() < 1e-9);
        assert!((elo_of_score(10.0 / 11.0) - 400.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn elo_is_antisymmetric(counts in proptest::collection::vec(1u64..500, 5)) {
            let seen = Frequencies::even(&counts);
            let (ours, theirs) = (elo(&seen, 2).unwrap(), elo(&seen.mirrored(), 2).unwrap());
            prop_assert!((ours.elo + theirs.elo).abs() < 1e-6);
            prop_assert!((ours.normalized + theirs.normalized).abs() < 1e-6);
            prop_assert!((ours.superiority + theirs.superiority - 1.0).abs() < 1e-9);
            prop_assert!((score_of_elo(ours.elo) - seen.mean()).abs() < 1e-9);
        }
    }
}
