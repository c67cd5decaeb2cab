//! The sizes of relations, by which plans are chosen.

/// The size of one relation, on average.
#[derive(Clone, Debug, Default)]
pub(crate) struct Size {
    pub(crate) rows: f64,
    /// Different values of each column.
    pub(crate) distinct: Vec<f64>,
}

impl Size {
    /// The assumption about a relation that was not yet evaluated.
    pub(crate) fn unknown(arity: usize) -> Self {
        Self { rows: 10.0 * arity as f64, distinct: vec![5.0; arity] }
    }

    /// The assumption about a relation that is too large to be evaluated.
    pub(crate) fn huge(arity: usize) -> Self {
        Self { rows: 100_f64.powi(arity as i32), distinct: vec![100.0; arity] }
    }

    /// Rows to expect when these columns are given.
    pub(crate) fn matches(&self, columns: impl Iterator<Item = usize>) -> f64 {
        let share: f64 = columns.map(|column| self.distinct[column].max(1.0)).product();
        self.rows / share
    }
}

/// The sizes of all predicates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) sizes: Vec<Size>,
}
