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

mod claims;
mod cpu_pressure;
mod flow;
mod http_reply;
mod info;
mod listeners;
mod machine_limit;
mod player_logs;
mod preflight;
mod programs;
mod reach;
mod remote;
mod seat_thread;
mod seats;
mod seeds;
mod stalls;
mod time_odds;
mod waits;
mod wire;
mod worker;
mod workspace;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use games::{Cancel, Game, ReasoningError, StateMachine};
use players::PlayerKind;
use results::record::Budget;
#[cfg(doc)]
use results::record::Ending;
use serde::Deserialize;
use strum::{EnumString, IntoStaticStr, VariantNames};
use tokio::sync::watch;

pub use crate::protocol::Reading;
pub use preflight::{PreflightError, Silence};
pub(crate) use programs::command_words;
pub use programs::{Impostor, LaunchError, PlayerStderr};
pub use remote::AddressError;
pub use time_odds::TimeOdds;
pub use waits::NetError;
pub use worker::Worker;
pub(crate) use workspace::role_id;

use crate::built_in;
use crate::launch_limits::LaunchLimits;
use crate::locking::lock;
use crate::protocol::is_markup;
use crate::schedule::{Job, TimeBudget};
use claims::{Address, Claim, Claims};
use machine_limit::no_thread;
use programs::{End, LaunchedProgram, ProgramPool};
use remote::{Answer, Limits, Target};
use stalls::Watch;
use waits::Waits;
use wire::Stamps;

/// Where launched programs listen.
const LOCALHOST: &str = "127.0.0.1";

/// Launches of a program whose port another process turns out to hold.
const PORT_TRIES: u32 = 3;

/// How long INFO is waited for.
const INFO_LIMIT: Duration = Duration::from_secs(1);

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
    pub registry: fn(&str) -> Option<&'static PlayerKind>,
    /// What becomes of what launched players write to their standard error.
    pub stderr: PlayerStderr,
    /// Time for a launched player to reply to INFO.
    pub launch_limit: Duration,
    /// Time to connect to a player, apart from its clocks.
    pub connect_limit: Duration,
    /// The executable that supervises launched programs (see
    /// [`supervisor`](crate::supervisor)): `gamemaster` itself. All children of this
    /// process that the manager did not start are then taken to be what launched
    /// programs left behind, and killed. Without it, descendants that hide are not
    /// found.
    pub supervisor: Option<PathBuf>,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            registry: built_in::find,
            stderr: PlayerStderr::default(),
            launch_limit: Duration::from_secs(10),
            connect_limit: Duration::from_secs(5),
            supervisor: None,
        }
    }
}

/// What the matches of one tournament share: launched programs, addresses in
/// use, and the request to stop.
pub struct Manager {
    settings: ManagerSettings,
    programs: ProgramPool,
    /// Remote players that are in a match. Each plays one at a time.
    claims: Claims,
    /// Remote players that could not be reached in their last match.
    doubted: Mutex<BTreeSet<Address>>,
    /// Made when it is first needed.
    watch: Mutex<Option<Arc<Watch>>>,
    /// Held from when a player is first reached over a socket.
    stamps: OnceLock<Stamps>,
    interrupt: watch::Sender<bool>,
    /// Ends what the manager itself computes.
    cancel: Cancel,
}

/// What is wrong with the name of a built-in player, and what is expected.
pub(crate) fn unknown_kind(name: &str) -> String {
    let meant = crate::game_source::meant(name, built_in::kinds().map(|kind| kind.name));
    format!("unknown player kind `{name}`{meant}; `gamemaster players` lists the kinds")
}

impl Manager {
    /// A manager without matches.
    #[must_use]
    pub fn new(settings: ManagerSettings) -> Arc<Self> {
        let programs = ProgramPool::new(settings.stderr.clone(), settings.supervisor.clone());
        Arc::new(Self {
            settings,
            programs,
            claims: Claims::default(),
            doubted: Mutex::new(BTreeSet::new()),
            watch: Mutex::new(None),
            stamps: OnceLock::new(),
            interrupt: watch::Sender::new(false),
            cancel: Cancel::new(),
        })
    }

    /// One more worker.
    #[must_use]
    pub fn worker(self: &Arc<Self>) -> Worker {
        Worker::new(self)
    }

    /// Makes matches that run end soon as [`Aborted`](Ending::Aborted), and
    /// later ones at once.
    pub fn interrupt(&self) {
        self.interrupt.send_replace(true);
        self.cancel.cancel();
        self.claims.wake_all();
    }

    /// Kills all launched programs, and launches no more. Dropping the manager
    /// and all its workers does so too.
    pub fn shutdown(&self) {
        self.programs.stop();
    }

    fn is_interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }

    /// What a thread takes to wait for players.
    fn waits(&self) -> Result<Waits, NetError> {
        self.stamps.get_or_init(Stamps::hold);
        Waits::new(self.watch()?)
    }

    /// The thread that notices when this process stands still.
    fn watch(&self) -> Result<Arc<Watch>, NetError> {
        let mut watch = lock(&self.watch);
        if let Some(watch) = &*watch {
            return Ok(Arc::clone(watch));
        }
        let begun = Arc::new(Watch::begin().map_err(|error| NetError(no_thread(&error)))?);
        *watch = Some(Arc::clone(&begun));
        Ok(begun)
    }

    fn info_limits(&self, connect: Duration) -> Limits {
        let rules = MatchRules::default();
        Limits {
            reply: INFO_LIMIT,
            connect,
            max_header_bytes: rules.max_header_bytes,
            max_body_bytes: rules.max_reply_bytes,
        }
    }

    /// A program of `player` that is ready to play: an idle one or a new one.
    fn launch(
        &self,
        waits: &Waits,
        player: &PlayerConfig,
        template: &str,
        limits: LaunchLimits,
    ) -> Result<LaunchedProgram, LaunchError> {
        for _ in 1..PORT_TRIES {
            match self.launch_once(waits, player, template, limits) {
                // A process of another run may have got the same port by chance.
                Err(LaunchError::Impostor(impostor)) if impostor.by.player.is_none() => {}
                launched => return launched,
            }
        }
        self.launch_once(waits, player, template, limits)
    }

    fn launch_once(
        &self,
        waits: &Waits,
        player: &PlayerConfig,
        template: &str,
        limits: LaunchLimits,
    ) -> Result<LaunchedProgram, LaunchError> {
        while let Some(mut program) = self.programs.take_idle(&player.hash) {
            if !program.suspect
                || info::program_answers(waits, &program, self.info_limits(INFO_LIMIT))
            {
                program.suspect = false;
                program.check_port()?;
                return Ok(program);
            }
        }
        let limit = self.settings.launch_limit;
        let given_up = Instant::now() + limit;
        let mut program = self.programs.launch(&player.id, template, limits)?;
        loop {
            let answers = info::program_answers(
                waits,
                &program,
                self.info_limits(Duration::from_millis(200)),
            );
            let end = program.ended();
            if answers || end.is_some() || Instant::now() > given_up {
                // Also where a program ends or is silent because it found its port taken.
                program.check_port()?;
            }
            match end {
                Some(End::NotStarted(reason)) => {
                    let program = template.split_whitespace().next().unwrap_or_default().to_owned();
                    let source = std::io::Error::from_raw_os_error(reason);
                    return Err(LaunchError::spawn(program, source));
                }
                Some(End::Exceeded(limit)) => {
                    let (template, log) = (template.to_owned(), program.log.clone());
                    return Err(LaunchError::Exceeded { template, log, limit });
                }
                Some(End::Ended(status)) => {
                    let (template, log) = (template.to_owned(), program.log.clone());
                    return Err(LaunchError::Ended { template, log, status });
                }
                None if answers => return Ok(program),
                None => {}
            }
            if self.is_interrupted() {
                return Err(LaunchError::Stopped);
            }
            if Instant::now() > given_up {
                let (template, log) = (template.to_owned(), program.log.clone());
                return Err(LaunchError::Silent { template, log, limit });
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Notes that a remote player could not be reached.
    fn doubt(&self, address: Address) {
        lock(&self.doubted).insert(address);
    }

    /// Whether a remote player that could not be reached in its last match replies again.
    fn is_back(&self, waits: &Waits, target: &Target, address: &Address) -> bool {
        if !lock(&self.doubted).contains(address) {
            return true;
        }
        let answers = info::answers(waits, target, self.info_limits(INFO_LIMIT));
        if answers {
            lock(&self.doubted).remove(address);
        }
        answers
    }

    /// Waits until no other match uses any of `addresses`.
    fn claim(&self, addresses: BTreeSet<Address>) -> Claim<'_> {
        self.claims.claim(addresses, || self.is_interrupted())
    }
}

/// Whether a reply to INFO or START may be a player's. Its words are not checked, but an
/// HTTP error or a web page is not a player's reply.
fn is_ready(answer: &Answer) -> bool {
    (200..400).contains(&answer.status) && !is_markup(&answer.text)
}

/// The id by which players know the match: one atom without capitals, the same
/// each time the job is played. It does not name the game, which a scrambled
/// match is to hide.
#[must_use]
pub fn match_id(job: &Job) -> String {
    let digits = job.id.chars().filter(char::is_ascii_alphanumeric).take(16);
    let mut id = "match.".to_owned();
    id.extend(digits.map(|digit| digit.to_ascii_lowercase()));
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
    /// Clocks and budget of its own.
    pub odds: TimeOdds,
    /// How tolerantly its replies are read (remote and child players).
    pub reading: Reading,
    /// How percepts are sent to it (remote and child players).
    pub dialect: Dialect,
}

impl PlayerConfig {
    /// The kind of a built-in player.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        match self.source {
            PlayerSource::BuiltIn { kind, .. } => Some(kind),
            PlayerSource::Remote { .. } | PlayerSource::Command { .. } => None,
        }
    }

    /// Why a built-in player cannot play the game of `machine`, if it knows before any
    /// match: a tree that is too large, for example.
    ///
    /// # Errors
    /// If the rules cannot be computed.
    pub fn unsuitable(
        &self,
        machine: Box<dyn StateMachine>,
    ) -> Result<Option<String>, ReasoningError> {
        let PlayerSource::BuiltIn { kind, options } = &self.source else { return Ok(None) };
        let player = built_in::find(kind).and_then(|kind| (kind.make)(options).ok());
        // What is wrong with the options is found elsewhere.
        let Some(mut player) = player else { return Ok(None) };
        match player.check(machine) {
            Ok(()) => Ok(None),
            Err(players::Failure::Unsuitable(reason)) => Ok(Some(reason)),
            Err(players::Failure::Reasoning(error)) => Err(error),
        }
    }
}

/// Where a player runs.
#[derive(Clone, Debug)]
pub enum PlayerSource {
    /// In this process.
    BuiltIn {
        /// PlayerKind in the registry.
        kind: &'static str,
        /// Its options.
        options: players::Options,
    },
    /// An HTTP server that runs already.
    Remote {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A program that is launched and then spoken to over HTTP.
    Command {
        /// Command line with `{port}` for the port to listen on, or `{socket}` for the
        /// descriptor of a socket that listens already.
        template: String,
        /// What it may use of this machine.
        limits: LaunchLimits,
    },
}

/// Which form PLAY and STOP take in games of hidden information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Dialect {
    /// `(PLAY id turn lastmove percepts)`.
    #[default]
    Official,
    /// `(PLAY id (percept...))`, as the Dresden server of 2011.
    OldDresden,
}

/// What replaces the move of a player at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Substitute {
    /// A uniformly random legal move from the match's own stream.
    #[default]
    Random,
    /// The first legal move.
    First,
}

/// How long the manager waits for remote players, whose clocks are announced in whole
/// seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// The announced clock, if that is more than the clock, and the margin.
    #[default]
    Announced,
    /// The clock and the margin, whatever was announced.
    Exact,
}

impl Enforcement {
    /// The time of a remote or launched player for a clock, without the margin.
    #[must_use]
    pub fn remote_time(self, clock: Duration) -> Duration {
        match self {
            // Of longer clocks no more than whole seconds are announced.
            Self::Announced => clock.max(Duration::from_secs(1)),
            Self::Exact => clock,
        }
    }
}

/// Which value counts when the rules give several for one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GoalConflict {
    /// The smallest.
    #[default]
    Smallest,
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
    /// How the clocks of players are enforced that know whole seconds only.
    pub enforcement: Enforcement,
    /// Whether remote players get scrambled rules, under the match's seed.
    pub scramble: bool,
    /// Maximum number of bytes of a reply's body.
    pub max_reply_bytes: usize,
    /// Maximum number of bytes of a reply's header.
    pub max_header_bytes: usize,
}

impl Default for MatchRules {
    fn default() -> Self {
        Self {
            step_limit: 1000,
            substitute: Substitute::default(),
            goal_conflict: GoalConflict::default(),
            enforcement: Enforcement::default(),
            scramble: false,
            max_reply_bytes: 64 << 10,
            max_header_bytes: 64 << 10,
        }
    }
}

/// Everything that one match needs.
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

impl MatchSetup {
    /// The time that a player has in this match.
    #[must_use]
    pub fn time(&self, player: Option<&Arc<PlayerConfig>>) -> TimeBudget {
        let time = TimeBudget { clocks: self.job.clocks, budget: self.budget };
        player.map_or(time, |player| player.odds.apply(time))
    }

    /// Whether the match has to wait for some player.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.seats.iter().flatten().any(|config| match &config.source {
            PlayerSource::BuiltIn { kind, .. } => {
                built_in::find(kind).is_none_or(|kind| !kind.instant)
            }
            PlayerSource::Remote { .. } | PlayerSource::Command { .. } => true,
        })
    }
}
