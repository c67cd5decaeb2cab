//! Asks a built-in player for one decision.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use games::{Cancel, Game, MoveId, ReasoningError, RoleId, State, StateMachine};
use players::{Belief, Deliberation, Observation, Player, Seat, Stop, Turn};

use crate::failure::Failure;
use crate::typed_moves::Line;
use crate::yardstick::thread_cpu;

/// What is asked of a player.
pub(super) struct Question<'a> {
    /// For which role it thinks.
    pub(super) role: RoleId,
    /// The match so far; it thinks at the end.
    pub(super) line: &'a Line,
    /// How long it thinks.
    pub(super) limits: Limits,
    /// Its random seed.
    pub(super) seed: u64,
    /// Its name in messages.
    pub(super) player: &'a str,
}

/// How long a player thinks.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// How long it prepares before the first step, if at all.
    pub(super) start: Option<Duration>,
    /// How long it thinks about its move.
    pub(super) time: Duration,
    /// How many states it may enter instead.
    pub(super) nodes: Option<u64>,
}

/// What a player answers.
pub(super) struct Decision {
    /// Its move.
    pub(super) chosen: MoveId,
    /// Its report.
    pub(super) said: Deliberation,
    /// Seconds of CPU time that this thread took for it.
    pub(super) cpu_seconds: f64,
    /// The states in which it thinks the match may be, if it keeps account of them.
    pub(super) belief: Option<Belief>,
}

/// Lets the player prepare, plays the line without thinking, and thinks at its end.
pub(super) fn decide(
    mut player: Box<dyn Player>,
    machine: &dyn StateMachine,
    question: &Question<'_>,
) -> Result<Decision, Failure> {
    let &Question { role, line, limits: Limits { start, time, nodes }, seed, .. } = question;
    let no_time = || {
        let cancel = Cancel::new();
        cancel.cancel();
        Stop::never().on(cancel)
    };
    let broken = |error: players::Failure| match error {
        players::Failure::Unsuitable(reason) => {
            Failure::usage(anyhow!("{} cannot play this game: {reason}", question.player))
        }
        players::Failure::Reasoning(error) => Failure::preflight(error),
    };
    let clock = Some(time).filter(|_| nodes.is_none());
    let mut referee = machine.fork();
    machine.prepare();
    let machine = machine.fork().into();
    let seat = Seat { machine, role, start_clock: start.or(clock), play_clock: clock, seed };
    let preparing = start.map_or_else(no_time, |time| Stop::never().at(Instant::now() + time));
    player.start(seat, &preparing).map_err(broken)?;
    let prepared = player.deliberation().unwrap_or_default();
    let mut observation = None;
    for (step, state) in (0..).zip(&line.states) {
        let legal = &legal(&mut *referee, state, role)?;
        let turn = Turn { step, observation: observation.as_ref(), legal };
        if step as usize == line.joint_moves.len() {
            let stop = match nodes {
                Some(nodes) => Stop::never().after_nodes(nodes),
                None => Stop::never().at(Instant::now() + time),
            };
            let begun = thread_cpu();
            let chosen = player.play(&turn, &stop).map_err(broken)?;
            let cpu_seconds = thread_cpu() - begun;
            let mut said = player.deliberation().unwrap_or_default();
            if start.is_some() {
                let prepared = prepared.notes.into_iter();
                said.notes
                    .splice(0..0, prepared.map(|note| format!("during the start clock: {note}")));
            }
            return Ok(Decision { chosen, said, cpu_seconds, belief: player.belief() });
        }
        player.play(&turn, &no_time()).map_err(broken)?;
        let observed = self::observation(&mut *referee, line, role, step as usize);
        observation = Some(observed.map_err(Failure::preflight)?);
    }
    unreachable!("the last state of a line has no joint move")
}

/// What `role` observes of the step of this number.
fn observation(
    machine: &mut dyn StateMachine,
    line: &Line,
    role: RoleId,
    step: usize,
) -> Result<Observation, ReasoningError> {
    let joint_move = &line.joint_moves[step];
    if !machine.game().kind().hidden_information {
        return Ok(Observation::JointMove(joint_move.clone()));
    }
    let percepts = machine.percepts(&line.states[step], joint_move, role)?;
    Ok(Observation::Percepts { own_move: joint_move[usize::from(role.0)], percepts })
}

/// The legal moves of a role.
pub(super) fn legal(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
) -> Result<Vec<MoveId>, Failure> {
    let mut moves = Vec::new();
    machine.legal_moves(state, role, &mut moves).map_err(Failure::preflight)?;
    Ok(moves)
}

/// The first player's role that has a choice; the first player's if none has one.
pub(super) fn first_chooser(
    machine: &mut dyn StateMachine,
    state: &State,
) -> Result<RoleId, Failure> {
    if let Some(role) = chooser(machine, state)? {
        return Ok(role);
    }
    let first = player_roles(machine.game()).next();
    first.ok_or_else(|| Failure::usage(anyhow!("the game has no role for a player")))
}

/// The first player's role that has a choice, if there is one.
pub(super) fn chooser(
    machine: &mut dyn StateMachine,
    state: &State,
) -> Result<Option<RoleId>, Failure> {
    let game = Arc::clone(machine.game());
    for role in player_roles(&game) {
        if legal(machine, state, role)?.len() > 1 {
            return Ok(Some(role));
        }
    }
    Ok(None)
}

fn player_roles(game: &Game) -> impl Iterator<Item = RoleId> {
    game.role_ids().filter(|&role| Some(role) != game.random())
}
