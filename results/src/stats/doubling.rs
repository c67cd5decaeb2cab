//! What a doubling of the time to think is worth: a line through block
//! differences over the logarithm of the budget.
//!
//! Ordinary least squares with errors robust to unequal variances (HC1: J.
//! MacKinnon & H. White, 1985), since differences spread less where one player
//! wins everything. Each block is at one budget, so that blocks are clusters of
//! their own. A line is a summary: strength over time levels off in the end, and
//! the means at each budget should be looked at as well.

use crate::stats::block::BlockScore;
use crate::stats::interval::unlike_blocks;
use crate::stats::student::t_quantile;

/// The slope of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerDoubling {
    /// Points gained with each doubling.
    pub points: f64,
    /// Robust standard error.
    pub standard_error: f64,
    /// Interval at the level asked for, by Student's t.
    pub interval: [f64; 2],
    /// Points at a budget of 1.
    pub at_one: f64,
}

/// The line through `(budget, points)` of blocks, at `level` such as 0.95, where
/// points lie within `bounds`. Budgets may be in any unit. Where all blocks lie on
/// the line, the interval says what blocks that were not seen could weigh, as
/// [`unlike_blocks`] does for means. `None` for less than three blocks or two budgets,
/// or if a budget is not positive.
#[must_use]
pub fn per_doubling(blocks: &[(f64, f64)], level: f64, bounds: [f64; 2]) -> Option<PerDoubling> {
    let n = blocks.len() as f64;
    if blocks.len() < 3 || blocks.iter().any(|(budget, _)| *budget <= 0.0) {
        return None;
    }
    let mean = |values: &dyn Fn(&(f64, f64)) -> f64| blocks.iter().map(values).sum::<f64>() / n;
    let (middle, level_of_points) = (mean(&|(b, _)| b.log2()), mean(&|(_, points)| *points));
    let spread: f64 = blocks.iter().map(|(b, _)| (b.log2() - middle).powi(2)).sum();
    if spread < 1e-12 {
        return None;
    }
    let slope =
        blocks.iter().map(|(b, y)| (b.log2() - middle) * (y - level_of_points)).sum::<f64>()
            / spread;
    let at_one = level_of_points - slope * middle;
    let meat: f64 = (blocks.iter())
        .map(|(b, y)| ((b.log2() - middle) * (y - at_one - slope * b.log2())).powi(2))
        .sum();
    let standard_error = (meat * n / (n - 2.0)).sqrt() / spread;
    let half = t_quantile((1.0 + level) / 2.0, n - 2.0) * standard_error;
    let interval = if meat.sqrt() > 1e-9 * (bounds[1] - bounds[0]) * spread.sqrt() {
        [slope - half, slope + half]
    } else {
        // A block pulls the line up or down by its distance from the middle.
        let reach = |up: f64| {
            let pulls = blocks.iter().map(|(b, y)| {
                let pull = up * (b.log2() - middle) / spread;
                pull * (bounds[usize::from(pull > 0.0)] - y)
            });
            unlike_blocks(&[(pulls.sum(), blocks.len())], (1.0 - level) / 2.0)
        };
        [slope - reach(-1.0), slope + reach(1.0)]
    };
    Some(PerDoubling { points: slope, standard_error, interval, at_one })
}

/// Budget and points of each block: nodes for each move if they are what is
/// counted, else the play clock in milliseconds. Blocks of one game, or of games
/// that all have the same budgets.
#[must_use]
pub fn budgets(blocks: &[BlockScore]) -> Vec<(f64, f64)> {
    let budget = |block: &BlockScore| {
        let stratum = &block.stratum;
        stratum.nodes.unwrap_or(stratum.play_clock_ms) as f64
    };
    blocks.iter().map(|block| (budget(block), block.difference.points())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::block::made_up;

    const BOUNDS: [f64; 2] = [-100.0, 100.0];

    #[test]
    fn a_line_is_found() {
        let blocks = [(1.0, 2.0), (2.0, 5.0), (4.0, 8.0), (8.0, 11.0)];
        let found = per_doubling(&blocks, 0.95, BOUNDS).unwrap();
        assert!((found.points - 3.0).abs() < 1e-9 && (found.at_one - 2.0).abs() < 1e-9);
        assert!(found.standard_error < 1e-9);
        // All blocks on the line say little of those that were not seen.
        let [low, high] = found.interval;
        assert!(low < -10.0 && high > 10.0 && low.is_finite() && high.is_finite(), "{found:?}");
        let many = per_doubling(&blocks.repeat(1000), 0.95, BOUNDS).unwrap();
        assert!(many.interval[0] < 3.0 && many.interval[0] > 2.8, "{many:?}");
    }

    /// For two budgets the slope is the difference of means, and HC1 its
    /// variance, with n - 2 in place of n.
    #[test]
    fn two_budgets_are_a_difference_of_means() {
        let low = [1.0, 3.0, 8.0, 4.0];
        let high = [9.0, 2.0, 7.0, 14.0];
        let of = |budget: f64, points: [f64; 4]| points.map(|points| (budget, points));
        let blocks = [of(100.0, low), of(200.0, high)].concat();
        let found = per_doubling(&blocks, 0.95, BOUNDS).unwrap();
        assert!((found.points - (8.0 - 4.0)).abs() < 1e-9);
        let squares =
            |points: [f64; 4], mean: f64| points.map(|p| (p - mean).powi(2)).iter().sum::<f64>();
        let variance = (squares(low, 4.0) + squares(high, 8.0)) / 16.0 * 8.0 / 6.0;
        assert!((found.standard_error - variance.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn one_budget_is_no_line() {
        assert_eq!(per_doubling(&[(1.0, 2.0); 5], 0.95, BOUNDS), None);
        assert_eq!(per_doubling(&[(1.0, 2.0), (2.0, 3.0)], 0.95, BOUNDS), None);
        assert_eq!(per_doubling(&[(0.0, 2.0), (2.0, 3.0), (4.0, 3.0)], 0.95, BOUNDS), None);
        assert_eq!(budgets(&made_up([7])), [(1000.0, 7.0)]);
    }
}
