//! Playing a suite: one decision of each player in each position, asked for by the match
//! manager as in any match.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use games::{Guards, ReasoningError, StateMachine, state_machine_for};
use results::position_suite::{PositionResult, Verdict};
use results::record::{Budget, Ending};

use super::{Position, PositionSuite};
use crate::event::{Decision, EventKind};
use crate::fingerprint::Fingerprint;
use crate::in_parallel::in_parallel;
use crate::manager::{
    Manager, MatchRules, MatchSetup, PlayerConfig, PlayerSource, PreparedGame, Worker,
};
use crate::schedule::{Clocks, Job};

/// How players are asked.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// Times for each position.
    pub clocks: Clocks,
    /// States for each decision, in place of the play clock.
    pub nodes: Option<u64>,
    /// Everything random derives from it.
    pub seed: u64,
    /// Positions at once.
    pub n_workers: usize,
}

/// Why a suite was not played to its end.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The rules of a position cannot be computed.
    #[error("cannot compute position `{id}`")]
    Rules {
        /// The position.
        id: String,
        /// Why.
        #[source]
        source: ReasoningError,
    },
    /// A player could not be asked: it is gone, or this machine lacks something.
    #[error("position `{id}` was not played: {reason}")]
    Aborted {
        /// The position.
        id: String,
        /// Why.
        reason: String,
    },
}

/// Why a position has no results.
enum Broken {
    /// The manager was interrupted.
    Interrupted,
    /// It cannot be played.
    Unplayable(PlayError),
}

/// What the players do in the positions: for each player, in the order of the positions. Once the
/// manager is interrupted, no further position is played, so that there may be fewer results than
/// positions. `report` is called with the number of positions that are done, from any thread.
///
/// # Errors
/// If a position cannot be played. The first error in the order of the suite.
pub fn play(
    manager: &Arc<Manager>,
    suite: &PositionSuite,
    players: &[Arc<PlayerConfig>],
    asking: &Asking,
    report: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Vec<PositionResult>>, PlayError> {
    let n_done = AtomicUsize::new(0);
    let is_interrupted = AtomicBool::new(false);
    let worker = || manager.worker();
    let rows = in_parallel(&suite.positions, asking.n_workers, worker, |worker, position| {
        if is_interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let row = match row(worker, position, players, asking) {
            Err(Broken::Interrupted) => {
                is_interrupted.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            Err(Broken::Unplayable(error)) => return Err(error),
            Ok(row) => row,
        };
        report(n_done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(Some(row))
    })?;
    let mut by_player = vec![Vec::with_capacity(rows.len()); players.len()];
    for row in rows.into_iter().flatten() {
        for (results, result) in by_player.iter_mut().zip(row) {
            results.push(result);
        }
    }
    Ok(by_player)
}

/// What all players do in one position.
fn row(
    worker: &mut Worker,
    position: &Position,
    players: &[Arc<PlayerConfig>],
    asking: &Asking,
) -> Result<Vec<PositionResult>, Broken> {
    let broken = |source| Broken::Unplayable(PlayError::Rules { id: position.id.clone(), source });
    let machine = state_machine_for(Arc::clone(&position.rules), Guards::default());
    let machine = machine.map_err(broken)?;
    let hash = Fingerprint::of("position").text(&position.game).text(&position.id).hex(16);
    let check = machine.fork();
    let game = Arc::new(PreparedGame::new(position.game.clone(), hash, machine));
    let asked = players.iter().map(|player| match suitable(player, &*check, position) {
        Ok(None) => decide(worker, &game, position, player, asking),
        Ok(Some(reason)) => Ok(result(position, Verdict::CannotPlay { reason })),
        Err(source) => Err(broken(source)),
    });
    asked.collect()
}

/// Why a player cannot play the game, if it says so before any match.
fn suitable(
    player: &PlayerConfig,
    machine: &dyn StateMachine,
    position: &Position,
) -> Result<Option<String>, ReasoningError> {
    let reason = player.unsuitable(machine.fork())?;
    Ok(reason.map(|reason| format!("{} cannot play {}: {reason}", player.id, position.game)))
}

/// The decision of one player: a match of one step, in which the other roles make any move.
fn decide(
    worker: &mut Worker,
    game: &Arc<PreparedGame>,
    position: &Position,
    player: &Arc<PlayerConfig>,
    asking: &Asking,
) -> Result<PositionResult, Broken> {
    let setup = setup(game, position, player, asking);
    let role = usize::from(position.role.0);
    let (mut late, mut decided, mut ended) = (None, None, None);
    worker.play(&setup, &mut |event| match event {
        EventKind::PlayersReady { mut roles, .. } => {
            let readiness = roles.swap_remove(role);
            late = readiness.fault.map(|fault| (fault, readiness.detail));
        }
        EventKind::MovesPlayed { mut decisions, .. } => {
            decided = Some(decisions.swap_remove(role));
        }
        EventKind::MatchFinished { ending, .. } => ended = Some(ending),
        _ => {}
    });
    let Some(decision) = decided else {
        return Err(match ended {
            Some(ending) if ending == Ending::interrupted() => Broken::Interrupted,
            ended => Broken::Unplayable(PlayError::Aborted {
                id: position.id.clone(),
                reason: ended.map_or_else(String::new, |ending| ending.reason()),
            }),
        });
    };
    // A player that is not ready in time commits a fault, whatever it replies later.
    Ok(judge(
        position,
        match late {
            Some((fault, detail)) if decision.fault.is_none() => {
                Decision { fault: Some(fault), detail, ..decision }
            }
            _ => decision,
        },
    ))
}

fn judge(position: &Position, decision: Decision) -> PositionResult {
    let Decision { executed, fault, detail, submitted, wall, nodes, .. } = decision;
    let verdict = match fault {
        Some(fault) => Verdict::Fault { fault, submitted, detail },
        None if position.good.contains(&*executed) => Verdict::Passed,
        None => Verdict::Failed,
    };
    let chosen = Some(executed.to_string()).filter(|_| fault.is_none());
    let value = chosen.as_ref().and_then(|text| position.values.get(text).copied());
    let loss = position.best_value().zip(value).map(|(best, value)| (best - value).max(0.0));
    PositionResult {
        chosen,
        value,
        loss,
        seconds: wall.as_secs_f64(),
        nodes,
        ..result(position, verdict)
    }
}

/// A result without a decision.
fn result(position: &Position, verdict: Verdict) -> PositionResult {
    PositionResult {
        position: position.id.clone(),
        game: position.game.clone(),
        role: position.rules.role_name(position.role).to_owned(),
        depth: position.depth,
        weight: position.weight,
        good: position.good.iter().cloned().collect(),
        chosen: None,
        value: None,
        loss: None,
        seconds: Duration::ZERO.as_secs_f64(),
        nodes: None,
        verdict,
    }
}

fn setup(
    game: &Arc<PreparedGame>,
    position: &Position,
    player: &Arc<PlayerConfig>,
    asking: &Asking,
) -> MatchSetup {
    let rules = &position.rules;
    let any_move = Arc::new(PlayerConfig {
        id: "any move".to_owned(),
        source: PlayerSource::BuiltIn { kind: "legal", options: players::Options::default() },
        hash: "legal".to_owned(),
        odds: player.odds,
        reading: player.reading,
        dialect: player.dialect,
    });
    let seats: Vec<Option<Arc<PlayerConfig>>> = rules
        .role_ids()
        .map(|role| match role {
            role if role == position.role => Some(Arc::clone(player)),
            role if Some(role) == rules.random() => None,
            _ => Some(Arc::clone(&any_move)),
        })
        .collect();
    let budget = asking.nodes.map_or(Budget::Clock, Budget::Nodes);
    let id = Fingerprint::of("decision").text(&game.hash).text(&player.hash).number(asking.seed);
    let seed = Fingerprint::of("position seed").text(&position.id).number(asking.seed).seed();
    let job = Job {
        number: 0,
        id: id.hex(20),
        block: 0,
        lap: 0,
        rotation: 0,
        game: 0,
        seats: seats.iter().map(|seat| seat.as_ref().map(|_| 0)).collect(),
        clocks: asking.clocks,
        budget,
        seed,
        round: None,
    };
    MatchSetup {
        job: Arc::new(job),
        game: Arc::clone(game),
        seats,
        rules: Arc::new(MatchRules { step_limit: 1, ..MatchRules::default() }),
        budget,
        concurrency: 1,
    }
}
