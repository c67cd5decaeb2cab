//! Counters of a search, and the check whether it must stop.

use std::time::Instant;

use games::ReasoningError;

use crate::{Deliberation, Stop};

/// Why a search unwinds before it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Its [`Stop`] is due.
    Due,
    /// The reasoner could not compute the rules.
    Broken(ReasoningError),
}

/// A cancelled computation is caused by the stop and is no failure.
impl From<ReasoningError> for Halt {
    fn from(error: ReasoningError) -> Self {
        match error {
            ReasoningError::Cancelled => Self::Due,
            other => Self::Broken(other),
        }
    }
}

/// Counts the work of a search and polls its stop.
#[derive(Clone, Debug)]
pub(crate) struct Stopwatch<'a> {
    stop: &'a Stop,
    /// The counters.
    pub(crate) deliberation: Deliberation,
}

impl<'a> Stopwatch<'a> {
    /// All counters at zero.
    pub(crate) fn new(stop: &'a Stop) -> Self {
        Self { stop, deliberation: Deliberation::default() }
    }

    /// Ends the search if the stop is due.
    pub(crate) fn poll(&self) -> Result<(), Halt> {
        if self.stop.is_due(self.deliberation.nodes) { Err(Halt::Due) } else { Ok(()) }
    }

    /// Ends the search if time is up, whatever the node budget says.
    pub(crate) fn poll_time(&self) -> Result<(), Halt> {
        let is_due = self.stop.node_budget() != Some(0) && self.stop.is_due(0);
        if is_due { Err(Halt::Due) } else { Ok(()) }
    }

    /// Whether the search must end after `n_states` more states than were counted.
    pub(crate) fn is_due_after(&self, n_states: u64) -> bool {
        self.stop.is_due(self.deliberation.nodes.saturating_add(n_states))
    }

    /// States that may still be entered, if they are limited.
    pub(crate) fn nodes_left(&self) -> Option<u64> {
        let budget = self.stop.node_budget()?;
        Some(budget.saturating_sub(self.deliberation.nodes))
    }

    /// When time is up, if it is limited.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.stop.deadline()
    }

    /// Counts a state entered at `level`.
    pub(crate) fn enter(&mut self, level: usize) -> Result<(), Halt> {
        self.poll()?;
        self.deliberation.nodes += 1;
        let level = u32::try_from(level).expect("levels are bounded");
        self.deliberation.selective_depth = self.deliberation.selective_depth.max(level);
        Ok(())
    }

    /// Counts children cut off.
    pub(crate) fn prune(&mut self, n_children: u64) {
        let deliberation = &mut self.deliberation;
        deliberation.prunings = deliberation.prunings.saturating_add(n_children);
    }
}
