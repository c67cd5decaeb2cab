//! Formats of tournaments: what a stage is, and how it stands after the rounds
//! that were played.
//!
//! ```text
//! Stage, rounds of PlayedBlocks -> Standing (table, swiss, bracket, ladder) -> ranking
//! ```
//!
//! Everything here is a pure function of blocks, in the order of the schedule.
//! Who meets whom next is not decided here: the schedule draws it from these
//! standings, and the report shows the same ones.
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

use serde::{Deserialize, Serialize};

/// Differences of means that are not told apart from none: rewards are whole
/// numbers, so that no true difference is as small.
const LEVEL: f64 = 1e-9;

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Format {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first players meet each of the others.
    Gauntlet {
        /// How many of the first.
        challengers: u32,
    },
    /// Who has as many points meets, and nobody twice as long as that can be.
    Swiss {
        /// Number of rounds.
        rounds: u32,
    },
    /// Who loses is out.
    Knockout {
        /// Further laps that may decide a level tie, before the seed does.
        extra_laps: u32,
    },
    /// Neighbours by rating meet.
    Ladder {
        /// Number of rounds.
        rounds: u32,
    },
}

impl Format {
    /// As it is written in specs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Gauntlet { .. } => "gauntlet",
            Self::Swiss { .. } => "swiss",
            Self::Knockout { .. } => "knockout",
            Self::Ladder { .. } => "ladder",
        }
    }
}

/// When a player of a race is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceRule {
    /// The chance that a given player that is one of the best is dropped, at most,
    /// however long the race. Of several that are equally good one or another is
    /// dropped more often.
    pub alpha: f64,
    /// Players that are never dropped: the race is over when so many are left.
    pub keep: u32,
}

impl Default for RaceRule {
    fn default() -> Self {
        Self { alpha: 0.05, keep: 1 }
    }
}

/// One stage of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Who meets whom.
    pub format: Format,
    /// Laps: blocks of each pairing at each game in each round (a round robin
    /// and a gauntlet have a round of all laps, or of one if they are raced).
    pub laps: u32,
    /// How many of the best of the stage before take part; all if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
    /// Whether, and when, players are dropped on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRule>,
}

impl Stage {
    /// A round robin of so many laps.
    #[must_use]
    pub fn round_robin(laps: u32) -> Self {
        Self { format: Format::RoundRobin, laps, best: None, race: None }
    }

    /// Whether what is played next may depend on results.
    #[must_use]
    pub fn depends_on_results(&self) -> bool {
        self.race.is_some() || !matches!(self.format, Format::RoundRobin | Format::Gauntlet { .. })
    }
}

/// What a run plays beyond one plain round robin, as its journal says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formats {
    /// Ids of the players in the order of the spec, which seeds the first stage.
    pub players: Vec<String>,
    /// The stages.
    pub stages: Vec<Stage>,
}

/// Which round a match was played in; stages and rounds are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoundId {
    /// The stage.
    pub stage: u32,
    /// The round of the stage.
    pub round: u32,
    /// Which further lap of that round it is, 0 for none: level ties of a
    /// knockout have such.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra: u32,
}

/// A match's round, and what tells whether the round is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// Which one.
    #[serde(flatten)]
    pub id: RoundId,
    /// Matches of that round.
    pub n_matches: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A block that was played to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedBlock {
    /// Numbers what matches must have in common to be compared: the game.
    pub stratum: u32,
    /// How many blocks of the same game and players the round has before it.
    pub repetition: u32,
    /// Who played, ascending.
    pub players: Vec<u32>,
    /// Mean rewards of these players, 0 to 100; `None` if not every seating was
    /// scored: then it counts for nobody.
    pub rewards: Option<Vec<f64>>,
}

/// All blocks that the same players played in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// Who met, ascending.
    pub players: Vec<u32>,
    /// Mean rewards of these players, each game weighing the same; `None` if no
    /// block counts.
    pub means: Option<Vec<f64>>,
    /// Blocks that count.
    pub n_blocks: u32,
}

impl Encounter {
    /// How a player did: others with a lower mean count 2, with the same 1. If
    /// no block counts, all are level.
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

    /// By how much a player's mean is above the others', points.
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

/// Puts the blocks of the same players together, in the order in which these
/// first met.
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
