//! What a player made of each clock, and the line through that.
//!
//! Both are over the games that it played at every one of its clocks: with a game
//! that is there at one clock only, a mean would change with the game and not with
//! the time.

use std::collections::BTreeSet;

use serde::Serialize;

use super::rows::Estimate;
use super::samples::{Sample, Sampled, average_over_games, estimate, rounded};
use crate::stats::bootstrap::Bootstrap;
use crate::stats::interval::{Part, REWARDS, reach, standard_error};

/// A player's means at its clocks.
#[derive(Clone, Debug)]
pub(crate) struct OverClocks {
    /// By clock's number, ascending.
    points: Vec<(u32, Sample)>,
    /// Games that are in all of them.
    pub(crate) n_games: u64,
    /// Games that are not, since they were played at some clocks only.
    pub(crate) n_other_games: u64,
}

/// The line through means over the logarithm of budgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slope {
    /// Points gained with each doubling.
    pub points: f64,
    /// Its standard error, from the standard deviation between blocks; `None` if all games have a
    /// single block.
    pub standard_error: Option<f64>,
    /// Student's interval; `None` like the error.
    pub interval: Option<[f64; 2]>,
}

impl OverClocks {
    pub(super) fn of(sampled: &[Sampled]) -> Self {
        let clocks: BTreeSet<u32> = sampled.iter().map(|stratum| stratum.clock).collect();
        let games: BTreeSet<u32> = sampled.iter().map(|stratum| stratum.game).collect();
        let at = |game: u32, clock: u32| {
            sampled.iter().any(|stratum| (stratum.game, stratum.clock) == (game, clock))
        };
        let (common, others): (BTreeSet<u32>, BTreeSet<u32>) =
            games.iter().partition(|&&game| clocks.iter().all(|&clock| at(game, clock)));
        let mean = |&clock: &u32| {
            let strata = sampled.iter().filter(|stratum| stratum.clock == clock);
            let strata: Vec<&Sampled> =
                strata.filter(|stratum| common.contains(&stratum.game)).collect();
            Some((clock, average_over_games(&strata)?))
        };
        Self {
            points: clocks.iter().filter_map(mean).collect(),
            n_games: common.len() as u64,
            n_other_games: others.len() as u64,
        }
    }

    /// By clock's number.
    pub(crate) fn estimates(&self, bootstrap: &Bootstrap) -> Vec<(u32, Estimate)> {
        let of = |(clock, sample): &(u32, Sample)| (*clock, estimate(Some(sample), bootstrap));
        self.points.iter().map(of).collect()
    }

    /// The least-squares line through the means, each budget weighing the same, over
    /// the logarithm of what `budget` says for each clock. `None` if these are all
    /// the same.
    pub(crate) fn slope(
        &self,
        budget: impl Fn(u32) -> f64,
        bootstrap: &Bootstrap,
    ) -> Option<Slope> {
        let x: Vec<f64> = self.points.iter().map(|(clock, _)| budget(*clock).log2()).collect();
        let middle = x.iter().sum::<f64>() / x.len() as f64;
        let spread: f64 = x.iter().map(|x| (x - middle).powi(2)).sum();
        if x.len() < 2 || spread < 1e-12 {
            return None;
        }
        let weights: Vec<f64> = x.iter().map(|x| (x - middle) / spread).collect();
        let weighted = || weights.iter().zip(&self.points).map(|(w, (_, sample))| (w, sample));
        let points: f64 = weighted().map(|(w, sample)| w * sample.mean).sum();
        let parts: Vec<Part> = weighted()
            .flat_map(|(w, sample)| {
                sample.parts.iter().map(move |part| Part { weight: w * part.weight, ..*part })
            })
            .collect();
        let reach = reach(&parts, REWARDS, [(1.0 - bootstrap.level) / 2.0; 2]);
        Some(Slope {
            points,
            standard_error: standard_error(&parts),
            interval: reach.map(|[down, up]| [points - down, points + up].map(rounded)),
        })
    }
}
