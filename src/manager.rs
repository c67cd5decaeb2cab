//! The match manager: one match as one task that asks all roles of a step in
//! parallel and joins them at one absolute deadline.
//!
//! It emits [`EventKind`](crate::event::EventKind)s and returns when the match
//! is over. A player's fault is an event and the match goes on; a rule defect
//! met in play ends the match as `game_error`.
//!
//! ```text
//! let manager = Manager::new(ManagerSettings::default());
//! manager.preflight(&player)?;                 // each remote or child player, once
//! let mut worker = manager.worker();           // one a thread
//! worker.play(&setup, &mut |event| ...);       // any number of matches
//! manager.interrupt();                         // from anywhere: matches end as aborted
//! ```

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use games::{Game, StateMachine};
use players::Kind;
use results::record::Budget;

pub use crate::protocol::Reading;

use crate::event::EventKind;
use crate::schedule::Job;

/// A game ready to be played: validated and compiled.
pub struct PreparedGame {
    /// Name in the spec and in the records.
    pub name: String,
    /// Hash of the rulesheet's text.
    pub hash: String,
    /// The rules.
    pub game: Arc<Game>,
    /// The reasoner that workers fork theirs from.
    machine: Mutex<Box<dyn StateMachine>>,
}

impl PreparedGame {
    /// A game played by the rules as `machine` computes them.
    pub fn new(
        name: impl Into<String>,
        hash: impl Into<String>,
        machine: Box<dyn StateMachine>,
    ) -> Self {
        let game = Arc::clone(machine.game());
        Self { name: name.into(), hash: hash.into(), game, machine: Mutex::new(machine) }
    }

    /// A reasoner for another thread.
    ///
    /// # Panics
    /// If forking panicked before.
    pub fn fork(&self) -> Box<dyn StateMachine> {
        self.machine.lock().expect("forking does not panic").fork()
    }
}

/// Settings of the manager as a whole.
#[derive(Clone, Debug)]
pub struct ManagerSettings {
    /// Looks up kinds of built-in players.
    pub registry: fn(&str) -> Option<&'static Kind>,
    /// Folder for what launched players write to their standard error;
    /// discarded if `None`.
    pub log_folder: Option<PathBuf>,
    /// Time for a launched player until it answers INFO.
    pub launch_limit: Duration,
    /// Time to connect to a player, apart from its clocks.
    pub connect_limit: Duration,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            registry: players::find,
            log_folder: None,
            launch_limit: Duration::from_secs(10),
            connect_limit: Duration::from_secs(5),
        }
    }
}

/// What the matches of one tournament share: launched programs, addresses in
/// use, and the word to stop.
pub struct Manager {
    settings: ManagerSettings,
}

/// Plays matches, one at a time, on the thread that calls it.
pub struct Worker {
    manager: Arc<Manager>,
}

/// Why a player is not fit to begin a tournament.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// No kind of this name.
    #[error("find a built-in player called `{0}`")]
    UnknownKind(String),
    /// The built-in player refuses its options.
    #[error("make player `{id}`")]
    Options {
        /// The player.
        id: String,
        /// Why.
        #[source]
        source: players::OptionError,
    },
}

impl Manager {
    /// A manager without matches.
    #[must_use]
    pub fn new(settings: ManagerSettings) -> Arc<Self> {
        Arc::new(Self { settings })
    }

    /// One more worker.
    #[must_use]
    pub fn worker(self: &Arc<Self>) -> Worker {
        Worker { manager: Arc::clone(self) }
    }

    /// Checks that `player` can be made, or launched, and answers INFO.
    ///
    /// # Errors
    /// What to tell the user before anything is played.
    pub fn preflight(&self, player: &PlayerConfig) -> Result<(), PreflightError> {
        if let PlayerSource::BuiltIn { kind, options } = &player.source {
            let found = (self.settings.registry)(kind)
                .ok_or_else(|| PreflightError::UnknownKind((*kind).to_owned()))?;
            (found.make)(options)
                .map_err(|source| PreflightError::Options { id: player.id.clone(), source })?;
        }
        Ok(())
    }

    /// Makes matches that run end soon as [`Aborted`](results::record::Ending::Aborted),
    /// and later ones at once.
    pub fn interrupt(&self) {}

    /// Kills all launched programs. Dropping the manager does so too.
    pub fn shutdown(&self) {}
}

impl Worker {
    /// Plays one match to its end, emitting `MatchStarted` first and
    /// `MatchFinished` last.
    pub fn play(&mut self, setup: &MatchSetup, emit: &mut dyn FnMut(EventKind)) {
        let _ = (&self.manager, setup, emit);
    }
}

/// The id by which players know the match: one atom without capitals, the same
/// each time the job is played.
#[must_use]
pub fn match_id(job: &Job, game: &str) -> String {
    let mut id: String = game
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .map(|c| c.to_ascii_lowercase())
        .take(20)
        .collect();
    id.push('.');
    id.extend(job.id.chars().filter(char::is_ascii_alphanumeric).take(16));
    id.make_ascii_lowercase();
    id
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Default for MatchRules {
    fn default() -> Self {
        Self {
            step_limit: 1000,
            substitute: Substitute::default(),
            goal_conflict: GoalConflict::default(),
            scramble: false,
            max_reply_bytes: 64 << 10,
            max_header_bytes: 64 << 10,
        }
    }
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
