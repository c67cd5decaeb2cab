//! Games that have no value, found before all their states are reached.
//!
//! A state in which several roles choose may have no value, and then the game has none. The
//! solver reaches all states before it values the first. So a few matches are played at
//! random, and the states of each are valued by plain recursion from its end backwards, as
//! far as a fixed number of states goes.

use rustc_hash::FxHashMap;

use super::SolveError;
use super::choice::resolve;
use super::expand::worst;
use crate::split_mix::SplitMix;
use crate::state::{MoveId, State};
use crate::{ReasoningError, StateKey, StateMachine, n_joint_moves, push_joint_move};

/// Matches that are played at random.
const N_MATCHES: u64 = 6;
/// Steps of a match.
const MAX_STEPS: usize = 500;
/// States that are valued in a match.
const MAX_STATES: usize = 1500;
/// Steps that a recursion goes down.
const MAX_DEPTH: usize = 100;

/// Returns the error of a state that has no value, if one is found soon.
pub(super) fn check(machine: &mut dyn StateMachine) -> Result<(), SolveError> {
    let roles = machine.game().role_ids();
    let is_player = |&role: &_| Some(role) != machine.game().random();
    if roles.filter(is_player).count() < 2 {
        return Ok(());
    }
    for seed in 0..N_MATCHES {
        let mut search = Foresight::new(machine);
        let states = search.play(seed)?;
        // Most games have no such states at all.
        match search.met_joint_choice {
            true => {}
            false if seed == 0 => continue,
            false => break,
        }
        for (depth, state) in states.iter().enumerate().rev() {
            if search.value(state, depth, MAX_DEPTH)?.is_none() {
                break;
            }
        }
    }
    Ok(())
}

struct Foresight<'a> {
    machine: &'a mut dyn StateMachine,
    legal: Vec<Vec<MoveId>>,
    /// What states are worth to each role; `None` for those that are being valued.
    values: FxHashMap<StateKey, Option<Vec<f64>>>,
    met_joint_choice: bool,
}

impl<'a> Foresight<'a> {
    fn new(machine: &'a mut dyn StateMachine) -> Self {
        let legal = vec![Vec::new(); machine.game().roles().len()];
        Self { machine, legal, values: FxHashMap::default(), met_joint_choice: false }
    }

    /// The states of a random match.
    fn play(&mut self, seed: u64) -> Result<Vec<State>, ReasoningError> {
        let mut random = SplitMix::new(seed);
        let mut states = vec![self.machine.initial_state()?];
        while states.len() < MAX_STEPS {
            let state = &states[states.len() - 1];
            if self.machine.is_terminal(state)? || !self.list_moves(state)? {
                break;
            }
            let number = random.below(n_joint_moves(&self.legal)) as u64;
            let mut joint_move = Vec::new();
            push_joint_move(&self.legal, number, &mut joint_move);
            let mut next = State::default();
            self.machine.next_state(state, &joint_move, &mut next)?;
            states.push(next);
        }
        Ok(states)
    }

    /// Lists the legal moves of all roles; `false` if one has none.
    fn list_moves(&mut self, state: &State) -> Result<bool, ReasoningError> {
        let mut n_choosing = 0;
        for role in self.machine.game().role_ids() {
            let legal = &mut self.legal[usize::from(role.0)];
            self.machine.legal_moves(state, role, legal)?;
            if legal.is_empty() {
                return Ok(false);
            }
            let is_player = self.machine.game().random() != Some(role);
            n_choosing += usize::from(is_player && legal.len() > 1);
        }
        self.met_joint_choice |= n_choosing > 1;
        Ok(true)
    }

    /// What a state is worth to each role. `None` if that takes too long or the solver has
    /// to find what is wrong.
    fn value(
        &mut self,
        state: &State,
        depth: usize,
        n_left: usize,
    ) -> Result<Option<Vec<f64>>, SolveError> {
        let key = self.machine.key(state);
        if let Some(value) = self.values.get(&key) {
            // A state that leads to itself has none yet.
            return Ok(value.clone());
        }
        if n_left == 0 || self.values.len() >= MAX_STATES {
            return Ok(None);
        }
        self.values.insert(key, None);
        let chance = self.machine.game().random();
        if self.machine.is_terminal(state)? {
            let mut value = Vec::with_capacity(self.legal.len());
            for role in self.machine.game().role_ids() {
                let goal = worst(&self.machine.goal(state, role)?);
                value.push(if Some(role) == chance { 0.0 } else { f64::from(goal) });
            }
            self.values.insert(key, Some(value.clone()));
            return Ok(Some(value));
        }
        if !self.list_moves(state)? {
            return Ok(None);
        }
        let legal = self.legal.clone();
        let n_successors = n_joint_moves(&legal);
        if n_successors > MAX_STATES {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(n_successors);
        for number in 0..n_successors as u64 {
            let mut joint_move = Vec::with_capacity(legal.len());
            push_joint_move(&legal, number, &mut joint_move);
            let mut next = State::default();
            self.machine.next_state(state, &joint_move, &mut next)?;
            let Some(value) = self.value(&next, depth + 1, n_left - 1)? else { return Ok(None) };
            values.push(value);
        }
        let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
        let chance = chance.map(|role| usize::from(role.0));
        match resolve(&counts, chance, &mut |at| &values[at]) {
            Ok(best) => {
                self.values.insert(key, Some(best.value.clone()));
                Ok(Some(best.value))
            }
            Err(_) => {
                let state = self.machine.facts(state);
                Err(SolveError::NoValue { depth: depth as u32, state })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Case, Guards, Leniency, library, state_machine_for, validate};

    fn check_shipped(name: &str) -> Result<(), SolveError> {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        let mut machine = state_machine_for(Arc::new(game), Guards::default()).unwrap();
        check(&mut *machine)
    }

    #[test]
    fn games_without_a_value_are_found_and_no_others() {
        for name in ["fishery", "odd_one_out"] {
            let found = check_shipped(name);
            assert!(matches!(found, Err(SolveError::NoValue { .. })), "{name}: {found:?}");
        }
        let solvable = ["tic_tac_toe", "rock_paper_scissors", "goofspiel", "pig", "tron", "ludo"];
        for name in solvable {
            assert_eq!(check_shipped(name), Ok(()), "{name}");
        }
    }
}
