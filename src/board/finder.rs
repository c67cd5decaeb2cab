//! Finding the grid among the facts: which relation it is, and which of its
//! arguments are coordinates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use games::{Expression, Game, Guards};

use super::axis::{Axis, Orders, SIDES};
use super::grid::{Grid, Layer};
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

/// Name and number of arguments.
type Relation<'a> = (&'a str, usize);

/// The arguments of the facts of one relation.
#[derive(Debug, Default)]
struct Rows<'a> {
    /// Of those that a position may have.
    domain: Vec<&'a [Expression]>,
    /// Of those in each position.
    played: Vec<Vec<&'a [Expression]>>,
}

impl<'a> Rows<'a> {
    fn all(&self) -> impl Iterator<Item = &'a [Expression]> {
        self.played.iter().flatten().chain(&self.domain).copied()
    }

    fn without_domain(&self) -> Self {
        Self { domain: Vec::new(), played: self.played.clone() }
    }

    fn n_played(&self) -> usize {
        self.played.iter().map(Vec::len).sum()
    }

    fn values(&self, column: usize) -> BTreeSet<String> {
        self.all().map(|row| row[column].to_string()).collect()
    }

    fn n_cells(&self, columns: [usize; 2]) -> usize {
        let cells: BTreeSet<_> = self.all().map(|row| columns.map(|at| &row[at])).collect();
        cells.len()
    }

    fn n_pieces(&self, columns: [usize; 2]) -> usize {
        let rest = |row: &'a [Expression]| {
            let rest = row.iter().enumerate().filter(|(at, _)| !columns.contains(at));
            rest.map(|(_, argument)| argument).collect::<Vec<_>>()
        };
        self.all().map(rest).collect::<BTreeSet<_>>().len()
    }

    /// The share of the facts that have a cell of their own.
    fn share_alone(&self, columns: [usize; 2]) -> f64 {
        let n_cells = |facts: &Vec<&[Expression]>| {
            let cells: BTreeSet<_> = facts.iter().map(|row| columns.map(|at| &row[at])).collect();
            cells.len()
        };
        let n_cells: usize = self.played.iter().map(n_cells).sum();
        n_cells as f64 / self.n_played() as f64
    }

    /// Whether there is never more than one fact, and it jumps: two digits of a
    /// counter, and no token.
    fn is_counter(&self, columns: [usize; 2], axes: [&Axis; 2]) -> bool {
        let place =
            |row: &&[Expression]| [0, 1].map(|at| axes[at].position(&row[columns[at]].to_string()));
        let places: Vec<_> = self.played.iter().flatten().map(place).collect();
        let is_step = |from: Option<usize>, to: Option<usize>| {
            from.zip(to).is_some_and(|(from, to)| from.abs_diff(to) <= 1)
        };
        let jumps =
            |pair: &[[Option<usize>; 2]]| (0..2).any(|axis| !is_step(pair[0][axis], pair[1][axis]));
        self.played.iter().all(|facts| facts.len() <= 1) && places.windows(2).any(jumps)
    }
}

/// The grid in these positions, its axes in the order of the arguments.
pub(super) fn grid(
    orders: &Orders,
    domain: &[Expression],
    positions: &[Vec<Expression>],
) -> Option<Grid> {
    let relations = relations(domain, positions);
    let found = relations.iter().filter_map(|(relation, rows)| {
        // A `base` that mixes letters and numbers says nothing about the board.
        let best = best_layer(relation, rows, orders);
        let best = best.or_else(|| best_layer(relation, &rows.without_domain(), orders));
        let (layer, axes, n_cells) = best?;
        let has_pieces = [layer.n_arguments == 3, layer.n_arguments > 2];
        let n_pieces = rows.n_pieces(layer.columns);
        let alone = (rows.share_alone(layer.columns) * 100.0) as u32;
        Some(((has_pieces, n_cells, alone, Reverse(n_pieces)), layer, axes))
    });
    // One piece on each of many cells, and few kinds of pieces.
    let (_, main, axes) = found.max_by_key(|(rank, ..)| *rank)?;
    let mut layers = vec![main];
    if axes.iter().all(|axis| axis.is_ordered) {
        let main = (layers[0].name.as_str(), layers[0].n_arguments);
        let n_main = relations[&main].n_played();
        let further: Vec<Layer> = relations
            .iter()
            .filter(|(relation, _)| **relation != main)
            // With as many pieces it is a board of its own.
            .filter(|((_, n_arguments), rows)| *n_arguments == 2 || 2 * rows.n_played() < n_main)
            .filter_map(|(relation, rows)| further_layer(relation, rows, &axes))
            .collect();
        layers.extend(further);
    }
    Some(Grid { layers, axes })
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

fn relations<'a>(
    domain: &'a [Expression],
    positions: &'a [Vec<Expression>],
) -> BTreeMap<Relation<'a>, Rows<'a>> {
    let mut relations: BTreeMap<_, Rows<'_>> = BTreeMap::new();
    let played = positions.iter().enumerate();
    let played = played.flat_map(|(at, facts)| facts.iter().map(move |fact| (Some(at), fact)));
    for (at, fact) in domain.iter().map(|fact| (None, fact)).chain(played) {
        if let Expression::List(items) = fact
            && let Some((Expression::Atom(name), arguments)) = items.split_first()
            && (2..=4).contains(&arguments.len())
        {
            let rows = relations.entry((name.as_str(), arguments.len())).or_default();
            match at {
                None => rows.domain.push(arguments),
                Some(at) => {
                    rows.played.resize(at + 1, Vec::new());
                    rows.played[at].push(arguments);
                }
            }
        }
    }
    relations.retain(|_, rows| rows.n_played() > 0);
    relations
}

/// The pairs of arguments that may be coordinates, the likeliest first.
fn pairs(n_arguments: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..n_arguments).flat_map(move |left| (left + 1..n_arguments).map(move |right| [left, right]))
}

/// The grid that a relation forms by itself, and the number of cells seen.
fn best_layer(
    &(name, n_arguments): &Relation<'_>,
    rows: &Rows<'_>,
    orders: &Orders,
) -> Option<(Layer, [Axis; 2], usize)> {
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
        let layer = Layer { name: name.to_owned(), n_arguments, columns };
        (is_grid && is_board).then_some((is_ordered, (layer, [first, second], n_cells)))
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

/// A relation over coordinates of the board's axes; `None` also if it is not
/// clear which of its arguments they are.
fn further_layer(
    &(name, n_arguments): &Relation<'_>,
    rows: &Rows<'_>,
    axes: &[Axis; 2],
) -> Option<Layer> {
    let lies_on = |column: usize, axis: &Axis| {
        rows.values(column).iter().all(|value| axis.position(value).is_some())
    };
    let on_board =
        |&[first, second]: &[usize; 2]| lies_on(first, &axes[0]) && lies_on(second, &axes[1]);
    let mut found = pairs(n_arguments)
        .filter_map(|[left, right]| [[left, right], [right, left]].into_iter().find(on_board));
    let columns = found.next()?;
    let layer = Layer { name: name.to_owned(), n_arguments, columns };
    found.next().is_none().then_some(layer)
}
