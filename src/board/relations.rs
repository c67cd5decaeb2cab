//! The facts of a match by relation: the names at each argument, and how facts share cells.

use std::collections::{BTreeMap, BTreeSet};

use games::Expression;

use super::axis::Axis;

/// Name and number of arguments.
pub(super) type Relation<'a> = (&'a str, usize);

/// The arguments of a fact.
pub(super) type Row<'a> = Vec<&'a Expression>;

/// The arguments of the facts of one relation.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    /// Of those that a position may have.
    pub(super) domain: Vec<Row<'a>>,
    /// Of those in each position.
    pub(super) played: Vec<Vec<Row<'a>>>,
}

impl<'a> Rows<'a> {
    pub(super) fn all(&self) -> impl Iterator<Item = &Row<'a>> {
        self.played.iter().flatten().chain(&self.domain)
    }

    pub(super) fn without_domain(&self) -> Self {
        Self { domain: Vec::new(), played: self.played.clone() }
    }

    /// The facts without the argument at `owner`, those of each owner as a position of
    /// its own.
    pub(super) fn by_owner(&self, owner: usize) -> Self {
        let without = |row: &Row<'a>| {
            let rest = row.iter().enumerate().filter(|&(at, _)| at != owner);
            rest.map(|(_, &argument)| argument).collect::<Row<'a>>()
        };
        let split = |facts: &Vec<Row<'a>>| {
            let mut owned: BTreeMap<&Expression, Vec<Row<'a>>> = BTreeMap::new();
            for row in facts {
                owned.entry(row[owner]).or_default().push(without(row));
            }
            owned.into_values().collect::<Vec<_>>()
        };
        Self {
            domain: self.domain.iter().map(without).collect(),
            played: self.played.iter().flat_map(split).collect(),
        }
    }

    pub(super) fn n_played(&self) -> usize {
        self.played.iter().map(Vec::len).sum()
    }

    pub(super) fn values(&self, column: usize) -> BTreeSet<String> {
        self.all().map(|row| row[column].to_string()).collect()
    }

    pub(super) fn n_cells(&self, columns: [usize; 2]) -> usize {
        let cells: BTreeSet<_> = self.all().map(|row| columns.map(|at| row[at])).collect();
        cells.len()
    }

    pub(super) fn n_pieces(&self, columns: [usize; 2]) -> usize {
        let rest = |row: &Row<'a>| {
            let rest = row.iter().enumerate().filter(|(at, _)| !columns.contains(at));
            rest.map(|(_, &argument)| argument).collect::<Row<'a>>()
        };
        self.all().map(rest).collect::<BTreeSet<_>>().len()
    }

    /// The share of the facts that have a cell of their own.
    pub(super) fn share_alone(&self, columns: [usize; 2]) -> f64 {
        let n_cells = |facts: &Vec<Row<'_>>| {
            let cells: BTreeSet<_> = facts.iter().map(|row| columns.map(|at| row[at])).collect();
            cells.len()
        };
        let n_cells: usize = self.played.iter().map(n_cells).sum();
        n_cells as f64 / self.n_played() as f64
    }

    /// Whether there is never more than one fact, and it jumps: two digits of a
    /// counter, and no token.
    pub(super) fn is_counter(&self, columns: [usize; 2], axes: [&Axis; 2]) -> bool {
        let place =
            |row: &Row<'_>| [0, 1].map(|at| axes[at].position(&row[columns[at]].to_string()));
        let places: Vec<_> = self.played.iter().flatten().map(place).collect();
        let is_step = |from: Option<usize>, to: Option<usize>| {
            from.zip(to).is_some_and(|(from, to)| from.abs_diff(to) <= 1)
        };
        let jumps =
            |pair: &[[Option<usize>; 2]]| (0..2).any(|axis| !is_step(pair[0][axis], pair[1][axis]));
        self.played.iter().all(|facts| facts.len() <= 1) && places.windows(2).any(jumps)
    }

    /// Whether there is never more than one fact, and each is always followed by the same: two
    /// digits of a clock. These are positions of matches one after the other, all of which begin
    /// with the same.
    pub(super) fn is_clock(&self, columns: [usize; 2], axes: [&Axis; 2]) -> bool {
        let place =
            |row: &Row<'_>| [0, 1].map(|at| axes[at].position(&row[columns[at]].to_string()));
        let places: Vec<_> = self.played.iter().flatten().map(place).collect();
        let mut after = BTreeMap::new();
        let goes_on = |pair: &[[Option<usize>; 2]]| {
            let is_step = pair[0] != pair[1] && pair[1] != places[0];
            !is_step || *after.entry(pair[0]).or_insert(pair[1]) == pair[1]
        };
        self.played.iter().all(|facts| facts.len() <= 1)
            && places.windows(2).all(goes_on)
            && self.is_counter(columns, axes)
    }

    /// The only argument that is always the name of a role, if at least `n_roles` occur there.
    pub(super) fn owner(
        &self,
        n_arguments: usize,
        roles: &[String],
        n_roles: usize,
    ) -> Option<usize> {
        let is_owner = |&at: &usize| {
            let names = self.values(at);
            names.len() >= n_roles && names.iter().all(|name| roles.contains(name))
        };
        let mut owners = (0..n_arguments).filter(is_owner);
        let owner = owners.next()?;
        owners.next().is_none().then_some(owner)
    }
}

/// The relations of two to four arguments that some position has.
pub(super) fn relations<'a>(
    domain: &'a [Expression],
    positions: &'a [Vec<Expression>],
) -> BTreeMap<Relation<'a>, Rows<'a>> {
    relations_of(2..=4, domain, positions)
}

/// The relations that some position has and whose number of arguments is in this range.
pub(super) fn relations_of<'a>(
    n_arguments: std::ops::RangeInclusive<usize>,
    domain: &'a [Expression],
    positions: &'a [Vec<Expression>],
) -> BTreeMap<Relation<'a>, Rows<'a>> {
    let mut relations: BTreeMap<_, Rows<'_>> = BTreeMap::new();
    let played = positions.iter().enumerate();
    let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (Some(at), fact)));
    for (at, fact) in domain.iter().map(|fact| (None, fact)).chain(played) {
        if let Expression::List(items) = fact
            && let Some((Expression::Atom(name), arguments)) = items.split_first()
            && n_arguments.contains(&arguments.len())
        {
            let rows = relations.entry((name.as_str(), arguments.len())).or_default();
            let row = arguments.iter().collect();
            match at {
                None => rows.domain.push(row),
                Some(at) => {
                    rows.played.resize(at + 1, Vec::new());
                    rows.played[at].push(row);
                }
            }
        }
    }
    relations.retain(|_, rows| rows.n_played() > 0);
    relations
}
