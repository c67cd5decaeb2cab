//! Options that limit how long players think.

use std::time::Duration;

use clap::Args;

use super::number::nodes;
use crate::schedule::Clocks;
use crate::spec::duration::{EXPECTED, read_clock};

/// How long players may think about a move.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct TimeLimits {
    /// Give each player this time for each move
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = play_clock)]
    play_clock: Duration,
    /// Accept replies until this long after a clock has ended
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = clock)]
    margin: Duration,
    /// Limit built-in players to N nodes (states) per move, and as many before the
    /// first move, instead of time; `mcts` may exceed N by at most the number of joint
    /// moves (one move of each role) in one state. Other players still have the clocks.
    /// A built-in player that still thinks after ten times its clock, plus the margin,
    /// plus 60 s, is abandoned
    #[arg(long, value_name = "N", value_parser = nodes)]
    pub(super) nodes: Option<u64>,
}

impl TimeLimits {
    /// The clocks of a match with this start clock.
    pub(super) fn clocks(&self, start: Duration) -> Clocks {
        Clocks { start, play: self.play_clock, margin: self.margin }
    }
}

/// Reads a time.
pub(super) fn clock(text: &str) -> Result<Duration, String> {
    read_clock(text).ok_or_else(|| format!("expected {EXPECTED}"))
}

/// Reads the time for each move: above zero.
pub(super) fn play_clock(text: &str) -> Result<Duration, String> {
    match clock(text)? {
        Duration::ZERO => {
            Err("there would be no time to think; give 1ms or more, or --nodes as a budget".into())
        }
        clock => Ok(clock),
    }
}
