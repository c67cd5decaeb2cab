//! Results in the order of the schedule, whatever order they come in.
//!
//! With many workers quick results come before slow ones. If wins are quicker
//! than losses, a test that reads results as they come sees a lucky streak
//! first and stops on it; with enough workers it always errs. Here results
//! wait until all before them are there: running ahead is allowed, peeking is
//! not, and what is decided does not depend on the number of workers.

use std::collections::BTreeMap;

/// Results that come in any order and are handed on in the schedule's.
#[derive(Clone, Debug)]
pub struct ScheduleOrder<T> {
    next: u64,
    /// What came before its turn.
    waiting: BTreeMap<u64, T>,
}

/// A result came twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("second result at place {0} of the schedule")]
pub struct SecondResult(pub u64);

impl<T> Default for ScheduleOrder<T> {
    fn default() -> Self {
        Self { next: 0, waiting: BTreeMap::new() }
    }
}

impl<T> ScheduleOrder<T> {
    /// Takes the result at a `place` of the schedule, counted from 0 without
    /// gaps, and returns all results whose turn has come, in order.
    ///
    /// # Errors
    /// If that place has a result already; nothing changes then.
    pub fn finish(&mut self, place: u64, result: T) -> Result<Vec<T>, SecondResult> {
        if place < self.next || self.waiting.contains_key(&place) {
            return Err(SecondResult(place));
        }
        self.waiting.insert(place, result);
        let mut ready = vec![];
        while let Some(result) = self.waiting.remove(&self.next) {
            ready.push(result);
            self.next += 1;
        }
        Ok(ready)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn results_wait_for_those_before_them() {
        let mut order = ScheduleOrder::default();
        assert_eq!(order.finish(1, 'b'), Ok(vec![]));
        assert_eq!(order.finish(3, 'd'), Ok(vec![]));
        assert_eq!(order.finish(0, 'a'), Ok(vec!['a', 'b']));
        assert_eq!(order.next, 2);
        assert_eq!(order.finish(0, 'x'), Err(SecondResult(0)));
        assert_eq!(order.finish(3, 'x'), Err(SecondResult(3)));
        assert_eq!(order.finish(2, 'c'), Ok(vec!['c', 'd']));
    }

    proptest! {
        #[test]
        fn any_order_gives_the_schedules(order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle()) {
            let mut waiting = ScheduleOrder::default();
            let ready = order.iter().flat_map(|&place| waiting.finish(place, place).unwrap());
            prop_assert_eq!(ready.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
        }
    }
}
