//! Reads the matches of a comparison as they end, and says when to stop.

use crate::stats::block::{Unit, block_scores};
use crate::stats::frequencies::Tally;
use crate::stats::gsprt::ErrorRates;
use crate::stats::regression::test_of_margin;
use crate::stats::schedule_order::{ScheduleOrder, SecondResult};
use crate::stats::scored::ScoredMatch;
use crate::stats::sequential::{SequentialTest, Verdict};

use super::evaluate::evaluate;
use super::{BASE, CANARY, HEAD, MIN_BLOCKS, Question, Regression, Stopped};

/// A comparison under way.
///
/// Matches count lap by lap, in the order of the schedule; a lap counts when it
/// is whole. None counts after the verdict.
#[derive(Clone, Debug)]
pub struct Tracker {
    question: Question,
    test: SequentialTest,
    order: ScheduleOrder<ScoredMatch>,
    /// Matches of whole laps.
    counted: Vec<ScoredMatch>,
    /// Matches of the lap that is not whole yet.
    lap: Vec<ScoredMatch>,
    tally: Tally,
    llr: f64,
    verdict: Verdict,
    n_laps: u64,
}

/// The test that a question asks for.
fn test_of(question: &Question) -> SequentialTest {
    let errors = ErrorRates { alpha: question.alpha, beta: question.alpha };
    SequentialTest {
        errors,
        min_blocks: MIN_BLOCKS,
        max_blocks: None,
        ..test_of_margin(question.margin, question.max_blocks())
    }
}

impl Tracker {
    /// Nothing is played yet.
    ///
    /// # Panics
    /// If the margin is not within 0 and 100, or alpha not within 0 and one half,
    /// or a lap has no match.
    #[must_use]
    pub fn new(question: Question) -> Self {
        let alpha = question.alpha;
        assert!(alpha > 0.0 && alpha < 0.5, "an error rate within 0 and one half");
        assert!(
            question.matches_per_lap > 0 && question.max_laps > 0,
            "there is something to play"
        );
        Self {
            test: test_of(&question),
            question,
            order: ScheduleOrder::default(),
            counted: vec![],
            lap: vec![],
            tally: Tally::default(),
            llr: 0.0,
            verdict: Verdict::GoOn,
            n_laps: 0,
        }
    }

    /// Takes a match that ended, and returns the verdict so far.
    ///
    /// # Errors
    /// If the match was taken before.
    pub fn take(&mut self, played: ScoredMatch) -> Result<Verdict, SecondResult> {
        for played in self.order.finish(played.job, played)? {
            if self.verdict != Verdict::GoOn {
                break;
            }
            self.lap.push(played);
            if self.lap.len() as u64 == self.question.matches_per_lap {
                self.end_lap();
            }
        }
        Ok(self.verdict)
    }

    fn end_lap(&mut self) {
        let matches = self.lap.iter().filter(|played| played.seat_of(CANARY).is_none());
        for block in block_scores(matches, HEAD, BASE, Unit::Lap).scores {
            self.tally.add(block.difference);
        }
        self.counted.append(&mut self.lap);
        self.n_laps += 1;
        self.llr = self.test.hypotheses.llr(&self.tally.frequencies());
        self.verdict = self.test.judge(self.tally.n(), self.llr);
        if self.verdict == Verdict::GoOn && self.n_laps >= self.question.max_laps {
            self.verdict = Verdict::Exhausted;
        }
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The verdict so far; once there is one, it stays.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Laps that count.
    #[must_use]
    pub fn n_laps(&self) -> u64 {
        self.n_laps
    }

    /// Blocks that count.
    #[must_use]
    pub fn n_blocks(&self) -> u64 {
        self.tally.n()
    }

    /// The mean difference so far, head less base, points; `None` without blocks.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.tally.n() > 0).then(|| 200.0 * self.tally.frequencies().mean() - 100.0)
    }

    /// The log-likelihood ratio when it was last looked at, and the bounds at
    /// which the test decides.
    #[must_use]
    pub fn llr(&self) -> (f64, [f64; 2]) {
        (self.llr, self.test.errors.bounds())
    }

    /// What there is to be told. Without a verdict the time was up.
    #[must_use]
    pub fn conclude(self) -> Regression {
        let stopped = match self.verdict {
            Verdict::GoOn => Stopped::Time,
            Verdict::Exhausted => Stopped::Blocks,
            Verdict::Null | Verdict::Alternative => Stopped::Decided,
        };
        let bounds = self.test.errors.bounds();
        let test = (self.verdict, self.llr, bounds);
        evaluate(self.question, &self.counted, self.n_laps, test, stopped)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::regress::{Outcome, Reason};
    use crate::sample;
    use crate::stats::scored::ScoredMatch;

    pub(crate) fn question(max_laps: u64) -> Question {
        Question {
            base: "old".into(),
            head: "new".into(),
            suite: "test".into(),
            margin: 10.0,
            alpha: 0.05,
            max_laps,
            time_limit_s: None,
            matches_per_lap: 10,
            blocks_per_lap: 4,
            has_canary: true,
        }
    }

    /// A lap of four duels of base and head and one of head and canary. Base
    /// gets `points`, all others the rest of 100.
    pub(crate) fn lap(number: u64, points: [u8; 4], canary: u8) -> Vec<ScoredMatch> {
        let mut matches = vec![];
        let duels = points.into_iter().map(|points| ([BASE, HEAD], points));
        for (block, (players, first)) in duels.chain([([CANARY, HEAD], canary)]).enumerate() {
            for rotation in 0..2 {
                let job = 10 * number + 2 * block as u64 + rotation;
                let (mut players, mut rewards) = (players, [first, 100 - first]);
                if rotation == 1 {
                    players.reverse();
                    rewards.reverse();
                }
                let mut played =
                    ScoredMatch::from(&sample::record(job, "ticTacToe", players, rewards));
                (played.block, played.lap) = (job / 2, 4 * number as u32 + block as u32);
                if block == 4 {
                    played.lap = number as u32;
                }
                matches.push(played);
            }
        }
        matches
    }

    fn conclude(max_laps: u64, laps: impl IntoIterator<Item = Vec<ScoredMatch>>) -> Regression {
        let mut tracker = Tracker::new(question(max_laps));
        for played in laps.into_iter().flatten() {
            tracker.take(played).unwrap();
        }
        tracker.conclude()
    }

    #[test]
    fn a_weaker_head_fails_and_an_equal_one_passes() {
        let weak = conclude(100, (0..100).map(|number| lap(number, [100, 50, 50, 100], 50)));
        assert_eq!((weak.outcome, weak.reason), (Outcome::Fail, Reason::Test));
        assert!(weak.n_laps < 20, "{}", weak.n_laps);
        assert_eq!(weak.strength.difference.mean, Some(-50.0));
        assert!(!weak.games[0].repeats, "blocks of one lap differ");
        let equal = conclude(100, (0..100).map(|number| lap(number, [50, 40, 60, 50], 50)));
        assert_eq!((equal.outcome, equal.reason), (Outcome::Pass, Reason::Test));
        assert_eq!(equal.stopped, Stopped::Decided);
        assert_eq!(equal.canary.unwrap().difference.mean, Some(0.0));
        let same = conclude(100, (0..100).map(|number| lap(number, [50; 4], 50)));
        assert!(same.games[0].repeats);
    }

    #[test]
    fn few_blocks_tell_nothing() {
        let found = conclude(2, (0..2).map(|number| lap(number, [50; 4], 50)));
        assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::TooFew));
        assert_eq!((found.stopped, found.strength.difference.n_blocks), (Stopped::Blocks, 8));
        let nothing = conclude(2, []);
        assert_eq!((nothing.outcome, nothing.reason), (Outcome::Inconclusive, Reason::TooFew));
        assert_eq!(nothing.strength.difference.mean, None);
        let json = serde_json::to_string(&nothing).unwrap();
        assert_eq!(serde_json::from_str::<Regression>(&json).unwrap(), nothing);
    }

    /// As far from equal as from worse by the margin.
    #[test]
    fn what_cannot_be_told_is_not() {
        let points =
            |number: u64| if number.is_multiple_of(2) { [100, 0, 45, 65] } else { [55; 4] };
        let found = conclude(8, (0..8).map(|number| lap(number, points(number), 50)));
        assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::Undecided));
    }

    #[test]
    fn a_canary_that_differs_blames_the_machine() {
        let found = conclude(100, (0..100).map(|number| lap(number, [100, 50, 50, 100], 90)));
        assert!(found.canary.as_ref().unwrap().blames_machine);
        assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::Canary));
    }

    #[test]
    fn a_head_that_is_no_weaker_but_less_reliable_fails() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [50, 40, 60, 50], 50);
            for played in &mut lap {
                let faulty = played.job.is_multiple_of(5);
                let mut seats = played.seats.iter_mut();
                let seat = seats.find(|seat| faulty && &*seat.player == HEAD);
                seat.into_iter().for_each(|seat| seat.faults[1] = 2);
            }
            lap
        });
        let found = conclude(100, laps);
        assert_eq!((found.outcome, found.reason), (Outcome::Fail, Reason::Faults));
        assert_eq!(found.faults.base.n_faulty, 0);
        assert_eq!(
            found.faults.head.kinds,
            [(crate::record::FaultKind::LateMove, 2 * found.faults.head.n_faulty)]
        );
        assert_eq!(found.policies.len(), 3);
    }

    #[test]
    fn a_block_without_a_score_is_told_and_does_not_count() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [50, 40, 60, 50], 50);
            lap[1].seats.iter_mut().for_each(|seat| seat.reward = None);
            lap
        });
        let found = conclude(100, laps);
        assert_eq!(found.outcome, Outcome::Pass);
        assert_eq!(found.strength.n_incomplete, found.n_laps);
        assert_eq!(found.strength.difference.n_blocks, 3 * found.n_laps);
        assert_eq!(found.n_unscored, found.n_laps);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// However many workers there were, and wherever it was interrupted.
        #[test]
        fn the_order_of_completion_does_not_matter(
            points in proptest::collection::vec(proptest::array::uniform4(0u8..=100), 30),
            order in Just((0..300usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let laps: Vec<ScoredMatch> = points
                .iter()
                .zip(0..)
                .flat_map(|(&points, number)| lap(number, points, 50))
                .collect();
            let expected = conclude(30, [laps.clone()]);
            let shuffled = order.iter().map(|&index| laps[index].clone()).collect();
            prop_assert_eq!(conclude(30, [shuffled]), expected);
        }
    }
}
