//! The propositional network of a game: facts and moves in, legality, the next
//! state, the end, goals and percepts out, as one acyclic and-inverter graph.
//!
//! Grounding makes it from the rules; evaluators (one position at a time, or
//! many side by side) compute with it. Propositional networks: Schkufza, Love
//! and Genesereth, "Propositional automata and cell automata", 2008.

mod cofactor;
pub(crate) mod constants;
mod decisive;
mod dot;
mod end_rewards;
mod evaluator;
mod graph;
mod rebuild;
mod reduction;
pub(crate) mod samples;
pub(crate) mod shared_by_moves;
pub(crate) mod solver;
mod stale_ends;
mod state;
pub(crate) mod time_frames;

use std::sync::Arc;

pub use dot::Dot;
pub use graph::{Graph, Lit};
pub use reduction::{Reduction, ReductionEffort, reduce};

pub(crate) use cofactor::{cofactor, cofactor_size, late_size, next_size};
pub(crate) use decisive::decisive;
pub(crate) use end_rewards::end_rewards;
pub(crate) use evaluator::Evaluator;

use crate::{Expression, Game, Goal, GoalReading, RoleId};

/// A value of a goal relation, read once for all states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GoalValue {
    /// An integer as written; [`GoalReading`] clamps goals outside 0..=100.
    Integer(i64),
    /// Anything else.
    Unreadable,
}

impl GoalValue {
    /// The nearest reward from 0 to 100; `None` if it is no integer.
    #[must_use]
    pub fn reward(self) -> Option<u8> {
        match self {
            Self::Integer(value) => Some(Goal::clamped(value).value()),
            Self::Unreadable => None,
        }
    }

    /// Adds the value to a reading.
    pub(crate) fn read_into(self, reading: &mut GoalReading) {
        match self {
            Self::Integer(value) => reading.add(value),
            Self::Unreadable => reading.unreadable = true,
        }
    }
}

/// The moves, goals and percepts of one role.
#[derive(Clone, Debug, Default)]
pub struct RoleOutputs {
    /// The moves that may ever be legal, in canonical order (see
    /// [`StateMachine`](crate::StateMachine)); the `i`-th is input
    /// [`Network::first_move`]` + i`.
    pub moves: Vec<Expression>,
    /// By move: whether it is legal. Depends on facts only.
    pub legal: Vec<Lit>,
    /// The values that `goal` may take, ascending, and when. Depends on facts
    /// only.
    pub goals: Vec<(GoalValue, Lit)>,
    /// What the role may perceive, in canonical order, and when. Depends on
    /// facts and moves.
    pub percepts: Vec<(Expression, Lit)>,
}

/// A game as a sequential circuit.
///
/// Inputs of [`graph`](Network::graph) are the facts, in canonical order, then
/// the moves of each role in role order. Facts and moves are those that a
/// reachability analysis could not exclude; states that play reaches consist of
/// these facts, and legal moves are among these moves. The network is not defined for
/// other states and moves, nor for joint moves that are not exactly one legal move of
/// each role.
#[derive(Clone, Debug)]
pub struct Network {
    /// The game.
    pub game: Arc<Game>,
    /// The conjunctions.
    pub graph: Graph,
    /// What input `i` means for `i < facts.len()`: `true(facts[i])`.
    pub facts: Vec<Expression>,
    /// By fact: whether it holds initially.
    pub initial: Vec<bool>,
    /// By fact: whether it holds in the next state. Depends on facts and moves.
    pub next: Vec<Lit>,
    /// Whether the state is terminal. Depends on facts only.
    pub terminal: Lit,
    /// By role.
    pub roles: Vec<RoleOutputs>,
}

impl Network {
    /// Number of facts, which are the first inputs.
    #[must_use]
    pub fn n_facts(&self) -> usize {
        self.facts.len()
    }

    /// Number of moves of all roles.
    #[must_use]
    pub fn n_moves(&self) -> usize {
        self.roles.iter().map(|role| role.moves.len()).sum()
    }

    /// The ids of the roles, in order.
    pub fn role_ids(&self) -> impl ExactSizeIterator<Item = RoleId> + Clone + use<> {
        RoleId::first(self.roles.len())
    }

    /// The input of the first move of a role; its other moves follow.
    ///
    /// # Panics
    /// If there is no such role.
    #[must_use]
    pub fn first_move(&self, role: RoleId) -> usize {
        let before = &self.roles[..usize::from(role.0)];
        self.n_facts() + before.iter().map(|role| role.moves.len()).sum::<usize>()
    }

    /// All outputs: next facts, the end, legality, goals and percepts.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = Lit> + '_ {
        let of_role = |role: &RoleOutputs| {
            let goals = role.goals.iter().map(|goal| goal.1);
            let percepts = role.percepts.iter().map(|percept| percept.1);
            role.legal.iter().copied().chain(goals).chain(percepts).collect::<Vec<_>>()
        };
        let of_roles = self.roles.iter().flat_map(of_role);
        self.next.iter().copied().chain([self.terminal]).chain(of_roles)
    }

    /// The values that the goal of a role may take, ascending.
    pub(crate) fn goal_values(&self, role: usize) -> impl Iterator<Item = GoalValue> + '_ {
        self.roles[role].goals.iter().map(|goal| goal.0)
    }
}
