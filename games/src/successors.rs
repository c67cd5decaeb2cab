//! All successors of a state at once, of which only a part is computed: their states with
//! keys, or what they are worth.
//!
//! [`Children`](crate::Children) have everything that can be asked of a state. A search that goes
//! on from the successors needs their states alone, and one that stops there their goals alone.

use crate::StateKey;
use crate::state::{Goal, GoalReading, State};

/// States with their keys, in one allocation that is reused.
#[derive(Clone, Debug, Default)]
pub struct Successors {
    pub(crate) words: Vec<u64>,
    /// By successor: where its words end.
    pub(crate) ends: Vec<usize>,
    pub(crate) keys: Vec<StateKey>,
}

impl Successors {
    /// The number of successors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The [words](State::words) of a successor.
    ///
    /// # Panics
    /// If there is no such successor. The same holds for its key.
    #[must_use]
    #[inline]
    pub fn words(&self, successor: usize) -> &[u64] {
        let start = successor.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[successor]]
    }

    /// The key of a successor.
    #[must_use]
    #[inline]
    pub fn key(&self, successor: usize) -> StateKey {
        self.keys[successor]
    }

    /// The keys of all successors.
    #[must_use]
    #[inline]
    pub fn keys(&self) -> &[StateKey] {
        &self.keys
    }

    /// Removes all.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.keys.clear();
    }

    pub(crate) fn push(&mut self, state: &State, key: StateKey) {
        self.words.extend_from_slice(&state.words);
        self.ends.push(self.words.len());
        self.keys.push(key);
    }

    /// Becomes `n` copies of a state.
    pub(crate) fn fill(&mut self, n: usize, words: &[u64], key: StateKey) {
        self.clear();
        // States have few words, so that most are laid out here and not by calls.
        match *words {
            [word] => self.words.resize(n, word),
            [first, second] => (0..n).for_each(|_| self.words.extend([first, second])),
            _ => (0..n).for_each(|_| self.words.extend_from_slice(words)),
        }
        self.ends.extend((1..=n).map(|successor| successor * words.len()));
        self.keys.resize(n, key);
    }
}

/// What a successor is worth to a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildOutcome {
    /// Whether it is terminal.
    pub is_terminal: bool,
    /// The least of the role's goals, clamped into 0..=100, if the rules give any.
    pub worst: Option<Goal>,
    /// The goal, if the rules give exactly one and it is valid; see [`GoalReading::unique`].
    pub unique: Option<Goal>,
}

impl ChildOutcome {
    /// What is known of a state with these goals.
    #[must_use]
    pub fn new(is_terminal: bool, goals: &GoalReading) -> Self {
        Self { is_terminal, worst: goals.values.iter().min().copied(), unique: goals.unique() }
    }

    /// What a terminal state pays: the worst goal, 0 if the rules give none.
    #[must_use]
    #[inline]
    pub fn reward(&self) -> u8 {
        self.worst.map_or(0, Goal::value)
    }
}
