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
//!
//! # Example
//!
//! From the text of a rulesheet to a random playout:
//!
//! ```
//! use std::sync::Arc;
//!
//! use games::{Case, Guards, Leniency, PlayoutEnds, Rulesheet, state_machine_for, validate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = games::library::find("tic_tac_toe").ok_or("it is shipped")?.text;
//! let rulesheet = Rulesheet::parse("tic_tac_toe", text, Case::Folded).expect("it parses");
//! let game = validate(&rulesheet, Leniency::Strict).game.ok_or("it is valid")?;
//!
//! let mut machine = state_machine_for(Arc::new(game), Guards::default())?;
//! let state = machine.initial_state()?;
//! let first = machine.game().role_ids().next().ok_or("there is a role")?;
//! let mut moves = Vec::new();
//! machine.legal_moves(&state, first, &mut moves)?;
//! assert_eq!(moves.len(), 9);
//! assert_eq!(machine.move_expression(moves[0]).to_string(), "(mark 1 1)");
//!
//! let mut playouts = PlayoutEnds::default();
//! machine.playouts(&[state], 100, 1, &mut |_| true, &mut playouts)?;
//! let end = playouts.ends[0].as_ref().ok_or("it was not stopped")?;
//! assert!((5..=9).contains(&end.length));
//! assert_eq!(end.goals.len(), 2);
//! # Ok(())
//! # }
//! ```

pub mod batch;
pub mod children;
pub mod compiled_network;
mod components;
pub mod cursor;
pub mod expression;
pub mod finding;
pub mod game;
pub mod grounding;
mod joint_moves;
pub mod key;
pub mod library;
pub mod network;
mod network_machine;
mod percepts;
pub mod playouts;
pub mod progress;
pub mod prover;
pub mod reader;
pub mod reasoner;
mod reasoning_error;
mod relational;
pub mod rule;
pub mod rulesheet;
mod single_pass;
pub mod solve;
pub mod span;
pub mod split_mix;
pub mod state;
pub mod state_machine;
pub mod step_counter;
mod successors;
pub mod symbol;
pub mod validate;

pub use batch::Batch;
pub use children::{Children, ExpansionRange, Wanted};
pub use compiled_network::{CompiledNetwork, Width};
pub use cursor::{Cursor, LegalMoves};
pub use expression::Expression;
pub use finding::{Finding, Severity};
pub use game::{Game, GameKind};
pub use grounding::{GroundingError, GroundingLimits, ground};
pub use joint_moves::{n_joint_moves, push_joint_move};
pub use key::StateKey;
pub use network::{Network, Reduction, ReductionEffort, reduce};
pub use network_machine::{EvaluationMethod, NetworkMachine};
pub use playouts::{
    MoveSum, PlayoutEnd, PlayoutEnds, PlayoutLine, PlayoutMoves, PlayoutPlan, PlayoutPolicy,
    PlayoutSums,
};
pub use prover::Prover;
pub use reader::SyntaxError;
pub use reasoner::state_machine_for;
pub use rulesheet::Rulesheet;
pub use span::{Position, Span};
pub use state::{FactId, Goal, GoalReading, MoveId, RoleId, State};
pub use state_machine::{
    Cancel, Guards, MAX_TERM_SIZE, ReasoningError, SpareWork, StateMachine, Statistic,
    StatisticValue,
};
pub use successors::{ChildOutcome, Successors};
pub use symbol::{Case, SymbolId, Symbols};
pub use validate::{Leniency, Validation, validate};
