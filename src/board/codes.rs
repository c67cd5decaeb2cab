//! Codes: several things in a row, as `(secret red green blue)` says, of which there is at most one
//! in a position.

use std::collections::BTreeSet;

use games::Expression;

use super::counts::changes;
use super::relations::{Relation, Rows};
use super::show::Show;

/// Minimum number of things in a row: two names are likelier a place.
const MIN_THINGS: usize = 3;

/// Maximum number of letters of a row of things.
const MAX_WIDTH: usize = 60;

/// How the facts of a relation are shown that are a code: there is one at most, it may change, and
/// the same names can be at each of its arguments.
pub(super) fn code(relation: Relation<'_>, rows: &Rows<'_>) -> Option<Show> {
    let are_names = rows.all().flatten().all(|argument| matches!(argument, Expression::Atom(_)));
    let is_single = rows.played.iter().all(|facts| facts.len() < 2);
    if relation.1 < MIN_THINGS || !are_names || !is_single || !changes(rows) {
        return None;
    }
    let names: Vec<BTreeSet<String>> = (0..relation.1).map(|at| rows.values(at)).collect();
    let is_same = names.iter().all(|others| *others == names[0]);
    let width = names[0].iter().map(|name| name.chars().count()).max()?;
    let has_room = relation.1 * (width + 1) <= MAX_WIDTH;
    (is_same && names[0].len() > 1 && has_room).then_some(Show::Code { width })
}
