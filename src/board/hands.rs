//! Hands: things that each role has, as `(hand left 3)` says, and what was last said of each
//! role, as `(last left talk)` does.
//!
//! Cards that are numbers, or that the rules put in order, keep their places when others are
//! played; all others are listed.

use std::collections::BTreeMap;

use games::Expression;

use super::axis::Orders;
use super::relations::{Row, Rows};
use super::show::{Show, line};

/// Maximum number of things in a hand, and of places in it.
const MAX_THINGS: usize = 16;

/// How the things of a relation are shown that names a role at `owner`.
pub(super) fn hand(rows: &Rows<'_>, owner: usize, orders: &Orders) -> Option<Show> {
    let are_names = |row: &Row<'_>| row.iter().all(|name| matches!(name, Expression::Atom(_)));
    let size = |facts: &Vec<Row<'_>>| {
        let mut sizes: BTreeMap<&Expression, usize> = BTreeMap::new();
        for row in facts {
            *sizes.entry(row[owner]).or_default() += 1;
        }
        sizes.into_values().max().unwrap_or(0)
    };
    let size = rows.played.iter().map(size).max().unwrap_or(0);
    if size > MAX_THINGS || !rows.all().all(are_names) {
        return None;
    }
    let n_arguments = rows.all().next()?.len();
    let others = || (0..n_arguments).filter(|&at| at != owner);
    let lines: Vec<(Vec<String>, bool)> =
        others().map(|at| line(&rows.values(at), orders)).collect();
    let slots = match &lines[..] {
        [(line, true)] if size > 1 && line.len() <= MAX_THINGS => Show::slots(line.clone()),
        _ => None,
    };
    slots.or_else(|| Some(Show::Words(lines.into_iter().map(|(line, _)| line).collect())))
}
