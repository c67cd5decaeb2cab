//! What a journal says of formats: the stages of a run, and the round of a match.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Who meets whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
        self.into()
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
