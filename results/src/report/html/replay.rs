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
    /// The boards; none if the game has no board.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<ReplayBoard>,
    /// Facts that are not on the board; steps refer to them by index.
    pub facts: Vec<String>,
    /// The initial position, then one for each step.
    pub steps: Vec<ReplayStep>,
}

/// The players of the seats.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplaySeat {
    /// The role.
    pub role: String,
    /// The player; `None` where chance moves.
    pub player: Option<String>,
    /// 0 to 100; `None` if the match is unscored.
    pub reward: Option<u8>,
    /// What the start clock was used for; `None` if nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<ReplayStart>,
}

/// What a player did between START and its first move.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayStart {
    /// Milliseconds; `None` if times are no part of the run's results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// States entered, if the player counted any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// What the player expected then, 0 to 100, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// A grid and what may stand on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayBoard {
    /// Whose it is, where each role has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its rows are lists of facts, and its cells no places.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_table: bool,
    /// It has one cell, which is a tree of states.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_tree: bool,
    /// Every second cell of every second row is a dot, and those between two dots are lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_lattice: bool,
    /// Labels from left to right.
    pub columns: Vec<String>,
    /// Labels from top to bottom.
    pub rows: Vec<String>,
    /// What may stand on a cell; steps refer to it by index. The first is the empty
    /// cell.
    pub pieces: Vec<ReplayPiece>,
    /// Halves of a cell by which each row is shifted to the right against the one
    /// above it: 0 for squares, 1 or -1 for hexagons.
    #[serde(skip_serializing_if = "is_zero")]
    pub shift: i32,
    /// The cells on which nothing can stand, counted row by row from the top.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<usize>,
    /// The cells that have a wall on their right side, counted in the same way; none on boards
    /// without walls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub walls_right: Vec<usize>,
    /// The same of their upper side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub walls_above: Vec<usize>,
}

/// The piece on a cell, and its looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayPiece {
    /// A few letters.
    pub mark: String,
    /// What they stand for.
    pub name: String,
    /// The name of its colour, or `side1`, `side2` and so on for the colours of the
    /// chart lines; `None` for that of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// It ranks above the plain pieces of its colour, and is drawn with a ring.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_king: bool,
    /// It is drawn as a slab as wide as this share of the cell, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u8>,
    /// It is a number, drawn with as many dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// It is a row of cards, drawn one by one; `None` where one is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<Option<String>>,
    /// Its cards have the colours that they are named after.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_code: bool,
    /// It is a tree, the root first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<ReplayNode>,
}

/// A state in a tree of states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayNode {
    /// The index of the node before it, which is smaller; `None` for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// The moves that lead to it from there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub way: String,
    /// What it is called.
    pub name: String,
    /// Who moves, or the rewards at the end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub more: String,
    /// How it is drawn.
    pub shape: ReplayShape,
    /// The number of the role that moves, if it is one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<usize>,
    /// It is the state of the step.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_here: bool,
    /// It is on the only line that leads there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_on_line: bool,
    /// The number of nodes after it that are not drawn.
    #[serde(skip_serializing_if = "is_none_hidden")]
    pub n_hidden: usize,
}

/// What a node of a tree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayShape {
    /// Players move.
    #[default]
    Moves,
    /// Chance moves.
    Chance,
    /// The game ends.
    End,
    /// It is drawn elsewhere, too, and goes on there.
    Again,
}

fn is_none_hidden(number: &usize) -> bool {
    *number == 0
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// A position, and the moves that led to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplayStep {
    /// By role; empty for the initial position.
    pub moves: Vec<String>,
    /// By role: the fault, or nothing; empty if there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// By role: what the player expected of its move, 0 to 100; empty if nobody said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Option<f64>>,
    /// By role: milliseconds until the reply; empty if times are no part of the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<Option<f64>>,
    /// The cells of each board row by row, as indices of its pieces; empty without a board.
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

    /// Whether some board is a tree of states, which takes many bytes at each step.
    #[must_use]
    pub fn has_trees(&self) -> bool {
        self.boards.iter().any(|board| board.is_tree)
    }
}
