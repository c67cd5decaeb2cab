//! Matrix games: the mixed strategy with the best guaranteed expectation (von Neumann
//! 1928), found by linear programming.

/// The most steps of the simplex method, far above what its matrices take.
const MAX_PIVOTS: usize = 100_000;

/// The value of the matrix game for the rows' player, who maximises, and an
/// optimal mixed strategy.
///
/// With all entries made positive the columns' player maximises the sum of `y`
/// under `rows * y <= 1, y >= 0`; the value is one over that sum, and the dual
/// solution, scaled by the value, is the rows' strategy. Bland's rule keeps the
/// simplex method from cycling.
///
/// ```
/// // Matching pennies.
/// let (value, strategy) = games::solve::matrix::solve(&[vec![100.0, 0.0], vec![0.0, 100.0]]);
/// assert!((value - 50.0).abs() < 1e-9);
/// assert!(strategy.iter().all(|share| (share - 0.5).abs() < 1e-9));
/// ```
///
/// # Panics
/// If there is no row.
#[must_use]
pub fn solve(rows: &[Vec<f64>]) -> (f64, Vec<f64>) {
    const TOLERANCE: f64 = 1e-9;
    let (n_rows, n_columns) = (rows.len(), rows[0].len());
    let lowest = rows.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let shift = 1.0 - lowest;
    // Each line of the tableau: columns, slacks, right-hand side.
    let width = n_columns + n_rows + 1;
    let mut tableau: Vec<Vec<f64>> = (0..n_rows)
        .map(|line| {
            let mut cells = vec![0.0; width];
            for (cell, value) in cells.iter_mut().zip(&rows[line]) {
                *cell = value + shift;
            }
            cells[n_columns + line] = 1.0;
            cells[width - 1] = 1.0;
            cells
        })
        .collect();
    let mut objective = vec![0.0; width];
    objective[..n_columns].fill(-1.0);
    let mut basis: Vec<usize> = (n_columns..n_columns + n_rows).collect();
    // Rounding could undo Bland's promise; what is found by then is good enough.
    for _ in 0..MAX_PIVOTS {
        let entering = objective[..width - 1].iter().position(|&cost| cost < -TOLERANCE);
        let Some(entering) = entering else { break };
        let mut leaving: Option<(usize, f64)> = None;
        for (line, cells) in tableau.iter().enumerate() {
            if cells[entering] > TOLERANCE {
                let ratio = cells[width - 1] / cells[entering];
                let is_better = leaving.is_none_or(|(other, least)| {
                    ratio < least - TOLERANCE
                        || (ratio <= least + TOLERANCE && basis[line] < basis[other])
                });
                if is_better {
                    leaving = Some((line, ratio));
                }
            }
        }
        let Some((line, _)) = leaving else { break };
        pivot(&mut tableau, &mut objective, line, entering);
        basis[line] = entering;
    }
    let value = 1.0 / objective[width - 1];
    let strategy = objective[n_columns..width - 1].iter().map(|share| share.max(0.0) * value);
    (value - shift, strategy.collect())
}

/// The value of a matrix with a saddle point, and the rows that reach it: no strategy is
/// better than one of these rows. They share the probability evenly.
///
/// # Panics
/// If there is no row.
#[must_use]
pub fn saddle(rows: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
    let least = |row: &Vec<f64>| row.iter().copied().fold(f64::INFINITY, f64::min);
    let guaranteed = rows.iter().map(least).fold(f64::NEG_INFINITY, f64::max);
    let most = |column: usize| rows.iter().map(|row| row[column]).fold(f64::NEG_INFINITY, f64::max);
    let conceded = (0..rows[0].len()).map(most).fold(f64::INFINITY, f64::min);
    (guaranteed == conceded).then(|| {
        let is_best = |row: &Vec<f64>| least(row) == guaranteed;
        let n_best = rows.iter().filter(|row| is_best(row)).count() as f64;
        let shares = rows.iter().map(|row| if is_best(row) { 1.0 / n_best } else { 0.0 });
        (guaranteed, shares.collect())
    })
}

fn pivot(tableau: &mut [Vec<f64>], objective: &mut [f64], line: usize, column: usize) {
    let scale = tableau[line][column];
    let pivot_line: Vec<f64> = tableau[line].iter().map(|cell| cell / scale).collect();
    let eliminate = |cells: &mut [f64]| {
        let factor = cells[column];
        for (cell, pivot_cell) in cells.iter_mut().zip(&pivot_line) {
            *cell -= factor * pivot_cell;
        }
    };
    for (other, cells) in tableau.iter_mut().enumerate() {
        if other != line {
            eliminate(cells);
        }
    }
    eliminate(objective);
    tableau[line] = pivot_line;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(rows: &[&[f64]], value: f64, strategy: &[f64]) {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
        let (found, mixed) = solve(&rows);
        assert!((found - value).abs() < 1e-6, "{rows:?}: value {found}");
        for (share, expected) in mixed.iter().zip(strategy) {
            assert!((share - expected).abs() < 1e-6, "{rows:?}: {mixed:?}");
        }
    }

    #[test]
    fn known_matrices() {
        check(&[&[42.0]], 42.0, &[1.0]);
        check(&[&[3.0], &[7.0]], 7.0, &[0.0, 1.0]);
        check(&[&[3.0, 7.0]], 3.0, &[1.0]);
        // Matching pennies.
        check(&[&[100.0, 0.0], &[0.0, 100.0]], 50.0, &[0.5, 0.5]);
        // Rock, paper, scissors.
        let third = 1.0 / 3.0;
        check(
            &[&[50.0, 0.0, 100.0], &[100.0, 50.0, 0.0], &[0.0, 100.0, 50.0]],
            50.0,
            &[third, third, third],
        );
        // A saddle point, and a matrix that needs unequal shares.
        check(&[&[40.0, 60.0], &[30.0, 20.0]], 40.0, &[1.0, 0.0]);
        check(&[&[100.0, 0.0], &[0.0, 50.0]], 100.0 / 3.0, &[third, 2.0 * third]);
    }

    proptest! {
        /// The strategy guarantees the value against every column, and no
        /// better is possible, since the columns' player can hold it down:
        /// the value of the negated transpose is its negative.
        #[test]
        fn strategies_are_optimal(
            (n_columns, cells) in (1usize..6, 1usize..6).prop_flat_map(|(n_columns, n_rows)| {
                (Just(n_columns), prop::collection::vec(0u8..=100, n_columns * n_rows))
            }),
        ) {
            let rows: Vec<Vec<f64>> =
                cells.chunks(n_columns).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
            let (value, strategy) = solve(&rows);
            prop_assert!((strategy.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            for column in 0..n_columns {
                let against: f64 = rows.iter().zip(&strategy).map(|(row, share)| row[column] * share).sum();
                prop_assert!(against >= value - 1e-6);
            }
            let transposed: Vec<Vec<f64>> =
                (0..n_columns).map(|column| rows.iter().map(|row| -row[column]).collect()).collect();
            prop_assert!((solve(&transposed).0 + value).abs() < 1e-6);
        }
    }
}
