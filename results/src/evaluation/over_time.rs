//! Strength against time: what a player made of each budget, and what a doubling
//! is worth to it.

use std::collections::BTreeMap;

use crate::evidence::{Clock, Evidence};
use crate::standings::{Estimate, Standings};
use crate::stats::doubling::{PerDoubling, per_doubling};

/// What a player may use for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Budget {
    /// The play clock, milliseconds.
    Milliseconds(u64),
    /// States.
    Nodes(u64),
}

impl Budget {
    /// The number, in its own unit.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Milliseconds(n) | Self::Nodes(n) => n,
        }
    }

    pub(super) fn of(clock: Clock) -> Self {
        clock.nodes.map_or(Self::Milliseconds(clock.play_clock_ms), Self::Nodes)
    }
}

/// A player's means at its budgets.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    /// Place of the player in the standings.
    pub player: usize,
    /// By budget, ascending.
    pub points: Vec<TimePoint>,
    /// What a doubling is worth; `None` with a single budget, too few blocks, or
    /// budgets of different units.
    pub per_doubling: Option<PerDoubling>,
    /// Blocks that the line is through.
    pub n_blocks: usize,
}

/// A player's mean at one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePoint {
    /// What it had for a move.
    pub budget: Budget,
    /// The clock of the matches, in words.
    pub clock: String,
    /// Its mean reward over its games.
    pub reward: Estimate,
}

/// What players had for a move, ascending.
pub(super) fn budgets(evidence: &Evidence) -> Vec<Budget> {
    let mut budgets: Vec<Budget> = evidence.own_clocks.iter().copied().map(Budget::of).collect();
    budgets.sort_unstable();
    budgets.dedup();
    budgets
}

/// What a mean reward may be.
const REWARDS: [f64; 2] = [0.0, 100.0];

/// Strength against time of each player, or none if all had the same budget.
pub(super) fn over_time(
    evidence: &Evidence,
    order: &[usize],
    standings: &Standings,
    level: f64,
) -> Vec<OverTime> {
    if self::budgets(evidence).len() < 2 {
        return vec![];
    }
    let budgets = own_budgets(evidence);
    let of_player = |(place, &player): (usize, &usize)| {
        let name = &evidence.players[player];
        let of_clock = |(clock, words): (usize, &String)| {
            let budget = *budgets.get(&(player as u32, clock as u32))?;
            let mut rows = standings.by_clock.iter();
            let row = rows.find(|row| row.player == *name && row.clock == *words)?;
            Some(TimePoint { budget, clock: words.clone(), reward: row.reward.clone() })
        };
        let mut points: Vec<TimePoint> =
            standings.clocks.iter().enumerate().filter_map(of_clock).collect();
        points.sort_by_key(|point| point.budget);
        let blocks = blocks(evidence, player as u32);
        let of_one_unit = points.windows(2).all(|pair| {
            std::mem::discriminant(&pair[0].budget) == std::mem::discriminant(&pair[1].budget)
        });
        OverTime {
            player: place,
            points,
            per_doubling: of_one_unit.then(|| per_doubling(&blocks, level, REWARDS)).flatten(),
            n_blocks: blocks.len(),
        }
    };
    order.iter().enumerate().map(of_player).filter(|over| !over.points.is_empty()).collect()
}

/// What each player had for a move in matches of each clock.
fn own_budgets(evidence: &Evidence) -> BTreeMap<(u32, u32), Budget> {
    let seats = &evidence.seats;
    let mut budgets = BTreeMap::new();
    for row in 0..seats.player.len() {
        budgets
            .entry((seats.player[row], seats.clock[row]))
            .or_insert_with(|| Budget::of(evidence.own_clocks[seats.own_clock[row] as usize]));
    }
    budgets
}

/// Budget and mean reward of each of a player's blocks.
fn blocks(evidence: &Evidence, player: u32) -> Vec<(f64, f64)> {
    let seats = &evidence.seats;
    let mut blocks: BTreeMap<(u32, u64), [f64; 2]> = BTreeMap::new();
    for row in (0..seats.player.len()).filter(|&row| seats.player[row] == player) {
        let block = blocks.entry((seats.own_clock[row], seats.block[row])).or_default();
        block[0] += f64::from(seats.reward[row]);
        block[1] += 1.0;
    }
    let budget = |clock: u32| Budget::of(evidence.own_clocks[clock as usize]).amount() as f64;
    blocks.into_iter().map(|((clock, _), [sum, n])| (budget(clock), sum / n)).collect()
}

#[cfg(test)]
mod tests {
    use crate::evaluation::{Budget, evaluate};
    use crate::record::{self, MatchRecord, OddsRecord};
    use crate::sample;

    #[test]
    fn a_doubling_has_its_worth() {
        // a wins 60, 70, 80 points at 1, 2 and 4 seconds.
        let mut records = vec![];
        for job in 0..24u64 {
            let step = job / 8;
            let a = 60 + 10 * step as u8;
            let (players, rewards) = if job.is_multiple_of(2) {
                (["a", "b"], [a, 100 - a])
            } else {
                (["b", "a"], [100 - a, a])
            };
            let record = sample::record(job, "x", players, rewards);
            records.push(MatchRecord { play_clock_ms: 1000 << step, ..record });
        }
        let run = sample::run(true, &records);
        let found = evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time;
        let [a, b] = &found[..] else { panic!("two players") };
        let means: Vec<_> = a.points.iter().map(|p| (p.budget, p.reward.mean)).collect();
        let expected = [(1000, 60.0), (2000, 70.0), (4000, 80.0)];
        assert_eq!(means, expected.map(|(ms, mean)| (Budget::Milliseconds(ms), Some(mean))));
        let slope = |over: &super::OverTime| over.per_doubling.unwrap().points;
        assert!((slope(a) - 10.0).abs() < 1e-9 && (slope(b) + 10.0).abs() < 1e-9);
        assert_eq!(a.n_blocks, 12);
    }

    #[test]
    fn time_odds_are_budgets_of_their_own() {
        let mut records: Vec<MatchRecord> =
            (0..8).map(|job| sample::record(job, "x", ["a", "b"], [75, 25])).collect();
        let run = sample::run(true, &records);
        assert!(evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time.is_empty());
        for record in &mut records {
            record.seats[1].odds = Some(OddsRecord {
                start_clock_ms: 10_000,
                play_clock_ms: 250,
                budget: record::Budget::Clock,
            });
        }
        let run = sample::run(true, &records);
        let found = evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time;
        let budgets: Vec<Budget> = found.iter().map(|over| over.points[0].budget).collect();
        assert_eq!(budgets, [Budget::Milliseconds(1000), Budget::Milliseconds(250)]);
        assert!(found.iter().all(|over| over.per_doubling.is_none()));
    }
}
