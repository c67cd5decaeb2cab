//! Formats in a journal: the stages of a run, and the round of a match.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// How players are paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Format {
    /// Every player plays every other player.
    #[default]
    RoundRobin,
    /// Each of the first players plays each of the others.
    Gauntlet {
        /// Number of these first players.
        challengers: u32,
    },
    /// Players with equal points are paired, and no two players twice if possible.
    Swiss {
        /// Number of rounds.
        rounds: u32,
    },
    /// The loser of each encounter is eliminated.
    Knockout {
        /// Maximum number of extra laps for a drawn encounter; then the seed decides.
        extra_laps: u32,
    },
    /// Neighbours by rating are paired.
    Ladder {
        /// Number of rounds.
        rounds: u32,
    },
}

impl Format {
    /// As it is written in specs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// When a player of a race is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceRule {
    /// Maximum probability that a given player among the best is dropped, however long the
    /// race. The probability that any one of several equally good players is dropped is
    /// larger.
    pub alpha: f64,
    /// Number of players that are never dropped: the race ends when only these are left.
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
    /// How players are paired.
    pub format: Format,
    /// Laps: blocks of each pairing at each game in each round (a round robin
    /// and a gauntlet have a round of all laps, or of one if they are raced).
    pub laps: u32,
    /// Number of players that advance from the previous stage; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<u32>,
    /// When players are dropped during the stage; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRule>,
}

impl Stage {
    /// A round robin of this number of laps.
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

/// The stages of a run that is not a plain round robin.
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
    /// Number of the extra lap of that round, 0 for none; drawn encounters of a knockout
    /// have extra laps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra: u32,
}

/// A match's round, and the number of matches of that round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// The round.
    #[serde(flatten)]
    pub id: RoundId,
    /// Matches of that round.
    pub n_matches: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
