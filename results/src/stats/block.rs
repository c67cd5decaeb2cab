//! The unit of evidence: how much better one player did than another in a block.
//!
//! In a block both players sat equally often in every role, of the same game,
//! with the same seed and the same other players. What those do to the rewards
//! cancels in the difference, which is all that is kept.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::stats::scored::{ScoredMatch, Stratum};

/// A difference of mean rewards, points: from -100 to 100, exact, so that equal
/// outcomes are counted as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    numerator: i64,
    /// Positive, and without a common factor with the numerator.
    denominator: i64,
}

impl Difference {
    /// `numerator / denominator` points.
    ///
    /// # Panics
    /// If the denominator is not positive, or the value not within -100 to 100.
    #[must_use]
    pub fn new(numerator: i64, denominator: i64) -> Self {
        assert!(denominator > 0, "a positive denominator");
        assert!(
            numerator.unsigned_abs() <= 100 * denominator.unsigned_abs(),
            "{numerator}/{denominator} is no difference of rewards"
        );
        let factor = gcd(numerator.unsigned_abs(), denominator.unsigned_abs()) as i64;
        Self { numerator: numerator / factor, denominator: denominator / factor }
    }

    /// So many points.
    ///
    /// # Panics
    /// If they are not within -100 to 100.
    #[must_use]
    pub fn whole(points: i64) -> Self {
        Self::new(points, 1)
    }

    /// The points.
    #[must_use]
    pub fn points(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// On the scale from 0 to 1 on which one half means equal.
    #[must_use]
    pub fn score(self) -> f64 {
        let numerator = self.numerator + 100 * self.denominator;
        numerator as f64 / (200 * self.denominator) as f64
    }
}

impl Ord for Difference {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        let right = i128::from(other.numerator) * i128::from(self.denominator);
        left.cmp(&right)
    }
}

impl PartialOrd for Difference {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+.1}", self.points())
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What a block says about two players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockScore {
    /// The block's number in the schedule, or that of the lap's first block.
    pub block: u64,
    /// Its lap.
    pub lap: u32,
    /// Game and clock.
    pub stratum: Arc<Stratum>,
    /// The first player's mean reward less the second's.
    pub difference: Difference,
    /// Matches it is the mean of.
    pub n_matches: u32,
}

/// Which matches make one unit of evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A block in which both players sit.
    #[default]
    Block,
    /// All matches of either player at one game, under one clock, in one lap:
    /// for players that never meet, as in games of one role or against the same
    /// third players. What the two share cancels less.
    Lap,
}

/// All blocks of two players, in the order of the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockScores {
    /// Blocks that count.
    pub scores: Vec<BlockScore>,
    /// Numbers of blocks that do not: some match is missing or unscored,
    /// so that the players did not sit equally often in each role.
    pub incomplete: Vec<u64>,
}

/// Compares two players in each block (or lap) in which both played.
#[must_use]
pub fn block_scores<'a>(
    matches: impl IntoIterator<Item = &'a ScoredMatch>,
    first: &str,
    second: &str,
    unit: Unit,
) -> BlockScores {
    let mut groups: BTreeMap<(Option<&Stratum>, u64), Group<'a>> = BTreeMap::new();
    for played in matches {
        let key = match unit {
            Unit::Block => (None, played.block),
            Unit::Lap => (Some(&*played.stratum), u64::from(played.lap)),
        };
        let seats = [played.seat_of(first), played.seat_of(second)];
        if seats.iter().any(Option::is_some) {
            let group = groups.entry(key).or_insert_with(|| Group::new(played));
            group.block = group.block.min(played.block);
            group.add(seats.map(|seat| seat.map(|seat| (seat.role, seat.reward))));
        }
    }
    let mut found = BlockScores::default();
    for group in groups.into_values().filter(Group::has_both) {
        match group.score() {
            Some(score) => found.scores.push(score),
            None => found.incomplete.push(group.block),
        }
    }
    found.scores.sort_by_key(|score| score.block);
    found.incomplete.sort_unstable();
    found
}

struct Group<'a> {
    block: u64,
    example: &'a ScoredMatch,
    n_matches: u32,
    /// By player: seen at all, sum of rewards, and visits to each role.
    sides: [Side; 2],
}

#[derive(Default)]
struct Side {
    seen: bool,
    sum: i64,
    visits: BTreeMap<u32, u32>,
}

impl<'a> Group<'a> {
    fn new(example: &'a ScoredMatch) -> Self {
        Self { block: example.block, example, n_matches: 0, sides: Default::default() }
    }

    fn add(&mut self, seats: [Option<(u32, Option<u8>)>; 2]) {
        let mut scored = false;
        for (side, seat) in self.sides.iter_mut().zip(seats) {
            let Some((role, reward)) = seat else { continue };
            side.seen = true;
            if let Some(reward) = reward {
                scored = true;
                side.sum += i64::from(reward);
                *side.visits.entry(role).or_default() += 1;
            }
        }
        self.n_matches += u32::from(scored);
    }

    fn has_both(&self) -> bool {
        self.sides.iter().all(|side| side.seen)
    }

    /// `None` unless both sat equally often in each role.
    fn score(&self) -> Option<BlockScore> {
        let [first, second] = &self.sides;
        let n: u32 = first.visits.values().sum();
        if n == 0 || first.visits != second.visits {
            return None;
        }
        Some(BlockScore {
            block: self.block,
            lap: self.example.lap,
            stratum: self.example.stratum.clone(),
            difference: Difference::new(first.sum - second.sum, n.into()),
            n_matches: self.n_matches,
        })
    }
}

/// Blocks made up for tests: one game, a lap each.
#[cfg(test)]
pub(crate) fn made_up(points: impl IntoIterator<Item = i64>) -> Vec<BlockScore> {
    use crate::record::{Budget, Clock};

    let clock = Clock { start_clock_ms: 1000, play_clock_ms: 1000, budget: Budget::Clock };
    let stratum = Arc::new(Stratum { game: "ticTacToe".into(), clock });
    let block = |(number, points)| BlockScore {
        block: number as u64,
        lap: number as u32,
        stratum: stratum.clone(),
        difference: Difference::whole(points),
        n_matches: 2,
    };
    points.into_iter().enumerate().map(block).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    /// As the other player sees it.
    fn negated(difference: Difference) -> Difference {
        Difference { numerator: -difference.numerator, ..difference }
    }

    fn matches() -> Vec<ScoredMatch> {
        let mut matches = vec![];
        for (block, rewards) in
            [[100, 0, 100, 0], [50, 50, 0, 100], [70, 20, 30, 90]].iter().enumerate()
        {
            for rotation in 0..2 {
                let players = if rotation == 0 { ["alpha", "beta"] } else { ["beta", "alpha"] };
                let rewards = [rewards[2 * rotation], rewards[2 * rotation + 1]];
                let job = (2 * block + rotation) as u64;
                matches.push(ScoredMatch::from(&sample::record(
                    job,
                    "ticTacToe",
                    players,
                    rewards,
                )));
            }
        }
        matches
    }

    #[test]
    fn a_block_is_the_mean_over_all_seatings() {
        let found = block_scores(&matches(), "alpha", "beta", Unit::Block);
        let points: Vec<f64> = found.scores.iter().map(|score| score.difference.points()).collect();
        assert_eq!(points, [0.0, 50.0, 55.0]);
        assert!(found.incomplete.is_empty());
        let other = block_scores(&matches(), "beta", "alpha", Unit::Block);
        for (score, other) in found.scores.iter().zip(&other.scores) {
            assert_eq!(score.difference, negated(other.difference));
        }
    }

    #[test]
    fn a_block_with_a_match_missing_does_not_count() {
        let mut matches = matches();
        matches[2].seats.iter_mut().for_each(|seat| seat.reward = None);
        matches.remove(5);
        let found = block_scores(&matches, "alpha", "beta", Unit::Block);
        assert_eq!(found.scores.len(), 1);
        assert_eq!(found.incomplete, [1, 2]);
        assert_eq!(block_scores(&matches, "alpha", "gamma", Unit::Block), BlockScores::default());
    }

    #[test]
    fn laps_compare_players_that_never_meet() {
        let alone = |job: u64, player, reward| {
            let mut played =
                ScoredMatch::from(&sample::record(job, "puzzle", [player, ""], [reward, 0]));
            played.seats.truncate(1);
            played.block = job;
            played.lap = (job / 2) as u32;
            played
        };
        let matches = [alone(0, "alpha", 80), alone(1, "beta", 50), alone(2, "beta", 0)];
        assert_eq!(block_scores(&matches, "alpha", "beta", Unit::Block), BlockScores::default());
        let found = block_scores(&matches, "alpha", "beta", Unit::Lap);
        assert_eq!(found.scores.len(), 1);
        assert_eq!(found.scores[0].difference, Difference::whole(30));
    }

    proptest! {
        #[test]
        fn differences_are_ordered_as_numbers(a in -600i64..=600, b in -600i64..=600) {
            let (left, right) = (Difference::new(a, 6), Difference::new(b, 6));
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(left == right, a == b);
            prop_assert!((left.score() + negated(left).score() - 1.0).abs() < 1e-12);
            prop_assert!((left.score() - (left.points() + 100.0) / 200.0).abs() < 1e-12);
        }

        #[test]
        fn the_order_of_matches_does_not_matter(order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle()) {
            let matches = matches();
            let shuffled: Vec<ScoredMatch> = order.iter().map(|&i| matches[i].clone()).collect();
            prop_assert_eq!(
                block_scores(&shuffled, "alpha", "beta", Unit::Block),
                block_scores(&matches, "alpha", "beta", Unit::Block)
            );
        }
    }
}
