//! What a search remembers of states: the table of the solved game, and the transposition table.

use games::State;

use super::transposition_table::{Bound, Entry};
use super::{Search, Value};

impl Search<'_> {
    /// The value of the state as an earlier search of the same match found it. What is remembered
    /// answers only searches of the same depth, so that deepening begins there.
    pub(super) fn known_value(&mut self, state: &State) -> Option<Entry> {
        if self.settings.remembered == 0 {
            return None;
        }
        self.frames[0].begin(state);
        let known = self.memory.table.get(self.frames[0].key(self.machine));
        known.filter(|entry| entry.bound == Bound::Exact)
    }

    /// The value of a state by the table of the solved game. Terminal states are not in it.
    pub(super) fn look_up(&mut self, level: usize) -> Option<Value> {
        let solved = self.solved?;
        let key = self.frames[level].key(self.machine);
        let score = solved.value(key)?[self.roles.index()];
        self.stopwatch.deliberation.table_hits += 1;
        self.frames[level].line.clear();
        Some(Value { score, proven: true })
    }

    /// Whether the value of the state in the frame of `level` is in the table, if it is known.
    /// States at the depth limit are not, if that would cost more than to evaluate them.
    pub(super) fn is_remembered(&self, level: usize) -> bool {
        self.settings.remembered > 0 && (self.depth_left(level) > 0 || self.remembers_leaves)
    }

    pub(super) fn recall(&mut self, level: usize) -> Option<Entry> {
        if !self.is_remembered(level) {
            return None;
        }
        let key = self.frames[level].key(self.machine);
        self.memory.table.get(key)
    }

    pub(super) fn remember(&mut self, level: usize, value: Value, alpha: f64, beta: f64) {
        if !self.is_remembered(level) {
            return;
        }
        let bound = match value.score {
            score if score >= beta && score < 100.0 => Bound::Lower,
            score if score <= alpha && score > 0.0 => Bound::Upper,
            _ => Bound::Exact,
        };
        let frame = &mut self.frames[level];
        let entry = Entry {
            value,
            bound,
            depth_left: self.limit - frame.counted,
            best: frame.best,
            best_reply: frame.best_reply,
        };
        let key = frame.key(self.machine);
        let deadline = self.stopwatch.deadline();
        self.memory.table.insert(key, entry, self.settings.remembered, deadline);
    }
}
