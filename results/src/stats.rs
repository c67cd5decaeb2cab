//! How strong, and how sure: pure functions from blocks to numbers.
//!
//! ```text
//! MatchRecord... -> ScoredMatch... -> (fault policy) -> BlockScore... -> estimates, tests, ratings
//! ```
//!
//! The unit of evidence is the *block*: one game and opening, played in a
//! complete rotation of the seats with the same seed. Matches of one block are
//! correlated, blocks are not. Everything random here has a seed; equal input
//! gives equal output. No module reads a file but [`scored`], and none prints.
//!
//! - From matches to blocks: [`scored`], [`fault_policy`], [`block`], [`laps`].
//! - A mean difference: [`mean`], [`sign_flip`], [`power`].
//! - Tests that stop early: [`frequencies`], [`gsprt`], [`bayes_elo`],
//!   [`schedule_order`], [`sequential`], [`operating`], [`after_test`],
//!   [`betting`], [`regression`].
//! - Elo: [`elo`].
//! - Many comparisons and faults: [`holm`], [`fault_gate`].

pub mod after_test;
pub mod bayes_elo;
pub mod betting;
pub mod block;
pub mod elo;
#[cfg(test)]
mod error_rates;
pub mod fault_gate;
pub mod fault_policy;
pub mod frequencies;
pub mod gsprt;
pub mod holm;
pub mod laps;
pub mod mean;
pub mod normal;
pub mod operating;
pub mod power;
pub mod regression;
pub mod schedule_order;
pub mod scored;
pub mod sequential;
pub mod sign_flip;
