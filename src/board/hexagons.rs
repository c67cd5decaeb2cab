//! Whether the cells of a grid are hexagons: whether they have six neighbours.

use std::collections::{BTreeMap, BTreeSet};

use super::grid::Grid;

/// The slant of a grid of hexagons: besides the cells beside it in both coordinates
/// a cell touches two on a diagonal. 1 if both coordinates of these change alike,
/// -1 if one grows where the other shrinks. `None` if no relation of the rules is
/// one of six neighbours.
pub(super) fn slant(grid: &Grid, rows: &BTreeMap<String, Vec<Vec<String>>>) -> Option<i32> {
    rows.values().find_map(|rows| {
        let mut steps = BTreeSet::new();
        for row in rows {
            let step = step(grid, row)?;
            steps.extend([step, step.map(|part| -part)]);
        }
        let beside = [[1, 0], [-1, 0], [0, 1], [0, -1]];
        let is_hexagon = steps.len() == 6 && beside.iter().all(|step| steps.contains(step));
        let slant = if steps.contains(&[1, 1]) { 1 } else { -1 };
        (is_hexagon && steps.contains(&[1, slant])).then_some(slant)
    })
}

/// The step between the two cells that a row of four coordinates names.
pub(super) fn step(grid: &Grid, row: &[String]) -> Option<[i32; 2]> {
    let [first, second, to_first, to_second] = row else { return None };
    let along = |axis: usize, from: &str, to: &str| {
        let place =
            |name: &str| grid.axes[axis].position(name).and_then(|at| i32::try_from(at).ok());
        Some(place(to)? - place(from)?)
    };
    let straight = || Some([along(0, first, to_first)?, along(1, second, to_second)?]);
    let crossed = || Some([along(0, second, to_second)?, along(1, first, to_first)?]);
    straight().or_else(crossed)
}
