//! Boards of several owners in one state: a relation names a role beside two coordinates, as
//! `(ship left 2 3)` does, and each role has a grid of its own.
//!
//! `(stone red 2 3)` may as well be a stone on a common board. There the stones of two roles
//! do not share a cell; so the grid is split if in some position they do.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use games::rule::{Literal, Rule, Sentence, Term};
use games::{Expression, Game};

use super::axis::Orders;
use super::finder::{further_layer, ranked};
use super::grid::{Grid, Layer};
use super::relations::{Relation, Rows, relations};

/// A grid for each owner, over the same coordinates.
pub(super) struct Owned {
    /// All of them as one.
    pub(super) grid: Grid,
    /// By layer.
    owners: Vec<Option<Owner>>,
}

/// How a relation names an owner.
#[derive(Clone, Copy)]
struct Owner {
    /// The argument.
    at: usize,
    /// Its facts are on the board of the other: the cells at which one side shoots are
    /// cells of the other's board.
    is_crossed: bool,
}

impl Owned {
    /// The grids of the owners among `relations`, if they show the one that `is_common`: that of
    /// a common board. `more` are positions of random play.
    pub(super) fn find<'m>(
        game: &Game,
        roles: &[String],
        orders: &Orders,
        relations: &BTreeMap<Relation<'_>, Rows<'_>>,
        is_common: &dyn Fn(Relation<'_>) -> bool,
        more: &dyn Fn() -> &'m [Vec<Expression>],
    ) -> Option<Self> {
        let candidates: Vec<Candidate<'_>> = relations
            .iter()
            .filter_map(|(relation, rows)| Candidate::new(*relation, rows, roles, orders))
            .collect();
        let is_owned = |(relation, rows): (&Relation<'_>, &Rows<'_>)| {
            is_common(*relation) && rows.owner(relation.1, roles, 1).is_some()
        };
        if !relations.iter().any(is_owned) {
            return None;
        }
        // What is there first is what the rest happens to.
        let main = candidates.into_iter().max_by_key(|candidate| candidate.rank)?;
        let (relation, columns, owner) = (main.relation, main.columns, main.owner);
        if !coincide(&relations[&relation], columns, owner) {
            let more = self::relations(&[], more());
            more.get(&relation).filter(|rows| coincide(rows, columns, owner))?;
        }
        let axes = main.grid.axes;
        let mut layers = main.grid.layers;
        let mut owners = vec![Some(Owner { at: owner, is_crossed: false })];
        let n_main = relations[&relation].n_played();
        for (&further, rows) in relations.iter().filter(|(further, _)| **further != relation) {
            if let Some(at) = rows.owner(further.1, roles, 1) {
                let reduced = (further.0, further.1 - 1);
                let layer = further_layer(reduced, &rows.by_owner(at), &axes, n_main);
                let Some(layer) = layer.map(|layer| whole(layer, at)) else { continue };
                let is_crossed =
                    roles.len() == 2 && is_crossed(game, (&layers[0], owner), (&layer, at));
                layers.push(layer);
                owners.push(Some(Owner { at, is_crossed }));
            } else if let Some(layer) = further_layer(further, rows, &axes, n_main) {
                layers.push(layer);
                owners.push(None);
            }
        }
        let has_common = layers.iter().any(|layer| is_common((&layer.name, layer.n_arguments)));
        has_common.then_some(Self { grid: Grid { layers, axes }, owners })
    }

    /// The boards on `grid`, which is [`Owned::grid`] as it lies on the page, by role.
    pub(super) fn boards(&self, grid: &Grid, roles: &[String]) -> Vec<Grid> {
        let board = |own: usize| {
            let mut board = grid.clone();
            for (layer, owner) in board.layers.iter_mut().zip(&self.owners) {
                layer.owner = owner.map(|Owner { at, is_crossed }| {
                    let role = if is_crossed { roles.len() - 1 - own } else { own };
                    (at, roles[role].clone())
                });
            }
            board
        };
        (0..roles.len()).map(board).collect()
    }

    /// The pieces that are on the board of the other, as [`Grid::locate`] names them.
    pub(super) fn crossed(&self) -> BTreeSet<String> {
        let layers = self.grid.layers.iter().zip(&self.owners);
        layers
            .filter(|(layer, owner)| owner.is_some_and(|o| o.is_crossed) && layer.n_arguments == 3)
            .map(|(layer, _)| layer.name.clone())
            .collect()
    }
}

/// A relation that names a role beside two coordinates.
struct Candidate<'a> {
    relation: Relation<'a>,
    owner: usize,
    columns: [usize; 2],
    /// The first that is there; then the likeliest board.
    rank: (Reverse<Option<usize>>, super::finder::Rank),
    grid: Grid,
}

impl<'a> Candidate<'a> {
    fn new(
        relation: Relation<'a>,
        rows: &Rows<'_>,
        roles: &[String],
        orders: &Orders,
    ) -> Option<Self> {
        let owner = rows.owner(relation.1, roles, 2)?;
        let owned = rows.by_owner(owner);
        // A single fact is a token that may well walk about a common board.
        if owned.played.iter().all(|facts| facts.len() < 2) {
            return None;
        }
        let (rank, layer, axes) = ranked((relation.0, relation.1 - 1), &owned, orders)?;
        if !axes.iter().all(|axis| axis.is_ordered) {
            return None;
        }
        let layer = whole(layer, owner);
        let [Some(first), Some(second)] = layer.columns else { return None };
        let begins = Reverse(rows.played.iter().position(|facts| !facts.is_empty()));
        let grid = Grid { layers: vec![layer], axes };
        Some(Self { relation, owner, columns: [first, second], rank: (begins, rank), grid })
    }
}

/// A layer of the facts without the argument at `owner` as one of the whole facts.
fn whole(layer: Layer, owner: usize) -> Layer {
    let columns = layer.columns.map(|at| at.map(|at| at + usize::from(at >= owner)));
    Layer { columns, n_arguments: layer.n_arguments + 1, ..layer }
}

/// Whether facts of several owners share a cell in some position.
fn coincide(rows: &Rows<'_>, columns: [usize; 2], owner: usize) -> bool {
    rows.played.iter().any(|facts| {
        let mut owners: BTreeMap<_, &Expression> = BTreeMap::new();
        facts.iter().any(|row| {
            let cell = columns.map(|at| row[at]);
            *owners.entry(cell).or_insert(row[owner]) != row[owner]
        })
    })
}

/// Whether the rules compare the cells of one owner in the first relation with those of
/// another in the second, and not with those of the same.
fn is_crossed(game: &Game, first: (&Layer, usize), second: (&Layer, usize)) -> bool {
    let [mut n_same, mut n_other] = [0, 0];
    for Rule { body, .. } in game.rules() {
        let mut facts = Vec::new();
        each_fact(game, body, &mut facts);
        let of = |(layer, owner): (&Layer, usize)| -> Vec<(Vec<&Term>, &Term)> {
            let is_of = |(name, arguments): &&(&str, &[Term])| {
                *name == layer.name && arguments.len() == layer.n_arguments
            };
            let found = facts.iter().filter(is_of);
            found
                .map(|(_, arguments)| {
                    let cell = layer.columns.iter().flatten().map(|&at| &arguments[at]);
                    (cell.collect(), &arguments[owner])
                })
                .collect()
        };
        for (cell, owner) in of(first) {
            for (_, other) in of(second).into_iter().filter(|(other, _)| *other == cell) {
                *(if owner == other { &mut n_same } else { &mut n_other }) += 1;
            }
        }
    }
    n_other > n_same
}

/// The facts that conditions ask for: names and arguments.
fn each_fact<'a>(game: &'a Game, body: &'a [Literal], found: &mut Vec<(&'a str, &'a [Term])>) {
    for literal in body {
        match literal {
            Literal::Positive(sentence) | Literal::Negative(sentence) => {
                found.extend(fact(game, sentence));
            }
            Literal::Distinct(..) | Literal::Equal(..) => {}
            Literal::Or(alternatives) => {
                alternatives.iter().for_each(|body| each_fact(game, body, found));
            }
        }
    }
}

/// The fact that a condition asks for, if it is one of the state.
fn fact<'a>(game: &'a Game, condition: &'a Sentence) -> Option<(&'a str, &'a [Term])> {
    match condition.arguments.as_slice() {
        [Term::Function(name, arguments)] if game.symbols().name(condition.name) == "true" => {
            Some((game.symbols().name(*name), arguments))
        }
        _ => None,
    }
}
