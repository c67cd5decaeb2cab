//! What text and Markdown have in common: sections with tables.

/// What text and Markdown have in common.
pub(super) struct Document {
    pub(super) title: &'static str,
    /// What was played.
    pub(super) facts: String,
    pub(super) sections: Vec<Section>,
    pub(super) notes: Vec<String>,
}

pub(super) struct Section {
    pub(super) heading: String,
    /// A sentence below the table.
    pub(super) sentence: Option<String>,
    pub(super) tables: Vec<Table>,
}

impl Section {
    /// A section with one table; none if there are no rows.
    pub(super) fn with_rows(
        heading: &str,
        n_names: usize,
        columns: &[&str],
        rows: Vec<Vec<String>>,
    ) -> Option<Self> {
        let table = Table::new(n_names, columns, rows);
        let has_rows = !table.rows.is_empty();
        has_rows.then(|| Self { heading: heading.into(), sentence: None, tables: vec![table] })
    }

    /// The section with a sentence below the table.
    pub(super) fn saying(self, sentence: impl Into<String>) -> Self {
        Self { sentence: Some(sentence.into()), ..self }
    }
}

/// The first `n_names` columns are names, the others numbers: they are aligned right.
pub(super) struct Table {
    pub(super) n_names: usize,
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(
        n_names: usize,
        heading: impl IntoIterator<Item: ToString>,
        rows: Vec<Vec<String>>,
    ) -> Self {
        Self { n_names, heading: heading.into_iter().map(|name| name.to_string()).collect(), rows }
    }
}
