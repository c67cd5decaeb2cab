//! Which values of a variable can follow which: a preorder, by its pairs.

/// For the values of a variable: which of them may come after which, after any number of steps.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// By value: the values that may come after it, itself among them.
    after: Vec<Vec<bool>>,
}

impl Order {
    /// The order in which no value comes after another.
    pub(super) fn new(n_values: usize) -> Self {
        let own = |value| (0..n_values).map(|other| other == value).collect();
        Self { after: (0..n_values).map(own).collect() }
    }

    /// Adds that `to` may come after `from`, and what follows from that.
    pub(super) fn add(&mut self, from: usize, to: usize) {
        if self.after[from][to] {
            return;
        }
        let later = self.after[to].clone();
        for after in self.after.iter_mut().filter(|after| after[from]) {
            after.iter_mut().zip(&later).for_each(|(has, later)| *has |= later);
        }
    }

    pub(super) fn n_values(&self) -> usize {
        self.after.len()
    }

    /// Whether `to` may come after `from`, or is the same.
    pub(super) fn may_follow(&self, from: usize, to: usize) -> bool {
        self.after[from][to]
    }

    /// Whether a variable may change from either of two values to the other and back.
    pub(super) fn is_same_class(&self, one: usize, other: usize) -> bool {
        self.after[one][other] && self.after[other][one]
    }

    /// Whether there is a change that is never undone.
    pub(super) fn has_classes(&self) -> bool {
        (1..self.n_values()).any(|value| !self.is_same_class(0, value))
    }

    /// The classes of values that may change into each other.
    pub(super) fn classes(&self) -> Vec<Vec<usize>> {
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for value in 0..self.n_values() {
            match classes.iter_mut().find(|class| self.is_same_class(class[0], value)) {
                Some(class) => class.push(value),
                None => classes.push(vec![value]),
            }
        }
        classes
    }

    /// By value: how many changes that are never undone may follow at most.
    pub(super) fn heights(&self) -> Vec<u32> {
        let mut heights = vec![None; self.n_values()];
        for value in 0..self.n_values() {
            self.height(value, &mut heights);
        }
        heights.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn height(&self, value: usize, heights: &mut [Option<u32>]) -> u32 {
        if let Some(height) = heights[value] {
            return height;
        }
        let mut height = 0;
        for later in 0..self.n_values() {
            if self.after[value][later] && !self.after[later][value] {
                height = height.max(1 + self.height(later, heights));
            }
        }
        heights[value] = Some(height);
        height
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_are_undone_count_nothing() {
        let mut order = Order::new(5);
        assert_eq!(order.heights(), [0; 5]);
        for (from, to) in [(0, 1), (1, 2), (2, 1), (2, 3)] {
            order.add(from, to);
        }
        assert!(order.may_follow(0, 3) && !order.may_follow(3, 0));
        assert_eq!(order.heights(), [2, 1, 1, 0, 0]);
        assert_eq!(order.classes(), [vec![0], vec![1, 2], vec![3], vec![4]]);
        order.add(3, 0);
        assert_eq!(order.heights(), [0; 5]);
        assert!(order.has_classes(), "nothing is known of the last value");
        order.add(3, 4);
        order.add(4, 0);
        assert!(!order.has_classes());
    }
}
