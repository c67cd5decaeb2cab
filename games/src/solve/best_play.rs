//! Best play in any state of a solved game, by looking its successors up.

use std::sync::Arc;

use super::Solver;
use super::choice::{Resolved, resolve};
use super::table::{GameHash, ValueTable};
use crate::state::{MoveId, State};
use crate::{ReasoningError, StateMachine, n_joint_moves, push_joint_move};

/// Maximum number of joint moves of a state that are looked up.
const MAX_JOINT_MOVES: usize = 1 << 20;

/// The moves of a state with their values.
#[derive(Clone, Debug, PartialEq)]
pub struct BestPlay {
    /// By role: its legal moves in canonical order.
    pub legal: Vec<Vec<MoveId>>,
    /// By joint move, the last role's move changing first: the expected reward of each
    /// role after it, 0 for `random`.
    pub values: Vec<Vec<f64>>,
    /// By joint move, in the same order: whether the match ends with it.
    pub ends: Vec<bool>,
    /// The value of the state, and the probability of each move.
    pub best: Resolved,
}

/// Why a state could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookUpError {
    /// The table belongs to other rules.
    #[error(
        "the table is of another game, whose rules have the hash {table}; those of `{name}` \
         have {game}; make one with `gamemaster solve {name} --out FILE`"
    )]
    OtherGame {
        /// The name of the game asked about.
        name: String,
        /// Its hash.
        game: GameHash,
        /// The hash in the table.
        table: GameHash,
    },
    /// The value of a successor is not known.
    #[error("the table does not have all successors of the state")]
    Unreached,
    /// Best play of roles that choose at the same time could not be computed.
    #[error("the values of the state's joint moves have no value of the state")]
    NoValue,
    /// There are too many joint moves.
    #[error("the state has more than {MAX_JOINT_MOVES} joint moves")]
    TooManyMoves,
    /// The reasoner failed.
    #[error(transparent)]
    Reasoning(#[from] ReasoningError),
}

/// Whether a table is of a machine's game.
///
/// # Errors
/// If it is not.
pub fn check_game(machine: &dyn StateMachine, table: &ValueTable) -> Result<(), LookUpError> {
    let game = GameHash::of(machine.game());
    if game == table.game() {
        return Ok(());
    }
    let name = machine.game().name().to_owned();
    Err(LookUpError::OtherGame { name, game, table: table.game() })
}

/// Where values are looked up.
pub trait Values {
    /// The expected reward of each role in a state of the machine that is not terminal, 0
    /// for `random`; `None` if it is not known.
    fn value(&self, machine: &mut dyn StateMachine, state: &State) -> Option<Vec<f64>>;
}

impl Values for ValueTable {
    fn value(&self, machine: &mut dyn StateMachine, state: &State) -> Option<Vec<f64>> {
        let key = machine.key(state);
        self.value(key).map(<[f64]>::to_vec)
    }
}

/// The first that is found.
impl Values for &[Arc<ValueTable>] {
    fn value(&self, machine: &mut dyn StateMachine, state: &State) -> Option<Vec<f64>> {
        let key = machine.key(state);
        self.iter().find_map(|table| table.value(key)).map(<[f64]>::to_vec)
    }
}

/// Those of [`Solver::value_of`].
impl Values for Solver {
    fn value(&self, _: &mut dyn StateMachine, state: &State) -> Option<Vec<f64>> {
        self.value_of(state)
    }
}

/// The rewards of all roles in a terminal state.
fn rewards(machine: &mut dyn StateMachine, state: &State) -> Result<Vec<f64>, ReasoningError> {
    let game = Arc::clone(machine.game());
    let mut rewards = Vec::with_capacity(game.roles().len());
    for role in game.role_ids() {
        let worst = machine.goal(state, role)?.values.iter().min().map_or(0, |goal| goal.value());
        rewards.push(if Some(role) == game.random() { 0.0 } else { f64::from(worst) });
    }
    Ok(rewards)
}

impl BestPlay {
    /// Best play in a state that is not terminal.
    ///
    /// # Errors
    /// If the value of a successor is not known, the values of the successors have none for the
    /// state, there are too many joint moves, or the reasoner fails.
    pub fn of(
        machine: &mut dyn StateMachine,
        known: &dyn Values,
        state: &State,
    ) -> Result<Self, LookUpError> {
        let game = Arc::clone(machine.game());
        let mut legal = Vec::new();
        for role in game.role_ids() {
            let mut moves = Vec::new();
            machine.legal_moves(state, role, &mut moves)?;
            legal.push(moves);
        }
        let n_joint_moves = n_joint_moves(&legal);
        if n_joint_moves > MAX_JOINT_MOVES {
            return Err(LookUpError::TooManyMoves);
        }
        let mut values = Vec::with_capacity(n_joint_moves);
        let mut ends = Vec::with_capacity(n_joint_moves);
        let mut next = State::default();
        let mut joint_move = Vec::with_capacity(legal.len());
        for number in 0..n_joint_moves {
            joint_move.clear();
            push_joint_move(&legal, number as u64, &mut joint_move);
            machine.next_state(state, &joint_move, &mut next)?;
            let is_end = machine.is_terminal(&next)?;
            ends.push(is_end);
            values.push(match is_end {
                true => rewards(machine, &next)?,
                false => known.value(machine, &next).ok_or(LookUpError::Unreached)?,
            });
        }
        let counts: Vec<usize> = legal.iter().map(Vec::len).collect();
        let chance = game.random().map(|role| usize::from(role.0));
        let best = resolve(&counts, chance, &mut |at| &values[at]);
        let best = best.map_err(|_| LookUpError::NoValue)?;
        Ok(Self { legal, values, ends, best })
    }

    /// By move of a role: its expected reward if it makes the move and all others play
    /// their best. For a role that chooses alone, that is the value after the move.
    #[must_use]
    pub fn move_values(&self, role: usize) -> Vec<f64> {
        let mut expected = vec![0.0; self.legal[role].len()];
        self.each_joint_move(|at, places| {
            let others = places.iter().enumerate().filter(|&(other, _)| other != role);
            let share: f64 = others
                .map(|(other, &at): (usize, &usize)| self.best.strategies[other][at])
                .product();
            expected[places[role]] += share * self.values[at][role];
        });
        expected
    }

    /// By move of a role: whether the match ends with it, whatever the others do.
    #[must_use]
    pub fn ends_with(&self, role: usize) -> Vec<bool> {
        let mut ends = vec![true; self.legal[role].len()];
        self.each_joint_move(|at, places| ends[places[role]] &= self.ends[at]);
        ends
    }

    /// Calls `visit` with each joint move's place among all, and the place of each role's
    /// move among its legal ones.
    fn each_joint_move(&self, mut visit: impl FnMut(usize, &[usize])) {
        let mut places = vec![0; self.legal.len()];
        for at in 0..self.values.len() {
            visit(at, &places);
            for (place, legal) in places.iter_mut().zip(&self.legal).rev() {
                *place += 1;
                if *place < legal.len() {
                    break;
                }
                *place = 0;
            }
        }
    }
}
