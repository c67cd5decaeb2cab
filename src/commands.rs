//! One file for each command: its arguments, and what it does with them.

pub mod compare;
pub mod explain;
pub mod export;
pub mod game;
pub mod merge;
mod number;
mod plan_text;
pub mod play;
pub mod players;
mod progress_line;
pub mod query;
pub mod regress;
pub mod regret;
pub mod replay;
pub mod report;
pub mod run;
mod run_name;
mod said;
mod search_tree;
pub mod serve;
pub mod solve;
pub mod supervise;
pub mod sweep;
mod tournament;
pub mod train;
mod typed_facts;
mod typed_moves;
