//! Counts: numbers that the facts give by key, as `(heap a 3)` does, or alone, as
//! `(stock 12)` does.
//!
//! A key has one number in each position. A number that may be 0 and is never large is shown as
//! a bar, too: it counts things. One that cannot be 0 is likelier the face of a die or a place.

use std::collections::BTreeSet;

use games::Expression;

use super::relations::{Row, Rows};
use super::show::Show;

/// Minimum and maximum number of keys.
const KEYS: std::ops::RangeInclusive<usize> = 2..=16;

/// Maximum number that has a bar.
pub(super) const MAX_BAR: u32 = 12;

/// How the numbers of a relation are shown whose other argument, the one at `key`, is a key with
/// at most one number in each position.
pub(super) fn numbers(rows: &Rows<'_>, key: usize) -> Option<Show> {
    let has_one_each = |facts: &Vec<Row<'_>>| {
        let keys: BTreeSet<&Expression> = facts.iter().map(|row| row[key]).collect();
        keys.len() == facts.len()
    };
    let is_binary = rows.all().all(|row| row.len() == 2);
    if is_binary && rows.played.iter().all(has_one_each) { shown(rows, 1 - key) } else { None }
}

/// The keys of a relation of two arguments, which are no roles, and how its numbers are shown.
/// Several keys have a number at the same time.
pub(super) fn keyed(rows: &Rows<'_>) -> Option<(usize, BTreeSet<String>, Show)> {
    if rows.played.iter().all(|facts| facts.len() < 2) {
        return None;
    }
    (0..2).find_map(|key| {
        let keys = rows.values(key);
        let are_names = keys.iter().all(|key| key.parse::<u32>().is_err());
        let show = numbers(rows, key).filter(|_| are_names && KEYS.contains(&keys.len()))?;
        Some((key, keys, show))
    })
}

/// Whether some fact of a relation comes or goes.
pub(super) fn changes(rows: &Rows<'_>) -> bool {
    rows.played.windows(2).any(|pair| pair[0] != pair[1])
}

/// Whether a relation of one argument seems to count steps.
pub(super) fn is_counter(rows: &Rows<'_>) -> bool {
    let mut n_counted = 0;
    let mut before: Option<(u32, u32)> = None;
    for facts in &rows.played {
        let [row] = facts.as_slice() else { return false };
        let Some(number) = row.first().copied().and_then(number) else { return false };
        before = match before {
            None => Some((number, number)),
            // The next match begins like the first.
            Some((first, _)) if number == first => Some((first, number)),
            Some((first, before)) if before.checked_add(1) == Some(number) => {
                n_counted += 1;
                Some((first, number))
            }
            Some(_) => return false,
        };
    }
    n_counted > 0
}

/// How a number is shown of which there is at most one, and that does not count steps.
pub(super) fn alone(rows: &Rows<'_>) -> Option<Show> {
    let numbers: Vec<Option<u32>> = rows
        .played
        .iter()
        .map(|facts| match facts.as_slice() {
            [row] if row.len() == 1 => number(row[0]),
            _ => None,
        })
        .collect();
    let is_single = rows.played.iter().all(|facts| facts.len() < 2);
    let goes_on = |pair: &[Option<u32>]| match *pair {
        // The next match begins like the first.
        [Some(before), Some(after)] => {
            after == before || before.checked_add(1) == Some(after) || Some(after) == numbers[0]
        }
        _ => true,
    };
    if !is_single || numbers.windows(2).all(goes_on) {
        return None;
    }
    shown(rows, 0)
}

/// How the numbers at an argument are shown; `None` if they are none. They may all begin with the
/// same letters: `s0`, `s1`.
fn shown(rows: &Rows<'_>, column: usize) -> Option<Show> {
    let names = rows.values(column);
    let stem = names.first()?.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = |name: &String| name.strip_prefix(stem)?.parse::<u32>().ok();
    let numbers: Option<BTreeSet<u32>> = names.iter().map(number).collect();
    let numbers = numbers?;
    let (&first, &last) = numbers.first().zip(numbers.last())?;
    let has_bar = stem.is_empty() && first == 0 && (1..=MAX_BAR).contains(&last);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    Some(Show::Number { width, has_bar })
}

fn number(name: &Expression) -> Option<u32> {
    let Expression::Atom(name) = name else { return None };
    name.parse().ok()
}
