//! The transposition table: what is known of states met before.

use games::StateKey;
use rustc_hash::FxHashMap;

use super::value::Value;

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
    /// The score, and whether it depends on terminal states alone.
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
    /// Whether the entry says something of a search that looks as far ahead. A proven value
    /// holds at any depth; but while `deepening`, what only a deeper search can see is kept
    /// for its depth, so that of wins the nearest and of defeats the farthest is found.
    pub(crate) fn holds(&self, depth_left: usize, deepening: bool) -> bool {
        self.depth_left == depth_left
            || (self.value.proven && (!deepening || self.depth_left < depth_left))
    }

    /// The value for a search with this window that looks as far ahead, if the
    /// entry settles it.
    pub(crate) fn answer(
        &self,
        depth_left: usize,
        deepening: bool,
        alpha: f64,
        beta: f64,
    ) -> Option<Value> {
        let settles = match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.value.score >= beta,
            Bound::Upper => self.value.score <= alpha,
        };
        (self.holds(depth_left, deepening) && settles).then_some(self.value)
    }
}

/// Entries by key of a state, in two generations: when the young one is full it becomes
/// the old one, whose entries are dropped unless they are met again. Values hold
/// for the role, the opponents and the evaluation they were found for, so a
/// table belongs to one player's match.
#[derive(Clone, Debug, Default)]
pub(crate) struct TranspositionTable {
    young: FxHashMap<StateKey, Entry>,
    old: FxHashMap<StateKey, Entry>,
}

impl TranspositionTable {
    /// What is known of the state with this key.
    pub(crate) fn get(&self, state: StateKey) -> Option<Entry> {
        self.young.get(&state).or_else(|| self.old.get(&state)).copied()
    }

    /// Remembers `entry` in place of what was known of `state`, unless that was
    /// proven and this is not. No more than `capacity` states are kept.
    pub(crate) fn insert(&mut self, state: StateKey, entry: Entry, capacity: usize) {
        let keeps = |known: &Entry| known.value.proven && !entry.value.proven;
        if let Some(known) = self.young.get_mut(&state) {
            if !keeps(known) {
                *known = entry;
            }
            return;
        }
        let entry = self.old.remove(&state).filter(keeps).unwrap_or(entry);
        if self.young.len() >= (capacity / 2).max(1) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(state, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Value;
    use crate::testing::machine;

    #[test]
    fn what_is_met_again_outlives_what_is_not() {
        let numbers: String = (0..40).map(|n| format!("(number {n})")).collect();
        let rules = "(role a) (init (at 0)) (legal a go) (goal a 50) terminal";
        let mut machine = machine(&format!("{rules} {numbers}"));
        let mut state = |n: usize| {
            let fact = games::Expression::parse(&format!("(at {n})")).unwrap();
            let state = machine.state_of(&[fact]).unwrap();
            machine.key(&state)
        };
        let entry = |score: f64, proven| Entry {
            value: Value { score, proven },
            bound: Bound::Exact,
            depth_left: 1,
            best: None,
            best_reply: 0,
        };
        let score =
            |table: &TranspositionTable, state| table.get(state).map(|entry| entry.value.score);
        let mut table = TranspositionTable::default();
        for n in 0..40 {
            table.insert(state(n), entry(n as f64, false), 8);
            table.insert(state(0), entry(7.0, n == 0), 8);
            assert!(table.young.len() + table.old.len() <= 8);
        }
        // Proven once, and no estimate took its place.
        assert_eq!(table.get(state(0)).map(|entry| entry.value.proven), Some(true));
        assert_eq!(score(&table, state(39)), Some(39.0));
        assert_eq!(score(&table, state(20)), None);
    }
}
