//! Whether a game's tree is too large, found without building it.
//!
//! Two histories belong to different nodes if some role other than chance moved
//! differently, since each role knows its own moves. So with the moves of chance fixed, in
//! any way, the tree has at least as many nodes as there are histories.

use std::collections::VecDeque;

use games::{MoveId, ReasoningError, State, StateMachine, n_joint_moves, push_joint_move};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::{Stop, seed};

/// Random descents of an estimate.
const DESCENTS: u32 = 32;
/// Steps of a descent.
const DESCENT_STEPS: u32 = 200;
/// How far the estimate must exceed the limit. Its mean is at most the number of nodes, so by
/// Markov's inequality it exceeds that number `CERTAINTY` times with a probability of at most
/// 1 / `CERTAINTY`.
const CERTAINTY: f64 = 1e6;

/// Maximum number of states that one check before a match enters: the count, or the trial build.
/// A larger tree is left to the match and its clocks.
pub(super) const MOST_CHECKED: u64 = 2_000_000;

/// Whether the tree has more than `most_nodes` nodes, if that is soon found. `false` means
/// that it may be either. `n_entered` counts the states entered.
pub(super) fn is_too_large(
    machine: &mut dyn StateMachine,
    most_nodes: usize,
    stop: &Stop,
    n_entered: &mut u64,
) -> Result<bool, ReasoningError> {
    let mut walk = Walk {
        rng: seed::generator(0, None),
        legal: vec![Vec::new(); machine.game().roles().len()],
        machine,
        stop,
        n_entered,
    };
    Ok(walk.is_estimated_above(CERTAINTY * most_nodes as f64)?
        || walk.is_counted_above(most_nodes)?)
}

struct Walk<'a> {
    machine: &'a mut dyn StateMachine,
    rng: Pcg64,
    legal: Vec<Vec<MoveId>>,
    stop: &'a Stop,
    n_entered: &'a mut u64,
}

impl Walk<'_> {
    /// Estimates the number of histories with the moves of chance fixed (Knuth, "Estimating
    /// the efficiency of backtrack programs", 1975): the mean over random descents of the
    /// product of the numbers of joint moves.
    fn is_estimated_above(&mut self, limit: f64) -> Result<bool, ReasoningError> {
        let limit = limit * f64::from(DESCENTS);
        let mut sum = 0.0;
        for _ in 0..DESCENTS {
            let mut state = self.machine.initial_state()?;
            let mut product = 1.0;
            for _ in 0..DESCENT_STEPS {
                if !self.enter(&state)? {
                    break;
                }
                let n = n_joint_moves(&self.legal);
                product *= n as f64;
                if sum + product > limit {
                    return Ok(true);
                }
                let number = self.rng.random_range(0..n as u64);
                let legal = std::mem::take(&mut self.legal);
                state = self.child(&state, &legal, number)?;
                self.legal = legal;
                if self.stop.is_due(*self.n_entered) {
                    return Ok(false);
                }
            }
            sum += product;
        }
        Ok(false)
    }

    /// Counts the histories with the moves of chance fixed, the shortest first. The children
    /// of a state count when it is entered, so that those of the last states need not be
    /// computed.
    fn is_counted_above(&mut self, most_nodes: usize) -> Result<bool, ReasoningError> {
        let mut parents: VecDeque<State> = VecDeque::new();
        let mut n_nodes = 1_usize;
        let initial = self.machine.initial_state()?;
        if self.enter(&initial)? {
            n_nodes = n_nodes.saturating_add(n_joint_moves(&self.legal));
            parents.push_back(initial);
        }
        while let Some(parent) = parents.pop_front() {
            self.enter(&parent)?;
            let legal = self.legal.clone();
            for number in 0..n_joint_moves(&legal) as u64 {
                if n_nodes > most_nodes || self.stop.is_due(*self.n_entered) {
                    return Ok(n_nodes > most_nodes);
                }
                let child = self.child(&parent, &legal, number)?;
                if self.enter(&child)? {
                    n_nodes = n_nodes.saturating_add(n_joint_moves(&self.legal));
                    parents.push_back(child);
                }
            }
        }
        Ok(n_nodes > most_nodes)
    }

    /// Lists the legal moves of a state, for chance only one of them. `false` if it has no
    /// children.
    fn enter(&mut self, state: &State) -> Result<bool, ReasoningError> {
        *self.n_entered += 1;
        if self.machine.is_terminal(state)? {
            return Ok(false);
        }
        let random = self.machine.game().random();
        for role in self.machine.game().role_ids() {
            let moves = &mut self.legal[usize::from(role.0)];
            self.machine.legal_moves(state, role, moves)?;
            if moves.is_empty() {
                return Ok(false);
            }
            if random == Some(role) {
                let chosen = moves[self.rng.random_range(0..moves.len())];
                moves.clear();
                moves.push(chosen);
            }
        }
        Ok(true)
    }

    fn child(
        &mut self,
        state: &State,
        legal: &[Vec<MoveId>],
        number: u64,
    ) -> Result<State, ReasoningError> {
        let mut joint_move = Vec::with_capacity(legal.len());
        push_joint_move(legal, number, &mut joint_move);
        let mut child = State::default();
        self.machine.next_state(state, &joint_move, &mut child)?;
        Ok(child)
    }
}

#[cfg(test)]
mod tests {
    use games::library;

    use super::*;
    use crate::cfr::tree::{Builder, Growth};
    use crate::testing::machine;

    /// The number of nodes that the whole tree has, and whether it is found to have more than
    /// `most`.
    fn check(game: &str, most: usize) -> (usize, bool) {
        let mut machine = machine(library::find(game).unwrap().text);
        let mut builder = Builder::new(machine.as_mut(), 1_000_000).unwrap();
        let growth = builder.grow(machine.as_mut(), &Stop::never(), &mut 0).unwrap();
        assert_eq!(growth, Growth::Whole, "{game}");
        let found = is_too_large(machine.as_mut(), most, &Stop::never(), &mut 0).unwrap();
        (builder.n_nodes(), found)
    }

    #[test]
    fn a_tree_that_is_small_enough_is_never_too_large() {
        for game in ["kuhn_poker", "leduc_poker", "two_roads", "hidden_hands", "matching_pennies"] {
            let (n_nodes, _) = check(game, 1);
            assert_eq!(check(game, n_nodes), (n_nodes, false), "{game}");
        }
    }

    #[test]
    fn a_large_tree_is_found_from_few_states() {
        for game in ["go_5x5", "battleships", "connect_four_4x4", "phantom_connect_four", "tron"] {
            let mut machine = machine(library::find(game).unwrap().text);
            let mut n_entered = 0;
            let found = is_too_large(machine.as_mut(), 1_000_000, &Stop::never(), &mut n_entered);
            assert_eq!(found, Ok(true), "{game}");
            assert!(n_entered < 600_000, "{game}: {n_entered}");
        }
    }

    #[test]
    fn the_count_is_exact_without_chance() {
        // Tic-tac-toe has 549946 histories, and each is a node.
        let mut machine = machine(library::find("tic_tac_toe").unwrap().text);
        for (most, expected) in [(549_945, true), (549_946, false)] {
            let found = is_too_large(machine.as_mut(), most, &Stop::never(), &mut 0);
            assert_eq!(found, Ok(expected), "{most}");
        }
    }
}
