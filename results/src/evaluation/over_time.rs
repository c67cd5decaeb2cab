//! Strength by budget: what a player made of each budget, and what a doubling
//! is worth to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use strum::IntoStaticStr;

use crate::evidence::Evidence;
use crate::record::Clock;
use crate::standings::{Estimate, Sampling, Slope};
use crate::stats::bootstrap::Bootstrap;

/// What a player may use for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(tag = "unit", content = "amount", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MoveBudget {
    /// The play clock, milliseconds.
    Milliseconds(u64),
    /// States.
    Nodes(u64),
}

impl MoveBudget {
    /// The number, in its own unit.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Milliseconds(n) | Self::Nodes(n) => n,
        }
    }

    pub(super) fn of(clock: Clock) -> Self {
        clock.budget.nodes().map_or(Self::Milliseconds(clock.play_clock_ms), Self::Nodes)
    }
}

/// A player's means at its budgets.
#[derive(Clone, Debug, PartialEq)]
pub struct OverTime {
    /// Place of the player in the standings.
    pub player: usize,
    /// By budget, ascending, over the games that it played at every clock.
    pub points: Vec<TimePoint>,
    /// What a doubling is worth: the slope of the line through the points; `None` with
    /// a single budget or budgets of different units.
    pub per_doubling: Option<Slope>,
    /// Blocks of all points.
    pub n_blocks: u64,
    /// Games that it played at every clock.
    pub n_games: u64,
    /// Games that are left out, since it played them at some clocks only.
    pub n_other_games: u64,
}

/// A player's mean at one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePoint {
    /// What it had for a move.
    pub budget: MoveBudget,
    /// The clock of the matches, in words.
    pub clock: String,
    /// Its mean reward over its games.
    pub reward: Estimate,
}

/// What players had for a move, ascending.
pub(super) fn budgets(evidence: &Evidence, own_clocks: &OwnClocks) -> Vec<MoveBudget> {
    let clocks = own_clocks.values().flatten().map(|clock| evidence.own_clocks[*clock as usize]);
    clocks.map(MoveBudget::of).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Strength by budget of each player, or none if all had the same budget.
pub(super) fn over_time(
    evidence: &Evidence,
    own_clocks: &OwnClocks,
    sampling: &Sampling,
    bootstrap: &Bootstrap,
) -> Vec<OverTime> {
    if budgets(evidence, own_clocks).len() < 2 {
        return vec![];
    }
    let of_player = |(place, &player): (usize, &usize)| {
        let over_clocks = sampling.over_clocks(player);
        let budget = |clock: u32| {
            let own_clock = own_clocks[&(player as u32, clock)][0];
            MoveBudget::of(evidence.own_clocks[own_clock as usize])
        };
        let point = |(clock, reward): (u32, Estimate)| TimePoint {
            budget: budget(clock),
            clock: evidence.clocks[clock as usize].to_string(),
            reward,
        };
        let mut points: Vec<TimePoint> =
            over_clocks.estimates(bootstrap).into_iter().map(point).collect();
        points.sort_by_key(|point| point.budget);
        let of_one_unit = points.windows(2).all(|pair| {
            std::mem::discriminant(&pair[0].budget) == std::mem::discriminant(&pair[1].budget)
        });
        let amount = |clock: u32| budget(clock).amount().max(1) as f64;
        let slope = || over_clocks.slope(amount, bootstrap);
        OverTime {
            player: place,
            n_blocks: points.iter().map(|point| point.reward.n_blocks).sum(),
            points,
            per_doubling: of_one_unit.then(slope).flatten(),
            n_games: over_clocks.n_games,
            n_other_games: over_clocks.n_other_games,
        }
    };
    let players = sampling.order.iter().enumerate();
    players.map(of_player).filter(|over| !over.points.is_empty()).collect()
}

/// By player and clock of the match: what bounded the player, in the order of the
/// schedule.
pub(super) type OwnClocks = BTreeMap<(u32, u32), Vec<u32>>;

/// What bounded players in the matches that were scored.
pub(super) fn own_clocks(evidence: &Evidence) -> OwnClocks {
    let mut clocks = OwnClocks::new();
    for kept in evidence.kept.matches() {
        for seat in kept.seats {
            let own = clocks.entry((seat.player, kept.clock)).or_default();
            if !own.contains(&seat.own_clock) {
                own.push(seat.own_clock);
            }
        }
    }
    clocks
}

#[cfg(test)]
mod tests {
    use crate::evaluation::{MoveBudget, evaluate};
    use crate::record::{Budget, Clock, MatchRecord};
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
        assert_eq!(means, expected.map(|(ms, mean)| (MoveBudget::Milliseconds(ms), Some(mean))));
        let slope = |over: &super::OverTime| over.per_doubling.unwrap().points;
        assert!((slope(a) - 10.0).abs() < 1e-9 && (slope(b) + 10.0).abs() < 1e-9);
        assert_eq!(a.n_blocks, 12);
    }

    /// A game of many blocks says that time helps, one of few that it hurts, and a
    /// third is there at one clock only: the slope is that of the line through the
    /// means, in which each game weighs the same.
    #[test]
    fn the_slope_is_that_of_the_line() {
        let mut records = vec![];
        let mut add = |game: &str, n: u64, step: u32, a: u8| {
            for _ in 0..2 * n {
                let job = records.len() as u64;
                let (players, rewards) = match job % 2 {
                    0 => (["a", "b"], [a, 100 - a]),
                    _ => (["b", "a"], [100 - a, a]),
                };
                let record = sample::record(job, game, players, rewards);
                records.push(MatchRecord { play_clock_ms: 1000 << step, ..record });
            }
        };
        add("many", 10, 0, 60);
        add("many", 10, 1, 58);
        add("few", 2, 0, 20);
        add("few", 2, 1, 50);
        add("once", 3, 1, 0);
        let run = sample::run(true, &records);
        let found = evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time;
        let a = found.iter().find(|over| over.points[0].reward.mean == Some(40.0)).unwrap();
        assert_eq!(a.points[1].reward.mean, Some(54.0));
        let slope = a.per_doubling.unwrap();
        assert!((slope.points - 14.0).abs() < 1e-9, "{slope:?}");
        // All blocks of a game are alike: others, not seen yet, may bend the line.
        let [low, high] = slope.interval.unwrap();
        assert!(low < 0.0 && high > 28.0, "{slope:?}");
        assert_eq!((a.n_games, a.n_other_games, a.n_blocks), (2, 1, 24));
    }

    #[test]
    fn time_odds_are_budgets_of_their_own() {
        let mut records: Vec<MatchRecord> =
            (0..8).map(|job| sample::record(job, "x", ["a", "b"], [75, 25])).collect();
        let run = sample::run(true, &records);
        assert!(evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time.is_empty());
        for record in &mut records {
            record.seats[1].odds =
                Some(Clock { start_clock_ms: 10_000, play_clock_ms: 250, budget: Budget::Clock });
        }
        let run = sample::run(true, &records);
        let found = evaluate(run.path(), &sample::QUICK, 0).unwrap().over_time;
        let budgets: Vec<MoveBudget> = found.iter().map(|over| over.points[0].budget).collect();
        assert_eq!(budgets, [MoveBudget::Milliseconds(1000), MoveBudget::Milliseconds(250)]);
        assert!(found.iter().all(|over| over.per_doubling.is_none()));
    }
}
