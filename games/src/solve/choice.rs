//! What a state is worth and which moves are best, from the values of its successors.

use super::matrix;

/// Values that differ by no more are equal.
pub const TOLERANCE: f64 = 1e-9;

/// Best play in one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// By role: the expected reward. 0 for the role `random`.
    pub value: Vec<f64>,
    /// By role: the probability of each of its moves under best play. Where a role
    /// chooses alone, its best moves share the probability evenly; where the value is
    /// mixed, these are the mixed strategies. Moves of `random` are equally likely.
    pub strategies: Vec<Vec<f64>>,
}

/// Roles choose at the same time, and their rewards give no value: neither is the sum of the
/// rewards of two roles constant, nor does removing dominated moves leave one joint move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoValue;

/// Best play in a state with these numbers of moves by role, whose successors have these
/// values. The successors are in the order of joint moves, the last role's move changing
/// first; `chance` is the role that moves by chance.
///
/// - If one role chooses, it takes a successor with its highest reward. Among several
///   of these, the value of the state is that of the one with the least total reward of
///   the other roles, then of the one whose rewards come first in the order of the
///   roles, the least first.
/// - Chance gives the mean, also where it moves at the same time as others: nobody knows
///   its move then.
/// - If several roles choose at the same time, moves that are strictly dominated by another move
///   are removed until none is left. If one joint move remains, it is played. If two
///   roles have a choice left and the sum of their rewards is constant, each plays a
///   strategy with the best guaranteed expectation.
///
/// ```
/// use games::solve::choice::resolve;
///
/// // Two roles; the second has two moves and prefers the second one.
/// let values = [vec![100.0, 0.0], vec![30.0, 70.0]];
/// let best = resolve(&[1, 2], None, &mut |at| &values[at]).expect("one role chooses");
/// assert_eq!(best.value, [30.0, 70.0]);
/// assert_eq!(best.strategies[1], [0.0, 1.0]);
/// ```
///
/// # Errors
/// If the rewards give no value.
pub fn resolve<'a>(
    counts: &[usize],
    chance: Option<usize>,
    successor: &mut dyn FnMut(usize) -> &'a [f64],
) -> Result<Resolved, NoValue> {
    let n_roles = counts.len();
    // Chance first: the mean for each profile of the others' moves.
    let n_chance = chance.map_or(1, |role| counts[role]);
    let others: Vec<usize> = (0..n_roles).filter(|&role| Some(role) != chance).collect();
    let mut strides = vec![1; n_roles];
    for role in (0..n_roles.saturating_sub(1)).rev() {
        strides[role] = strides[role + 1] * counts[role + 1];
    }
    let n_profiles: usize = others.iter().map(|&role| counts[role]).product();
    let mut profiles: Vec<Vec<f64>> = Vec::with_capacity(n_profiles);
    let mut chosen = vec![0; n_roles];
    for _ in 0..n_profiles {
        let base: usize = others.iter().map(|&role| chosen[role] * strides[role]).sum();
        let mut mean = vec![0.0; n_roles];
        for luck in 0..n_chance {
            let at = base + chance.map_or(0, |role| luck * strides[role]);
            for (mean, value) in mean.iter_mut().zip(successor(at)) {
                *mean += value;
            }
        }
        mean.iter_mut().for_each(|value| *value /= n_chance as f64);
        profiles.push(mean);
        for &role in others.iter().rev() {
            chosen[role] += 1;
            if chosen[role] < counts[role] {
                break;
            }
            chosen[role] = 0;
        }
    }
    let sure = |role: usize| vec![1.0 / counts[role] as f64; counts[role]];
    let mut strategies: Vec<Vec<f64>> = (0..n_roles).map(sure).collect();
    let choosing: Vec<usize> = others.iter().copied().filter(|&role| counts[role] > 1).collect();
    match choosing[..] {
        [] => Ok(Resolved { value: profiles.swap_remove(0), strategies }),
        [role] => {
            let best = best(&profiles, role);
            let top = profiles[best][role];
            let is_best = |value: &Vec<f64>| value[role] >= top - TOLERANCE;
            let n_best = profiles.iter().filter(|&value| is_best(value)).count();
            let share = |value: &Vec<f64>| if is_best(value) { 1.0 / n_best as f64 } else { 0.0 };
            strategies[role] = profiles.iter().map(share).collect();
            Ok(Resolved { value: profiles.swap_remove(best), strategies })
        }
        _ => {
            let table = Profiles { counts, others: &others, values: &profiles };
            let value = table.resolve(&choosing, &mut strategies)?;
            Ok(Resolved { value, strategies })
        }
    }
}

/// The value that a role prefers: see [`resolve`].
fn best(values: &[Vec<f64>], role: usize) -> usize {
    let mut best = 0;
    for at in 1..values.len() {
        if is_better(&values[at], &values[best], role) {
            best = at;
        }
    }
    best
}

/// Whether a role prefers one value to another: its own reward, then the least total of
/// the other roles, then the least first reward that differs.
pub(super) fn is_better(one: &[f64], other: &[f64], role: usize) -> bool {
    let differs = |one: f64, other: f64| (one - other).abs() > TOLERANCE;
    if differs(one[role], other[role]) {
        return one[role] > other[role];
    }
    let total = |value: &[f64]| value.iter().sum::<f64>();
    if differs(total(one), total(other)) {
        return total(one) < total(other);
    }
    let first = one.iter().zip(other).find(|&(&one, &other)| differs(one, other));
    first.is_some_and(|(one, other)| one < other)
}

/// The values of all profiles of moves of some roles.
struct Profiles<'a> {
    counts: &'a [usize],
    others: &'a [usize],
    values: &'a [Vec<f64>],
}

impl Profiles<'_> {
    /// The value if several roles choose at the same time.
    fn resolve(
        &self,
        choosing: &[usize],
        strategies: &mut [Vec<f64>],
    ) -> Result<Vec<f64>, NoValue> {
        let mut left: Vec<Vec<usize>> =
            self.counts.iter().map(|&count| (0..count).collect()).collect();
        // Two roles whose rewards sum to a constant need no removing.
        if let &[row, column] = choosing
            && self.is_constant(row, column, &left)
        {
            return Ok(self.mixed(row, column, &left, strategies));
        }
        self.remove_dominated(choosing, &mut left);
        let undecided: Vec<usize> =
            choosing.iter().copied().filter(|&role| left[role].len() > 1).collect();
        for &role in choosing {
            strategies[role] = vec![0.0; self.counts[role]];
            strategies[role][left[role][0]] = 1.0;
        }
        match undecided[..] {
            [] => Ok(self.value(&left.iter().map(|moves| moves[0]).collect::<Vec<_>>()).to_vec()),
            [role] => {
                let mut profile: Vec<usize> = left.iter().map(|moves| moves[0]).collect();
                let mut values = Vec::new();
                for &index in &left[role] {
                    profile[role] = index;
                    values.push(self.value(&profile).to_vec());
                }
                let best = best(&values, role);
                strategies[role] = vec![0.0; self.counts[role]];
                strategies[role][left[role][best]] = 1.0;
                Ok(values.swap_remove(best))
            }
            [row, column] if self.is_constant(row, column, &left) => {
                Ok(self.mixed(row, column, &left, strategies))
            }
            _ => Err(NoValue),
        }
    }

    /// The value of a profile, one move for each role; that of chance does not matter.
    fn value(&self, profile: &[usize]) -> &[f64] {
        let mut at = 0;
        for &role in self.others {
            at = at * self.counts[role] + profile[role];
        }
        &self.values[at]
    }

    /// Visits all profiles of the moves that are left.
    fn each(&self, left: &[Vec<usize>], visit: &mut dyn FnMut(&[usize])) {
        let mut places = vec![0; left.len()];
        let mut profile: Vec<usize> = left.iter().map(|moves| moves[0]).collect();
        loop {
            visit(&profile);
            let turned = self.others.iter().rev().find(|&&role| {
                places[role] += 1;
                let wraps = places[role] == left[role].len();
                if wraps {
                    places[role] = 0;
                }
                profile[role] = left[role][places[role]];
                !wraps
            });
            if turned.is_none() {
                return;
            }
        }
    }

    fn is_constant(&self, row: usize, column: usize, left: &[Vec<usize>]) -> bool {
        let mut sum: Option<f64> = None;
        let mut is_constant = true;
        self.each(left, &mut |profile| {
            let value = self.value(profile);
            let here = value[row] + value[column];
            is_constant &= (*sum.get_or_insert(here) - here).abs() <= TOLERANCE;
        });
        is_constant
    }

    /// Removes moves that are strictly worse than another move of the same role,
    /// whatever the others do, again and again.
    fn remove_dominated(&self, choosing: &[usize], left: &mut [Vec<usize>]) {
        loop {
            let dominated = choosing.iter().find_map(|&role| {
                let moves = &left[role];
                let worse = moves.iter().position(|&worse| {
                    moves
                        .iter()
                        .any(|&better| better != worse && self.dominates(role, better, worse, left))
                });
                worse.map(|at| (role, at))
            });
            let Some((role, at)) = dominated else { return };
            left[role].remove(at);
        }
    }

    fn dominates(&self, role: usize, better: usize, worse: usize, left: &[Vec<usize>]) -> bool {
        let mut others = left.to_vec();
        others[role] = vec![better];
        let mut dominates = true;
        self.each(&others, &mut |profile| {
            let mut other = profile.to_vec();
            other[role] = worse;
            dominates &= self.value(profile)[role] > self.value(&other)[role] + TOLERANCE;
        });
        dominates
    }

    /// The value of a constant-sum matrix game of two roles. The rewards of the other
    /// roles are those under the strategies found.
    fn mixed(
        &self,
        row: usize,
        column: usize,
        left: &[Vec<usize>],
        strategies: &mut [Vec<f64>],
    ) -> Vec<f64> {
        let mut profile: Vec<usize> = left.iter().map(|moves| moves[0]).collect();
        let mut rewards = |role: usize, by_row: bool| -> Vec<Vec<f64>> {
            let (outer, inner) = if by_row { (row, column) } else { (column, row) };
            let line = |&one: &usize| {
                profile[outer] = one;
                let cell = |&other: &usize| {
                    profile[inner] = other;
                    self.value(&profile)[role]
                };
                left[inner].iter().map(cell).collect()
            };
            left[outer].iter().map(line).collect()
        };
        let for_row = rewards(row, true);
        let (value, shares) = matrix::saddle(&for_row).unwrap_or_else(|| matrix::solve(&for_row));
        let for_column = rewards(column, false);
        let (_, replies) =
            matrix::saddle(&for_column).unwrap_or_else(|| matrix::solve(&for_column));
        let n_roles = self.counts.len();
        let mut expected = vec![0.0; n_roles];
        for (index, share) in left[row].iter().zip(&shares) {
            for (reply, other) in left[column].iter().zip(&replies) {
                profile[row] = *index;
                profile[column] = *reply;
                for (sum, reward) in expected.iter_mut().zip(self.value(&profile)) {
                    *sum += share * other * reward;
                }
            }
        }
        let any = self.value(&left.iter().map(|moves| moves[0]).collect::<Vec<_>>()).to_vec();
        expected[row] = value;
        expected[column] = any[row] + any[column] - value;
        for (role, shares) in [(row, shares), (column, replies)] {
            strategies[role] = vec![0.0; self.counts[role]];
            for (&index, share) in left[role].iter().zip(shares) {
                strategies[role][index] = share;
            }
        }
        expected
    }
}
