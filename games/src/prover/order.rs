//! The canonical order of moves, made cheap.
//!
//! Terms are compared part by part, which is slow to do for each list of moves
//! of each state. So terms once met keep a *label*, a number in the same order;
//! a new term gets one halfway between its neighbours'.

use super::terms::{Store, TermId, compare};

/// Labels of terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// By term; 0 if it has none.
    labels: Vec<u64>,
    /// The terms that have labels, in order.
    sorted: Vec<TermId>,
}

impl Order {
    /// Sorts terms into canonical order.
    pub(crate) fn sort<T: Copy>(
        &mut self,
        store: &Store,
        items: &mut [T],
        term: impl Fn(T) -> TermId,
    ) {
        for &item in items.iter() {
            let id = term(item);
            if self.labels.get(id as usize).is_none_or(|&label| label == 0) {
                self.enter(store, id);
            }
        }
        let labels = &self.labels;
        let label = |item: &T| labels[term(*item) as usize];
        if !items.is_sorted_by_key(label) {
            items.sort_unstable_by_key(label);
        }
    }

    #[cold]
    fn enter(&mut self, store: &Store, term: TermId) {
        if self.labels.len() <= term as usize {
            self.labels.resize((term as usize + 1).next_power_of_two(), 0);
        }
        let at = self.sorted.partition_point(|&other| compare(store, other, term).is_lt());
        let label = |at: usize| self.labels[self.sorted[at] as usize];
        let below = if at == 0 { 0 } else { label(at - 1) };
        let above = if at == self.sorted.len() { u64::MAX } else { label(at) };
        self.sorted.insert(at, term);
        let middle = below + (above - below) / 2;
        if middle > below {
            self.labels[term as usize] = middle;
            return;
        }
        let gap = u64::MAX / (self.sorted.len() as u64 + 1);
        for (rank, &term) in self.sorted.iter().enumerate() {
            self.labels[term as usize] = gap * (rank as u64 + 1);
        }
    }
}
