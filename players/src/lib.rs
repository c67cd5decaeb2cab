//! Built-in players: the [`Player`] trait and one file for each player.
//!
//! A player knows the rules, its role and the clocks, then at each step the
//! last joint move (GDL-I) or its own executed move and its percepts (GDL-II).
//! It does not know who calls it, nothing of HTTP, and has no way to reach the
//! true state of a game with hidden information.
//!
//! # Example
//!
//! A player chooses a move:
//!
//! ```
//! use std::sync::Arc;
//!
//! use games::{Case, Guards, Leniency, state_machine_for, validate};
//! use players::{Options, Seat, Stop, Turn};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "(role you) (init (at start))
//!     (<= (legal you left) (true (at start))) (<= (legal you right) (true (at start)))
//!     (<= (next (at ?where)) (does you ?where))
//!     (<= terminal (not (true (at start))))
//!     (<= (goal you 20) (true (at left))) (<= (goal you 80) (true (at right)))";
//! let game = validate::read("fork", text, Case::Folded, Leniency::Strict).game;
//! let mut machine = state_machine_for(Arc::new(game.ok_or("not valid")?), Guards::default())?;
//! let role = machine.game().find_role("you").ok_or("no such role")?;
//! let (state, mut legal) = (machine.initial_state()?, Vec::new());
//! machine.legal_moves(&state, role, &mut legal)?;
//!
//! let kind = players::find("alpha_beta").ok_or("no such player")?;
//! let mut player = (kind.make)(&Options::new())?;
//! let seat =
//!     Seat { machine: machine.fork().into(), role, start_clock: None, play_clock: None, seed: 1 };
//! player.start(seat, &Stop::never())?;
//! let turn = Turn { step: 0, observation: None, legal: &legal };
//! let chosen = player.play(&turn, &Stop::never())?;
//! assert_eq!(machine.move_expression(chosen).to_string(), "right");
//! # Ok(())
//! # }
//! ```

mod alpha_beta;
mod belief;
pub mod belief_tree;
pub mod bound_tree;
mod cfr;
mod compulsive_deliberation;
mod conditional_plan;
mod conditional_planner;
mod counted;
pub mod deliberation;
mod determinization;
mod endgames;
mod incremental_deliberation;
mod information_set_search;
mod is_mcts;
pub mod kind;
pub mod learning;
mod legal;
mod match_budget;
mod mcts;
mod minimax;
mod monte_carlo;
mod most_visited;
pub mod options;
pub mod own_machine;
mod perfect;
pub mod plan;
pub mod plan_check;
pub mod player;
mod random;
mod random_then_plan;
pub mod recorded_tree;
pub mod registry;
mod search;
pub mod search_tree;
mod seed;
mod sequential_planner;
pub mod stop;
#[cfg(test)]
pub(crate) mod testing;
pub mod visit_tree;

pub use belief::{Belief, LikelyStates};
pub use cfr::exploitability;
pub use deliberation::{Candidate, Deliberation, ExpectedStep, PlanStep, ValueBound};
pub use kind::PlayerKind;
pub use options::{OptionError, OptionSpec, Options, Value};
pub use own_machine::OwnMachine;
pub use player::{Failure, Observation, Player, Seat, Turn};
pub use registry::{find, kinds};
pub use search_tree::SearchTree;
pub use stop::Stop;
