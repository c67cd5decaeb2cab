//! Codes: several things in a row, as `(secret red green blue)` says, of which there is at most one
//! in a position.

use std::collections::BTreeSet;

use games::Expression;

use super::counts::changes;
use super::relations::{Relation, Rows};
use super::show::Show;

/// Minimum and maximum number of things in a row: two names are likelier a place.
pub(super) const THINGS: std::ops::RangeInclusive<usize> = 3..=8;

/// Maximum number of characters of a row of things.
const MAX_WIDTH: usize = 60;

/// How the facts of a relation are shown that are a code: there is one at most, it may change, and
/// most names can be at each of its arguments.
pub(super) fn code(relation: Relation<'_>, rows: &Rows<'_>) -> Option<Show> {
    let are_names = rows.all().flatten().all(|argument| matches!(argument, Expression::Atom(_)));
    let is_single = rows.played.iter().all(|facts| facts.len() < 2);
    if !THINGS.contains(&relation.1) || !are_names || !is_single || !changes(rows) {
        return None;
    }
    let names: Vec<BTreeSet<String>> = (0..relation.1).map(|at| rows.values(at)).collect();
    let all: BTreeSet<&String> = names.iter().flatten().collect();
    // A match may not show every name at each place.
    let is_same = names.iter().all(|names| 2 * names.len() >= all.len());
    let width = all.iter().map(|name| name.chars().count()).max()?;
    let has_room = relation.1 * (width + 1) <= MAX_WIDTH;
    (is_same && all.len() > 1 && has_room).then_some(Show::Code { width })
}
