//! Reads the matches of a comparison as they end, and says when to stop.

#[cfg(test)]
mod arrival;

use crate::stats::block::{Unit, block_scores};
use crate::stats::fault_test::FaultTest;
use crate::stats::frequencies::Tally;
use crate::stats::regression::test_of_margin;
use crate::stats::schedule_order::{ScheduleOrder, SecondResult};
use crate::stats::scored::ScoredMatch;
use crate::stats::sequential::{SequentialTest, Verdict};

use super::evaluate::{Evidence, evaluate};
use super::fault_pairs::FaultPairs;
use super::unscored::at_worst;
use super::{BASE, CANARY, HEAD, MIN_BLOCKS, Question, Regression, Stopped};

/// A comparison under way.
///
/// Matches count in the order of the schedule. Faults count at once; blocks count
/// at the ends of the parts of laps, where every game has had as many. Nothing
/// counts after the end.
#[derive(Clone, Debug)]
pub struct Tracker {
    question: Question,
    test: SequentialTest,
    order: ScheduleOrder<ScoredMatch>,
    /// Matches that count.
    counted: Vec<ScoredMatch>,
    /// How many of them belong to whole parts of laps.
    n_whole: usize,
    n_parts: u64,
    pairs: FaultPairs,
    faults: FaultTest,
    tally: Tally,
    /// Of all blocks, with unscored matches as lost by the head and won by the base.
    at_worst: Tally,
    llr: f64,
    strength: Verdict,
}

/// The test that a question asks for.
fn test_of(question: &Question) -> SequentialTest {
    SequentialTest {
        errors: question.errors(),
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
    /// or a lap has no match, or its parts do not ascend to its end.
    #[must_use]
    pub fn new(question: Question) -> Self {
        let alpha = question.alpha;
        assert!(alpha > 0.0 && alpha < 0.5, "an error rate within 0 and one half");
        assert!(
            question.matches_per_lap > 0 && question.most_parts() > 0,
            "there is something to play"
        );
        let ends = &question.part_ends;
        assert!(
            ends.is_sorted_by(|a, b| a < b)
                && ends.last().is_none_or(|&last| last == question.matches_per_lap),
            "the parts of a lap ascend to its end"
        );
        Self {
            test: test_of(&question),
            question,
            order: ScheduleOrder::default(),
            counted: vec![],
            n_whole: 0,
            n_parts: 0,
            pairs: FaultPairs::default(),
            faults: FaultTest::default(),
            tally: Tally::default(),
            at_worst: Tally::default(),
            llr: 0.0,
            strength: Verdict::GoOn,
        }
    }

    /// Adds a match that ended; returns a reason if no more matches are needed.
    ///
    /// # Errors
    /// If the match was taken before.
    pub fn take(&mut self, played: ScoredMatch) -> Result<Option<Stopped>, SecondResult> {
        for played in self.order.finish(played.job, played)? {
            if self.ended().is_some() {
                break;
            }
            if let Some(pair) = self.pairs.take(&played) {
                self.faults.add(pair);
            }
            self.counted.push(played);
            if self.counted.len() as u64 == self.next_end() {
                self.end_part();
            }
        }
        Ok(self.ended())
    }

    /// Matches after which the part that is being played ends.
    fn next_end(&self) -> u64 {
        let Question { matches_per_lap, part_ends, .. } = &self.question;
        let (lap, part) = (
            self.n_parts / self.question.parts_per_lap(),
            self.n_parts % self.question.parts_per_lap(),
        );
        let end = usize::try_from(part).ok().and_then(|part| part_ends.get(part));
        lap * matches_per_lap + end.unwrap_or(matches_per_lap)
    }

    fn end_part(&mut self) {
        let part = &self.counted[self.n_whole..];
        let compared = || part.iter().filter(|played| played.seat_of(CANARY).is_none());
        for block in block_scores(compared(), HEAD, BASE, Unit::Lap).scores {
            self.tally.add(block.difference);
        }
        let at_worst: Vec<ScoredMatch> = compared().map(at_worst).collect();
        for block in block_scores(&at_worst, HEAD, BASE, Unit::Lap).scores {
            self.at_worst.add(block.difference);
        }
        self.n_whole = self.counted.len();
        self.n_parts += 1;
        self.look();
    }

    /// Only what passes also at worst has passed.
    fn look(&mut self) {
        let llr = |tally: &Tally| self.test.hypotheses.llr(&tally.frequencies());
        self.llr = llr(&self.tally);
        self.strength = self.test.judge(self.tally.n(), self.llr);
        if self.strength == Verdict::Alternative
            && self.test.judge(self.at_worst.n(), llr(&self.at_worst)) != Verdict::Alternative
        {
            self.strength = Verdict::GoOn;
        }
        if self.strength == Verdict::GoOn && self.n_parts >= self.question.most_parts() {
            self.strength = Verdict::Exhausted;
        }
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Why no more matches are needed; `None` while there are.
    #[must_use]
    pub fn ended(&self) -> Option<Stopped> {
        if self.faults.rejects(self.question.fault_alpha()) {
            return Some(Stopped::Decided);
        }
        match self.strength {
            Verdict::GoOn => None,
            Verdict::Exhausted => Some(Stopped::Blocks),
            Verdict::Null | Verdict::Alternative => Some(Stopped::Decided),
        }
    }

    /// Matches that count.
    #[must_use]
    pub fn n_matches(&self) -> u64 {
        self.counted.len() as u64
    }

    /// Blocks that count.
    #[must_use]
    pub fn n_blocks(&self) -> u64 {
        self.tally.n()
    }

    /// The mean difference so far, head minus base, points; `None` without blocks.
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

    /// The result. If nothing else ended the comparison, the time was up.
    #[must_use]
    pub fn conclude(self) -> Regression {
        let stopped = self.ended().unwrap_or(Stopped::Time);
        evaluate(
            self.question,
            &Evidence {
                matches: &self.counted,
                n_whole: self.n_whole,
                n_parts: self.n_parts,
                strength: self.strength,
                llr: self.llr,
                bounds: self.test.errors.bounds(),
                faults: &self.faults,
            },
            stopped,
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
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
            part_ends: vec![],
            max_parts: None,
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

    pub(crate) fn conclude(
        max_laps: u64,
        laps: impl IntoIterator<Item = Vec<ScoredMatch>>,
    ) -> Regression {
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

    /// The ratio gains hardly more from a large difference than from a small one.
    #[test]
    fn the_estimate_of_a_large_difference_does_not_exclude_it() {
        let margin = Question { margin: 3.0, ..question(100) };
        let mut tracker = Tracker::new(margin);
        for played in (0..100).flat_map(|number| lap(number, [100, 75, 75, 100], 50)) {
            tracker.take(played).unwrap();
        }
        let strength = tracker.conclude().strength;
        let [low, high] = strength.estimate.unwrap().interval;
        assert!(low <= -75.0 && high >= -75.0, "{strength:?}");
        assert!(low > -100.0 && high < -25.0, "{strength:?}");
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
    fn a_head_that_is_no_weaker_but_less_reliable_fails() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [50, 40, 60, 50], 50);
            for played in &mut lap {
                let faulty = played.job.is_multiple_of(3);
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
        // Two in ten of its matches are enough by far: no reason to play on.
        assert_eq!(found.stopped, Stopped::Decided);
        assert!(found.n_matches < 60, "{}", found.n_matches);
    }

    /// One match of four blocks scores nobody: nobody knows what it would have
    /// been, and at worst it is worth 25 points a block.
    #[test]
    fn blocks_without_a_score_count_at_worst() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [50, 40, 60, 50], 50);
            lap[0].seats.iter_mut().for_each(|seat| seat.reward = None);
            lap
        });
        let found = conclude(100, laps);
        assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::Unscored));
        assert_eq!(found.strength.n_incomplete, found.n_laps);
        assert_eq!(found.strength.difference.n_blocks, 3 * found.n_laps);
        assert_eq!(found.n_unscored, found.n_laps);
        assert!(found.strength.worst.unwrap() < -10.0, "{:?}", found.strength.worst);
    }

    /// One among hundreds cannot turn the answer, wherever it comes.
    #[test]
    fn a_single_match_without_a_score_is_outweighed() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [50, 40, 60, 50], 50);
            if number == 3 {
                lap[2].seats.iter_mut().for_each(|seat| seat.reward = None);
            }
            lap
        });
        let found = conclude(100, laps);
        assert_eq!((found.outcome, found.reason), (Outcome::Pass, Reason::Test));
        assert_eq!((found.n_unscored, found.strength.n_incomplete), (1, 1));
    }

    /// A head that loses every fourth block, and leads those into the step limit,
    /// looks stronger than the base in what is left.
    #[test]
    fn losses_that_become_step_limits_do_not_pass() {
        let laps = (0..100).map(|number| {
            let mut lap = lap(number, [100, 40, 50, 45], 50);
            for played in &mut lap[..2] {
                played.seats.iter_mut().for_each(|seat| seat.reward = None);
            }
            lap
        });
        let found = conclude(100, laps);
        assert!(found.strength.difference.mean.unwrap() > 9.0);
        assert_eq!((found.outcome, found.reason), (Outcome::Inconclusive, Reason::Unscored));
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

    /// Blocks count at the ends of parts, and the last allowed part ends it within
    /// a lap.
    #[test]
    fn strength_is_looked_at_after_each_part_of_a_lap() {
        let question = Question {
            part_ends: vec![2, 4, 6, 10],
            max_parts: Some(34),
            margin: 0.5,
            ..question(9)
        };
        assert_eq!((question.max_blocks(), question.blocks_per_part()), (34, 1));
        let mut tracker = Tracker::new(question);
        let mut n_taken = 0;
        let laps = (0..9).flat_map(|number| lap(number, [100, 0, 30, 70], 50));
        for played in laps {
            n_taken += 1;
            let ended = tracker.take(played).unwrap();
            let n_blocks =
                (n_taken / 10) * 4 + [0, 0, 1, 1, 2, 2, 3, 3, 3, 3][n_taken as usize % 10];
            assert_eq!(tracker.n_blocks(), n_blocks, "{n_taken}");
            if ended.is_some() {
                break;
            }
        }
        let found = tracker.conclude();
        assert_eq!((n_taken, found.n_matches, found.n_laps), (84, 84, 8));
        assert_eq!((found.stopped, found.reason), (Stopped::Blocks, Reason::Undecided));
    }
}
