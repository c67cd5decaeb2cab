//! What the decisions of a run gave away, judged by tables of solved games: the summary that
//! commands print and reports show. The decisions are judged where the games are computed.

use serde::Serialize;

/// What the decisions of a run gave away.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegretSummary {
    /// The run, as the user named it.
    pub run: String,
    /// Matches that were judged.
    pub matches: u64,
    /// Matches of games without a table.
    pub skipped_matches: u64,
    /// Decisions in matches of games with a table, in states that no table has.
    pub skipped_decisions: u64,
    /// Decisions that were judged.
    pub decisions: u64,
    /// Points from which a decision is a blunder.
    pub blunder_points: f64,
    /// The players, those with the least mean regret first.
    pub players: Vec<RegretOfPlayer>,
    /// The worst decisions, the worst first.
    pub worst: Vec<JudgedDecision>,
}

/// What the decisions of one player gave away.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegretOfPlayer {
    /// The player's id.
    pub player: String,
    /// Games with a table that it played.
    pub games: usize,
    /// Decisions in them.
    pub decisions: u64,
    /// Mean regret of a decision, points: games weigh the same, and blocks within a game.
    pub mean_regret: f64,
    /// Its interval of 95 %; `None` if all games have a single block.
    pub interval: Option<[f64; 2]>,
    /// Decisions without regret, as a share of all.
    pub perfect: f64,
    /// Blunders, as a share of all.
    pub blunders: f64,
}

/// One decision and what it gave away.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedDecision {
    /// The number of its match.
    pub job: u64,
    /// The id of its match.
    pub match_id: String,
    /// The game's name.
    pub game: String,
    /// Steps before it.
    pub step: usize,
    /// Who decided.
    pub player: String,
    /// In which role.
    pub role: String,
    /// The move that was executed.
    #[serde(rename = "move")]
    pub action: String,
    /// Whether the move was a substitute for a fault of the player.
    pub substitute: bool,
    /// Number of legal moves.
    pub legal: usize,
    /// What the state was worth to the role.
    pub value: f64,
    /// Points given away.
    pub regret: f64,
    /// A move that gives nothing away.
    pub best_move: String,
}
