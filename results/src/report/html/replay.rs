//! Matches to step through, as plain data: who makes them knows the rules, this
//! crate only embeds them.

use serde::Serialize;

/// A match, position by position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Its place in the schedule.
    pub job: u64,
    /// Id by which players know the match.
    pub match_id: String,
    /// The game.
    pub game: String,
    /// Why this match is shown.
    pub reason: String,
    /// How it ended, in words.
    pub ending: String,
    /// By role.
    pub seats: Vec<ReplaySeat>,
    /// The board, if the game has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<ReplayBoard>,
    /// Facts that are not on the board; steps refer to them by index.
    pub facts: Vec<String>,
    /// The initial position, then one for each step.
    pub steps: Vec<ReplayStep>,
}

/// Who sat where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplaySeat {
    /// The role.
    pub role: String,
    /// The player; `None` where chance moves.
    pub player: Option<String>,
    /// 0 to 100; `None` if the match scored nobody.
    pub reward: Option<u8>,
}

/// A grid and what may stand on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayBoard {
    /// Labels from left to right.
    pub columns: Vec<String>,
    /// Labels from top to bottom.
    pub rows: Vec<String>,
    /// Marks and what they stand for; steps refer to them by index. The first is
    /// the empty cell.
    pub pieces: Vec<(String, String)>,
}

/// A position, and the moves that led to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplayStep {
    /// By role; empty for the initial position.
    pub moves: Vec<String>,
    /// By role: the fault, or nothing; empty if there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The board's cells row by row, as indices of pieces; empty without a board.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<u32>,
    /// Indices of the facts that hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<u32>,
}

impl Replay {
    /// Bytes that it takes on the page.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        serde_json::to_string(self).map_or(0, |json| json.len())
    }
}
