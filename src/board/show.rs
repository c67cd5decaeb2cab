//! How the facts of a relation are shown in a cell of a table, and in which order names stand.

use std::collections::BTreeSet;

use super::axis::{Axis, Orders};

/// Maximum number of letters of a row of names.
const MAX_WIDTH: usize = 60;

/// How the facts of a relation are shown in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Show {
    /// A number and, for some, as many marks.
    Number { width: usize, has_bar: bool },
    /// Names at places of their own.
    Slots(Vec<String>),
    /// All that is there, in the order of these names by argument.
    Words(Vec<Vec<String>>),
    /// Several names in the order of the arguments, as wide as the longest.
    Code { width: usize },
    /// A cross where there is a fact.
    Flag,
}

impl Show {
    /// These names at places of their own, if there is room.
    pub(super) fn slots(names: Vec<String>) -> Option<Self> {
        let width = names.iter().map(|name| name.chars().count()).max()?;
        (names.len() * (width + 1) <= MAX_WIDTH).then_some(Self::Slots(names))
    }
}

/// Names in the order that the rulesheet or their numbers give them, and `true`; or else by their
/// letters and the numbers at their ends, and `false`.
pub(super) fn line(names: &BTreeSet<String>, orders: &Orders) -> (Vec<String>, bool) {
    if let Some(axis) = Axis::new(names, orders) {
        return (axis.values, true);
    }
    let mut names: Vec<String> = names.iter().cloned().collect();
    names.sort_by_key(|name| {
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        (stem.to_owned(), name[stem.len()..].parse::<u32>().ok())
    });
    (names, false)
}
