//! The transposition table: what is known of states met before.

use games::State;
use rustc_hash::FxHashMap;

use super::Value;

/// What a remembered score says of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It is the value.
    Exact,
    /// The value is at least that.
    Lower,
    /// The value is at most that.
    Upper,
}

/// What is remembered of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The score, and whether it rests on terminal states alone.
    pub(crate) value: Value,
    /// What the score says.
    pub(crate) bound: Bound,
    /// How far below the state the search looked.
    pub(crate) depth_left: usize,
    /// The best of the role's moves, by its index.
    pub(crate) best: Option<usize>,
    /// The joint reply that settled its value.
    pub(crate) best_reply: u64,
}

impl Entry {
    /// The value for a search with this window that looks as far ahead, if the
    /// entry settles it. A proven value holds at any depth; but while
    /// `deepening`, what only a deeper search can see is kept for its depth, so
    /// that of wins the nearest and of defeats the farthest is found.
    pub(crate) fn answer(
        &self,
        depth_left: usize,
        deepening: bool,
        alpha: f64,
        beta: f64,
    ) -> Option<Value> {
        let holds = self.depth_left == depth_left
            || (self.value.proven && (!deepening || self.depth_left < depth_left));
        let settles = match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.value.score >= beta,
            Bound::Upper => self.value.score <= alpha,
        };
        (holds && settles).then_some(self.value)
    }
}

/// Entries by state. Values hold for the role, the opponents and the
/// evaluation they were found for, so a table belongs to one player's match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    entries: FxHashMap<State, Entry>,
}

impl Table {
    /// What is known of `state`.
    pub(crate) fn get(&self, state: &State) -> Option<Entry> {
        self.entries.get(state).copied()
    }

    /// Remembers `entry` in place of what was known of `state`, unless that was
    /// proven and this is not. A table that holds `capacity` states starts afresh: simple, and as good as finer
    /// schemes at the sizes that fit a play clock.
    pub(crate) fn insert(&mut self, state: &State, entry: Entry, capacity: usize) {
        if let Some(known) = self.entries.get_mut(state) {
            if entry.value.proven || !known.value.proven {
                *known = entry;
            }
            return;
        }
        if self.entries.len() >= capacity {
            self.entries.clear();
        }
        self.entries.insert(state.clone(), entry);
    }
}
