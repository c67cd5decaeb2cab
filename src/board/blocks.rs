//! Blocks: things that stand on each other, as `(on a b)` says, or on the ground.
//!
//! Each thing stands on one other, no two on the same, and every tower has its foot on the ground.
//! The ground is a name that is no thing, as in `(on b table)`, or a relation that lists what
//! stands on it, as in `(table b)`. A tower is drawn above a place of its lowest block, so that
//! it stays where it is while others are moved. Or the ground are several places with room for
//! one tower each, such as pegs.

use std::collections::{BTreeMap, BTreeSet};

use games::Expression;

use super::relations::{Relation, Rows};

/// Minimum and maximum number of things.
const THINGS: std::ops::RangeInclusive<usize> = 3..=24;

/// Things upon each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The relation, and which of its two arguments is the upper thing.
    on: String,
    upper: usize,
    /// The relation of what stands on the ground, if there is one.
    ground: Option<String>,
    pub(super) things: Vec<String>,
    /// Places with room for one tower each; none if there is room for all.
    pegs: Vec<String>,
}

/// What each thing stands on.
type Supports = BTreeMap<String, String>;

impl Blocks {
    /// The blocks of the relations of one or two arguments.
    pub(super) fn find(relations: &BTreeMap<Relation<'_>, Rows<'_>>) -> Option<Self> {
        let binary = relations.iter().filter(|(relation, _)| relation.1 == 2);
        let mut ways = binary.flat_map(|(relation, rows)| [0, 1].map(|at| (relation.0, rows, at)));
        ways.find_map(|(on, rows, upper)| Self::of(on, rows, upper, relations))
    }

    fn of(
        on: &str,
        rows: &Rows<'_>,
        upper: usize,
        relations: &BTreeMap<Relation<'_>, Rows<'_>>,
    ) -> Option<Self> {
        let (uppers, lowers) = (rows.values(upper), rows.values(1 - upper));
        let grounds: BTreeSet<&String> = lowers.difference(&uppers).collect();
        let supports = |facts: &Vec<Vec<&Expression>>| -> Option<Supports> {
            let pair =
                |row: &Vec<&Expression>| (row[upper].to_string(), row[1 - upper].to_string());
            let supports: Supports = facts.iter().map(pair).collect();
            (supports.len() == facts.len()).then_some(supports)
        };
        let played: Vec<Supports> = rows.played.iter().map(supports).collect::<Option<_>>()?;
        let is_tower = |supports: &Supports| supports.values().any(|lower| uppers.contains(lower));
        let grounded = |ground: Option<String>, things: &BTreeSet<String>, is_complete| {
            let stands = |supports: &Supports| towers(supports, things).is_some();
            let is_found = is_complete
                && THINGS.contains(&things.len())
                && played.iter().all(stands)
                && played.iter().any(is_tower);
            let things = things.iter().cloned().collect();
            let has_pegs = ground.is_none() && grounds.len() > 1;
            let pegs = grounds.iter().filter(|_| has_pegs).map(|&peg| peg.clone()).collect();
            is_found.then(|| Self { on: on.to_owned(), upper, ground, things, pegs })
        };
        let mut unary = relations.iter().filter(|(relation, _)| relation.1 == 1);
        let listed = unary.find_map(|(relation, rows)| {
            let things: BTreeSet<String> =
                rows.values(0).union(&uppers).chain(&lowers).cloned().collect();
            let stand = |(at, supports): (usize, &Supports)| {
                let on_ground = rows.played.get(at).into_iter().flatten();
                let on_ground: BTreeSet<String> = on_ground.map(|row| row[0].to_string()).collect();
                let is_apart = on_ground.iter().all(|thing| !supports.contains_key(thing));
                is_apart && on_ground.len() + supports.len() == things.len()
            };
            let is_complete = rows.values(0).iter().any(|thing| lowers.contains(thing))
                && played.iter().enumerate().all(stand);
            grounded(Some(relation.0.to_owned()), &things, is_complete)
        });
        let has_room = |supports: &Supports| {
            let on_pegs = supports.values().filter(|lower| grounds.contains(lower));
            let pegs: BTreeSet<&String> = on_pegs.clone().collect();
            grounds.len() == 1 || pegs.len() == on_pegs.count()
        };
        let stands = |supports: &Supports| supports.len() == uppers.len() && has_room(supports);
        let is_complete = !grounds.is_empty() && played.iter().all(stands);
        listed.or_else(|| grounded(None, &uppers, is_complete))
    }

    /// Whether the picture shows a fact.
    pub(super) fn shows(&self, fact: &Expression) -> bool {
        let Expression::List(items) = fact else { return false };
        let is_thing = |thing: &Expression| self.things.contains(&thing.to_string());
        match items.as_slice() {
            [Expression::Atom(name), pair @ ..] if pair.len() == 2 => {
                *name == self.on && is_thing(&pair[self.upper])
            }
            [Expression::Atom(name), thing] => {
                Some(name) == self.ground.as_ref() && is_thing(thing)
            }
            _ => false,
        }
    }

    /// The names of the places.
    pub(super) fn places(&self) -> Vec<String> {
        if self.pegs.is_empty() {
            vec![String::new(); self.things.len()]
        } else {
            self.pegs.clone()
        }
    }

    /// The things above the place of each, from below; a row for each height.
    pub(super) fn cells(&self, facts: &[Expression]) -> Vec<Vec<Vec<String>>> {
        let mut cells = vec![vec![Vec::new(); self.places().len()]; self.things.len()];
        let pair = |fact: &Expression| match fact {
            Expression::List(items) if items.len() == 3 && self.shows(fact) => {
                Some((items[1 + self.upper].to_string(), items[2 - self.upper].to_string()))
            }
            _ => None,
        };
        let supports: Supports = facts.iter().filter_map(pair).collect();
        let things: BTreeSet<String> = self.things.iter().cloned().collect();
        for tower in towers(&supports, &things).unwrap_or_default() {
            let places = if self.pegs.is_empty() { &self.things } else { &self.pegs };
            let foot = match self.pegs.is_empty() {
                true => Some(&tower[0]),
                false => supports.get(&tower[0]),
            };
            let place = foot.and_then(|foot| places.iter().position(|place| place == foot));
            let Some(place) = place else { continue };
            for (height, thing) in tower.into_iter().enumerate() {
                cells[height][place].push(thing);
            }
        }
        cells
    }
}

/// The towers that things form, each from below; `None` if two are on the same thing, or some are
/// in a circle.
fn towers(supports: &Supports, things: &BTreeSet<String>) -> Option<Vec<Vec<String>>> {
    let mut above: BTreeMap<&String, &String> = BTreeMap::new();
    for (upper, lower) in supports.iter().filter(|(_, lower)| things.contains(*lower)) {
        if above.insert(lower, upper).is_some() {
            return None;
        }
    }
    let is_foot =
        |thing: &&String| supports.get(*thing).is_none_or(|lower| !things.contains(lower));
    let tower = |foot| {
        std::iter::successors(Some(foot), |thing| above.get(thing).copied()).cloned().collect()
    };
    let towers: Vec<Vec<String>> = things.iter().filter(is_foot).map(tower).collect();
    let n_standing: usize = towers.iter().map(Vec::len).sum();
    (n_standing == things.len()).then_some(towers)
}
