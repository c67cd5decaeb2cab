//! The three answers to "is the new player no worse than the old one?".
//!
//! Margin and budget are fixed first. A sequential test of "worse by the
//! margin" against "equal" decides if it can; when the budget runs out first,
//! the interval of the mean difference does, if it can; else the answer is that
//! there is none. What an interval shows after a test that could have stopped
//! earlier is close to, but not quite, what its level says.

use crate::stats::gsprt::Hypotheses;
use crate::stats::sequential::{SequentialTest, Verdict};

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No worse than by the margin.
    Pass,
    /// Worse.
    Fail,
    /// The budget did not suffice to tell.
    Inconclusive,
}

/// What the answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The sequential test decided.
    Test,
    /// The test was exhausted; the interval is above minus the margin, or below 0.
    Interval,
    /// Neither decided.
    Nothing,
}

/// The test that answers: null hypothesis "worse by `margin` points",
/// alternative "equal", for at most `max_blocks`.
///
/// # Panics
/// If the margin is not within 0 and 100.
#[must_use]
pub fn test_of_margin(margin: f64, max_blocks: u64) -> SequentialTest {
    assert!(margin > 0.0 && margin < 100.0, "a margin within 0 and 100 points");
    let test = SequentialTest::new(Hypotheses::Points([-margin, 0.0]));
    SequentialTest { max_blocks: Some(max_blocks), ..test }
}

/// The answer from the test's verdict and the interval of the mean difference
/// (new less old, points).
#[must_use]
pub fn answer(verdict: Verdict, interval: Option<[f64; 2]>, margin: f64) -> (Answer, Ground) {
    match (verdict, interval) {
        (Verdict::Alternative, _) => (Answer::Pass, Ground::Test),
        (Verdict::Null, _) => (Answer::Fail, Ground::Test),
        (_, Some([low, _])) if low > -margin => (Answer::Pass, Ground::Interval),
        (_, Some([_, high])) if high < 0.0 => (Answer::Fail, Ground::Interval),
        _ => (Answer::Inconclusive, Ground::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_its_answer() {
        use Verdict::{Alternative, Exhausted, GoOn, Null};
        let table = [
            (Alternative, Some([-9.0, -8.0]), (Answer::Pass, Ground::Test)),
            (Null, Some([8.0, 9.0]), (Answer::Fail, Ground::Test)),
            (Exhausted, Some([-2.0, 4.0]), (Answer::Pass, Ground::Interval)),
            // Worse, but by less than the margin, is no worse than by the margin.
            (Exhausted, Some([-2.0, -1.0]), (Answer::Pass, Ground::Interval)),
            (Exhausted, Some([-6.0, -1.0]), (Answer::Fail, Ground::Interval)),
            (Exhausted, Some([-6.0, 1.0]), (Answer::Inconclusive, Ground::Nothing)),
            (GoOn, None, (Answer::Inconclusive, Ground::Nothing)),
        ];
        for (verdict, interval, expected) in table {
            assert_eq!(answer(verdict, interval, 3.0), expected, "{verdict:?} {interval:?}");
        }
    }
}
