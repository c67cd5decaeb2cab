//! Random playouts, one from each of some states.

use smallvec::SmallVec;

use crate::split_mix::SplitMix;
use crate::{GoalReading, MoveId, ReasoningError, RoleId, State, StateMachine};

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
