//! Towers: things of different sizes that are piled up on places, as the disks of
//! Hanoi are on pegs.

use std::collections::BTreeSet;

use games::Expression;

use super::axis::Orders;
use super::grid::Grid;

/// The grid with the places as its columns and the things as its rows, the largest
/// lowest; `None` unless the facts are of things each of which is always at one
/// place, and at first all at the same.
pub(super) fn towers(grid: &Grid, orders: &Orders, positions: &[Vec<Expression>]) -> Option<Grid> {
    if grid.layers[0].n_arguments != 2 {
        return None;
    }
    let thing = (0..2).find(|&axis| is_piled(grid, axis, positions))?;
    let mut grid = Grid { layers: vec![grid.layers[0].clone()], axes: grid.axes.clone() };
    if thing == 0 {
        grid.axes.swap(0, 1);
        grid.layers[0].columns.swap(0, 1);
    }
    // By their names the first is the smallest, unless the rules say otherwise.
    if !orders.shrinks(&grid.axes[1].values) {
        grid.axes[1].values.reverse();
    }
    Some(grid)
}

/// Whether the values of an axis are things that are always somewhere, at first
/// at the same place.
fn is_piled(grid: &Grid, axis: usize, positions: &[Vec<Expression>]) -> bool {
    let located = |facts: &Vec<Expression>| -> Vec<[usize; 2]> {
        let located = facts.iter().filter_map(|fact| grid.locate(fact));
        located.filter(|located| located.layer == 0).map(|located| located.at).collect()
    };
    let n_things = grid.axes[axis].values.len();
    let is_everywhere = positions.iter().all(|facts| {
        let cells = located(facts);
        let things: BTreeSet<usize> = cells.iter().map(|at| at[axis]).collect();
        cells.len() == n_things && things.len() == n_things
    });
    let first: BTreeSet<usize> = positions
        .first()
        .map_or_else(BTreeSet::new, |facts| located(facts).iter().map(|at| at[1 - axis]).collect());
    n_things > 1 && is_everywhere && first.len() == 1
}
