//! When to stop thinking: a deadline, a node budget, or a flag raised by another thread.

use std::time::Instant;

use games::Cancel;

/// Tells a search when to unwind with its best completed answer. Polled once
/// for each state entered.
///
/// ```
/// use games::Cancel;
/// use players::Stop;
///
/// let cancel = Cancel::new();
/// let stop = Stop::never().after_nodes(1000).on(cancel.clone());
/// assert!(!stop.is_due(999));
/// assert!(stop.is_due(1000));
/// cancel.cancel();
/// assert!(stop.is_due(0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop {
    deadline: Option<Instant>,
    node_budget: Option<u64>,
    cancel: Cancel,
}

impl Stop {
    /// Never stops by itself.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Stops at `deadline`. The caller has already subtracted the margin for delivering
    /// the answer.
    #[must_use]
    pub fn at(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Stops after `nodes` states were entered. With a node budget and no
    /// deadline the answer depends on the seed alone.
    #[must_use]
    pub fn after_nodes(mut self, nodes: u64) -> Self {
        self.node_budget = Some(nodes);
        self
    }

    /// Stops at `deadline`, too: the earlier deadline holds.
    #[must_use]
    pub(crate) fn no_later_than(self, deadline: Instant) -> Self {
        let earliest = self.deadline.map_or(deadline, |other| other.min(deadline));
        self.at(earliest)
    }

    /// Stops after `nodes` states, too: the smaller budget holds.
    #[must_use]
    pub(crate) fn after_at_most(self, nodes: u64) -> Self {
        let fewest = self.node_budget.map_or(nodes, |other| other.min(nodes));
        self.after_nodes(fewest)
    }

    /// Stops soon after `cancel` is raised.
    #[must_use]
    pub fn on(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The flag by which other threads stop the search. Give it to the state machine, so
    /// that a single long computation ends, too.
    #[must_use]
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The deadline, if there is one.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The node budget, if there is one.
    #[must_use]
    pub fn node_budget(&self) -> Option<u64> {
        self.node_budget
    }

    /// Whether to stop now, after `nodes` states were entered.
    #[must_use]
    pub fn is_due(&self, nodes: u64) -> bool {
        self.is_due_at_any_time(nodes)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The same, whatever the clock says.
    pub(crate) fn is_due_at_any_time(&self, nodes: u64) -> bool {
        self.node_budget.is_some_and(|budget| nodes >= budget) || self.cancel.is_cancelled()
    }
}
