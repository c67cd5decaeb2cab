//! From the events of a match to its record.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use results::record::{
    Clock, DecisionRecord, Ending, GoalFlag, MatchRecord, SeatRecord, StartRecord,
};

use crate::event::{Decision, EventKind, Readiness, RemoteWorker};
use crate::manager::{self, PlayerConfig, PreparedGame, TimeOdds};
use crate::schedule::{Job, TimeBudget, millis};

/// Maximum number of characters kept of a reply that was not executed.
const MAX_SUBMITTED: usize = 200;

/// The names behind the numbers in a job.
#[derive(Clone, Debug)]
pub struct Catalogue {
    games: Vec<GameNames>,
    players: Vec<PlayerNames>,
    concurrency: u32,
}

#[derive(Clone, Debug)]
struct GameNames {
    name: String,
    hash: String,
    roles: Vec<String>,
}

#[derive(Clone, Debug)]
struct PlayerNames {
    id: String,
    hash: String,
    odds: TimeOdds,
}

impl Catalogue {
    /// The names of these games and players, which jobs refer to by index.
    #[must_use]
    pub fn new(
        games: &[Arc<PreparedGame>],
        players: &[Arc<PlayerConfig>],
        concurrency: u32,
    ) -> Self {
        let game = |game: &Arc<PreparedGame>| {
            let role = |&role| game.game.symbols().name(role).to_owned();
            GameNames {
                name: game.name.clone(),
                hash: game.hash.clone(),
                roles: game.game.roles().iter().map(role).collect(),
            }
        };
        let player = |player: &Arc<PlayerConfig>| PlayerNames {
            id: player.id.clone(),
            hash: player.hash.clone(),
            odds: player.odds,
        };
        Self {
            games: games.iter().map(game).collect(),
            players: players.iter().map(player).collect(),
            concurrency,
        }
    }

    /// The name of a game.
    #[must_use]
    pub fn game(&self, job: &Job) -> &str {
        &self.games[job.game].name
    }

    /// The names of a game's roles, in role order.
    #[must_use]
    pub fn roles(&self, job: &Job) -> &[String] {
        &self.games[job.game].roles
    }

    /// The id of the player in a role; `None` where chance moves.
    #[must_use]
    pub fn player(&self, job: &Job, role: usize) -> Option<&str> {
        Some(&self.players[job.seats[role]?].id)
    }

    /// Ids of all players.
    pub fn players(&self) -> impl Iterator<Item = &str> {
        self.players.iter().map(|player| player.id.as_str())
    }
}

/// Gathers the events of the matches that run.
pub struct Recorder {
    catalogue: Arc<Catalogue>,
    running: BTreeMap<u64, Running>,
}

struct Running {
    job: Arc<Job>,
    started_at: String,
    remote: Option<Arc<RemoteWorker>>,
    starts: Vec<StartRecord>,
    steps: Vec<Vec<DecisionRecord>>,
}

impl Recorder {
    /// A recorder that has seen nothing yet.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self { catalogue, running: BTreeMap::new() }
    }

    /// Takes in an event; gives the record of a match that it ends.
    pub fn take(&mut self, event: &EventKind) -> Option<MatchRecord> {
        match event {
            EventKind::MatchStarted { job, at, remote } => {
                let (job, remote) = (Arc::clone(job), remote.clone());
                let number = job.number;
                let started_at = at.clone();
                let running = Running { job, started_at, remote, starts: vec![], steps: vec![] };
                self.running.insert(number, running);
                None
            }
            EventKind::PlayersReady { job, roles } => {
                self.running.get_mut(job)?.starts = roles.iter().map(start_record).collect();
                None
            }
            EventKind::MovesPlayed { job, decisions, .. } => {
                let decisions = decisions.iter().map(decision_record).collect();
                self.running.get_mut(job)?.steps.push(decisions);
                None
            }
            EventKind::MatchFinished { job, ending, rewards, goal_flags, duration, harness } => {
                let running = self.running.remove(job)?;
                let end =
                    End { ending, rewards, goal_flags, duration: *duration, harness: *harness };
                Some(self.record(running, &end))
            }
            EventKind::TournamentStarted { .. }
            | EventKind::RoundStarted { .. }
            | EventKind::PlayerMissing { .. }
            | EventKind::PlayerGivenUp { .. }
            | EventKind::Notice(_)
            | EventKind::WorkersChanged { .. }
            | EventKind::ResultsWaited { .. }
            | EventKind::TournamentFinished { .. } => None,
        }
    }

    fn record(&self, running: Running, end: &End<'_>) -> MatchRecord {
        let Running { job, started_at, remote, starts, steps } = running;
        let game = &self.catalogue.games[job.game];
        let seats = game.roles.iter().enumerate().map(|(role, name)| {
            let player = job.seats[role].map(|player| &self.catalogue.players[player]);
            SeatRecord {
                role: name.clone(),
                player: player.map(|player| player.id.clone()),
                player_hash: player.map_or_else(String::new, |player| player.hash.clone()),
                odds: player.and_then(|player| odds_record(&job, player.odds)),
                reward: end.rewards.get(role).copied(),
                start: starts.get(role).cloned().unwrap_or_default(),
            }
        });
        MatchRecord {
            job: job.number,
            block: job.block,
            lap: job.lap,
            rotation: job.rotation,
            round: job.round,
            attempt: 1,
            match_id: manager::match_id(&job),
            game: game.name.clone(),
            game_hash: game.hash.clone(),
            seed: format!("{:016x}", job.seed),
            start_clock_ms: millis(job.clocks.start),
            play_clock_ms: millis(job.clocks.play),
            budget: job.budget,
            concurrency: remote
                .as_ref()
                .map_or(self.catalogue.concurrency, |remote| remote.concurrency),
            worker: remote.map(|remote| remote.name.clone()),
            started_at,
            duration_us: micros(end.duration),
            harness_us: micros(end.harness),
            ending: end.ending.clone(),
            goal_flags: end.goal_flags.to_vec(),
            n_steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            seats: seats.collect(),
            steps,
            job_id: job.id.clone(),
        }
    }
}

struct End<'a> {
    ending: &'a Ending,
    rewards: &'a [u8],
    goal_flags: &'a [(u32, GoalFlag)],
    duration: Duration,
    harness: Duration,
}

fn odds_record(job: &Job, odds: TimeOdds) -> Option<Clock> {
    let time = odds.apply(TimeBudget { clocks: job.clocks, budget: job.budget });
    (!odds.is_none()).then(|| time.recorded())
}

fn start_record(readiness: &Readiness) -> StartRecord {
    let said = readiness.explanation.as_ref();
    StartRecord {
        fault: readiness.fault,
        detail: readiness.detail.clone(),
        wall_us: micros(readiness.wall),
        cpu_us: readiness.cpu.map(micros),
        nodes: readiness.nodes,
        value_tenths: said.and_then(|said| said.value).map(tenths),
        depth: said.map(|said| said.depth).filter(|&depth| depth > 0),
        line: said.map_or_else(Vec::new, |said| said.line.clone()),
    }
}

fn decision_record(decision: &Decision) -> DecisionRecord {
    DecisionRecord {
        executed: decision.executed.as_ref().to_owned(),
        n_legal: decision.n_legal,
        fault: decision.fault,
        submitted: decision
            .submitted
            .as_ref()
            .map(|text| text.chars().take(MAX_SUBMITTED).collect()),
        detail: decision.detail.clone(),
        wall_us: micros(decision.wall),
        cpu_us: decision.cpu.map(micros),
        connect_us: decision.connect.map(micros),
        overrun_us: micros(decision.overrun),
        nodes: decision.nodes,
        value_tenths: decision.explanation.as_ref().and_then(|said| said.value).map(tenths),
        depth: decision.explanation.as_ref().map(|said| said.depth).filter(|&depth| depth > 0),
        line: decision.explanation.as_ref().map_or_else(Vec::new, |said| said.line.clone()),
    }
}

/// A value from 0 to 100 in tenths.
fn tenths(value: f64) -> u32 {
    (10.0 * value.clamp(0.0, 100.0)).round() as u32
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
