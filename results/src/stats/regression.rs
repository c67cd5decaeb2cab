//! Three outcomes of the question "is the new player at least as strong as the old one?".
//!
//! Margin and budget are fixed first. A sequential test of "worse by the
//! margin" against "equal" decides if it can; when the budget runs out first,
//! the interval of the mean difference does, if it can; else the answer is that
//! there is none. Test and interval may both err; with an interval at 95 %
//! (which errs with 2.5 % to either side) they do so together as often as the
//! test alone should: at a margin of 10 points and a standard deviation of 47,
//! 2.6 and 3.3 % of 1500 answers were wrong with budgets of 60 blocks, 5.1 and
//! 5.5 % with 150, 5.5 and 5.0 % with 400; at 90 %, 7.1 and 7.9 % with 150.

use crate::stats::gsprt::Hypotheses;
use crate::stats::sequential::{SequentialTest, Verdict};

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No worse than by the margin.
    Pass,
    /// Worse.
    Fail,
    /// The budget did not suffice to tell.
    Inconclusive,
}

/// The reason for the outcome.
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

/// The outcome from the test's verdict and the interval of the mean difference (new minus old,
/// points), which decides if the test does not.
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
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::stats::block::Difference;
    use crate::stats::laps::t_interval;
    use crate::stats::operating::Outcomes;
    use crate::stats::sequential::Sequence;

    /// Budgets that suffice, nearly suffice, and do not, for a margin of 10 points
    /// and a standard deviation of 47.
    #[test]
    fn wrong_answers_are_rare_whatever_the_budget() {
        let weights = |worse: f64| [0.06 + worse, 0.2 + worse, 0.48, 0.2 - worse, 0.06 - worse];
        let outcomes = |worse| {
            let points = [-100, -50, 0, 50, 100].map(Difference::whole);
            Outcomes::new(points.into_iter().zip(weights(worse)))
        };
        let (equal, worse) = (outcomes(0.0), outcomes(1.0 / 30.0));
        assert!((worse.mean_and_sd().0 + 10.0).abs() < 1e-9);
        let share = |outcomes: &Outcomes, max_blocks: u64, wrong: Answer| {
            let mut rng = Pcg64Mcg::seed_from_u64(max_blocks);
            let wrongs = (0..200).filter(|_| {
                let mut sequence = Sequence::new(test_of_margin(10.0, max_blocks));
                let mut points = vec![];
                while sequence.verdict() == Verdict::GoOn {
                    let drawn = outcomes.draw(&mut rng);
                    sequence.finish(points.len() as u64, Some(drawn)).unwrap();
                    points.push(drawn.points());
                }
                let interval = t_interval(&points, 0.95).map(|found| found.interval);
                answer(sequence.verdict(), interval, 10.0).0 == wrong
            });
            wrongs.count() as f64 / 200.0
        };
        for max_blocks in [60, 150, 400] {
            // 5 % and two standard errors.
            let fails = share(&equal, max_blocks, Answer::Fail);
            let passes = share(&worse, max_blocks, Answer::Pass);
            assert!(fails <= 0.081 && passes <= 0.081, "{max_blocks}: {fails} {passes}");
        }
    }

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
