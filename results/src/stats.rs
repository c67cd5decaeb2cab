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
//! - A mean difference: [`interval`], [`mean`], [`sign_flip`].
//! - Tests that stop early: [`frequencies`], [`gsprt`], [`schedule_order`],
//!   [`sequential`], [`stopping`], [`betting`], [`regression`].
//! - Many players: [`luce`], [`bradley_terry`], [`plackett_luce`], [`effects`],
//!   [`ladder`]; over many games [`vase`], [`nash`], [`alpha_rank`];
//!   [`rank_bootstrap`] says how sure a rank is.
//! - Many comparisons and faults: [`holm`], [`fault_gate`], [`fault_test`].
//! - Distributions: [`normal`], [`student`].

pub mod alpha_rank;
pub mod betting;
pub mod block;
pub mod bootstrap;
pub mod bradley_terry;
pub(crate) mod brownian;
#[cfg(test)]
pub(crate) mod by_match;
#[cfg(test)]
pub(crate) mod calibration;
pub mod effects;
#[cfg(test)]
mod elo;
#[cfg(test)]
mod error_rates;
pub mod fault_gate;
pub mod fault_policy;
pub mod fault_test;
pub mod frequencies;
pub mod gsprt;
pub mod holm;
pub mod interval;
pub mod ladder;
pub mod laps;
pub mod luce;
pub mod mean;
pub mod nash;
pub mod normal;
#[cfg(test)]
mod operating;
pub mod plackett_luce;
#[cfg(test)]
mod published;
pub mod rank_bootstrap;
pub mod regression;
pub mod schedule_order;
pub mod scored;
pub mod sequential;
mod shrinkage;
pub mod sign_flip;
pub mod stopping;
pub mod student;
pub mod vase;
#[cfg(test)]
mod vectors;
