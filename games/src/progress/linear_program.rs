//! Small linear programs.

/// Numbers that are smaller are taken for rounding errors.
const EPSILON: f64 = 1e-7;

/// Maximum number of entries of the table that all exchanges together compute.
const MAX_WORK: usize = 300_000_000;

/// Numbers `p >= 0` with the least sum of `costs[i] * p[i]` such that for each condition, the sum
/// of `factor * p[i]` over its pairs `(i, factor)` is at least 1, up to rounding errors. `None` if
/// there are none, or if it takes too long. Costs are 0 or more.
///
/// The simplex algorithm (Dantzig 1947) for the dual program, whose first solution is 0.
pub(super) fn least(costs: &[f64], conditions: &[Vec<(usize, f64)>]) -> Option<Vec<f64>> {
    let (n_rows, n_columns) = (costs.len(), conditions.len());
    let mut table: Vec<Vec<f64>> = vec![vec![0.0; n_columns]; n_rows];
    for (column, condition) in conditions.iter().enumerate() {
        for &(row, factor) in condition {
            table[row][column] += factor;
        }
    }
    // Slightly different bounds: with equal ones, exchanges go in circles.
    let shift = |row: usize| 1e-5 * (1.0 + (row * 7919 % 1009) as f64 / 1009.0);
    let mut bounds: Vec<f64> =
        costs.iter().enumerate().map(|(row, cost)| cost + shift(row)).collect();
    let mut gains: Vec<f64> = vec![1.0; n_columns];
    // What a row or column stands for: numbers from `n_rows` on are conditions.
    let mut of_row: Vec<usize> = (0..n_rows).collect();
    let mut of_column: Vec<usize> = (n_rows..n_rows + n_columns).collect();
    for _ in 0..MAX_WORK / (n_rows * n_columns).max(1) {
        let best = (0..n_columns).max_by(|&one, &other| gains[one].total_cmp(&gains[other]))?;
        if gains[best] < EPSILON {
            let mut found = vec![0.0; n_rows];
            for (column, &number) in of_column.iter().enumerate() {
                if number < n_rows {
                    found[number] = -gains[column];
                }
            }
            return Some(found);
        }
        let limits = (0..n_rows).filter(|&row| table[row][best] > EPSILON);
        let ratio = |row: usize| bounds[row] / table[row][best];
        let row = limits.min_by(|&one, &other| ratio(one).total_cmp(&ratio(other)))?;
        let pivot = table[row][best];
        table[row][best] = 1.0;
        table[row].iter_mut().for_each(|value| *value /= pivot);
        bounds[row] /= pivot;
        let (pivot_row, pivot_bound) = (table[row].clone(), bounds[row]);
        let subtract = |from: &mut [f64]| {
            let factor = std::mem::take(&mut from[best]);
            if factor != 0.0 {
                from.iter_mut().zip(&pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
            }
            factor
        };
        for other in (0..n_rows).filter(|&other| other != row) {
            bounds[other] -= subtract(&mut table[other]) * pivot_bound;
        }
        subtract(&mut gains);
        std::mem::swap(&mut of_row[row], &mut of_column[best]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_numbers_are_found() {
        let check = |costs: &[f64], conditions: &[&[(usize, f64)]], expected: Option<&[i64]>| {
            let conditions: Vec<Vec<(usize, f64)>> =
                conditions.iter().map(|condition| condition.to_vec()).collect();
            let found = least(costs, &conditions);
            let rounded: Option<Vec<i64>> =
                found.map(|found| found.iter().map(|value| value.round() as i64).collect());
            assert_eq!(rounded.as_deref(), expected);
        };
        // Two steps down.
        check(
            &[1.0, 0.0, 0.0],
            &[&[(0, 1.0), (1, -1.0)], &[(1, 1.0), (2, -1.0)]],
            Some(&[2, 1, 0]),
        );
        // A circle.
        check(&[1.0, 0.0], &[&[(0, 1.0), (1, -1.0)], &[(1, 1.0), (0, -1.0)]], None);
        // The cheaper of two.
        check(&[3.0, 2.0], &[&[(0, 1.0), (1, 1.0)]], Some(&[0, 1]));
    }
}
