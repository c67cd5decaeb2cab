//! A test that reads blocks one by one and stops when it has seen enough.

use crate::stats::gsprt::{ErrorRates, Hypotheses};

/// A sequential test of the mean difference of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialTest {
    /// What is compared.
    pub hypotheses: Hypotheses,
    /// How often it may err.
    pub errors: ErrorRates,
    /// Blocks before which nothing is decided: from few blocks their
    /// distribution cannot be told. 30 keeps error rates near the nominal ones.
    pub min_blocks: u64,
    /// Blocks after which the test ends undecided; `None` for no limit.
    pub max_blocks: Option<u64>,
    /// Number of blocks between two decisions; with several games, the blocks of a lap, so
    /// that each decision has seen all games equally often.
    pub check_every: u64,
    /// No difference is thought to be larger, points: 100 if nothing else is
    /// known, as [`Tally`](crate::stats::frequencies::Tally) explains.
    pub largest: u8,
}

impl SequentialTest {
    /// A test with 5 % of errors of either kind, from 30 blocks on, without limit.
    #[must_use]
    pub fn new(hypotheses: Hypotheses) -> Self {
        let errors = ErrorRates::default();
        Self { hypotheses, errors, min_blocks: 30, max_blocks: None, check_every: 1, largest: 100 }
    }
}

/// What a test says so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing yet: go on.
    GoOn,
    /// The null hypothesis is accepted.
    Null,
    /// The alternative is accepted.
    Alternative,
    /// The limit was reached without a decision.
    Exhausted,
}

impl SequentialTest {
    /// The verdict on `n` blocks whose log-likelihood ratio is `llr`.
    #[must_use]
    pub fn judge(&self, n: u64, llr: f64) -> Verdict {
        let [low, high] = self.errors.bounds();
        if self.looks(n) && llr <= low {
            Verdict::Null
        } else if self.looks(n) && llr >= high {
            Verdict::Alternative
        } else if self.max_blocks.is_some_and(|max| n >= max) {
            Verdict::Exhausted
        } else {
            Verdict::GoOn
        }
    }

    /// Whether the ratio matters after `n` blocks.
    pub(crate) fn looks(&self, n: u64) -> bool {
        let last = self.max_blocks.is_some_and(|max| n >= max);
        last || (n >= self.min_blocks && n.is_multiple_of(self.check_every.max(1)))
    }
}

#[cfg(test)]
pub(crate) use tests::Sequence;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::block::{BlockScores, Difference, made_up};
    use crate::stats::frequencies::{Frequencies, Tally};
    use crate::stats::schedule_order::{ScheduleOrder, SecondResult};

    /// A test under way. Blocks may finish in any order; they count in the
    /// schedule's, and none counts after the verdict.
    #[derive(Clone, Debug)]
    pub(crate) struct Sequence {
        test: SequentialTest,
        order: ScheduleOrder<Option<Difference>>,
        tally: Tally,
        llr: f64,
        verdict: Verdict,
    }

    impl Sequence {
        /// Begins a test.
        ///
        /// # Panics
        /// If its largest difference is not from 1 to 100.
        pub(crate) fn new(test: SequentialTest) -> Self {
            let (order, tally) = (ScheduleOrder::default(), Tally::within(test.largest));
            Self { test, order, tally, llr: 0.0, verdict: Verdict::GoOn }
        }

        /// Takes the block at a `place` of the schedule, counted from 0 without gaps
        /// among the blocks of the test: its difference, or `None` if it finished
        /// without one, which is no evidence either way. Returns the verdict so far.
        ///
        /// # Errors
        /// If the block finished before.
        pub(crate) fn finish(
            &mut self,
            place: u64,
            difference: Option<Difference>,
        ) -> Result<Verdict, SecondResult> {
            for difference in self.order.finish(place, difference)?.into_iter().flatten() {
                if self.verdict != Verdict::GoOn {
                    break;
                }
                self.tally.add(difference);
                self.look();
            }
            Ok(self.verdict)
        }

        fn look(&mut self) {
            let n = self.tally.n();
            if self.test.looks(n) {
                self.llr = self.test.hypotheses.llr(&self.tally.frequencies());
                self.verdict = self.test.judge(n, self.llr);
            }
        }

        /// The verdict so far; once there is one, it stays.
        pub(crate) fn verdict(&self) -> Verdict {
            self.verdict
        }

        /// The log-likelihood ratio when it was last looked at.
        pub(crate) fn llr(&self) -> f64 {
            self.llr
        }

        /// Blocks that counted.
        pub(crate) fn n_blocks(&self) -> u64 {
            self.tally.n()
        }

        /// What was seen of them.
        pub(crate) fn seen(&self) -> Frequencies {
            self.tally.frequencies()
        }
    }

    /// Plays a test over the blocks of a finished run, in the order of the schedule.
    fn replay(test: SequentialTest, blocks: &BlockScores) -> Sequence {
        let scored = blocks.scores.iter().map(|score| (score.block, Some(score.difference)));
        let mut all: Vec<(u64, Option<Difference>)> =
            scored.chain(blocks.incomplete.iter().map(|&block| (block, None))).collect();
        all.sort_unstable_by_key(|(block, _)| *block);
        let mut sequence = Sequence::new(test);
        for (place, (_, difference)) in (0..).zip(all) {
            sequence.finish(place, difference).expect("each place once");
        }
        sequence
    }

    fn test(max_blocks: u64) -> SequentialTest {
        let hypotheses = Hypotheses::Normalized([0.0, 0.5]);
        SequentialTest {
            min_blocks: 5,
            max_blocks: Some(max_blocks),
            ..SequentialTest::new(hypotheses)
        }
    }

    #[test]
    fn wins_speak_for_the_alternative_and_losses_for_the_null() {
        for (points, expected) in [(50, Verdict::Alternative), (-50, Verdict::Null)] {
            let mut sequence = Sequence::new(test(1000));
            for place in 0.. {
                let points = if place % 3 == 2 { -points } else { points };
                if sequence.finish(place, Some(Difference::whole(points))).unwrap() != Verdict::GoOn
                {
                    break;
                }
            }
            assert_eq!(sequence.verdict(), expected);
            assert!(sequence.n_blocks() >= 5);
        }
    }

    #[test]
    fn the_limit_ends_a_test_undecided() {
        let mut sequence = Sequence::new(test(6));
        let verdicts: Vec<Verdict> = (0..8)
            .map(|place| {
                let points = [50, -50, 0, 50, 0, 0, 100, 100][place as usize];
                sequence.finish(place, Some(Difference::whole(points))).unwrap()
            })
            .collect();
        assert_eq!(
            verdicts[4..],
            [Verdict::GoOn, Verdict::Exhausted, Verdict::Exhausted, Verdict::Exhausted]
        );
        assert_eq!(sequence.n_blocks(), 6, "nothing counts after the verdict");
    }

    #[test]
    fn a_finished_run_is_replayed_in_the_order_of_the_schedule() {
        let mut scores = made_up([100; 12]);
        // The last block of the schedule is the first of the list.
        scores[0].block = 20;
        scores[0].difference = Difference::whole(-100);
        let blocks = BlockScores { scores, incomplete: vec![15] };
        let stopped = replay(test(11), &blocks);
        assert_eq!(stopped.verdict(), Verdict::Alternative);
        assert!(stopped.n_blocks() < 11, "the lost block comes last and is not reached");
        assert_eq!(stopped.seen().mean(), 1.0);
    }

    #[test]
    fn blocks_without_a_result_are_passed_over() {
        let mut sequence = Sequence::new(test(100));
        assert_eq!(sequence.finish(1, Some(Difference::whole(50))), Ok(Verdict::GoOn));
        assert_eq!(sequence.n_blocks(), 0);
        assert_eq!(sequence.finish(0, None), Ok(Verdict::GoOn));
        assert_eq!(sequence.n_blocks(), 1);
        assert_eq!(sequence.finish(1, None), Err(SecondResult(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn the_order_of_completion_does_not_matter(
            points in proptest::collection::vec(-2i64..=2, 60),
            order in Just((0..60u64).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let differences: Vec<Option<Difference>> =
                points.iter().map(|&points| (points != 1).then(|| Difference::whole(50 * points))).collect();
            let mut in_order = Sequence::new(test(40));
            let mut shuffled = Sequence::new(test(40));
            for place in 0..60 {
                in_order.finish(place, differences[place as usize]).unwrap();
            }
            for place in order {
                shuffled.finish(place, differences[place as usize]).unwrap();
            }
            prop_assert_eq!(in_order.verdict(), shuffled.verdict());
            prop_assert_eq!(in_order.n_blocks(), shuffled.n_blocks());
            prop_assert_eq!(in_order.llr().to_bits(), shuffled.llr().to_bits());
        }
    }
}
