//! The players as the match manager meets them: by name, with options, over
//! the rulesheets that come with the program.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod arena;
mod clocks;
mod eight_puzzle;
mod every_player;
mod expansion;
mod explanations;
mod hidden;
mod mcts;
mod monte_carlo;
mod perfect;
mod planning;
mod textbook;
