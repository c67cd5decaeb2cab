//! Tiles: things that are there or not, as `(open 3)` says of a tile, in a row for each relation
//! that says something of them.
//!
//! Either several of them are there at once, or several relations speak of the same things. One
//! that speaks of fewer of these things has a row beside them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::axis::Orders;
use super::relations::{Relation, Rows};
use super::show::{Show, line};

/// Minimum and maximum number of things.
const THINGS: std::ops::RangeInclusive<usize> = 3..=24;

/// A relation of one argument.
struct TileRow<'a> {
    name: &'a str,
    n_things: usize,
    /// Of how many things it speaks in a position, at most.
    at_once: usize,
}

/// The names of relations of one argument over the same things, and how these are shown.
pub(super) fn tiles(
    relations: &BTreeMap<Relation<'_>, Rows<'_>>,
    is_free: &dyn Fn(Relation<'_>) -> bool,
    orders: &Orders,
) -> Vec<(Vec<String>, Show)> {
    let is_tiles = |(relation, rows): &(&Relation<'_>, &Rows<'_>)| {
        // Of a phase or a counter there is always one.
        let is_single = rows.played.iter().all(|facts| facts.len() == 1);
        relation.1 == 1 && is_free(**relation) && !is_single
    };
    let mut found: Vec<(BTreeSet<String>, TileRow<'_>)> = relations
        .iter()
        .filter(is_tiles)
        .map(|((name, _), rows)| {
            let at_once = rows.played.iter().map(Vec::len).max().unwrap_or(0);
            let things = rows.values(0);
            let row = TileRow { name, n_things: things.len(), at_once };
            (things, row)
        })
        .collect();
    found.sort_by_key(|(_, row)| Reverse((row.n_things, row.at_once)));
    let mut groups: Vec<(BTreeSet<String>, Vec<TileRow<'_>>)> = Vec::new();
    for (things, row) in found {
        match groups.iter_mut().find(|(all, _)| things.is_subset(all)) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((things, vec![row])),
        }
    }
    groups
        .into_iter()
        .filter(|(things, _)| THINGS.contains(&things.len()))
        .filter(|(things, rows)| {
            let n_same = rows.iter().filter(|row| row.n_things == things.len()).count();
            n_same > 1 || rows.iter().any(|row| row.at_once > 1)
        })
        .filter_map(|(things, mut rows)| {
            rows.sort_by_key(|row| Reverse(row.at_once));
            let names = rows.into_iter().map(|row| row.name.to_owned()).collect();
            Some((names, Show::slots(line(&things, orders).0)?))
        })
        .collect()
}
