//! Follows a match of perfect information: the state, from the joint moves observed.

use std::collections::VecDeque;

use games::{MoveId, RoleId, State, StateMachine};

use crate::{Failure, Observation, Seat, Stop, Turn};

/// A seat and the state of its match.
pub(crate) struct Track {
    /// The reasoner.
    pub(crate) machine: Box<dyn StateMachine>,
    /// The role played.
    pub(crate) role: RoleId,
    /// The state after all steps but those in `pending`.
    state: Option<State>,
    /// Joint moves observed that there was no time to apply.
    pending: VecDeque<Vec<MoveId>>,
    /// Number of joint moves observed.
    n_observed: u32,
    /// An observation was missed or does not fit.
    lost: bool,
}

impl Track {
    /// Takes the seat, for a player that needs to see all moves.
    pub(crate) fn new(seat: Seat, kind: &str) -> Result<Self, Failure> {
        let machine = seat.machine.take();
        if machine.game().kind().hidden_information {
            let reason = format!("it has hidden information, and `{kind}` needs to know the state");
            return Err(Failure::Unsuitable(reason));
        }
        Ok(Self {
            machine,
            role: seat.role,
            state: None,
            pending: VecDeque::new(),
            n_observed: 0,
            lost: false,
        })
    }

    /// The initial state, if `stop` leaves time to compute it.
    pub(crate) fn begin(&mut self, stop: &Stop) -> Result<Option<State>, Failure> {
        self.machine.set_cancel(stop.cancel().clone());
        self.catch_up()
    }

    /// The state of `turn`; `None` if it is not known, because time is up or the
    /// observations do not lead to the turn's legal moves. The player then knows only
    /// these moves.
    pub(crate) fn follow(
        &mut self,
        turn: &Turn<'_>,
        stop: &Stop,
    ) -> Result<Option<State>, Failure> {
        self.machine.set_cancel(stop.cancel().clone());
        match turn.observation {
            Some(Observation::JointMove(moves))
                if moves.len() == self.machine.game().roles().len() =>
            {
                self.pending.push_back(moves.clone());
                self.n_observed += 1;
            }
            Some(_) => self.lost = true,
            None => {}
        }
        self.lost |= self.n_observed != turn.step;
        if self.lost {
            return Ok(None);
        }
        let Some(state) = self.catch_up()? else { return Ok(None) };
        let mut moves = Vec::new();
        match self.machine.legal_moves(&state, self.role, &mut moves) {
            Ok(()) => {}
            Err(error) => return unless_cancelled(error),
        }
        moves.sort_unstable();
        let mut legal = turn.legal.to_vec();
        legal.sort_unstable();
        self.lost = moves != legal;
        Ok((!self.lost).then_some(state))
    }

    fn catch_up(&mut self) -> Result<Option<State>, Failure> {
        let mut state = match self.state.take() {
            Some(state) => state,
            None => match self.machine.initial_state() {
                Ok(state) => state,
                Err(error) => return unless_cancelled(error),
            },
        };
        let mut next = State::default();
        let mut result = Ok(());
        while let Some(joint_move) = self.pending.front() {
            result = self.machine.next_state(&state, joint_move, &mut next);
            if result.is_err() {
                break;
            }
            self.pending.pop_front();
            std::mem::swap(&mut state, &mut next);
        }
        self.state = Some(state.clone());
        match result {
            Ok(()) => Ok(Some(state)),
            Err(error) => unless_cancelled(error),
        }
    }
}

fn unless_cancelled<T>(error: games::ReasoningError) -> Result<Option<T>, Failure> {
    match error {
        games::ReasoningError::Cancelled => Ok(None),
        other => Err(other.into()),
    }
}
