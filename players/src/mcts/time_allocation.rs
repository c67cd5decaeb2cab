//! When to reply before the clock ends: no other move can be tried as often as the best one any
//! more (Baier and Winands, "Time management for Monte-Carlo tree search", IEEE T-CIAIG 2016, which
//! calls it STOP).

use std::time::Instant;

use games::RoleId;

use crate::Stop;

/// Descents before which their cost is not known.
const LEAST_DESCENTS: u64 = 256;

/// When to reply before the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAllocation {
    /// The role whose move is wanted, if the search may end once it is decided.
    pub(super) chooser: Option<RoleId>,
    /// When the question was asked.
    began: Option<Instant>,
    /// The move was decided before the end.
    pub(super) is_early: bool,
}

/// What a question took so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    pub(super) descents: u64,
    pub(super) nodes: u64,
}

impl TimeAllocation {
    /// Begins to think about a state.
    pub(super) fn begin(&mut self) {
        self.began = self.chooser.map(|_| Instant::now());
        self.is_early = false;
    }

    /// The role whose move may be decided by now.
    pub(super) fn deciding(&self, spent: Spent) -> Option<RoleId> {
        self.chooser.filter(|_| spent.descents >= LEAST_DESCENTS)
    }

    /// Whether a move that was made in `lead` descents more than any other cannot be overtaken:
    /// fewer are left by `stop`, and at most `n_left`. A node budget is expected to allow `n_cheap`
    /// more than their mean cost says.
    pub(super) fn decides(
        &mut self,
        lead: f64,
        spent: Spent,
        stop: &Stop,
        n_left: u64,
        n_cheap: f64,
    ) -> bool {
        let Some(began) = self.began else { return false };
        let n_descents = spent.descents as f64;
        let by_nodes = stop.node_budget().map_or(f64::INFINITY, |budget| {
            let nodes = spent.nodes.max(1);
            n_descents * budget.saturating_sub(nodes) as f64 / nodes as f64 + n_cheap
        });
        let by_time = stop.deadline().map_or(f64::INFINITY, |deadline| {
            let now = Instant::now();
            let time = (now - began).as_secs_f64().max(1e-9);
            n_descents * deadline.saturating_duration_since(now).as_secs_f64() / time
        });
        self.is_early = lead > by_nodes.min(by_time).min(n_left as f64);
        self.is_early
    }
}
