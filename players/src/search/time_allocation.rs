//! When to stop deepening before the clock does: the answer comes from the last depth that is
//! finished, so time for a depth that cannot be finished is wasted (Russell and Wefald,
//! "Principles of metareasoning", 1991, on computations that cannot change the decision).

use std::time::{Duration, Instant};

use super::Stopwatch;

/// Depths whose costs are compared: those of the two roles of most games, each with its own
/// number of moves.
const COMPARED: usize = 3;

/// What the finished depths of one search took.
#[derive(Clone, Debug)]
pub(super) struct TimeAllocation {
    began: Instant,
    /// When the last depth was finished.
    finished: Instant,
    /// States entered until then.
    nodes: u64,
    /// States entered for each finished depth, and the time.
    costs: Vec<(u64, Duration)>,
}

impl TimeAllocation {
    /// Before the first depth.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { began: now, finished: now, nodes: 0, costs: Vec::new() }
    }

    /// Takes note that `depth` is finished. Why the next depth would not be, in time or within
    /// the node budget, as a clause; `None` if it may be.
    ///
    /// Each depth takes a multiple of the one before. It is expected to be the smallest of
    /// those seen in the last depths, so that a depth that may be finished is begun.
    pub(super) fn reason_to_stop(
        &mut self,
        depth: usize,
        stopwatch: &Stopwatch<'_>,
    ) -> Option<String> {
        let (now, nodes) = (Instant::now(), stopwatch.deliberation.nodes);
        self.costs.push((nodes - self.nodes, now - self.finished));
        (self.finished, self.nodes) = (now, nodes);
        if self.costs.len() <= COMPARED {
            return None;
        }
        let recent = &self.costs[self.costs.len() - COMPARED..];
        let growth = |pair: &[(u64, Duration)]| pair[1].0 as f64 / pair[0].0.max(1) as f64;
        let factor = recent.windows(2).map(growth).fold(f64::INFINITY, f64::min).max(1.0);
        let (last_nodes, last_time) = self.costs[self.costs.len() - 1];
        let next = depth + 1;
        if let Some(left) = stopwatch.nodes_left()
            && last_nodes as f64 * factor > left as f64
        {
            return Some(format!("depth {next} would exceed the node budget"));
        }
        let left = stopwatch.deadline()?.saturating_duration_since(now);
        (last_time.as_secs_f64() * factor > left.as_secs_f64()).then(|| {
            let spent = (now - self.began).as_secs_f64();
            format!("depth {next} would not be finished in time (after {spent:.1} s)")
        })
    }
}
