//! line.
//!
//! ```text
//! Spec -> Schedule -> Match -> Event... -> Journal -> Standings, Report
//! ```
//!
//! consume them and none reaches back. How a reasoner works inside is the
//! business of `games`, how a statistic is computed that of `results`.

pub mod cli;
pub mod commands;
pub mod diagnostics;
pub mod event;
pub mod exit_code;
mod fingerprint;
pub mod game_source;
pub mod manager;
pub mod output;
pub mod protocol;
pub mod schedule;
pub mod spec;
