//! Walls: cells beside each other between which no way leads by the rules.
//!
//! Ways are the rows of a relation that leads from cells to cells beside them, such as
//! `(door east ?r ?c ?s ?d)`, and that legal moves depend on without a negation. Where it leaves
//! out some of the pairs of cells beside each other, there is a wall between these. A relation of
//! all these pairs says nothing of ways; of several others, each may be used. On boards that do
//! not fill their grid, cells beside each other need not touch, so these have no walls.

use std::collections::{BTreeMap, BTreeSet};

use super::grid::Grid;
use super::orientation::Orientation;

/// At least this share of the pairs of cells beside each other has a way, so that the relation
/// is one of ways and not of something rare.
const MIN_SHARE: f64 = 0.3;

/// Column and row of a cell.
type Cell = [usize; 2];

/// Walls between the cells of a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Walls(BTreeSet<[Cell; 2]>);

impl Walls {
    /// The walls between the cells of a grid. `rows` are the relations that the rules state, of
    /// which those that are `allowing` may be ways; `orientation` is what the grid was turned by.
    pub(super) fn find(
        grid: &Grid,
        orientation: Orientation,
        rows: &BTreeMap<String, Vec<Vec<String>>>,
        allowing: &BTreeSet<String>,
    ) -> Self {
        let pairs: BTreeSet<[Cell; 2]> = pairs(grid).collect();
        let is_along = |pair: &[Cell; 2], axis: usize| pair[0][axis] != pair[1][axis];
        let n_enough = (MIN_SHARE * pairs.len() as f64).ceil() as usize;
        let ways_of = |rows: &Vec<Vec<String>>| {
            let ways: BTreeSet<[Cell; 2]> =
                rows.iter().map(|row| way(grid, orientation, row)).collect::<Option<_>>()?;
            let goes = |axis| ways.iter().any(|way| is_along(way, axis));
            let is_partial = n_enough <= ways.len() && ways.len() < pairs.len();
            (goes(0) && goes(1) && is_partial).then_some(ways)
        };
        let leading = rows.iter().filter(|(relation, _)| allowing.contains(*relation));
        let ways: BTreeSet<[Cell; 2]> =
            leading.filter_map(|(_, rows)| ways_of(rows)).flatten().collect();
        // A cell without any way is an obstacle itself, and needs no walls.
        let open: BTreeSet<Cell> = ways.iter().flatten().copied().collect();
        let walls = pairs.difference(&ways).copied();
        Self(walls.filter(|pair| pair.iter().all(|cell| open.contains(cell))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a wall between a cell and the one to its right.
    pub(super) fn is_right_of(&self, [column, row]: Cell) -> bool {
        self.0.contains(&[[column, row], [column + 1, row]])
    }

    /// Whether there is a wall between a cell and the one above it.
    pub(super) fn is_above(&self, [column, row]: Cell) -> bool {
        self.0.contains(&[[column, row], [column, row + 1]])
    }
}

/// All pairs of cells beside each other, the left or lower one first.
fn pairs(grid: &Grid) -> impl Iterator<Item = [Cell; 2]> {
    let [n_columns, n_rows] = [0, 1].map(|axis| grid.axes[axis].values.len());
    let cells = (0..n_columns).flat_map(move |column| (0..n_rows).map(move |row| [column, row]));
    let pairs = cells.flat_map(|[column, row]| {
        [[column + 1, row], [column, row + 1]].map(|beside| [[column, row], beside])
    });
    pairs.filter(move |[_, [column, row]]| *column < n_columns && *row < n_rows)
}

/// The pair of cells beside each other that a row names, besides words that are no coordinates.
fn way(grid: &Grid, orientation: Orientation, row: &[String]) -> Option<[Cell; 2]> {
    let is_place = |word: &&String| grid.axes.iter().any(|axis| axis.position(word).is_some());
    let words: Vec<&String> = row.iter().filter(is_place).collect();
    let [first, second, to_first, to_second] = words[..] else { return None };
    let cell = |first: &String, second: &String| {
        let [across, up] =
            if orientation.is_first_vertical { [second, first] } else { [first, second] };
        Some([grid.axes[0].position(across)?, grid.axes[1].position(up)?])
    };
    let mut way = [cell(first, second)?, cell(to_first, to_second)?];
    way.sort_unstable();
    let [from, to] = way;
    let n_steps = from[0].abs_diff(to[0]) + from[1].abs_diff(to[1]);
    (n_steps == 1).then_some(way)
}
