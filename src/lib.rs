//! The Gamemaster: match manager, schedule, runner, event stream and command
//! line.
//!
//! ```text
//! Spec -> Schedule -> Match -> Event... -> Journal -> Standings, Report
//! ```
//!
//! A tournament in a few lines:
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::path::Path;
//!
//! use gamemaster::event::Event;
//! use gamemaster::experiment::{self, Options, Place};
//! use gamemaster::spec::{self, Overrides};
//!
//! let text = r#"
//!     games = ["nim"]
//!     blocks = 4
//!     budget = { nodes = 200 }
//!     players = [{ kind = "alpha_beta" }, { kind = "random" }]
//! "#;
//! let spec = spec::read(text, "example", Path::new(""), &Overrides::default())?;
//! let folder = tempfile::tempdir()?;
//! let place = Place { folder: Some(folder.path().to_owned()), ..Place::default() };
//! let options = Options { place, ..Options::default() };
//! let finished = experiment::run(spec, &options, &mut |_: &Event| ControlFlow::Continue(()))?;
//! let best = &finished.standings.players[0];
//! assert_eq!((best.player.as_str(), best.reward.n_matches), ("alpha_beta", 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The runner plays jobs and emits events; progress, journal and live displays
//! consume them and none reaches back. How a reasoner works inside is the
//! business of `games`, how a statistic is computed that of `results`.

mod allocator;
pub mod board;
mod built_in;
pub mod checkpoint_file;
pub mod cli;
pub mod commands;
pub mod consumers;
pub mod descriptors;
pub mod diagnostics;
pub mod drawn_replay;
mod error_chain;
pub mod evaluation_file;
pub mod event;
pub mod exit_code;
pub mod experiment;
pub mod explanation;
pub mod failure;
mod fingerprint;
pub mod game_source;
pub mod ggp_json;
mod human;
mod in_parallel;
pub mod interrupt;
pub mod judgement;
pub mod launch_limits;
mod locking;
pub mod manager;
pub mod output;
mod people;
pub mod position_suite;
mod printable;
mod process_tree;
pub mod proof_checkpoint;
pub mod protocol;
#[cfg(feature = "queue")]
pub mod queue;
pub mod recorded;
pub mod regret;
mod regular_file;
pub mod runner;
pub mod schedule;
pub mod serve;
pub mod solution_file;
mod solving_crew;
mod spare_time;
pub mod spec;
pub mod staged_schedule;
pub mod supervisor;
pub mod toml_text;
mod typed_moves;
mod url_text;
mod yardstick;
