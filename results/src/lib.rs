//! Records of matches, and what follows from them: the journal and its CSV
//! tables, standings with their uncertainty, and reports.
//!
//! ```text
//! Journal -> MatchRecord... -> tables, Standings, Report
//! ```
//!
//! This crate reads records and nothing else: it knows no game, no player and
//! no socket.

pub mod atomic_file;
pub mod comparison;
pub mod counted;
pub mod evaluation;
mod evidence;
pub mod files;
pub mod formats;
mod histogram;
pub mod journal;
mod kept_matches;
pub mod partition;
pub mod query;
pub mod record;
pub mod regress;
pub mod report;
#[cfg(test)]
mod sample;
pub mod standings;
pub mod stats;
pub mod sweep;
pub mod tables;
mod tally;
