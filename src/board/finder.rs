//! Finding the grid among the facts: which relation it is, and which of its
//! arguments are coordinates.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use games::{Expression, Game, Guards};

use super::axis::{Axis, Orders, SIDES};
use super::grid::{Grid, Layer};
use super::relations::{Relation, Rows};
use super::statics::initial_facts;

/// At least this share of the cells is named by some position, unless the
/// rulesheet states both orders.
const MIN_SHARE: f64 = 0.4;

/// At least this share of the facts of a relation have a cell of their own: less
/// shows a third coordinate, and not pieces that share a cell. A single further
/// argument is likelier to be a piece than two.
const MIN_ALONE: [f64; 2] = [0.45, 0.8];

/// Steps of reasoning spent on the domain of the facts.
const MAX_STEPS: u64 = 50_000_000;

/// How well a relation suits as the board, the greatest best: one piece on each of many cells,
/// and few kinds of pieces.
pub(super) type Rank = ([bool; 2], usize, u32, Reverse<usize>);

/// The best grid of these relations, its axes in the order of the arguments.
pub(super) fn grid(orders: &Orders, relations: &BTreeMap<Relation<'_>, Rows<'_>>) -> Option<Grid> {
    let found = relations.iter().filter_map(|(relation, rows)| ranked(*relation, rows, orders));
    let (_, main, axes) = found.max_by_key(|(rank, ..)| *rank)?;
    let mut layers = vec![main];
    if axes.iter().all(|axis| axis.is_ordered) {
        let main = (layers[0].name.as_str(), layers[0].n_arguments);
        let n_main = relations[&main].n_played();
        let further: Vec<Layer> = relations
            .iter()
            .filter(|(relation, _)| **relation != main)
            .filter_map(|(relation, rows)| further_layer(*relation, rows, &axes, n_main))
            .collect();
        layers.extend(further);
    }
    Some(Grid { layers, axes })
}

/// The grid that a relation forms by itself, and how likely it is the board.
pub(super) fn ranked(
    relation: Relation<'_>,
    rows: &Rows<'_>,
    orders: &Orders,
) -> Option<(Rank, Layer, [Axis; 2])> {
    // A `base` that mixes letters and numbers says nothing about the board.
    let best = best_pair(relation.1, rows, orders);
    let best = best.or_else(|| best_pair(relation.1, &rows.without_domain(), orders));
    let (columns, axes, n_cells) = best?;
    let layer = Layer::new(relation.0, relation.1, columns);
    let has_pieces = [layer.n_arguments == 3, layer.n_arguments > 2];
    let n_pieces = rows.n_pieces(columns);
    let alone = (rows.share_alone(columns) * 100.0) as u32;
    Some(((has_pieces, n_cells, alone, Reverse(n_pieces)), layer, axes))
}

/// All facts that a position may have, by the rulesheet's `base`; none if it has
/// no such rules, or they are not worth the time.
pub(super) fn domain(game: &Game) -> Vec<Expression> {
    // The initial position of this game is what `base` lists.
    let mut forms = game.forms().to_vec();
    forms.extend(game.forms().iter().filter_map(initial));
    let guards = Guards { max_steps: MAX_STEPS, ..Guards::default() };
    initial_facts(game, &forms, guards).unwrap_or_default()
}

/// The rule for `init` that says what this one says of `base`.
fn initial(form: &Expression) -> Option<Expression> {
    let Expression::List(items) = form else { return None };
    let mut items = items.clone();
    match items.first()? {
        Expression::Atom(name) if name.eq_ignore_ascii_case("base") => {
            items[0] = Expression::atom("init");
        }
        Expression::Atom(name) if name == "<=" => {
            let head = items.get_mut(1)?;
            *head = initial(head)?;
        }
        _ => return None,
    }
    Some(Expression::List(items))
}

/// The pairs of arguments that may be coordinates, the likeliest first.
fn pairs(n_arguments: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..n_arguments).flat_map(move |left| (left + 1..n_arguments).map(move |right| [left, right]))
}

/// The coordinates of the grid that a relation forms by itself, its axes, and the number of
/// cells seen.
fn best_pair(
    n_arguments: usize,
    rows: &Rows<'_>,
    orders: &Orders,
) -> Option<([usize; 2], [Axis; 2], usize)> {
    let grids = pairs(n_arguments).filter_map(|columns| {
        let axes = columns.map(|column| Axis::new(&rows.values(column), orders));
        let [Some(first), Some(second)] = axes else { return None };
        let is_ordered = first.is_ordered && second.is_ordered;
        let n_cells = rows.n_cells(columns);
        let sides = [&first, &second].map(|axis| axis.values.len());
        let share = n_cells as f64 / (sides[0] * sides[1]) as f64;
        let is_grid = sides.iter().all(|side| SIDES.contains(side)) && n_cells > 2;
        let is_board = if n_arguments == 2 {
            let is_named = first.is_named && second.is_named;
            is_ordered
                && !is_named
                && sides.iter().all(|&side| side > 2)
                && !rows.is_counter(columns, [&first, &second])
        } else {
            (is_ordered || share >= MIN_SHARE)
                && rows.share_alone(columns) >= MIN_ALONE[n_arguments - 3]
        };
        (is_grid && is_board).then_some((is_ordered, (columns, [first, second], n_cells)))
    });
    // The first pair whose order the rulesheet states, or else the first.
    let mut first = None;
    for (is_ordered, grid) in grids {
        if is_ordered {
            return Some(grid);
        }
        first.get_or_insert(grid);
    }
    first
}

/// A relation over coordinates of the board's axes, the board being a relation of `n_main`
/// facts; `None` also if it is not clear which of its arguments they are.
pub(super) fn further_layer(
    (name, n_arguments): Relation<'_>,
    rows: &Rows<'_>,
    axes: &[Axis; 2],
    n_main: usize,
) -> Option<Layer> {
    // With as many pieces it is a board of its own.
    if n_arguments > 2 && 2 * rows.n_played() >= n_main {
        return None;
    }
    let lies_on = |column: usize, axis: &Axis| {
        rows.values(column).iter().all(|value| axis.position(value).is_some())
    };
    let on_board =
        |&[first, second]: &[usize; 2]| lies_on(first, &axes[0]) && lies_on(second, &axes[1]);
    let mut found = pairs(n_arguments)
        .filter_map(|[left, right]| [[left, right], [right, left]].into_iter().find(on_board));
    let columns = found.next()?;
    found.next().is_none().then(|| Layer::new(name, n_arguments, columns))
}
