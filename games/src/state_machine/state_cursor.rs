//! A cursor over any machine: it asks about one state after the other.

use super::{Cancel, ReasoningError, StateMachine};
use crate::cursor::{Cursor, LegalMoves, play_chosen};
use crate::key::StateKey;
use crate::state::{GoalReading, MoveId, RoleId, State};

/// A cursor that asks a machine about states.
pub(crate) struct StateCursor {
    machine: Box<dyn StateMachine>,
    /// The state entered and those that followed. Those above the position are only room.
    states: Vec<State>,
    /// The position.
    level: usize,
    moves: Vec<MoveId>,
}

impl StateCursor {
    pub(crate) fn new(machine: Box<dyn StateMachine>, state: &State) -> Self {
        Self { machine, states: vec![state.clone()], level: 0, moves: Vec::new() }
    }

    /// Whether nothing can be taken back.
    pub(crate) fn is_at_start(&self) -> bool {
        self.level == 0
    }
}

impl Cursor for StateCursor {
    fn set_cancel(&mut self, cancel: Cancel) {
        self.machine.set_cancel(cancel);
    }

    fn enter(&mut self, state: &State) {
        self.level = 0;
        self.states[0].clone_from(state);
    }

    fn is_terminal(&mut self) -> Result<bool, ReasoningError> {
        self.machine.is_terminal(&self.states[self.level])
    }

    fn legal_moves(&mut self, role: RoleId) -> Result<LegalMoves<'_>, ReasoningError> {
        self.machine.legal_moves(&self.states[self.level], role, &mut self.moves)?;
        Ok(LegalMoves::listed(&self.moves))
    }

    fn play(&mut self, joint_move: &[MoveId]) -> Result<(), ReasoningError> {
        if self.states.len() == self.level + 1 {
            self.states.push(State::default());
        }
        let (before, after) = self.states.split_at_mut(self.level + 1);
        self.machine.next_state(&before[self.level], joint_move, &mut after[0])?;
        self.level += 1;
        Ok(())
    }

    fn play_chosen(
        &mut self,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Result<bool, ReasoningError> {
        let n_roles = self.machine.game().role_ids().len();
        play_chosen(self, n_roles, choose)
    }

    fn take_back(&mut self) -> bool {
        let was_played = self.level > 0;
        self.level -= usize::from(was_played);
        was_played
    }

    fn forget_way(&mut self) {
        self.states.swap(0, self.level);
        self.states.truncate(2);
        self.level = 0;
    }

    fn goal(&mut self, role: RoleId) -> Result<GoalReading, ReasoningError> {
        self.machine.goal(&self.states[self.level], role)
    }

    fn key(&mut self) -> StateKey {
        self.machine.key(&self.states[self.level])
    }

    fn copy_state(&self, state: &mut State) {
        state.clone_from(&self.states[self.level]);
    }
}
