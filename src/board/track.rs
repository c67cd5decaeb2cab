//! A track: a row of points, each with a number of men of each role, as in backgammon, and the
//! places beside it, such as a bar.
//!
//! In `(checkers 8 black 2)` the 2 is a number of men and not a second coordinate, because the
//! total of each role never changes. The total includes the men that are not on points:
//! relations of a role and a number list them, such as `(bar black 1)`.

use std::collections::{BTreeMap, BTreeSet};

use games::Expression;

use super::axis::{Axis, Orders, SIDES};
use super::grid::{Grid, Layer};
use super::relations::{Relation, Row, Rows};

/// Maximum number of relations that may be places beside the track.
const MAX_BESIDE: usize = 6;

/// Maximum number of men upon each other for which there is room though it was not met.
const MAX_ROOM: usize = 6;

/// The points and the places beside them.
pub(super) struct Track {
    /// Points, and numbers of men.
    pub(super) grid: Grid,
    /// Men upon each other, at most.
    pub(super) n_high: usize,
    /// Places beside the points, and roles; `None` if there are no such places.
    pub(super) beside: Option<Grid>,
}

/// Whether the facts of a relation may be a point, a role and a number.
pub(super) fn is_likely(
    relation: Relation<'_>,
    rows: &Rows<'_>,
    roles: &[String],
    orders: &Orders,
) -> bool {
    Points::new(relation, rows, roles, orders).is_some()
}

/// The track of a relation, by its facts and those of `relations` in many positions.
pub(super) fn track(
    relation: Relation<'_>,
    relations: &BTreeMap<Relation<'_>, Rows<'_>>,
    roles: &[String],
    orders: &Orders,
) -> Option<Track> {
    let rows = relations.get(&relation)?;
    let points = Points::new(relation, rows, roles, orders)?;
    let has_moved = rows.played.windows(2).any(|pair| {
        let [before, after] = [0, 1].map(|at| pair[at].iter().collect::<BTreeSet<_>>());
        before != after
    });
    let on_points = points.men(rows, roles)?;
    let beside: Vec<Beside<'_>> = relations
        .iter()
        .filter_map(|(&relation, rows)| Beside::new(relation, rows, roles))
        .take(MAX_BESIDE)
        .collect();
    // Of all sets of places that complete the men, the smallest.
    let chosen = |set: u32| beside.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1);
    let mut sets: Vec<u32> = (0..1 << beside.len()).collect();
    sets.sort_by_key(|set| set.count_ones());
    let completes = |&set: &u32| {
        let total = |(at, men): (usize, &Men)| -> Men {
            let missing = |role| chosen(set).map(|(_, beside)| beside.men(at, role)).sum::<u32>();
            men.iter().enumerate().map(|(role, men)| men + missing(role)).collect()
        };
        let totals: BTreeSet<Men> = on_points.iter().enumerate().map(total).collect();
        totals.len() == 1 && totals.first().is_some_and(|men| men.iter().any(|&men| men > 1))
    };
    let set = sets.into_iter().find(completes).filter(|_| has_moved)?;
    let beside: Vec<&Beside<'_>> = chosen(set).map(|(_, beside)| beside).collect();
    let n_high = points.n_high(rows);
    let layer = Layer::new(relation.0, 3, [points.point, points.count]);
    let counts = points.counts.iter().map(ToString::to_string).collect();
    Some(Track {
        grid: Grid { layers: vec![layer], axes: [points.axis, Axis::named(counts)] },
        n_high,
        beside: (!beside.is_empty()).then(|| grid_beside(&beside, roles)),
    })
}

/// Numbers of men by role.
type Men = Vec<u32>;

/// A relation of a point, a role and a number.
struct Points {
    point: usize,
    owner: usize,
    count: usize,
    axis: Axis,
    counts: BTreeSet<u32>,
}

impl Points {
    fn new(
        relation: Relation<'_>,
        rows: &Rows<'_>,
        roles: &[String],
        orders: &Orders,
    ) -> Option<Self> {
        if relation.1 != 3 {
            return None;
        }
        let owner = rows.owner(3, roles, 2)?;
        let others: Vec<usize> = (0..3).filter(|&at| at != owner).collect();
        [[others[0], others[1]], [others[1], others[0]]].into_iter().find_map(|[point, count]| {
            let axis = Axis::new(&rows.values(point), orders)?;
            let is_row = axis.is_ordered && axis.values.len() > 2;
            let counts: Option<BTreeSet<u32>> =
                rows.values(count).iter().map(|name| name.parse().ok()).collect();
            let is_short = SIDES.contains(&axis.values.len());
            Some(Self { point, owner, count, axis, counts: counts? }).filter(|_| is_row && is_short)
        })
    }

    /// The men in each position; `None` if a point has two numbers.
    fn men(&self, rows: &Rows<'_>, roles: &[String]) -> Option<Vec<Men>> {
        let in_position = |facts: &Vec<Row<'_>>| {
            let mut men = vec![0; roles.len()];
            let mut seen = BTreeSet::new();
            for row in facts {
                let role = role(row[self.owner], roles)?;
                men[role] += number(row[self.count])?;
                if !seen.insert((row[self.point], role)) {
                    return None;
                }
            }
            Some(men)
        };
        rows.played.iter().map(in_position).collect()
    }

    /// The highest pile that was met, or that one role may make.
    fn n_high(&self, rows: &Rows<'_>) -> usize {
        let highest = |facts: &Vec<Row<'_>>| {
            let mut piles: BTreeMap<&Expression, u32> = BTreeMap::new();
            for row in facts {
                *piles.entry(row[self.point]).or_default() += number(row[self.count]).unwrap_or(0);
            }
            piles.into_values().max()
        };
        let met = rows.played.iter().filter_map(highest).max().unwrap_or(1) as usize;
        let may_be = self.counts.last().map_or(1, |&count| count as usize);
        met.max(may_be.min(MAX_ROOM))
    }
}

/// A relation of a role and a number.
struct Beside<'a> {
    name: &'a str,
    owner: usize,
    /// By position.
    men: Vec<Men>,
}

impl<'a> Beside<'a> {
    fn new(relation: Relation<'a>, rows: &Rows<'_>, roles: &[String]) -> Option<Self> {
        let is_owner = |&at: &usize| rows.all().all(|row| role(row[at], roles).is_some());
        let owner = (0..relation.1).find(is_owner).filter(|_| relation.1 == 2)?;
        let in_position = |facts: &Vec<Row<'_>>| {
            let mut men = vec![0; roles.len()];
            let mut seen = BTreeSet::new();
            for row in facts {
                let role = role(row[owner], roles)?;
                men[role] = number(row[1 - owner])?;
                if !seen.insert(role) {
                    return None;
                }
            }
            Some(men)
        };
        let men: Option<Vec<Men>> = rows.played.iter().map(in_position).collect();
        Some(Self { name: relation.0, owner, men: men? })
    }

    fn men(&self, position: usize, role: usize) -> u32 {
        self.men.get(position).map_or(0, |men| men[role])
    }
}

fn role(name: &Expression, roles: &[String]) -> Option<usize> {
    let Expression::Atom(name) = name else { return None };
    roles.iter().position(|role| role == name)
}

fn number(name: &Expression) -> Option<u32> {
    let Expression::Atom(name) = name else { return None };
    name.parse().ok()
}

/// The places beside the track across, and the roles downwards.
fn grid_beside(beside: &[&Beside<'_>], roles: &[String]) -> Grid {
    let layers = beside.iter().map(|&&Beside { name, owner, .. }| Layer {
        columns: [None, Some(owner)],
        ..Layer::new(name, 2, [0, 0])
    });
    let across = beside.iter().map(|beside| beside.name.to_owned()).collect();
    let upwards = roles.iter().rev().cloned().collect();
    Grid { layers: layers.collect(), axes: [Axis::named(across), Axis::named(upwards)] }
}
