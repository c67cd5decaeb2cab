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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SymbolId;
    use crate::prover::terms::Terms;

    #[test]
    fn terms_are_sorted_however_they_come() {
        let mut terms = Terms::default();
        let pair = terms.functor_id(SymbolId(1), 2);
        let constants: Vec<TermId> = (0..40).map(|at| terms.constant(SymbolId(at))).collect();
        let mut all = constants.clone();
        for &left in &constants {
            for &right in constants.iter().rev() {
                all.push(terms.intern(pair, &[left, right]));
            }
        }
        let mut order = Order::default();
        // In an order that splits the same gap again and again.
        for batch in all.rchunks(7) {
            let mut batch = batch.to_vec();
            order.sort(&terms, &mut batch, |term| term);
            assert!(batch.is_sorted_by(|&left, &right| compare(&terms, left, right).is_le()));
        }
        order.sort(&terms, &mut all, |term| term);
        assert!(all.is_sorted_by(|&left, &right| compare(&terms, left, right).is_le()));
    }
}
