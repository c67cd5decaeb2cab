//! Built-in players: the [`Player`] trait and one file for each player.
//!
//! A player knows the rules, its role and the clocks, then at each step the
//! last joint move (GDL-I) or its own executed move and its percepts (GDL-II).
//! It does not know who calls it, nothing of HTTP, and has no way to reach the
//! true state of a game with hidden information.

mod alpha_beta;
mod compulsive_deliberation;
pub mod kind;
mod legal;
mod minimax;
mod monte_carlo;
pub mod options;
pub mod plan;
pub mod player;
mod random;
pub mod registry;
mod search;
mod seed;
mod sequential_planner;
pub mod stop;
#[cfg(test)]
pub(crate) mod testing;

pub use kind::PlayerKind;
pub use options::{OptionError, OptionSpec, Options, Value};
pub use player::{Deliberation, Failure, Observation, Player, Seat, Turn};
pub use registry::{find, kinds};
pub use stop::Stop;
