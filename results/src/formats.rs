//! Formats of tournaments: the definition of a stage, and its standings after the rounds
//! played so far.
//!
//! ```text
//! Stage, rounds of PlayedBlocks -> Standing (table, swiss, bracket, ladder) -> ranking
//! ```
//!
//! Everything here is a pure function of blocks, in the order of the schedule. The next
//! pairings are not computed here: the schedule derives them from these standings, and the
//! report shows the same standings.
//!
//! Players are numbered by their place in the spec. *Entrants* are the players
//! of a stage, best seed first.

pub mod knockout;
pub mod ladder;
pub mod outcomes;
pub mod proceedings;
pub mod race;
pub mod standing;
pub mod summary;
pub mod swiss;
pub mod table;

use std::collections::BTreeMap;

pub use crate::record::{Format, Formats, RaceRule, RoundId, RoundRecord, Stage};

/// Differences of means up to this size count as 0. Rewards are whole numbers, so no real
/// difference is that small.
const LEVEL: f64 = 1e-9;

/// A block that was played to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedBlock {
    /// Number of the game; only blocks of the same game are compared.
    pub stratum: u32,
    /// Number of earlier blocks of the same game and players in the round.
    pub repetition: u32,
    /// The players, ascending.
    pub players: Vec<u32>,
    /// Mean rewards of these players, 0 to 100; `None` if a seating was not scored: then
    /// the block does not count.
    pub rewards: Option<Vec<f64>>,
}

/// All blocks that the same players played in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// The players, ascending.
    pub players: Vec<u32>,
    /// Mean rewards of these players, each game weighing the same; `None` if no
    /// block counts.
    pub means: Option<Vec<f64>>,
    /// Blocks that count.
    pub n_blocks: u32,
}

impl Encounter {
    /// Half points of a player: 2 for each opponent with a lower mean, 1 for each with the
    /// same mean. If no block counts, all means are equal.
    #[must_use]
    pub fn half_points(&self, player: u32) -> u32 {
        let others = self.players.len() as u32 - 1;
        let (Some(means), Some(at)) = (&self.means, self.place(player)) else { return others };
        let half = |(other, mean): (usize, &f64)| match means[at] - mean {
            _ if other == at => 0,
            difference if difference > LEVEL => 2,
            difference if difference < -LEVEL => 0,
            _ => 1,
        };
        means.iter().enumerate().map(half).sum()
    }

    /// The mean reward of a player.
    #[must_use]
    pub fn mean(&self, player: u32) -> Option<f64> {
        Some(self.means.as_ref()?[self.place(player)?])
    }

    /// A player's mean minus the mean of the others, points.
    #[must_use]
    pub fn margin(&self, player: u32) -> Option<f64> {
        let mean = self.mean(player)?;
        let sum: f64 = self.means.as_ref()?.iter().sum();
        Some(mean - (sum - mean) / (self.players.len() - 1).max(1) as f64)
    }

    fn place(&self, player: u32) -> Option<usize> {
        self.players.iter().position(|&other| other == player)
    }
}

/// Groups blocks by their players, in the order in which these first played each other.
#[must_use]
pub fn encounters(blocks: &[PlayedBlock]) -> Vec<Encounter> {
    let mut order: Vec<&[u32]> = vec![];
    let mut by_players: BTreeMap<&[u32], Vec<&PlayedBlock>> = BTreeMap::new();
    for block in blocks {
        let met = by_players.entry(&block.players).or_default();
        if met.is_empty() {
            order.push(&block.players);
        }
        met.push(block);
    }
    order.iter().map(|players| encounter(players, &by_players[players])).collect()
}

fn encounter(players: &[u32], blocks: &[&PlayedBlock]) -> Encounter {
    let mut by_stratum: BTreeMap<u32, Vec<&Vec<f64>>> = BTreeMap::new();
    for block in blocks {
        if let Some(rewards) = &block.rewards {
            by_stratum.entry(block.stratum).or_default().push(rewards);
        }
    }
    let mean = |values: &mut dyn ExactSizeIterator<Item = f64>| {
        let n = values.len() as f64;
        values.sum::<f64>() / n
    };
    let of_player = |at: usize| {
        let stratum = |rows: &Vec<&Vec<f64>>| mean(&mut rows.iter().map(|row| row[at]));
        mean(&mut by_stratum.values().map(stratum))
    };
    let n_blocks = by_stratum.values().map(Vec::len).sum::<usize>() as u32;
    let means = (n_blocks > 0).then(|| (0..players.len()).map(of_player).collect());
    Encounter { players: players.to_vec(), means, n_blocks }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A block of two players at the first game.
    pub(crate) fn block(a: u32, b: u32, rewards: [f64; 2]) -> PlayedBlock {
        let (players, rewards) =
            if a < b { ([a, b], rewards) } else { ([b, a], [rewards[1], rewards[0]]) };
        PlayedBlock {
            stratum: 0,
            repetition: 0,
            players: players.to_vec(),
            rewards: Some(rewards.to_vec()),
        }
    }

    #[test]
    fn games_weigh_the_same_in_an_encounter_and_void_blocks_nothing() {
        let at = |stratum, rewards: Option<[f64; 2]>| PlayedBlock {
            stratum,
            rewards: rewards.map(|rewards| rewards.to_vec()),
            ..block(0, 1, [0.0, 0.0])
        };
        let blocks = [
            at(0, Some([100.0, 0.0])),
            at(0, Some([100.0, 0.0])),
            at(0, Some([100.0, 0.0])),
            at(1, Some([0.0, 100.0])),
            at(1, None),
            block(3, 2, [80.0, 20.0]),
        ];
        let met = encounters(&blocks);
        assert_eq!(met.len(), 2);
        assert_eq!((met[0].means.clone(), met[0].n_blocks), (Some(vec![50.0, 50.0]), 4));
        assert_eq!([0, 1].map(|player| met[0].half_points(player)), [1, 1]);
        assert_eq!([2, 3].map(|player| met[1].half_points(player)), [0, 2]);
        assert_eq!(met[1].margin(3), Some(60.0));
        let void = encounters(&[at(0, None)]);
        assert_eq!((void[0].half_points(0), void[0].mean(0), void[0].margin(1)), (1, None, None));
    }

    #[test]
    fn in_a_match_of_many_everybody_beaten_counts() {
        let block = PlayedBlock {
            players: vec![0, 1, 2, 3],
            rewards: Some(vec![70.0, 10.0, 70.0, 30.0]),
            ..block(0, 1, [0.0, 0.0])
        };
        let met = encounters(&[block]).remove(0);
        assert_eq!([0, 1, 2, 3].map(|player| met.half_points(player)), [5, 0, 5, 2]);
    }
}
