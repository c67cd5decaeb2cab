//! The record of one match: a line of the journal. Wire types, stable by
//! [`FORMAT_VERSION`].
//!
//! The journal's first line is a [`Header`], every other line a [`MatchRecord`].
//! Lines carry no tag: an internally tagged enum would make serde copy each
//! line into a tree before reading it, at twice the time.

mod ending;
mod formats;

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use strum::IntoStaticStr;

use crate::counted::counted;
use crate::partition::Partition;
pub use formats::{Format, Formats, RaceRule, RoundId, RoundRecord, Stage};

pub use ending::{AbortReason, Ending, PortHolder, RuleDefect};

/// Version of the journal's lines, stated in its first line.
pub const FORMAT_VERSION: u32 = 2;

/// The first version of which every line ends with a checksum. Lines of earlier
/// ones may do so, since a program that takes such a journal up adds lines of its own.
pub const CHECKSUMS_SINCE: u32 = 2;

/// What the journal is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Version of the program that began the run.
    pub gamemaster_version: String,
    /// Name of the run (its folder's name when it began).
    pub run: String,
    /// Hash of the canonical spec.
    pub spec_hash: String,
    /// Whether think times are part of the tables. They are not when budgets are
    /// counted in nodes, so that equal runs give equal bytes.
    pub timings: bool,
    /// The part of the schedule that is played here; `None` if all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// Sentences that a reader of the results should know about how the run was
    /// set up, such as clocks that many matches at once made unfair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Matches of the whole schedule; `None` if it has no fixed number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_jobs: Option<u64>,
    /// What is played beyond one plain round robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formats: Option<Formats>,
}

/// What bounds a player's thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// The clocks.
    Clock,
    /// This number of states for each move; the clocks only limit hanging players.
    Nodes(u64),
}

/// What is odd about the goals of a terminal state.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GoalFlag {
    /// Several values; the policy chose one.
    GoalConflict,
    /// No value; counted as 0.
    GoalMissing,
    /// A value outside 0..=100 was clamped.
    GoalClamped,
}

/// A fault of a player. Never an error: the match goes on under the fault policy.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FaultKind {
    /// No answer to START in time.
    LateStart,
    /// No move in time.
    LateMove,
    /// A move that is not legal.
    IllegalMove,
    /// An answer that is no term (an error page, prose, markup), breaks a cap, or
    /// never came although the player took the message.
    Unreadable,
    /// The player's process or thread ended, or it broke down.
    Crashed,
    /// No connection, or the message was not taken.
    Unreachable,
}

/// One player in one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SeatLine")]
pub struct SeatRecord {
    /// The role's name.
    pub role: String,
    /// The player's id in the spec; `None` where chance moves, which is no player:
    /// the role `random`, moved by the manager itself.
    pub player: Option<String>,
    /// Hash of the player's configuration.
    pub player_hash: String,
    /// This player's budget, if it differs from that of the match (time odds).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odds: Option<Clock>,
    /// 0..=100; `None` if the match is unscored.
    #[serde(default, deserialize_with = "reward")]
    pub reward: Option<u8>,
    /// How START was answered.
    pub start: StartRecord,
}

/// A seat as a line has it. Earlier versions named a player where chance moves.
#[derive(Deserialize)]
struct SeatLine {
    role: String,
    player: Option<String>,
    player_hash: String,
    #[serde(default)]
    odds: Option<Clock>,
    #[serde(default, deserialize_with = "reward")]
    reward: Option<u8>,
    start: StartRecord,
}

impl From<SeatLine> for SeatRecord {
    fn from(line: SeatLine) -> Self {
        let SeatLine { role, player, player_hash, odds, reward, start } = line;
        let player = player.filter(|player| !is_chance(&role, player));
        Self { role, player, player_hash, odds, reward, start }
    }
}

/// Whether a player's name stands for chance, as earlier versions wrote it: no
/// player ever has the role `random`.
pub(crate) fn is_chance(role: &str, player: &str) -> bool {
    role == CHANCE && player == CHANCE
}

/// Reads a reward, if there is one.
pub(crate) fn reward<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u8>, D::Error> {
    match Option::deserialize(reader)? {
        Some(reward) if reward > 100 => {
            Err(D::Error::custom(format!("reward {reward}: expected 0 to 100")))
        }
        reward => Ok(reward),
    }
}

/// Clocks and budget, complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Clock {
    /// Start clock, milliseconds.
    pub start_clock_ms: u64,
    /// Play clock, milliseconds.
    pub play_clock_ms: u64,
    /// What limits thinking.
    pub budget: Budget,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ms: u64| {
            if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
        };
        match self.budget {
            Budget::Nodes(nodes) => write!(f, "{} per move", counted(nodes, "node", "nodes")),
            Budget::Clock => {
                write!(f, "start {}, play {}", time(self.start_clock_ms), time(self.play_clock_ms))
            }
        }
    }
}

/// How a player replied to START.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartRecord {
    /// The fault, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// What else there is to say of the fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// From the last byte of the request to the last byte of the reply, microseconds.
    pub wall_us: u64,
    /// CPU time of the player's thread, microseconds; built-in players only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<u64>,
    /// States entered before the first move, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
}

/// One decision of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The move that was executed.
    #[serde(rename = "move")]
    pub executed: String,
    /// Number of legal moves there were.
    pub n_legal: u32,
    /// The fault, if any; then `executed` is a substitute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// What the player answered, when it was not executed (cut to 200 characters).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<String>,
    /// What else there is to say of the fault: limits and times, legal moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// From the last byte of the request to the last byte of the reply, or to
    /// the moment the wait ended, microseconds.
    pub wall_us: u64,
    /// CPU time of the player's thread, microseconds; built-in players only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<u64>,
    /// Time to connect, microseconds; remote players only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_us: Option<u64>,
    /// Time beyond the play clock, microseconds; 0 when in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overrun_us: u64,
    /// States entered, if the player counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// What the player expects of its move, in tenths of a point of reward: 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_tenths: Option<u32>,
    /// Joint moves that its last finished search looked ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// What it expects to be played from here on, a step each (16 at most).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<String>,
}

/// One attempt at one match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchRecord {
    /// Position in the schedule, from 0. Sequential decisions read in this order.
    pub job: u64,
    /// Hash of everything that determines the match.
    pub job_id: String,
    /// The unit of evidence: one game and opening in a complete rotation of seats.
    pub block: u64,
    /// How many blocks of the same game and players came before.
    pub lap: u32,
    /// Index of the rotation within the block.
    pub rotation: u32,
    /// The round it belongs to, if the format has rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundRecord>,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// Name of the game.
    pub game: String,
    /// Hash of the rulesheet's text.
    pub game_hash: String,
    /// Id by which players know the match.
    pub match_id: String,
    /// Seed of the match, as 16 hexadecimal digits.
    pub seed: String,
    /// Start clock, milliseconds.
    pub start_clock_ms: u64,
    /// Play clock, milliseconds.
    pub play_clock_ms: u64,
    /// What limits thinking.
    pub budget: Budget,
    /// Matches allowed to run at once while this one was played.
    pub concurrency: u32,
    /// The worker that played it; `None` where the run's own process did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// From START to the last STOP, microseconds.
    pub duration_us: u64,
    /// Time of the manager itself, microseconds: all that is neither a player's nor waiting.
    pub harness_us: u64,
    /// How it ended.
    pub ending: Ending,
    /// Odd goals, per role index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal_flags: Vec<(u32, GoalFlag)>,
    /// Number of steps played.
    pub n_steps: u32,
    /// One for each role, in role order.
    pub seats: Vec<SeatRecord>,
    /// One for each step and role, `steps[step][role]`.
    pub steps: Vec<Vec<DecisionRecord>>,
}

/// The role that chance moves, and in earlier versions its player.
const CHANCE: &str = "random";

impl MatchRecord {
    /// The record without what depends on when and how fast the match was played.
    #[must_use]
    pub(crate) fn without_times(mut self) -> Self {
        (self.attempt, self.concurrency, self.worker) = (0, 0, None);
        (self.duration_us, self.harness_us) = (0, 0);
        self.started_at.clear();
        for seat in &mut self.seats {
            (seat.start.wall_us, seat.start.cpu_us) = (0, None);
        }
        for decision in self.steps.iter_mut().flatten() {
            (decision.wall_us, decision.overrun_us) = (0, 0);
            (decision.cpu_us, decision.connect_us) = (None, None);
        }
        self
    }

    /// What bounds a player without time odds.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock {
            start_clock_ms: self.start_clock_ms,
            play_clock_ms: self.play_clock_ms,
            budget: self.budget,
        }
    }

    /// Whether the job is done with this record. It is not when the match was
    /// broken off from outside: then it is played again.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ending.is_done()
    }
}

impl Budget {
    /// States for each move, if they are what is counted.
    #[must_use]
    pub fn nodes(self) -> Option<u64> {
        match self {
            Self::Clock => None,
            Self::Nodes(nodes) => Some(nodes),
        }
    }
}

impl GoalFlag {
    /// As written in the journal and the tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FaultKind {
    /// All kinds, in the order of the tables' columns.
    pub const ALL: [Self; 6] = [
        Self::LateStart,
        Self::LateMove,
        Self::IllegalMove,
        Self::Unreadable,
        Self::Crashed,
        Self::Unreachable,
    ];

    /// As written in the journal and the tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Journal, JournalWriter};
    use crate::sample;

    #[test]
    fn chance_is_no_player_in_any_version() {
        let record = sample::record_with_chance(0, "random", 70);
        assert_eq!(record.seats[0].player, None);
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.contains(r#""role":"random","player":null"#), "{line}");
        assert_eq!(serde_json::from_str::<MatchRecord>(&line).unwrap(), record);
        let old = line.replace(r#""player":null"#, r#""player":"random""#);
        assert_eq!(serde_json::from_str::<MatchRecord>(&old).unwrap(), record);
        // In any other role it is the player of that name.
        assert_eq!(record.seats[1].player.as_deref(), Some("random"));
    }

    /// Versions 1 (no checksums) and 2 stated why a match was aborted in a sentence.
    #[test]
    fn sentences_of_earlier_journals_are_read() {
        let stated = "player p: nobody answers INFO at ::1:9147";
        let old = format!(r#"{{"kind":"aborted","reason":"{stated}"}}"#);
        let mut record = sample::record(0, "game", ["a", "b"], [100, 0]);
        let folder = tempfile::tempdir().unwrap();
        let read = |path: &std::path::Path| {
            let found = Journal::open(path).unwrap().next().unwrap().unwrap();
            (found.ending.reason(), found.is_done())
        };

        let header = Header { format_version: 1, ..sample::header(true) };
        let [header, line] =
            [serde_json::to_string(&header).unwrap(), serde_json::to_string(&record).unwrap()];
        let line = line.replace(r#"{"kind":"terminal"}"#, &old);
        assert!(line.contains(&old), "{line}");
        let first = folder.path().join("version 1");
        std::fs::write(&first, format!("{header}\n{line}\n")).unwrap();
        assert_eq!(read(&first), (stated.to_owned(), false));

        record.ending = serde_json::from_str(&old).unwrap();
        let second = folder.path().join("version 2");
        let mut writer = JournalWriter::create(&second, &sample::header(true)).unwrap();
        writer.append(&record).unwrap();
        drop(writer);
        assert!(std::fs::read_to_string(&second).unwrap().contains(&old));
        assert_eq!(read(&second), (stated.to_owned(), false));
    }

    #[test]
    fn a_reward_beyond_bounds_is_no_record() {
        let record = sample::record(0, "game", ["a", "b"], [100, 0]);
        let line = serde_json::to_string(&record).unwrap();
        assert!(serde_json::from_str::<MatchRecord>(&line).is_ok());
        for wrong in ["101", "255", "-5", "50.5", "1e308"] {
            let line = line.replace("\"reward\":100", &format!("\"reward\":{wrong}"));
            assert!(serde_json::from_str::<MatchRecord>(&line).is_err(), "{wrong}");
        }
    }
}
