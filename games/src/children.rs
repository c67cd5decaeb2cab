//! The successors of a state with their properties, as one expansion computes them.

use crate::state::{GoalReading, MoveId, RoleId, State};

/// The properties of children that are wanted besides their states and whether they are
/// terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The legal moves in children that are not terminal.
    pub legal: bool,
    /// The goals in children that are not terminal, too.
    pub all_goals: bool,
}

/// The numbers of children for which an expansion pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionRange {
    /// If fewer children are visited, computing them one by one is cheaper.
    pub least: usize,
    /// Maximum number of children of one expansion.
    pub most: usize,
}

/// Successors of one state under some joint moves, in the order of the joint moves. The
/// buffers are reused from state to state.
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
    /// If there is no such child. The same holds for all methods about one child.
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

    /// The goals of a role in a child; none if the child is not terminal, unless all
    /// goals were wanted.
    #[must_use]
    pub fn goal(&self, child: usize, role: RoleId) -> &GoalReading {
        assert!(child < self.n, "child {child} of {}", self.n);
        &self.goals[self.n_roles * child + usize::from(role.0)]
    }

    /// Resets to `n` children without properties.
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
