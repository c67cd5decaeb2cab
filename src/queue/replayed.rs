//! A match that a worker played, checked and as events.
//!
//! Of a result only what happened in the match counts: moves, faults, times, ending and
//! rewards. All else in the record follows from the job, as the coordinator knows it, so
//! a worker cannot give a match another name, player or seed.

use std::sync::Arc;
use std::time::Duration;

use results::record::{AbortReason, DecisionRecord, Ending, MatchRecord, StartRecord};

use crate::consumers::{Catalogue, Recorder};
use crate::event::{Decision, EventKind, Readiness, RemoteWorker};
use crate::explanation::Explanation;
use crate::schedule::Job;

/// Why a result is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    /// A match of the block is not there.
    #[error("match {job} is missing")]
    Missing {
        /// Its number.
        job: u64,
    },
    /// A match of another block, or one twice.
    #[error("match {job} does not belong to the block")]
    Foreign {
        /// Its number.
        job: u64,
    },
    /// The record does not follow from the job.
    #[error("match {job} is recorded with another {field}")]
    Other {
        /// Its number.
        job: u64,
        /// What differs.
        field: &'static str,
    },
    /// The record contradicts itself.
    #[error("match {job}: {what}")]
    Inconsistent {
        /// Its number.
        job: u64,
        /// How.
        what: &'static str,
    },
}

/// A match that a worker played, as events.
pub(super) struct Replayed {
    /// What happened, from `MatchStarted` to `MatchFinished`.
    pub(super) events: Vec<EventKind>,
    /// The role without a player, if the match was aborted for that.
    pub(super) missing: Option<(usize, AbortReason)>,
    /// How long the match took, as the worker says.
    pub(super) length: Duration,
}

impl Replayed {
    /// Whether the match was broken off and is to be played again.
    pub(super) fn is_aborted(&self) -> bool {
        let aborts = |event: &EventKind| matches!(event, EventKind::MatchFinished { ending, .. } if !ending.is_done());
        self.events.iter().any(aborts)
    }
}

/// The events of the match of `job`, which `worker` recorded.
pub(super) fn replayed(
    mut record: MatchRecord,
    job: &Arc<Job>,
    worker: &str,
    catalogue: &Arc<Catalogue>,
) -> Result<Replayed, Unfit> {
    let number = job.number;
    let inconsistent = |what| Unfit::Inconsistent { job: number, what };
    if record.job != number || record.job_id != job.id {
        return Err(Unfit::Foreign { job: record.job });
    }
    let n_roles = catalogue.roles(job).len();
    if record.seats.len() != n_roles || record.steps.iter().any(|step| step.len() != n_roles) {
        return Err(Unfit::Other { job: number, field: "number of roles" });
    }
    let rewards: Vec<u8> = record.seats.iter().filter_map(|seat| seat.reward).collect();
    if !rewards.is_empty() && rewards.len() != n_roles {
        return Err(inconsistent("some roles have a reward and others have none"));
    }
    if rewards.iter().any(|&reward| reward > 100) {
        return Err(inconsistent("a reward is above 100"));
    }
    if rewards.is_empty() == (record.ending == Ending::Terminal) {
        return Err(inconsistent("rewards and ending contradict each other"));
    }
    if record.goal_flags.iter().any(|&(role, _)| role as usize >= n_roles) {
        return Err(inconsistent("a goal of a role that the game does not have"));
    }
    let decisions = record.steps.iter().flatten();
    let mut moves = decisions.flat_map(|decision| decision.line.iter().chain([&decision.executed]));
    if moves.any(|text| text.chars().any(char::is_control)) {
        return Err(inconsistent("a move has control characters"));
    }
    if record.concurrency == 0 {
        return Err(inconsistent("no match at once"));
    }
    let name = worker.to_owned();
    record.worker = Some(name.clone());
    let remote = Some(Arc::new(RemoteWorker { name, concurrency: record.concurrency }));
    let at = record.started_at.clone();
    if at.parse::<jiff::Timestamp>().is_err() {
        return Err(inconsistent("the time of its beginning is no time"));
    }
    let mut events = vec![EventKind::MatchStarted { job: Arc::clone(job), at, remote }];
    let roles = record.seats.iter().map(|seat| readiness(&seat.start)).collect();
    events.push(EventKind::PlayersReady { job: number, roles });
    for (step, decisions) in record.steps.iter().enumerate() {
        let step = u32::try_from(step).map_err(|_| inconsistent("too many steps"))?;
        let decisions = decisions.iter().map(decision).collect();
        events.push(EventKind::MovesPlayed { job: number, step, decisions });
    }
    let missing = record.ending.aborted_by_fault().and_then(|reason| {
        let player = missing_player(reason)?;
        let role = record.seats.iter().position(|seat| seat.player.as_deref() == Some(player))?;
        Some((role, reason.clone()))
    });
    if let Some((role, reason)) = &missing {
        events.push(EventKind::PlayerMissing { job: number, role: *role, reason: reason.clone() });
    }
    events.push(EventKind::MatchFinished {
        job: number,
        ending: record.ending.clone(),
        rewards,
        goal_flags: record.goal_flags.clone(),
        duration: Duration::from_micros(record.duration_us),
        harness: Duration::from_micros(record.harness_us),
    });
    let mut recorder = Recorder::new(Arc::clone(catalogue));
    let expected = events.iter().find_map(|event| recorder.take(event));
    let expected = expected.expect("the last event ends the match");
    record.attempt = expected.attempt;
    match differing(&record, &expected) {
        Some(field) => Err(Unfit::Other { job: number, field }),
        None => Ok(Replayed { events, missing, length: Duration::from_micros(record.duration_us) }),
    }
}

/// The first field in which two records differ.
fn differing(a: &MatchRecord, b: &MatchRecord) -> Option<&'static str> {
    let same = |a: &results::record::SeatRecord, b: &results::record::SeatRecord| {
        (&a.role, &a.player, &a.player_hash, a.odds) == (&b.role, &b.player, &b.player_hash, b.odds)
    };
    let fields = [
        ("place in the schedule", {
            (a.block, a.lap, a.rotation, a.round) == (b.block, b.lap, b.rotation, b.round)
        }),
        ("match id", a.match_id == b.match_id),
        ("game", (&a.game, &a.game_hash) == (&b.game, &b.game_hash)),
        ("seed", a.seed == b.seed),
        ("clock or budget", a.clock() == b.clock()),
        ("role or player", a.seats.iter().zip(&b.seats).all(|(a, b)| same(a, b))),
        ("number of steps", a.n_steps == b.n_steps),
        ("content", a == b),
    ];
    fields.into_iter().find(|(_, is_same)| !is_same).map(|(field, _)| field)
}

/// The player that a match had to do without.
fn missing_player(reason: &AbortReason) -> Option<&str> {
    match reason {
        AbortReason::MachineLimit { player, .. } => player.as_deref(),
        AbortReason::PlayerGone { player, .. }
        | AbortReason::LaunchFailed { player, .. }
        | AbortReason::PortTaken { player, .. }
        | AbortReason::PlayerUnusable { player, .. } => Some(player),
        AbortReason::Interrupted | AbortReason::Stated { .. } => None,
    }
}

fn readiness(start: &StartRecord) -> Readiness {
    Readiness {
        fault: start.fault,
        detail: start.detail.clone(),
        wall: Duration::from_micros(start.wall_us),
        cpu: start.cpu_us.map(Duration::from_micros),
        nodes: start.nodes,
        explanation: explanation(start.value_tenths, start.depth, &start.line),
    }
}

/// What a player said, as far as it is recorded.
fn explanation(
    value_tenths: Option<u32>,
    depth: Option<u32>,
    line: &[String],
) -> Option<Box<Explanation>> {
    let is_said = value_tenths.is_some() || depth.is_some() || !line.is_empty();
    is_said.then(|| {
        Box::new(Explanation {
            value: value_tenths.map(|tenths| f64::from(tenths) / 10.0),
            depth: depth.unwrap_or(0),
            line: line.to_vec(),
            ..Explanation::default()
        })
    })
}

fn decision(record: &DecisionRecord) -> Decision {
    Decision {
        executed: record.executed.as_str().into(),
        n_legal: record.n_legal,
        fault: record.fault,
        submitted: record.submitted.clone(),
        detail: record.detail.clone(),
        wall: Duration::from_micros(record.wall_us),
        cpu: record.cpu_us.map(Duration::from_micros),
        connect: record.connect_us.map(Duration::from_micros),
        overrun: Duration::from_micros(record.overrun_us),
        nodes: record.nodes,
        explanation: explanation(record.value_tenths, record.depth, &record.line),
    }
}
