//! Counters of a search, and the check whether it must stop.

use std::time::{Duration, Instant};

use games::ReasoningError;

use crate::{Deliberation, Stop};

/// Why a search unwinds before it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Its [`Stop`] is due.
    Due,
    /// The reasoner could not compute the rules. Boxed, so that results of a search are small.
    Broken(Box<ReasoningError>),
}

/// A cancelled computation is caused by the stop and is no failure.
impl From<ReasoningError> for Halt {
    fn from(error: ReasoningError) -> Self {
        match error {
            ReasoningError::Cancelled => Self::Due,
            other => Self::Broken(Box::new(other)),
        }
    }
}

/// The time that may pass between two readings of the clock while a search polls fast: reading
/// it costs about a tenth of the time of a fast game's state.
const BETWEEN_READINGS: Duration = Duration::from_micros(20);

/// The most polls in a row that do not read the clock.
const MOST_SKIPPED: u32 = 63;

/// Counts the work of a search and polls its stop.
#[derive(Clone, Debug)]
pub(crate) struct Stopwatch<'a> {
    stop: &'a Stop,
    /// The counters.
    pub(crate) deliberation: Deliberation,
    /// When the clock was read last.
    read: Option<Instant>,
    /// Polls in a row that do not read the clock, and how many of them are left.
    skipped: u32,
    left: u32,
}

impl<'a> Stopwatch<'a> {
    /// All counters at zero.
    pub(crate) fn new(stop: &'a Stop) -> Self {
        let deliberation = Deliberation::default();
        Self { stop, deliberation, read: None, skipped: 0, left: 0 }
    }

    /// Ends the search if the stop is due. Most polls of a fast search do not read the clock.
    #[inline]
    pub(crate) fn poll(&mut self) -> Result<(), Halt> {
        if self.stop.is_due_at_any_time(self.deliberation.nodes) {
            return Err(Halt::Due);
        }
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        self.read_clock()
    }

    /// Ends the search at its deadline, and decides how many polls may skip the clock: as many as
    /// fit the time between two readings, so none where a state takes longer.
    fn read_clock(&mut self) -> Result<(), Halt> {
        let Some(deadline) = self.stop.deadline() else {
            self.left = MOST_SKIPPED;
            return Ok(());
        };
        let now = Instant::now();
        if now >= deadline {
            return Err(Halt::Due);
        }
        let is_fast = self.read.is_some_and(|read| now - read < BETWEEN_READINGS);
        self.skipped =
            if is_fast { (2 * self.skipped + 1).min(MOST_SKIPPED) } else { self.skipped / 2 };
        self.left = self.skipped;
        self.read = Some(now);
        Ok(())
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
    #[inline]
    pub(crate) fn enter(&mut self, level: usize) -> Result<(), Halt> {
        self.poll()?;
        self.count(level);
        Ok(())
    }

    /// The same where the stop was just polled.
    #[inline]
    pub(crate) fn count(&mut self, level: usize) {
        self.deliberation.nodes += 1;
        let level = u32::try_from(level).expect("levels are bounded");
        self.deliberation.selective_depth = self.deliberation.selective_depth.max(level);
    }

    /// Counts a state at the depth limit whose value is known, as if it were computed and entered
    /// at `level`.
    #[inline(always)]
    pub(crate) fn enter_last(&mut self, level: usize) -> Result<(), Halt> {
        self.poll()?;
        self.deliberation.next_calls += 1;
        self.deliberation.leaves += 1;
        self.count(level);
        Ok(())
    }

    /// Counts children cut off.
    pub(crate) fn prune(&mut self, n_children: u64) {
        let deliberation = &mut self.deliberation;
        deliberation.prunings = deliberation.prunings.saturating_add(n_children);
    }
}
