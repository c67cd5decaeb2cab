//! The canonical order of moves, made cheap.
//!
//! Terms are compared part by part, which is slow to do for each list of moves
//! of each state. So terms once met keep a *label*, a number in the same order;
//! a new term gets one halfway between its neighbours'.

use crate::relational::terms::{Store, TermId, compare};

/// More new terms than this are entered all at once.
const FEW: usize = 8;

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
        let is_new = |id: &TermId| self.labels.get(*id as usize).is_none_or(|&label| label == 0);
        let n_new = items.iter().map(|&item| term(item)).filter(is_new).count();
        if n_new > 0 {
            let new: Vec<TermId> = items.iter().map(|&item| term(item)).filter(is_new).collect();
            self.enter(store, new);
        }
        let labels = &self.labels;
        let label = |item: &T| labels[term(*item) as usize];
        if !items.is_sorted_by_key(label) {
            items.sort_unstable_by_key(label);
        }
    }

    /// Gives labels to new terms.
    #[cold]
    fn enter(&mut self, store: &Store, mut new: Vec<TermId>) {
        if self.labels.len() < store.len() {
            self.labels.resize(store.len().next_power_of_two(), 0);
        }
        new.sort_unstable_by(|&left, &right| compare(store, left, right));
        new.dedup();
        if new.len() > FEW {
            return self.merge(store, &new);
        }
        for term in new {
            let at = self.position(store, term);
            let label = |at: usize| self.labels[self.sorted[at] as usize];
            let below = if at == 0 { 0 } else { label(at - 1) };
            let above = if at == self.sorted.len() { u64::MAX } else { label(at) };
            self.sorted.insert(at, term);
            let middle = below + (above - below) / 2;
            if middle > below {
                self.labels[term as usize] = middle;
            } else {
                self.label_evenly();
            }
        }
    }

    /// Where a term belongs among the sorted ones.
    fn position(&self, store: &Store, term: TermId) -> usize {
        self.sorted.partition_point(|&other| compare(store, other, term).is_lt())
    }

    /// Enters many terms, which are sorted, at once.
    fn merge(&mut self, store: &Store, new: &[TermId]) {
        let mut merged = Vec::with_capacity(self.sorted.len() + new.len());
        let mut from = 0;
        for &term in new {
            let at = self.position(store, term);
            merged.extend_from_slice(&self.sorted[from..at]);
            merged.push(term);
            from = at;
        }
        merged.extend_from_slice(&self.sorted[from..]);
        self.sorted = merged;
        self.label_evenly();
    }

    fn label_evenly(&mut self) {
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
    use crate::relational::terms::Terms;

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
        let (one_by_one, at_once) = all.split_at(1200);
        for batch in one_by_one.rchunks(7).chain([at_once]) {
            let mut batch = batch.to_vec();
            order.sort(&terms, &mut batch, |term| term);
            assert!(batch.is_sorted_by(|&left, &right| compare(&terms, left, right).is_le()));
        }
        order.sort(&terms, &mut all, |term| term);
        assert!(all.is_sorted_by(|&left, &right| compare(&terms, left, right).is_le()));
    }
}
