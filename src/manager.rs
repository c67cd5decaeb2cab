//! The match manager: one match as one task that asks all roles of a step in
//! parallel and joins them at one absolute deadline.
//!
//! It emits [`EventKind`](crate::event::EventKind)s and returns when the match
//! is over. A player's fault is an event and the match goes on; a rule defect
//! met in play ends the match as `game_error`.

use std::sync::Arc;

use games::{Game, Guards};
use results::record::Budget;

use crate::schedule::Job;

/// A game ready to be played: validated, compiled, and with its START text.
pub struct PreparedGame {
    /// Name in the spec and in the records.
    pub name: String,
    /// Hash of the rulesheet's text.
    pub hash: String,
    /// The rules.
    pub game: Arc<Game>,
    /// Limits on a single computation.
    pub guards: Guards,
}

/// How a manager is to talk to one player; resolved from the spec.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// Id in the spec and in the records.
    pub id: String,
    /// What it is.
    pub source: PlayerSource,
    /// Hash of the configuration.
    pub hash: String,
    /// How tolerantly its replies are read (remote and child players).
    pub reading: Reading,
    /// How percepts are told to it (remote and child players).
    pub dialect: Dialect,
}

/// Where a player runs.
#[derive(Clone, Debug)]
pub enum PlayerSource {
    /// In this process.
    BuiltIn {
        /// Kind in the registry.
        kind: &'static str,
        /// Its options.
        options: players::Options,
    },
    /// An HTTP server somebody else started.
    Remote {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A program that is launched and then spoken to over HTTP.
    Command {
        /// Command line with `{port}` for the port to listen on.
        template: String,
    },
}

/// How a reply to PLAY is matched with the legal moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As ggp-base does.
    Strict,
    /// Exact, then case-folded, then without needless parentheses.
    #[default]
    Lenient,
}

/// Which form PLAY and STOP take in games of hidden information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `(PLAY id turn lastmove percepts)`.
    #[default]
    Official,
    /// `(PLAY id (percept...))`, as the Dresden server of 2011.
    OldDresden,
}

/// What replaces the move of a player at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitute {
    /// A uniformly random legal move from the match's own stream.
    #[default]
    Random,
    /// The first legal move.
    First,
}

/// Which value counts when the rules give several for one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoalConflict {
    /// The smallest.
    #[default]
    Smallest,
    /// The first derived.
    First,
    /// None: the match ends as a game error.
    Error,
}

/// Settings of a match that do not depend on who plays.
#[derive(Clone, Debug)]
pub struct MatchRules {
    /// Steps after which a match is ended without scores.
    pub step_limit: u32,
    /// What replaces a missing or illegal move.
    pub substitute: Substitute,
    /// Several goal values for one role.
    pub goal_conflict: GoalConflict,
    /// Whether remote players get scrambled rules, under the match's seed.
    pub scramble: bool,
    /// Most bytes of a reply's body.
    pub max_reply_bytes: usize,
    /// Most bytes of a reply's header.
    pub max_header_bytes: usize,
}

/// All that one match needs.
pub struct MatchSetup {
    /// What is played.
    pub job: Arc<Job>,
    /// The game.
    pub game: Arc<PreparedGame>,
    /// The player of each role, in role order; `None` where the manager moves.
    pub seats: Vec<Option<Arc<PlayerConfig>>>,
    /// Settings.
    pub rules: Arc<MatchRules>,
    /// What bounds thinking.
    pub budget: Budget,
    /// Matches allowed to run at once.
    pub concurrency: u32,
}
