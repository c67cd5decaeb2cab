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
//! - Many comparisons and faults: [`holm`], [`fault_gate`].

pub mod block;
pub mod fault_gate;
pub mod fault_policy;
pub mod holm;
pub mod laps;
pub mod mean;
pub mod normal;
pub mod power;
pub mod scored;
pub mod sign_flip;
