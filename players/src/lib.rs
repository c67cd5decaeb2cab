//! Built-in players: the [`Player`] trait and one file for each player.
//!
//! A player knows the rules, its role and the clocks, then at each step the
//! last joint move (GDL-I) or its own executed move and its percepts (GDL-II).
//! It does not know who calls it, nothing of HTTP, and has no way to reach the
//! true state of a game with hidden information.

mod legal;
pub mod options;
pub mod player;
mod random;
pub mod registry;
mod seed;
pub mod stop;

pub use options::{OptionError, Options, Value};
pub use player::{Deliberation, Failure, Observation, Player, Seat, Turn};
pub use registry::{Kind, OptionSpec, find, kinds};
pub use stop::Stop;
