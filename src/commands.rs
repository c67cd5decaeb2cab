//! One file for each command: its arguments, and what it does with them.

pub mod game;
pub mod play;
pub mod players;
pub mod report;
pub mod run;
mod run_course_plan;
mod run_plan;
pub mod serve;
