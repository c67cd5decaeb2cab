//! Elo by the logistic curve, against which the tests hold other scales.

use crate::stats::gsprt::logistic_score;

/// The difference in Elo at which `score` is expected: infinite at 0 and 1.
pub(crate) fn elo_of_score(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// The score expected at a difference of `elo`; the inverse of [`elo_of_score`].
pub(crate) fn score_of_elo(elo: f64) -> f64 {
    logistic_score(elo)
}

#[test]
fn two_hundred_points_are_three_to_one() {
    assert!((elo_of_score(0.75) - 190.848_501_887_865).abs() < 1e-9);
    assert!((elo_of_score(10.0 / 11.0) - 400.0).abs() < 1e-9);
}
