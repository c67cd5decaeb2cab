//! What standings are made of, as `summary.json` has it.

use serde::Serialize;

use crate::formats::summary::StageSummary;
use crate::record::{FaultKind, GoalFlag, Header};
use crate::stats::fault_policy::FaultPolicy;

/// The standings of a run. No number in it is infinite or undefined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standings {
    /// What the journal is of.
    #[serde(skip)]
    pub header: Header,
    /// Version of the program that began the run.
    pub gamemaster_version: String,
    /// Hash of the completed spec.
    pub spec_hash: String,
    /// Warnings of the program that played the run.
    pub notes: Vec<String>,
    /// Matches that ended, aborted ones included.
    pub n_matches: u64,
    /// Those that were aborted and will be played again.
    pub n_aborted: u64,
    /// Those that were scored.
    pub n_scored: u64,
    /// Blocks with a scored match.
    pub n_blocks: u64,
    /// Blocks with fewer scored matches than others of the same game.
    pub n_incomplete_blocks: u64,
    /// Bytes at the journal's end that are no whole record, and do not count.
    pub half_written_bytes: u64,
    /// Lines that they make.
    pub half_written_lines: u64,
    /// Number of resamples for rank probabilities.
    pub n_resamples: usize,
    /// Level of each interval.
    pub level: f64,
    /// The games, by name.
    pub games: Vec<String>,
    /// The budgets, as text.
    pub budgets: Vec<String>,
    /// Games, and budgets if there are several, of which some player has fewer than two
    /// blocks: intervals and rank probabilities treat them as exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact_games: Vec<String>,
    /// The stages that have begun, if pairings depended on results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageSummary>,
    /// All players, the best first.
    pub players: Vec<PlayerStanding>,
    /// By game, then player in the order of `players`, over all budgets.
    pub by_game: Vec<GameStanding>,
    /// By game, role, then player, over all budgets.
    pub by_role: Vec<RoleStanding>,
    /// By budget, then player, over all games.
    pub by_budget: Vec<BudgetStanding>,
    /// By player, then opponent.
    pub cross_table: Vec<Encounter>,
    /// By game, then role: the mean reward of all players in it.
    pub balance: Vec<RoleBalance>,
    /// By player, then kind; only faults that occurred.
    pub faults: Vec<FaultCount>,
    /// Standings under each fault policy; empty if no scored match had a fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyStandings>,
    /// By player, then clock; empty if times are no part of the run's results.
    pub timing: Vec<Timing>,
    /// Unscored matches.
    pub unscored: Vec<Unscored>,
    /// Odd goals, by game.
    pub goal_flags: Vec<GoalFlagCount>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A mean reward and how sure it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Points; `None` without matches.
    pub mean: Option<f64>,
    /// Its interval; `None` if every game has fewer than two blocks.
    pub interval: Option<[f64; 2]>,
    /// Games and clocks of fewer than two blocks. The interval holds them at what
    /// they gave: it is too narrow by their chance.
    #[serde(skip_serializing_if = "is_zero")]
    pub n_exact: u64,
    /// Scored matches.
    pub n_matches: u64,
    /// Blocks they belong to.
    pub n_blocks: u64,
}

/// How a player did overall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerStanding {
    /// The player.
    pub player: String,
    /// Games it was scored in.
    pub n_games: u64,
    /// Mean over these games.
    #[serde(flatten)]
    pub reward: Estimate,
    /// The leader's mean less this player's; `None` for the leader, and for who
    /// played none of its games.
    pub behind: Option<Difference>,
    /// Faults, of all kinds.
    pub n_faults: u64,
}

/// How far the leader is ahead, over the games that both played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Points.
    pub mean: f64,
    /// Its interval; `None` if every game has fewer than two blocks. For the
    /// distance to the leader it allows for the choice of the leader by the same
    /// results. What blocks of both share cancels.
    pub interval: Option<[f64; 2]>,
    /// As in [`Estimate`].
    #[serde(skip_serializing_if = "is_zero")]
    pub n_exact: u64,
    /// Games that both played.
    pub n_games: u64,
    /// Blocks in which either played.
    pub n_blocks: u64,
}

/// How a player did at one game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameStanding {
    /// The game.
    pub game: String,
    /// The player.
    pub player: String,
    /// Mean over its budgets.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// How a player did in one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleStanding {
    /// The game.
    pub game: String,
    /// The role.
    pub role: String,
    /// The player.
    pub player: String,
    /// Mean over its budgets.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// A player's mean at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetStanding {
    /// The budget, in words.
    pub budget: String,
    /// The player.
    pub player: String,
    /// Mean over its games.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// How a player did in the matches with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Encounter {
    /// The player.
    pub player: String,
    /// The other.
    pub opponent: String,
    /// Mean reward of `player`, each match weighing the same.
    pub mean: f64,
    /// Matches in which both played.
    pub n_matches: u64,
}

/// What a role is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleBalance {
    /// The game.
    pub game: String,
    /// The role.
    pub role: String,
    /// Mean reward of all players in it.
    pub mean: f64,
    /// Scored matches.
    pub n_matches: u64,
}

/// How often a player committed a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultCount {
    /// The player.
    pub player: String,
    /// The kind.
    pub kind: FaultKind,
    /// How often, in all matches, scored or not.
    pub n: u64,
}

/// The standings under one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyStandings {
    /// The policy.
    pub policy: FaultPolicy,
    /// By player, in the order of the standings.
    pub rows: Vec<PolicyRow>,
    /// Matches that count.
    pub n_matches: usize,
}

/// A player's standing under one policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PolicyRow {
    /// Mean reward, as in the standings; `None` without matches.
    pub mean: Option<f64>,
    /// Its interval, as in the standings.
    pub interval: Option<[f64; 2]>,
    /// From 1; players that are level share the better rank.
    pub rank: Option<usize>,
}

/// How long a player thought at one budget, milliseconds, in all matches, over
/// moves with a choice. Quantiles are within 0.4 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The player.
    pub player: String,
    /// What bounded this player, in words.
    pub budget: String,
    /// Moves with a choice.
    pub n_choices: u64,
    /// Median.
    pub think_ms_p50: Option<f64>,
    /// 95 % took no longer.
    pub think_ms_p95: Option<f64>,
    /// 99 % took no longer.
    pub think_ms_p99: Option<f64>,
    /// The longest.
    pub think_ms_max: Option<f64>,
    /// Moves, with a choice or not, that took longer than the play clock.
    pub n_overruns: u64,
    /// The longest time beyond the play clock.
    pub overrun_ms_max: f64,
}

/// Unscored matches of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unscored {
    /// The game.
    pub game: String,
    /// How they ended: `step_limit`, `aborted` or `game_error`.
    pub ending: String,
    /// Why, in words.
    pub reason: String,
    /// How many.
    pub n: u64,
}

/// Odd goals of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoalFlagCount {
    /// The game.
    pub game: String,
    /// What was odd.
    pub flag: GoalFlag,
    /// How often, counting each role.
    pub n: u64,
}
