//! Nash averaging: D. Balduzzi et al., "Re-evaluating evaluation" (2018).
//!
//! Two meta-players each choose a player; one wins from the other what its
//! player wins on average. In the equilibrium of greatest entropy every player
//! has a share that copies of others do not change, and a rating: its mean
//! against that mixture. Rock, paper and scissors share; a player that beats all
//! has the whole.
//!
//! The equilibria of a symmetric zero-sum game are a polytope. The central path
//! of interior-point methods leads into its relative interior (A. Goldman & A.
//! Tucker, "Theory of linear programming", 1956: strictly complementary
//! solutions), which tells who is in any equilibrium at all; entropy is then
//! maximised on the polytope by Newton's method with a logarithmic barrier.

use nalgebra::{DMatrix, DVector};

/// Shares and ratings of players.
#[derive(Clone, Debug, PartialEq)]
pub struct NashAverage {
    /// By player: the equilibrium of greatest entropy; adds up to 1.
    pub shares: Vec<f64>,
    /// By player: its mean against the equilibrium, in the unit of the payoffs.
    /// 0 for those with a share, at most 0 for all others.
    pub ratings: Vec<f64>,
}

/// What is 0 in a matrix whose largest entry is 1.
const NOTHING: f64 = 1e-9;

/// The Nash average of `payoffs`, where `payoffs[i][j]` is what player `i` wins
/// on average from player `j`, and `payoffs[j][i]` the opposite. Only the
/// antisymmetric part is used.
///
/// # Panics
/// If the matrix is not square, or has an entry that is not finite.
#[must_use]
pub fn nash_average(payoffs: &[Vec<f64>]) -> NashAverage {
    let n = payoffs.len();
    assert!(payoffs.iter().all(|row| row.len() == n), "a square matrix");
    let raw = DMatrix::from_fn(n, n, |i, j| (payoffs[i][j] - payoffs[j][i]) / 2.0);
    assert!(raw.iter().all(|payoff| payoff.is_finite()), "payoffs are finite");
    let size = raw.iter().fold(0.0, |most: f64, payoff| most.max(payoff.abs()));
    let shares = if size == 0.0 {
        DVector::from_element(n, 1.0 / n as f64)
    } else {
        greatest_entropy(&(&raw / size))
    };
    let ratings = &raw * &shares;
    NashAverage {
        shares: shares.iter().copied().collect(),
        ratings: ratings.iter().copied().collect(),
    }
}

/// The equilibrium of greatest entropy of a game with payoffs up to 1.
fn greatest_entropy(game: &DMatrix<f64>) -> DVector<f64> {
    // Measured payoffs are seldom level, and then there is one equilibrium, which the
    // simplex method finds some hundred times as fast.
    if let Some(only) = only_equilibrium(game) {
        return only;
    }
    let n = game.nrows();
    let (centre, slack) = central_equilibrium(game);
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|&player| centre[player] > slack[player]);
    // Shares p of those inside: their payoffs against p are 0, shares add up to
    // 1. Those outside must not win against p.
    let mut fixed = game.select_rows(&inside).select_columns(&inside);
    let k = inside.len();
    fixed = fixed.insert_row(k, 1.0);
    let free = null_space(&fixed);
    let wins = game.select_rows(&outside).select_columns(&inside);
    let total: f64 = inside.iter().map(|&player| centre[player]).sum();
    let start = DVector::from_fn(k, |index, _| centre[inside[index]] / total);
    let shares = maximise_entropy(start, &free, &wins);
    let mut all = DVector::zeros(n);
    for (&player, share) in inside.iter().zip(shares.iter()) {
        all[player] = *share;
    }
    all
}

/// What is 0 among entries of the simplex tableau, which are of the size of 1.
const PIVOT: f64 = 1e-7;

/// The equilibrium, if there is only one: a linear program solved by the simplex
/// method (G. Dantzig, "A proof of the equivalence of the programming problem and
/// the game problem", 1951). With all payoffs raised by 2, shares `p` over the
/// game's value maximise their sum under `(game + 2) p <= 1`. `None` if there are
/// others, or it cannot be told.
fn only_equilibrium(game: &DMatrix<f64>) -> Option<DVector<f64>> {
    let n = game.nrows();
    // The condensed tableau: rows of basic variables, columns of others; the last
    // column holds values, the last row what a variable would gain.
    let mut tableau = DMatrix::from_element(n + 1, n + 1, 1.0);
    for row in 0..n {
        for column in 0..n {
            tableau[(row, column)] = game[(row, column)] + 2.0;
        }
    }
    tableau[(n, n)] = 0.0;
    // Shares are numbered from 0, slacks from n.
    let mut basic: Vec<usize> = (n..2 * n).collect();
    let mut others: Vec<usize> = (0..n).collect();
    for _ in 0..20 * n {
        let gain = |column: usize| tableau[(n, column)];
        let best = (0..n).max_by(|&a, &b| gain(a).total_cmp(&gain(b)))?;
        if gain(best) < -PIVOT {
            return shares_of(&tableau, &basic);
        }
        if gain(best) <= PIVOT {
            // Another variable could come in at no loss: another equilibrium.
            return None;
        }
        let ratio = |row: usize| tableau[(row, n)] / tableau[(row, best)];
        let bounds = (0..n).filter(|&row| tableau[(row, best)] > PIVOT);
        let leaving = bounds.min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)))?;
        pivot(&mut tableau, leaving, best);
        std::mem::swap(&mut basic[leaving], &mut others[best]);
    }
    None
}

/// `None` if a share or slack of the basis is 0: then the other player's shares
/// might be others.
fn shares_of(tableau: &DMatrix<f64>, basic: &[usize]) -> Option<DVector<f64>> {
    let n = basic.len();
    let mut shares = DVector::zeros(n);
    for (row, &variable) in basic.iter().enumerate() {
        let value = tableau[(row, n)];
        if value <= PIVOT {
            return None;
        }
        if variable < n {
            shares[variable] = value;
        }
    }
    let sum = shares.sum();
    Some(shares / sum)
}

/// Exchanges the basic variable of `row` and the other one of `column`.
fn pivot(tableau: &mut DMatrix<f64>, row: usize, column: usize) {
    let (n_rows, n_columns) = tableau.shape();
    let inverse = 1.0 / tableau[(row, column)];
    let pivot_column: Vec<f64> = tableau.column(column).iter().copied().collect();
    for j in (0..n_columns).filter(|&j| j != column) {
        let scaled = tableau[(row, j)] * inverse;
        tableau[(row, j)] = scaled;
        for i in (0..n_rows).filter(|&i| i != row) {
            tableau[(i, j)] -= pivot_column[i] * scaled;
        }
    }
    for i in 0..n_rows {
        tableau[(i, column)] = if i == row { inverse } else { -pivot_column[i] * inverse };
    }
}

/// A point near the end of the central path: shares `p` and slacks `s` with
/// `p_i s_i` equal and small, where `s` is what the game's value, a little above
/// 0, exceeds each player's payoff by.
fn central_equilibrium(game: &DMatrix<f64>) -> (DVector<f64>, DVector<f64>) {
    let n = game.nrows();
    let mut p = DVector::from_element(n, 1.0 / n as f64);
    let mut value = 2.0;
    loop {
        for _ in 0..50 {
            let slack = (game * &p).map(|payoff| value - payoff);
            let residual = DVector::from_fn(n, |i, _| value / n as f64 - p[i] * slack[i]);
            // On the way it suffices to be near the path.
            let near = if value < 3e-12 { 1e-6 } else { 0.3 };
            if residual.amax() < near * value / n as f64 {
                break;
            }
            // Rows are divided by the shares, which keeps them of one size.
            let jacobian = DMatrix::from_diagonal(&slack.component_div(&p)) - game;
            let Some(step) = jacobian.lu().solve(&residual.component_div(&p)) else { break };
            let next = (0..60).map(|halvings| &p + &step * 0.5f64.powi(halvings)).find(|next| {
                let slack = (game * next).map(|payoff| value - payoff);
                next.min() > 0.0 && slack.min() > 0.0
            });
            let Some(next) = next else { break };
            p = next;
        }
        if value < 1e-12 {
            let slack = (game * &p).map(|payoff| value - payoff);
            return (p, slack);
        }
        value *= 0.3;
        // Keep inside: a smaller value leaves less slack.
        let worst = (game * &p).max();
        if worst >= value {
            value = worst + (value / 0.3 - worst) / 2.0;
        }
    }
}

/// A basis of the vectors that `matrix` maps to 0, one a column.
fn null_space(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let square = matrix.transpose() * matrix;
    let eigen = square.symmetric_eigen();
    let most = eigen.eigenvalues.amax();
    let zero: Vec<usize> = (0..eigen.eigenvalues.len())
        .filter(|&index| eigen.eigenvalues[index].abs() <= NOTHING * most)
        .collect();
    eigen.eigenvectors.select_columns(&zero)
}

/// Moves from `start` along `free` to the greatest entropy at which `wins` times
/// the shares is still negative.
fn maximise_entropy(start: DVector<f64>, free: &DMatrix<f64>, wins: &DMatrix<f64>) -> DVector<f64> {
    if free.ncols() == 0 {
        return start;
    }
    let mut p = start;
    let objective = |p: &DVector<f64>, barrier: f64| -> Option<f64> {
        let slack = -(wins * p);
        if p.min() <= 0.0 || slack.iter().any(|&slack| slack <= 0.0) {
            return None;
        }
        let entropy: f64 = p.iter().map(|p| -p * p.ln()).sum();
        let logs: f64 = slack.iter().map(|slack| slack.ln()).sum();
        Some(entropy + barrier * logs)
    };
    let mut barrier = if wins.nrows() == 0 { 0.0 } else { 0.1 };
    loop {
        for _ in 0..50 {
            let Some(now) = objective(&p, barrier) else { break };
            let inverse_slack = (wins * &p).map(|payoff| -1.0 / payoff);
            let slope = p.map(|p| -p.ln() - 1.0) - wins.transpose() * &inverse_slack * barrier;
            let curvature = DMatrix::from_diagonal(&p.map(|p| 1.0 / p))
                + wins.transpose()
                    * DMatrix::from_diagonal(&inverse_slack.map(|s| barrier * s * s))
                    * wins;
            let along = free.transpose() * slope;
            let Some(cholesky) = (free.transpose() * curvature * free).cholesky() else { break };
            let step = free * cholesky.solve(&along);
            let better = (0..60)
                .map(|halvings| &p + &step * 0.5f64.powi(halvings))
                .find(|next| objective(next, barrier).is_some_and(|next| next >= now));
            let Some(next) = better else { break };
            p = next;
            if step.amax() < 1e-13 {
                break;
            }
        }
        if barrier < 1e-13 {
            return p;
        }
        barrier *= 0.1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(payoffs: &[&[f64]], expected: &[f64]) {
        let payoffs: Vec<Vec<f64>> = payoffs.iter().map(|row| row.to_vec()).collect();
        let found = nash_average(&payoffs);
        for (found, expected) in found.shares.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-7, "{found} is not {expected}");
        }
    }

    #[test]
    fn cycles_share_and_the_best_takes_all() {
        check(&[&[0.0]], &[1.0]);
        check(&[&[0.0, 3.0], &[-3.0, 0.0]], &[1.0, 0.0]);
        // A cycle with unequal stakes: each has the stake of the others' match.
        check(
            &[&[0.0, 1.0, -2.0], &[-1.0, 0.0, 3.0], &[2.0, -3.0, 0.0]],
            &[0.5, 1.0 / 3.0, 1.0 / 6.0],
        );
    }

    /// The paper's example: a copy of a player shares with the original.
    #[test]
    fn copies_do_not_change_the_others() {
        let third = 1.0 / 3.0;
        check(
            &[
                &[0.0, 1.0, -1.0, -1.0],
                &[-1.0, 0.0, 1.0, 1.0],
                &[1.0, -1.0, 0.0, 0.0],
                &[1.0, -1.0, 0.0, 0.0],
            ],
            &[third, third, third / 2.0, third / 2.0],
        );
    }

    /// Half of the first two is an equilibrium of the first two; the third would
    /// win against the first alone.
    #[test]
    fn who_is_outside_may_bound_the_mixture() {
        // The third wins 1 from the first and loses 3 to the second: the first
        // may have three quarters at most, and a half is within that.
        check(&[&[0.0, 0.0, -1.0], &[0.0, 0.0, 3.0], &[1.0, -3.0, 0.0]], &[0.5, 0.5, 0.0]);
        // Here it may have a quarter at most.
        check(&[&[0.0, 0.0, -3.0], &[0.0, 0.0, 1.0], &[3.0, -1.0, 0.0]], &[0.25, 0.75, 0.0]);
    }

    /// Random payoffs of many players, on which both methods agree.
    #[test]
    fn the_only_equilibrium_is_that_of_greatest_entropy() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        for n in [2, 3, 10, 20] {
            let mut game = DMatrix::zeros(n, n);
            for i in 0..n {
                for j in 0..i {
                    game[(i, j)] = random();
                    game[(j, i)] = -game[(i, j)];
                }
            }
            let only = only_equilibrium(&game).expect("random payoffs have one equilibrium");
            assert!((&game * &only).max() < 1e-12);
            let (centre, slack) = central_equilibrium(&game);
            for player in 0..n {
                let inside = centre[player] > slack[player];
                assert_eq!(inside, only[player] > 0.0);
                assert!((centre[player] / centre.sum() - only[player]).abs() < 1e-6);
            }
        }
        assert_eq!(only_equilibrium(&DMatrix::zeros(3, 3)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn nobody_wins_against_the_equilibrium(entries in proptest::collection::vec(-3i32..=3, 15)) {
            let mut payoffs = vec![vec![0.0; 6]; 6];
            let pairs = (0..6).flat_map(|i| (0..i).map(move |j| (i, j)));
            for ((i, j), payoff) in pairs.zip(entries) {
                payoffs[i][j] = f64::from(payoff);
                payoffs[j][i] = -payoffs[i][j];
            }
            let found = nash_average(&payoffs);
            prop_assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(found.shares.iter().all(|&share| share >= 0.0));
            prop_assert!(found.ratings.iter().all(|&rating| rating < 1e-6), "{:?}", found);
            // The same for players in another order.
            let rotated: Vec<Vec<f64>> =
                (0..6).map(|i| (0..6).map(|j| payoffs[(i + 1) % 6][(j + 1) % 6]).collect()).collect();
            let other = nash_average(&rotated);
            for i in 0..6 {
                prop_assert!((other.shares[i] - found.shares[(i + 1) % 6]).abs() < 1e-5);
            }
        }
    }
}
