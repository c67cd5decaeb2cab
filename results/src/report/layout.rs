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

/// The first `n_names` columns are names, the others numbers: they are aligned right.
pub(super) struct Table {
    pub(super) n_names: usize,
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(n_names: usize, heading: &[&str], rows: Vec<Vec<String>>) -> Self {
        Self { n_names, heading: heading.iter().map(|&name| name.into()).collect(), rows }
    }
}
