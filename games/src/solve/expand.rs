//! All successors of many states: the interface of what computes them, and the one that
//! asks a state machine state by state.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::state_numbers::StateNumbers;
use crate::state::{MoveId, RoleId, State};
use crate::{
    Expression, GoalReading, ReasoningError, StateKey, StateMachine, n_joint_moves, push_joint_move,
};

/// Maximum number of states of a group.
pub(super) const GROUP: usize = 512;

/// States of a group, a bit each.
pub(super) type Mask = [u64; GROUP / 64];

/// The rewards of all roles in a terminal state.
pub(super) type Outcome = SmallVec<[u8; 4]>;

/// Maximum number of bytes of the successors of a group.
pub(super) const MAX_GROUP_BYTES: usize = 256 << 20;

/// The mover of a state in which several roles choose at the same time.
pub(super) const JOINT: u8 = 254;

/// The mover of a terminal state.
pub(super) const TERMINAL: u8 = 255;

/// The movers and outcomes of one group of states, and the successors of all groups since
/// [`clear`](Self::clear). Successors come pass by pass: a pass makes one joint move in each state
/// that has one left. The joint moves of a state come in the order of its passes: the last role's
/// move changes first.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// By state: the index of the role that chooses, the first role where nobody has a
    /// choice, [`JOINT`] or [`TERMINAL`].
    pub(super) movers: Vec<u8>,
    /// By state with several movers: the number of moves of each role.
    pub(super) counts: Vec<u32>,
    /// The terminal states by their outcome.
    pub(super) outcomes: Vec<(Mask, Outcome)>,
    /// By pass: the states that have a successor in it. Later groups follow.
    pub(super) passes: Vec<Mask>,
    /// By pass, then by state: the words of the successor. Later groups follow.
    pub(super) successors: Vec<u64>,
}

impl Group {
    /// Forgets all groups.
    pub(super) fn clear(&mut self) {
        self.begin();
        self.passes.clear();
        self.successors.clear();
    }

    /// Begins the next group.
    pub(super) fn begin(&mut self) {
        self.movers.clear();
        self.counts.clear();
        self.outcomes.clear();
    }

    /// Bytes of the successors.
    pub(super) fn n_bytes(&self) -> usize {
        size_of_val(self.successors.as_slice()) + size_of_val(self.passes.as_slice())
    }
}

/// Why successors could not be computed.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// These facts do not follow from others as assumed; they must be kept.
    Encoding(Vec<u32>),
    /// The depth of a state does not follow from its facts as assumed.
    Grading,
    /// A role has no legal move in a state that is not terminal.
    Stuck(RoleId),
    /// The successors of a group do not fit the memory: some state has very many joint
    /// moves.
    Memory,
    /// The reasoner failed.
    Reasoning(ReasoningError),
}

impl From<ReasoningError> for Fault {
    fn from(error: ReasoningError) -> Self {
        Self::Reasoning(error)
    }
}

/// Computes successors of at most [`GROUP`] states at a time.
pub(super) trait Expander: Send {
    /// Adds a group to `group`: at most [`GROUP`] states, of `n_words` words each, with all their
    /// successors.
    fn expand(&mut self, states: &[u64], n_words: usize, group: &mut Group) -> Result<(), Fault>;
}

/// The worst of the goals that the rules give; 0 if they give none.
pub(super) fn worst(reading: &GoalReading) -> u8 {
    reading.values.iter().min().map_or(0, |goal| goal.value())
}

/// Bytes of a pass with few states.
const PASS_BYTES: usize = 2 * size_of::<(Mask, Vec<u64>)>();

/// Successors one by one from a state machine: for games that cannot be grounded, and
/// for those whose states are longer than any compact word. A word is the number of the
/// state.
pub(super) struct OneByOne {
    machine: Box<dyn StateMachine>,
    numbers: Arc<Mutex<StateNumbers>>,
    legal: Vec<Vec<MoveId>>,
    joint_moves: Vec<MoveId>,
    memory_bytes: u64,
}

impl OneByOne {
    /// States are expanded by `machine`, and numbered as long as they take no more memory
    /// than this.
    pub(super) fn new(
        machine: Box<dyn StateMachine>,
        numbers: &Arc<Mutex<StateNumbers>>,
        memory_bytes: u64,
    ) -> Self {
        let legal = vec![Vec::new(); machine.game().roles().len()];
        Self { machine, numbers: Arc::clone(numbers), legal, joint_moves: Vec::new(), memory_bytes }
    }

    fn numbers(&self) -> std::sync::MutexGuard<'_, StateNumbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a state by its number.
    pub(super) fn key(&mut self, number: u64) -> StateKey {
        let state = self.numbers().state(number);
        self.machine.key(&state)
    }

    /// The facts of a state by its number.
    pub(super) fn facts(&self, number: u64) -> Vec<Expression> {
        self.machine.facts(&self.numbers().state(number))
    }
}

impl Expander for OneByOne {
    fn expand(&mut self, states: &[u64], _: usize, group: &mut Group) -> Result<(), Fault> {
        group.begin();
        let roles: Vec<RoleId> = self.machine.game().role_ids().collect();
        // By pass: the successors of the states in order.
        let mut by_pass: Vec<(Mask, Vec<u64>)> = Vec::new();
        let mut next = State::default();
        for (at, &number) in states.iter().enumerate() {
            let bit = |mask: &mut Mask| mask[at / 64] |= 1 << (at % 64);
            let state = self.numbers().state(number);
            if self.machine.is_terminal(&state)? {
                let mut outcome = Outcome::new();
                for &role in &roles {
                    outcome.push(worst(&self.machine.goal(&state, role)?));
                }
                group.movers.push(TERMINAL);
                let known = group.outcomes.iter().position(|(_, known)| *known == outcome);
                let known = known.unwrap_or_else(|| {
                    group.outcomes.push((Mask::default(), outcome));
                    group.outcomes.len() - 1
                });
                bit(&mut group.outcomes[known].0);
                continue;
            }
            for &role in &roles {
                let legal = &mut self.legal[usize::from(role.0)];
                self.machine.legal_moves(&state, role, legal)?;
                if legal.is_empty() {
                    return Err(Fault::Stuck(role));
                }
            }
            let mut choosing = (0..roles.len()).filter(|&role| self.legal[role].len() > 1);
            let mover = match (choosing.next(), choosing.next()) {
                (None, _) => 0,
                (Some(role), None) => role as u8,
                (Some(_), Some(_)) => JOINT,
            };
            group.movers.push(mover);
            if mover == JOINT {
                group.counts.extend(self.legal.iter().map(|legal| legal.len() as u32));
            }
            let n_joint_moves = n_joint_moves(&self.legal);
            for pass in 0..n_joint_moves {
                self.joint_moves.clear();
                push_joint_move(&self.legal, pass as u64, &mut self.joint_moves);
                self.machine.next_state(&state, &self.joint_moves, &mut next)?;
                let mut numbers = self.numbers();
                let number = numbers.number(&next).ok_or(Fault::Memory)?;
                let taken = numbers.n_bytes() + (by_pass.len() * PASS_BYTES) as u64;
                drop(numbers);
                if taken > self.memory_bytes {
                    return Err(Fault::Memory);
                }
                if pass == by_pass.len() {
                    by_pass.push((Mask::default(), Vec::new()));
                }
                bit(&mut by_pass[pass].0);
                by_pass[pass].1.push(number);
            }
        }
        for (mask, successors) in by_pass {
            group.passes.push(mask);
            group.successors.extend(successors);
        }
        Ok(())
    }
}
