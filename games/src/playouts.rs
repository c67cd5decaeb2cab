//! Random playouts, one from each of some states.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::batch::{Batch, Program, Width};
use crate::split_mix::SplitMix;
use crate::{GoalReading, MoveId, ReasoningError, RoleId, State, StateMachine};

/// Programs of networks with more gates are not translated: it would take a good
/// part of a short start clock.
const MAX_TRANSLATED: usize = 50_000;

/// How a playout ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnd {
    /// Steps from where it started.
    pub length: u32,
    /// By role, what the rules say of the goals in the terminal state. Empty if
    /// it did not come to one: it was given up at the greatest length, or some role
    /// had no legal move.
    pub goals: SmallVec<[GoalReading; 2]>,
}

/// What some playouts came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnds {
    /// By playout, in the order of their starts; `None` if it was abandoned.
    pub ends: Vec<Option<PlayoutEnd>>,
    /// States entered, where they started not counted.
    pub n_states: u64,
}

impl PlayoutEnds {
    /// Nothing came of so many yet.
    pub(crate) fn clear(&mut self, n: usize) {
        self.ends.clear();
        self.ends.resize(n, None);
        self.n_states = 0;
    }
}

/// What [`StateMachine::playouts`] does by default: one playout after the other.
pub(crate) fn one_by_one<M: StateMachine + ?Sized>(
    machine: &mut M,
    starts: &[State],
    max_length: u32,
    seed: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
    playouts: &mut PlayoutEnds,
) -> Result<(), ReasoningError> {
    playouts.clear(starts.len());
    let mut random = SplitMix::new(seed);
    let roles = (0..machine.game().roles().len()).map(|role| RoleId(role as u8));
    let (mut moves, mut joint_move): (Vec<MoveId>, Vec<MoveId>) = (Vec::new(), Vec::new());
    let (mut state, mut next) = (State::default(), State::default());
    for (start, end) in starts.iter().zip(&mut playouts.ends) {
        state.clone_from(start);
        let mut length = 0;
        let goals = 'played: loop {
            if !go_on(playouts.n_states) {
                return Ok(());
            }
            if machine.is_terminal(&state)? {
                let goals = roles.clone().map(|role| machine.goal(&state, role));
                break goals.collect::<Result<_, _>>()?;
            }
            if length == max_length {
                break SmallVec::new();
            }
            joint_move.clear();
            for role in roles.clone() {
                machine.legal_moves(&state, role, &mut moves)?;
                if moves.is_empty() {
                    break 'played SmallVec::new();
                }
                joint_move.push(moves[random.below(moves.len())]);
            }
            machine.next_state(&state, &joint_move, &mut next)?;
            std::mem::swap(&mut state, &mut next);
            length += 1;
            playouts.n_states += 1;
        };
        *end = Some(PlayoutEnd { length, goals });
    }
    Ok(())
}

/// Translates the program for batches of more than 64 lanes, if it was not done and
/// does not take long; what is not translated is interpreted.
pub(crate) fn prepare(program: &Program) {
    if program.size().n_ands <= MAX_TRANSLATED {
        // Not every CPU has machine code.
        let _ = program.translate(Width::Lanes256);
        let _ = program.translate(Width::Lanes512);
    }
}

/// The same in lock step, a batch after the other. Lanes that have ended wait for the
/// last one of their batch.
pub(crate) fn in_lock_step(
    program: &Arc<Program>,
    starts: &[State],
    max_length: u32,
    seed: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
    playouts: &mut PlayoutEnds,
) {
    playouts.clear(starts.len());
    if starts.is_empty() {
        return prepare(program);
    }
    let width = Width::ALL.into_iter().find(|width| width.n_lanes() >= starts.len());
    let width = width.unwrap_or(Width::Lanes512);
    prepare(program);
    let mut batch = Batch::new(program, width, seed);
    let PlayoutEnds { ends, n_states } = playouts;
    for (starts, ends) in starts.chunks(width.n_lanes()).zip(ends.chunks_mut(width.n_lanes())) {
        batch.load(0, starts);
        let mut running: Vec<u64> = vec![0; width.n_lanes() / 64];
        (0..starts.len()).for_each(|lane| running[lane / 64] |= 1 << (lane % 64));
        let mut scored: Vec<(usize, u32)> = Vec::new();
        let mut length = 0;
        while running.iter().any(|&lanes| lanes != 0) && go_on(*n_states) {
            batch.evaluate();
            let terminal = batch.terminal().to_vec();
            let moving = batch.choose_at_random();
            for (word, lanes) in running.iter_mut().enumerate() {
                let stays = if length == max_length { 0 } else { moving[word] };
                let mut ended = *lanes & (terminal[word] | !stays);
                *lanes &= !ended;
                *n_states += u64::from(lanes.count_ones());
                while ended != 0 {
                    let lane = word * 64 + ended.trailing_zeros() as usize;
                    if terminal[word] & ended & ended.wrapping_neg() != 0 {
                        scored.push((lane, length));
                    } else {
                        ends[lane] = Some(PlayoutEnd { length, goals: SmallVec::new() });
                    }
                    ended &= ended - 1;
                }
            }
            batch.advance();
            length += 1;
        }
        // Terminal lanes are as they were when they ended.
        if !scored.is_empty() {
            let lanes: Vec<usize> = scored.iter().map(|&(lane, _)| lane).collect();
            for ((lane, length), goals) in scored.into_iter().zip(batch.goals(&lanes)) {
                ends[lane] = Some(PlayoutEnd { length, goals: goals.into() });
            }
        }
        if running.iter().any(|&lanes| lanes != 0) {
            return;
        }
    }
}
