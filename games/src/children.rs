//! The successors of a state and what is to be known of them, computed together.

use crate::state::{GoalReading, MoveId, RoleId, State};

/// What of children is wanted besides their states and whether they are terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The legal moves in those that are not terminal.
    pub legal: bool,
    /// The goals also in those that are not terminal.
    pub all_goals: bool,
}

/// How many children of a state are better computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionRange {
    /// Fewer children that are looked at cost less one by one.
    pub least: usize,
    /// More are not computed at once.
    pub most: usize,
}

/// Successors of one state under some joint moves, in the order of these; kept
/// from one state to the next, so that nothing is allocated for long.
#[derive(Clone, Debug, Default)]
pub struct Children {
    n: usize,
    n_roles: usize,
    pub(crate) states: Vec<State>,
    pub(crate) is_terminal: Vec<bool>,
    /// By child, then by role.
    pub(crate) legal: Vec<Vec<MoveId>>,
    /// By child, then by role.
    pub(crate) goals: Vec<GoalReading>,
}

impl Children {
    /// The number of children.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The state of a child.
    ///
    /// # Panics
    /// If there is no such child. So for all that is asked of one.
    #[must_use]
    pub fn state(&self, child: usize) -> &State {
        &self.states[..self.n][child]
    }

    /// Whether a child is terminal.
    #[must_use]
    pub fn is_terminal(&self, child: usize) -> bool {
        self.is_terminal[..self.n][child]
    }

    /// The legal moves of a role in a child, in canonical order; none if the
    /// child is terminal or they were not wanted.
    #[must_use]
    pub fn legal(&self, child: usize, role: RoleId) -> &[MoveId] {
        assert!(child < self.n, "child {child} of {}", self.n);
        &self.legal[self.n_roles * child + usize::from(role.0)]
    }

    /// What the rules say of the goal of a role in a child; nothing if the child
    /// is not terminal, unless all goals were wanted.
    #[must_use]
    pub fn goal(&self, child: usize, role: RoleId) -> &GoalReading {
        assert!(child < self.n, "child {child} of {}", self.n);
        &self.goals[self.n_roles * child + usize::from(role.0)]
    }

    /// Room for so many children of which nothing is known.
    pub(crate) fn clear(&mut self, n: usize, n_roles: usize) {
        (self.n, self.n_roles) = (n, n_roles);
        if self.states.len() < n {
            self.states.resize(n, State::default());
        }
        self.is_terminal.clear();
        self.is_terminal.resize(n, false);
        if self.legal.len() < n * n_roles {
            self.legal.resize(n * n_roles, Vec::new());
        }
        self.legal[..n * n_roles].iter_mut().for_each(Vec::clear);
        if self.goals.len() < n * n_roles {
            self.goals.resize(n * n_roles, GoalReading::default());
        }
        for reading in &mut self.goals[..n * n_roles] {
            reading.values.clear();
            (reading.clamped, reading.unreadable) = (false, false);
        }
    }
}
