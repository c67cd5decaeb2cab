//! How rewards and times are distributed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::over_time::MoveBudget;
use crate::evidence::{Evidence, Overhead};
use crate::histogram::Histogram;
use crate::stats::scored::ScoredMatch;

/// Bars of a figure of times for each power of two.
const PER_OCTAVE: u32 = 2;

/// The rewards of a player in its scored matches.
#[derive(Clone, Debug, PartialEq)]
pub struct RewardDistribution {
    /// How often each reward was given, ascending.
    pub counts: BTreeMap<u8, u64>,
    /// Scored matches.
    pub n: u64,
    /// Each match weighing the same; `None` without matches.
    pub mean: Option<f64>,
    /// Of a single match; `None` without matches.
    pub standard_deviation: Option<f64>,
}

impl RewardDistribution {
    /// How many rewards were within `low..=high`.
    #[must_use]
    pub fn within(&self, low: u8, high: u8) -> u64 {
        self.counts.range(low..=high).map(|(_, n)| n).sum()
    }
}

/// Times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// How many times.
    pub n: u64,
    /// Bars of equal width on a logarithmic scale, ascending; empty ones are left
    /// out.
    pub bars: Vec<Bar>,
    /// Quantiles, within 0.4 %: 50, 95 and 99 %; `None` without times.
    pub quantiles: Option<[f64; 3]>,
    /// The longest.
    pub max: Option<f64>,
}

/// How fast a player was under one clock.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerTimes {
    /// Place of the player in the standings.
    pub player: usize,
    /// What bounded this player, in words.
    pub clock: String,
    /// What it had for a move.
    pub budget: MoveBudget,
    /// Think times of moves with a choice.
    pub thinking: Times,
    /// Times beyond the play clock of the moves that took longer.
    pub overruns: Times,
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Values from here on, milliseconds,
    pub low: f64,
    /// to below here.
    pub high: f64,
    /// How many.
    pub n: u64,
}

/// What the matches of a game took.
#[derive(Clone, Debug, PartialEq)]
pub struct GameOverhead {
    /// The game.
    pub game: String,
    /// Matches, scored or not.
    pub n_matches: u64,
    /// Steps of all these.
    pub n_steps: u64,
    /// Duration of a match.
    pub duration: Times,
    /// What the harness itself took of that: all that is neither a player's nor
    /// waiting.
    pub harness: Times,
    /// Mean time of the harness for a step, microseconds; `None` without steps.
    pub harness_us_per_step: Option<f64>,
    /// The harness's share of all durations, 0 to 1; `None` if they are zero.
    pub share: Option<f64>,
}

pub(super) fn rewards(
    matches: &[(ScoredMatch, u32)],
    players: &[Arc<str>],
) -> Vec<RewardDistribution> {
    let mut counts: BTreeMap<&str, [u64; 101]> = BTreeMap::new();
    for (played, n) in matches {
        for seat in &played.seats {
            let counts = counts.entry(&seat.player).or_insert([0; 101]);
            if let Some(reward) = seat.reward {
                counts[usize::from(reward)] += u64::from(*n);
            }
        }
    }
    let of_player = |name: &Arc<str>| distribution(counts.get(&**name).unwrap_or(&[0; 101]));
    players.iter().map(of_player).collect()
}

fn distribution(counts: &[u64; 101]) -> RewardDistribution {
    let counts: BTreeMap<u8, u64> =
        (0..).zip(counts.iter().copied()).filter(|(_, n)| *n > 0).collect();
    let n: u64 = counts.values().sum();
    let moment = |of: &dyn Fn(f64) -> f64| {
        let sum: f64 = counts.iter().map(|(&r, &n)| of(f64::from(r)) * n as f64).sum();
        (n > 0).then(|| sum / n as f64)
    };
    let mean = moment(&|reward| reward);
    let variance = mean.and_then(|mean| moment(&|reward| (reward - mean).powi(2)));
    RewardDistribution { n, mean, standard_deviation: variance.map(f64::sqrt), counts }
}

fn times(histogram: &Histogram) -> Times {
    let ms = |us: u64| us as f64 / 1000.0;
    let bound = |bucket: i32| (f64::from(bucket) / f64::from(PER_OCTAVE)).exp2() / 1000.0;
    let bars = histogram.counted(PER_OCTAVE).into_iter();
    let quantile = |q: f64| histogram.quantile(q).map(ms);
    let quantiles = [0.5, 0.95, 0.99].map(quantile);
    Times {
        n: histogram.n(),
        bars: bars.map(|(b, n)| Bar { low: bound(b), high: bound(b + 1), n }).collect(),
        quantiles: quantiles[0].zip(quantiles[1]).zip(quantiles[2]).map(|((a, b), c)| [a, b, c]),
        max: histogram.max().map(ms),
    }
}

pub(super) fn thinking(evidence: &Evidence, order: &[usize], timings: bool) -> Vec<PlayerTimes> {
    let players = order.iter().enumerate().filter(|_| timings);
    let of_player = |(place, &player): (usize, &usize)| {
        evidence.paces(player).map(move |(clock, pace)| {
            let clock = evidence.own_clocks[clock as usize];
            PlayerTimes {
                player: place,
                clock: clock.to_string(),
                budget: MoveBudget::of(clock),
                thinking: times(&pace.think_us),
                overruns: times(&pace.overrun_us),
            }
        })
    };
    players.flat_map(of_player).collect()
}

pub(super) fn overhead(evidence: &Evidence, timings: bool) -> Vec<GameOverhead> {
    let games = evidence.games.iter().zip(&evidence.overhead).filter(|_| timings);
    let of_game = |(game, overhead): (&String, &Overhead)| {
        let harness = overhead.harness_us_sum as f64;
        let per = |n: u64| (n > 0).then(|| harness / n as f64);
        GameOverhead {
            game: game.clone(),
            n_matches: overhead.duration_us.n(),
            n_steps: overhead.n_steps,
            duration: times(&overhead.duration_us),
            harness: times(&overhead.harness_us),
            harness_us_per_step: per(overhead.n_steps),
            share: per(overhead.duration_us_sum),
        }
    };
    games.map(of_game).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_counted() {
        let mut counts = [0; 101];
        counts[0] = 3;
        counts[50] = 2;
        counts[100] = 5;
        let found = distribution(&counts);
        assert_eq!((found.n, found.mean), (10, Some(60.0)));
        // Variance: (3 * 3600 + 2 * 100 + 5 * 1600) / 10.
        assert_eq!(found.standard_deviation, Some(1900f64.sqrt()));
        assert_eq!((found.within(0, 0), found.within(1, 99), found.within(100, 100)), (3, 2, 5));
        let nothing = distribution(&[0; 101]);
        assert_eq!((nothing.n, nothing.mean, nothing.standard_deviation), (0, None, None));
    }

    #[test]
    fn bars_are_bounded_by_their_times() {
        let mut histogram = Histogram::default();
        assert_eq!(times(&histogram), Times::default());
        [1000, 1100, 64_000].iter().for_each(|&us| histogram.add(us));
        let times = times(&histogram);
        assert_eq!((times.n, times.max), (3, Some(64.0)));
        assert_eq!(times.bars.iter().map(|bar| bar.n).sum::<u64>(), 3);
        for (bar, ms) in [(times.bars[0], 1.0), (times.bars[times.bars.len() - 1], 64.0)] {
            assert!(bar.low <= ms && ms < bar.high, "{bar:?}");
        }
    }
}
