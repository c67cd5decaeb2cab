//! Coordinates: which names lie on a line, and in which order.
//!
//! A rulesheet states an order by facts such as `(succ 1 2)` and `(next_file a b)`.
//! Where it does not, numbers and letters have an order of their own.

use std::collections::{BTreeMap, BTreeSet};

use games::Game;
use games::rule::{Literal, Rule, Sentence, Term};

/// Minimum and maximum number of lines of a board.
pub(super) const SIDES: std::ops::RangeInclusive<usize> = 2..=40;

/// What a rulesheet says about the order of names: its binary relations between
/// constants that are given as facts.
#[derive(Debug, Default)]
pub(super) struct Orders {
    relations: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl Orders {
    /// The orders of a game.
    pub(super) fn of(game: &Game) -> Self {
        let mut relations: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for Rule { head: Sentence { name, arguments }, body, .. } in game.rules() {
            let no_body: &[Literal] = &[];
            if let [Term::Constant(from), Term::Constant(to)] = arguments.as_slice()
                && body.as_slice() == no_body
            {
                let [name, from, to] = [name, from, to].map(|&id| game.symbols().name(id));
                let links = relations.entry(name.to_owned()).or_default();
                links.insert((from.to_owned(), to.to_owned()));
            }
        }
        Self { relations }
    }

    /// Whether one relation links each of `names` with the one after it.
    fn link(&self, names: &[String]) -> bool {
        self.relations.values().any(|links| {
            names.windows(2).all(|pair| {
                let there = (pair[0].clone(), pair[1].clone());
                let back = (pair[1].clone(), pair[0].clone());
                links.contains(&there) || links.contains(&back)
            })
        })
    }

    /// Whether a relation that compares sizes says that each of `names` is larger than
    /// the one after it.
    pub(super) fn shrinks(&self, names: &[String]) -> bool {
        let is =
            |relation: &str, words: [&str; 3]| words.iter().any(|word| relation.contains(word));
        self.relations.iter().any(|(relation, links)| {
            let relation = relation.to_ascii_lowercase();
            let (smaller, larger) = (
                is(&relation, ["small", "less", "under"]),
                is(&relation, ["larg", "big", "great"]),
            );
            smaller != larger
                && names.windows(2).all(|pair| {
                    let pair = (pair[0].clone(), pair[1].clone());
                    links.contains(&if larger { pair } else { (pair.1, pair.0) })
                })
        })
    }

    /// The shortest part of a relation's line that has all `names`.
    fn line(&self, names: &BTreeSet<String>) -> Option<Vec<String>> {
        self.relations.values().find_map(|links| {
            let after: BTreeMap<&str, &str> =
                links.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
            let targets: BTreeSet<&str> = links.iter().map(|(_, to)| to.as_str()).collect();
            if after.len() != links.len() || targets.len() != links.len() {
                return None;
            }
            let heads = after.keys().filter(|&head| !targets.contains(head));
            let mut lines = heads.map(|&head| {
                let next = |name: &&str| after.get(name).copied();
                std::iter::successors(Some(head), next).map(str::to_owned).collect::<Vec<_>>()
            });
            lines.find_map(|line| {
                let first = line.iter().position(|name| names.contains(name))?;
                let last = line.iter().rposition(|name| names.contains(name))?;
                let part = &line[first..=last];
                let n_found = part.iter().filter(|&name| names.contains(name)).count();
                (n_found == names.len()).then(|| part.to_vec())
            })
        })
    }
}

/// The values of a coordinate, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) values: Vec<String>,
    /// The rulesheet states the order.
    pub(super) is_ordered: bool,
    /// The values are letters or names, not numbers.
    pub(super) is_lettered: bool,
    /// The values are names that only the rulesheet orders.
    pub(super) is_named: bool,
}

impl Axis {
    /// The axis of these names, in this order.
    pub(super) fn named(values: Vec<String>) -> Self {
        Self { values, is_ordered: true, is_lettered: false, is_named: true }
    }

    /// The axis that `names` lie on; `None` if nothing orders them.
    pub(super) fn new(names: &BTreeSet<String>, orders: &Orders) -> Option<Self> {
        let Some(line) = Line::new(names) else {
            let values = orders.line(names)?;
            return Some(Self { values, is_ordered: true, is_lettered: true, is_named: true });
        };
        let is_lettered = line.stem.is_none();
        let (whole, seen) = (line.whole(), line.seen());
        if orders.link(&whole) {
            return Some(Self { values: whole, is_ordered: true, is_lettered, is_named: false });
        }
        // Gaps of one are cells that no piece reached; larger ones end the board.
        let values = if whole.len() < 2 * seen.len() { whole } else { seen };
        let is_ordered = orders.link(&values);
        Some(Self { values, is_ordered, is_lettered, is_named: false })
    }

    /// Where a value lies on the axis.
    pub(super) fn position(&self, value: &str) -> Option<usize> {
        self.values.iter().position(|other| other == value)
    }
}

/// Numbers, letters, or names that differ in the number at their end.
struct Line {
    /// What stands before the number; `None` for letters.
    stem: Option<String>,
    /// Each number as spelled: with zeros before it, perhaps.
    numbers: BTreeMap<u32, String>,
}

impl Line {
    fn new(names: &BTreeSet<String>) -> Option<Self> {
        let mut stems = BTreeSet::new();
        let mut numbers = BTreeMap::new();
        for name in names {
            let (stem, number) = rank(name)?;
            stems.insert(stem);
            numbers.insert(number, name.clone());
        }
        let stem = stems.pop_first()?;
        (stems.is_empty() && numbers.len() == names.len()).then_some(Self { stem, numbers })
    }

    fn name(&self, number: u32) -> String {
        match (self.numbers.get(&number), &self.stem) {
            (Some(name), _) => name.clone(),
            (None, Some(stem)) => format!("{stem}{number}"),
            (None, None) => char::from_u32(number).map_or_else(String::new, String::from),
        }
    }

    fn seen(&self) -> Vec<String> {
        self.numbers.values().cloned().collect()
    }

    /// With what lies between, unless that is more than a board has.
    fn whole(&self) -> Vec<String> {
        let numbers = self.numbers.first_key_value().zip(self.numbers.last_key_value());
        let ((&first, _), (&last, _)) = numbers.expect("a line has a name");
        let is_long = usize::try_from(last - first).is_ok_and(|gap| gap > *SIDES.end());
        if is_long { self.seen() } else { (first..=last).map(|at| self.name(at)).collect() }
    }
}

/// The stem (`None` for a letter) and the number of a name that is a coordinate.
fn rank(name: &str) -> Option<(Option<String>, u32)> {
    let n_digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, digits) = name.split_at(name.len() - n_digits);
    if n_digits > 0 {
        return Some((Some(stem.to_owned()), digits.parse().ok()?));
    }
    let mut letters = stem.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then(|| (None, u32::from(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(facts: &str) -> Orders {
        let mut relations: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for fact in facts.lines() {
            let words: Vec<String> = fact.split_whitespace().map(str::to_owned).collect();
            let [name, from, to] = <[String; 3]>::try_from(words).unwrap();
            relations.entry(name).or_default().insert((from, to));
        }
        Orders { relations }
    }

    fn check(names: &str, facts: &str, expected: Option<(&str, bool)>) {
        let names: BTreeSet<String> = names.split_whitespace().map(str::to_owned).collect();
        let axis = Axis::new(&names, &orders(facts));
        let found = axis.map(|axis| (axis.values.join(" "), axis.is_ordered));
        let expected = expected.map(|(values, is_ordered)| (values.to_owned(), is_ordered));
        assert_eq!(found, expected, "{names:?} by {facts:?}");
    }

    #[test]
    fn numbers_and_letters_have_an_order_of_their_own() {
        check("10 9 8", "", Some(("8 9 10", false)));
        check("a d c", "", Some(("a b c d", false)));
        check("x1 x10 x11", "", Some(("x1 x10 x11", false)));
        check("1 2 4", "", Some(("1 2 3 4", false)));
        check("1 5000 3", "", Some(("1 3 5000", false)));
        check("c01 c02 c10", "", Some(("c01 c02 c10", false)));
    }

    #[test]
    fn a_rulesheet_tells_an_order() {
        check("1 2 3", "succ 1 2\nsucc 2 3", Some(("1 2 3", true)));
        check("1 2 3", "pred 3 2\npred 2 1\npred 1 3", Some(("1 2 3", true)));
        check("low high", "above low mid\nabove mid high", Some(("low mid high", true)));
        check("10 30", "ten 10 20\nten 20 30", Some(("10 30", false)));
    }

    #[test]
    fn a_rulesheet_tells_sizes() {
        let shrinks = |names: &str, facts: &str| {
            let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
            orders(facts).shrinks(&names)
        };
        assert!(shrinks("1 2 3", "smaller 2 1\nsmaller 3 2\nsmaller 3 1"));
        assert!(shrinks("1 2 3", "bigger 1 2\nbigger 2 3"));
        assert!(!shrinks("1 2 3", "smaller 1 2\nsmaller 2 3"));
        assert!(!shrinks("1 2 3", "succ 2 1\nsucc 3 2"));
    }

    #[test]
    fn names_without_an_order_are_no_coordinates() {
        check("red black", "", None);
        check("red black", "opponent red black\nopponent black red", None);
        check("a 1", "", None);
        check("x1 y2", "", None);
        check("01 1", "", None);
    }
}
