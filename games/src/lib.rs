//! Games in the Game Description Language: reading rulesheets, validating
//! them, and computing states, legal moves, percepts and goals.
//!
//! ```text
//! text -> Rulesheet -> Game -> StateMachine -> State
//! ```
//!
//! A [`Rulesheet`] is anything that parsed, with spans; a [`Game`] is valid by
//! construction, and only [`validate`](validate::validate) makes one. This
//! crate holds no clock, no file handle, no thread, no unseeded randomness and
//! no player.

pub mod batch;
pub mod children;
pub mod compiled_network;
mod components;
pub mod expression;
pub mod finding;
pub mod game;
pub mod grounding;
pub mod key;
pub mod library;
pub mod network;
mod network_machine;
mod percepts;
pub mod playouts;
pub mod prover;
pub mod reader;
pub mod reasoner;
mod relational;
pub mod rule;
pub mod rulesheet;
mod single_pass;
pub mod span;
pub mod split_mix;
pub mod state;
pub mod state_machine;
pub mod symbol;
pub mod validate;

pub use batch::Batch;
pub use children::{Children, ExpansionRange, Wanted};
pub use compiled_network::{CompiledNetwork, Width};
pub use expression::Expression;
pub use finding::{Finding, Severity};
pub use game::{Game, GameKind};
pub use grounding::{Budget, GroundingError, ground};
pub use key::StateKey;
pub use network::{Network, Reduction, ReductionEffort, reduce};
pub use network_machine::{EvaluationMethod, NetworkMachine};
pub use playouts::{PlayoutEnd, PlayoutEnds};
pub use prover::Prover;
pub use reader::SyntaxError;
pub use reasoner::state_machine_for;
pub use rulesheet::Rulesheet;
pub use span::{Position, Span};
pub use state::{Goal, GoalReading, MoveId, RoleId, State};
pub use state_machine::{
    Cancel, Guards, MAX_TERM_SIZE, ReasoningError, SpareWork, StateMachine, Statistic,
    StatisticValue,
};
pub use symbol::{Case, SymbolId, Symbols};
pub use validate::{Leniency, Validation, validate};
