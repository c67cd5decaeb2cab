//! Suites of positions: how many positions with known good moves a player gets right.
//!
//! ```text
//! text -> PositionSuite (checked by the rules) -> one decision of each player in each position
//! solved game -> positions with few good moves, graded by depth -> text
//! ```
//!
//! A suite is TOML ([`file`](mod@file)). [`play`] asks players through the match manager, so that
//! remote and launched players take part and all clocks hold: each position is the initial
//! state of rules of its own, and the match ends after one step. [`make`] selects positions
//! of a solved game, and [`depth`] says how far a search must look ahead in them.
//!
//! These are not the suites of [`experiment::regression`](crate::experiment::regression),
//! which name games and opponents.

pub mod depth;
mod error;
pub mod file;
pub mod make;
pub mod play;

pub use error::SuiteError;
pub use file::{Position, PositionSuite};

/// The name of the suite that comes with the program.
pub const SHIPPED: &str = "endgames";
