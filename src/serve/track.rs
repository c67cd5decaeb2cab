//! The state of a match of perfect information, by the joint moves received.

use std::collections::VecDeque;

use games::{MoveId, ReasoningError, State, StateMachine};
use players::Stop;

use super::joint_moves::JointMoves;

/// Maximum number of joint moves that are tried for one that was lost on the way.
const MAX_TRIES: u64 = 1000;

/// The state, and how far it is behind.
pub(super) struct Track {
    state: State,
    /// Joint moves received that there was no time to apply.
    pending: VecDeque<Vec<MoveId>>,
}

impl Track {
    /// At the beginning of a match.
    pub(super) fn new(initial: State) -> Self {
        Self { state: initial, pending: VecDeque::new() }
    }

    /// The state after all moves received, if there was time to compute it.
    pub(super) fn state(&self) -> Option<&State> {
        self.pending.is_empty().then_some(&self.state)
    }

    /// Takes in one joint move more.
    pub(super) fn add(&mut self, joint: Vec<MoveId>) {
        self.pending.push_back(joint);
    }

    /// Applies the moves received, unless the machine is cancelled.
    pub(super) fn catch_up(&mut self, machine: &mut dyn StateMachine) {
        let mut next = State::default();
        while let Some(joint) = self.pending.front() {
            if machine.next_state(&self.state, joint, &mut next).is_err() {
                return;
            }
            std::mem::swap(&mut self.state, &mut next);
            self.pending.pop_front();
        }
    }

    /// A joint move after which `joint` is legal, if it is not in the state at
    /// hand: one step may have been lost on the way.
    pub(super) fn missed(
        &self,
        machine: &mut dyn StateMachine,
        joint: &[MoveId],
        stop: &Stop,
    ) -> Option<Vec<MoveId>> {
        let state = self.state()?;
        // Without time to check, the move counts as legal.
        if is_legal(machine, state, joint).unwrap_or(true) {
            return None;
        }
        let mut tried = JointMoves::new(machine, state, |_, _| ()).ok()?;
        let mut next = State::default();
        for n_tries in 0..MAX_TRIES {
            let missed = tried.current().filter(|_| !stop.is_due(n_tries))?;
            machine.next_state(state, &missed, &mut next).ok()?;
            if is_legal(machine, &next, joint).ok()? {
                return Some(missed);
            }
            tried.advance();
        }
        None
    }
}

fn is_legal(
    machine: &mut dyn StateMachine,
    state: &State,
    joint: &[MoveId],
) -> Result<bool, ReasoningError> {
    let mut legal = Vec::new();
    for (role, chosen) in machine.game().role_ids().zip(joint) {
        machine.legal_moves(state, role, &mut legal)?;
        if !legal.contains(chosen) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use games::{Cancel, Case, Guards, Leniency, Prover, Rulesheet, validate};

    use super::*;

    const COUNTING: &str = "
        (role x) (init (step 0)) (after 0 1) (after 1 2) (after 2 3)
        (<= (legal x (go ?n)) (true (step ?n)))
        (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
        (<= terminal (true (step 3))) (goal x 100)";

    #[test]
    fn what_there_was_no_time_for_is_made_up_for() {
        let rulesheet = Rulesheet::parse("counting", COUNTING, Case::Folded).unwrap();
        let game = validate(&rulesheet, Leniency::Strict).game.unwrap();
        // A reasoner that heeds the flag for every state.
        let mut machine = Prover::new(Arc::new(game), Guards::default()).unwrap();
        let initial = machine.initial_state().unwrap();
        let go = |machine: &mut dyn StateMachine, n: u8| {
            vec![machine.find_move(&format!("(go {n})").parse().unwrap()).unwrap()]
        };
        let mut track = Track::new(initial);
        let cancel = Cancel::new();
        cancel.cancel();
        machine.set_cancel(cancel);
        for n in 0..2 {
            let joint = go(&mut machine, n);
            assert_eq!(track.missed(&mut machine, &joint, &Stop::never()), None);
            track.add(joint);
            track.catch_up(&mut machine);
            assert_eq!(track.state(), None, "the machine was cancelled");
        }
        machine.set_cancel(Cancel::new());
        track.catch_up(&mut machine);
        let facts = machine.facts(track.state().unwrap());
        assert_eq!(facts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["(step 2)"]);

        let mut track = Track::new(machine.initial_state().unwrap());
        let (lost, told) = (go(&mut machine, 0), go(&mut machine, 1));
        assert_eq!(track.missed(&mut machine, &told, &Stop::never()), Some(lost.clone()));
        assert_eq!(track.missed(&mut machine, &lost, &Stop::never()), None);
        let due = Stop::never().after_nodes(0);
        assert_eq!(track.missed(&mut machine, &told, &due), None, "there was no time");
        track.add(told);
    }
}
