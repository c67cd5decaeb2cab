//! Records of matches, and what follows from them: the journal and its CSV
//! tables, standings with their uncertainty, and reports.
//!
//! ```text
//! Journal -> MatchRecord... -> tables, Standings, Report
//! ```
//!
//! This crate reads records and nothing else: it knows no game, no player and
//! no socket.
//!
//! ```
//! use std::path::Path;
//!
//! use results::report::{self, Format};
//! use results::standings::standings;
//! use results::stats::bootstrap::Bootstrap;
//!
//! # let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run");
//! # let run = run.as_path();
//! // `run` is the folder of a run: its journal is all that is needed.
//! let standings = standings(run, &Bootstrap::default())?;
//! let leader = &standings.players[0];
//! assert_eq!((leader.player.as_str(), leader.reward.mean), ("careful", Some(95.8333)));
//! assert_eq!((standings.n_matches, standings.n_blocks), (12, 6));
//!
//! let text = report::report(run, Format::Text)?;
//! assert!(text.contains("careful leads with 95.8"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub mod position_suite;
pub mod query;
pub mod record;
pub mod regress;
pub mod regret;
pub mod report;
#[cfg(test)]
mod sample;
pub mod standings;
pub mod stats;
pub mod sweep;
pub mod tables;
mod tally;
pub mod workers;
