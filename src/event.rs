//! What happens in a tournament, as data. The runner emits events; progress,
//! journal and live displays consume them. The vocabulary belongs to neither
//! side, holds facts only, and owns its values.

use std::sync::Arc;
use std::time::Duration;

use results::counted::counted;
use results::formats::{Format, RoundId};
use results::record::{AbortReason, Ending, FaultKind, GoalFlag};
use serde::Serialize;

use crate::explanation::Explanation;
use crate::schedule::Job;

/// One event. `seq` counts from 0 without gaps and is given by the dispatcher alone.
#[derive(Clone, Debug)]
pub struct Event {
    /// Position in the stream.
    pub seq: u64,
    /// Since the tournament started.
    pub elapsed: Duration,
    /// What happened.
    pub kind: EventKind,
}

/// How one role decided in one step.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The move that was executed, as KIF text.
    pub executed: Arc<str>,
    /// Number of legal moves there were.
    pub n_legal: u32,
    /// The fault, if any; then `executed` is a substitute.
    pub fault: Option<FaultKind>,
    /// What the player answered when it was not executed.
    pub submitted: Option<String>,
    /// What else there is to say of the fault: limits and times, legal moves.
    pub detail: Option<String>,
    /// From the last byte of the request to the last byte of the reply, or to
    /// the moment the wait ended.
    pub wall: Duration,
    /// CPU time of the player's thread; built-in players only.
    pub cpu: Option<Duration>,
    /// Time to connect; remote players only.
    pub connect: Option<Duration>,
    /// Time beyond the play clock; zero when in time.
    pub overrun: Duration,
    /// States entered, if the player counts them.
    pub nodes: Option<u64>,
    /// The player's report on its reply; built-in players only.
    pub explanation: Option<Box<Explanation>>,
}

/// How one role answered START.
#[derive(Clone, Debug)]
pub struct Readiness {
    /// The fault, if any.
    pub fault: Option<FaultKind>,
    /// What else there is to say of it.
    pub detail: Option<String>,
    /// From the last byte of the request to the last byte of the reply.
    pub wall: Duration,
    /// CPU time of the player's thread; built-in players only.
    pub cpu: Option<Duration>,
    /// States entered meanwhile, if there were any and the player counts them.
    pub nodes: Option<u64>,
    /// What the player says of its search in the start clock; built-in players only.
    pub explanation: Option<Box<Explanation>>,
}

/// Why a tournament stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Every job was played.
    Completed,
    /// A consumer or the user asked for it.
    Interrupted,
    /// Matches were aborted, and what comes next follows from their results.
    Paused,
    /// A player was missing in one match after the other.
    PlayerGone,
}

/// Something a user should know that is no player's fault. Its text is the sentence
/// that a user reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Notice {
    /// This process did not run for some time while players were asked.
    #[error(
        "this process stood still for {:.1} s while players were asked; their clocks were stopped \
         meanwhile",
        time.as_secs_f64()
    )]
    Stalled {
        /// For how long.
        time: Duration,
    },
    /// A built-in player did not return in time, nor when it was cancelled.
    #[error(
        "player {player} does not stop thinking; its thread was left behind and may go on using a \
         processor"
    )]
    ThreadLeft {
        /// The player.
        player: String,
    },
    /// The results that a worker sent of a block are not those of the block.
    #[error(
        "the results of block {block} from worker {worker} were refused, and the block is given \
         out again: {reason}"
    )]
    ResultRefused {
        /// The block.
        block: u64,
        /// The worker; `?` if the results do not say it.
        worker: String,
        /// What is wrong with them.
        reason: String,
    },
    /// A worker does not play the run.
    #[error("worker {worker} does not play this run: {reason}")]
    WorkerRefuses {
        /// The worker.
        worker: String,
        /// What it says.
        reason: String,
    },
    /// Blocks wait on the queue, and no worker of the run may play them.
    #[error(
        "waiting: no worker {}",
        if tags.is_empty() {
            "plays this run; start one with `gamemaster worker`".to_owned()
        } else {
            let tags = tags.join(",");
            format!("has the tags {tags}; start one with `gamemaster worker --tags {tags}`")
        }
    )]
    NoWorker {
        /// What the machine of a worker must have.
        tags: Vec<String>,
    },
    /// A block waits on the queue, and the results of all workers that may play it were refused.
    #[error(
        "waiting: results of block {block} from {} were refused, and no other worker may play it; \
         start another one",
        workers.join(", ")
    )]
    NoOtherWorker {
        /// The block.
        block: u64,
        /// The workers whose results were refused.
        workers: Vec<String>,
    },
    /// The server of the queue refuses something that the client asked for.
    #[error("the NATS server at {url} reports: {reason}")]
    ServerRefuses {
        /// The address, without a password.
        url: String,
        /// What it says.
        reason: String,
    },
    /// The server of the queue cannot be reached any more.
    #[error("the connection to the NATS server at {url} is lost; trying to connect again")]
    ServerLost {
        /// The address, without a password.
        url: String,
    },
    /// The server of the queue can be reached again.
    #[error("connected to the NATS server at {url} again")]
    ServerBack {
        /// The address, without a password.
        url: String,
    },
    /// Not as many workers could be started as were asked for.
    #[error("only {}, not {wanted}: {why}", counted(*n, "match at once", "matches at once"))]
    FewerWorkers {
        /// Workers that run.
        n: u64,
        /// Workers that were asked for.
        wanted: u64,
        /// What is lacking.
        why: String,
    },
}

/// A machine that plays matches for this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteWorker {
    /// Its name.
    pub name: String,
    /// Matches that it plays at once.
    pub concurrency: u32,
}

/// The kinds of events. `job` is the number of the job in its schedule.
#[derive(Clone, Debug)]
pub enum EventKind {
    /// The first event.
    TournamentStarted {
        /// Jobs to be played here, those done before included; the most there can
        /// be if later ones follow from results.
        n_jobs: u64,
        /// Jobs that an earlier run has finished.
        n_done: u64,
    },
    /// A round begins, or is resumed.
    RoundStarted {
        /// Which one.
        round: RoundId,
        /// The format of its stage.
        format: Format,
        /// Rounds of the stage, at most.
        n_rounds: u32,
        /// Stages of the tournament.
        n_stages: u32,
        /// Matches of the round.
        n_jobs: u64,
        /// Those that an earlier run has finished.
        n_done: u64,
    },
    /// A match begins.
    MatchStarted {
        /// What is played.
        job: Arc<Job>,
        /// When, RFC 3339 in UTC.
        at: String,
        /// The machine that plays it; `None` for this process.
        remote: Option<Arc<RemoteWorker>>,
    },
    /// All roles have answered START or run out of time; in role order.
    PlayersReady {
        /// The job's number.
        job: u64,
        /// How each role answered.
        roles: Vec<Readiness>,
    },
    /// A step was played; decisions in role order.
    MovesPlayed {
        /// The job's number.
        job: u64,
        /// Steps played before this one.
        step: u32,
        /// How each role decided.
        decisions: Vec<Decision>,
    },
    /// A match is aborted because a player is missing, or another process listens in its
    /// place. `MatchFinished` follows.
    PlayerMissing {
        /// The job's number.
        job: u64,
        /// The player's role, as a position among the roles.
        role: usize,
        /// Why, as the ending has it.
        reason: AbortReason,
    },
    /// A match ended, in whatever way.
    MatchFinished {
        /// The job's number.
        job: u64,
        /// How it ended.
        ending: Ending,
        /// Rewards in role order; empty if the match has no scores.
        rewards: Vec<u8>,
        /// Odd goals by role index.
        goal_flags: Vec<(u32, GoalFlag)>,
        /// From START to the last STOP.
        duration: Duration,
        /// Time of the manager itself.
        harness: Duration,
    },
    /// Something a user should know that is no player's fault.
    Notice(Notice),
    /// Machines that play for this process joined or left.
    WorkersChanged {
        /// Workers that show signs of life.
        n_workers: u32,
        /// Matches that they play at once.
        n_at_once: u32,
    },
    /// What follows next is the results of matches that were played before this process asked for
    /// them.
    ResultsWaited {
        /// Their matches.
        n_matches: u64,
    },
    /// A player was missing in several matches in a row, and no more matches begin.
    PlayerGivenUp {
        /// Its position among the players.
        player: usize,
        /// Why the last match was aborted.
        reason: AbortReason,
    },
    /// The last event.
    TournamentFinished {
        /// Why it ended.
        stop: StopReason,
    },
}
