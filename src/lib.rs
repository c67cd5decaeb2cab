//! The Gamemaster: match manager, schedule, runner, event stream and command
//! line.
//!
//! ```text
//! Spec -> Schedule -> Match -> Event... -> Journal -> Standings, Report
//! ```
//!
//! The runner plays jobs and emits events; progress, journal and live displays
//! consume them and none reaches back. How a reasoner works inside is the
//! business of `games`, how a statistic is computed that of `results`.

pub mod board;
pub mod cli;
pub mod commands;
pub mod consumers;
pub mod descriptors;
pub mod diagnostics;
pub mod drawn_replay;
mod error_chain;
pub mod event;
pub mod exit_code;
mod fingerprint;
pub mod game_source;
pub mod ggp_json;
pub mod interrupt;
pub mod manager;
pub mod output;
mod process_tree;
pub mod protocol;
pub mod recorded;
pub mod run_folder;
pub mod runner;
pub mod schedule;
pub mod serve;
mod spare_time;
pub mod spec;
pub mod staged_schedule;
pub mod supervisor;
