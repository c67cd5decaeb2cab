//! The best complete line of play that was seen in a game of a single role. What it
//! brought once it brings again, so it is played if nothing better turns up (Schadd,
//! Winands, van den Herik, Chaslot and Uiterwijk, "Single-player Monte-Carlo tree search",
//! Computers and Games 2008).

use games::{MoveId, PlayoutPlan, PlayoutSums, ReasoningError, RoleId, State, StateMachine};

use super::roles::Roles;
use crate::search::worst;

/// The best line from the state that was asked about last.
#[derive(Clone, Debug)]
pub(super) struct BestLine {
    /// The game has one role and no chance.
    is_kept: bool,
    /// The root.
    state: State,
    /// The moves and what they bring; `None` if no end was seen.
    line: Option<(Vec<MoveId>, u8)>,
}

impl BestLine {
    pub(super) fn new(roles: &Roles) -> Self {
        let is_kept = roles.strategic.len() == 1 && roles.chance.is_none();
        Self { is_kept, state: State::default(), line: None }
    }

    /// Whether lines are kept in this game.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether nothing can be better.
    pub(super) fn is_perfect(&self) -> bool {
        matches!(self.line, Some((_, 100)))
    }

    /// The line and what it brings.
    pub(super) fn get(&self) -> Option<(&[MoveId], u8)> {
        self.line.as_ref().map(|(moves, reward)| (moves.as_slice(), *reward))
    }

    /// A new question: the line goes on if the state is the next one of the line.
    pub(super) fn begin(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
    ) -> Result<(), ReasoningError> {
        if !self.is_kept || *state == self.state {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.state, state.clone());
        let Some((mut moves, reward)) = self.line.take() else { return Ok(()) };
        let Some(&made) = moves.first() else { return Ok(()) };
        let mut next = State::default();
        machine.next_state(&before, &[made], &mut next)?;
        if next == *state {
            moves.remove(0);
            self.line = Some((moves, reward));
        }
        Ok(())
    }

    /// A descent ended where the reward is proven.
    pub(super) fn offer_descent(
        &mut self,
        rewards: &[f32],
        machine: &mut dyn StateMachine,
        moves: &[MoveId],
    ) -> Result<(), ReasoningError> {
        if !self.is_kept || f64::from(rewards[0]) * 100.0 <= self.reward() {
            return Ok(());
        }
        self.offer(machine, moves.to_vec())
    }

    /// Playouts have ended; `path` are the moves to one of their starts.
    pub(super) fn offer_playouts(
        &mut self,
        machine: &mut dyn StateMachine,
        starts: &[State],
        plan: &PlayoutPlan<'_>,
        sums: &PlayoutSums,
        path: impl Fn(usize) -> Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        if !self.is_kept {
            return Ok(());
        }
        let Some((reward, playout)) = sums.best(RoleId(0)) else { return Ok(()) };
        if f64::from(reward) <= self.reward() {
            return Ok(());
        }
        let mut moves = path(playout / plan.per_start);
        moves.extend(machine.playout_line(starts, plan, playout)?);
        self.offer(machine, moves)
    }

    /// What the line brings; less than anything if there is none.
    fn reward(&self) -> f64 {
        self.line.as_ref().map_or(-1.0, |(_, reward)| f64::from(*reward))
    }

    /// Takes a line that is complete and better. It is played once more to be sure of it.
    fn offer(
        &mut self,
        machine: &mut dyn StateMachine,
        moves: Vec<MoveId>,
    ) -> Result<(), ReasoningError> {
        let (mut state, mut next) = (self.state.clone(), State::default());
        let mut legal = Vec::new();
        for &made in &moves {
            machine.legal_moves(&state, RoleId(0), &mut legal)?;
            if !legal.contains(&made) || machine.is_terminal(&state)? {
                return Ok(());
            }
            machine.next_state(&state, &[made], &mut next)?;
            std::mem::swap(&mut state, &mut next);
        }
        if machine.is_terminal(&state)? {
            let reward = worst(&machine.goal(&state, RoleId(0))?);
            if f64::from(reward) > self.reward() {
                self.line = Some((moves, reward));
            }
        }
        Ok(())
    }
}
