//! Max-n (Luckhardt and Irani 1986): every role maximises its own reward, so
//! a value is one reward for each role.

use super::{Arrival, Halt, RootValue, Search, UNBOUNDED};
use crate::ValueBound;

impl Search<'_> {
    /// The rewards of all roles in the state in the frame of `level`. Nothing is
    /// cut off: a role's reward bounds no other role's.
    pub(super) fn vector(&mut self, level: usize) -> Result<Vec<f64>, Halt> {
        self.record_entry(level, UNBOUNDED);
        let arrival = self.enter(level, None)?;
        let scores: Vec<f64> = if arrival == Arrival::Inner {
            self.choose(level, 0)?
        } else {
            self.stopwatch.deliberation.leaves += 1;
            self.n_estimates += u64::from(arrival == Arrival::CutOff);
            let roles = self.machine.game().role_ids();
            roles.map(|role| self.leaf(level, arrival, role)).collect::<Result<_, _>>()?
        };
        self.record_value(level, scores[self.roles.index()], Some(arrival));
        Ok(scores)
    }

    /// The roles choose one after the other, I first; `turn` counts them.
    fn choose(&mut self, level: usize, turn: usize) -> Result<Vec<f64>, Halt> {
        let me = self.roles.index();
        let role = match turn {
            0 => me,
            turn if turn <= self.roles.others.len() => self.roles.others[turn - 1],
            _ => return self.mean_vector(level),
        };
        let mut best: Option<Vec<f64>> = None;
        for index in 0..self.frames[level].legal[role].len() {
            self.frames[level].pick(role, index);
            let scores = self.choose(level, turn + 1)?;
            if level == 0 && turn == 0 {
                self.root_values.push(RootValue {
                    index,
                    score: scores[me],
                    bound: ValueBound::Exact,
                    proven: false,
                });
            }
            let is_better = best.as_ref().is_none_or(|best| {
                scores[role] > best[role]
                    || (turn > 0 && scores[role] == best[role] && scores[me] < best[me])
            });
            if is_better {
                best = Some(scores);
                if turn == 0 {
                    self.frames[level].best = Some(index);
                }
            }
        }
        Ok(best.expect("an inner state has a move for every role"))
    }

    fn mean_vector(&mut self, level: usize) -> Result<Vec<f64>, Halt> {
        let Some(chance) = self.roles.chance else {
            self.advance(level)?;
            return self.vector(level + 1);
        };
        let n_moves = self.frames[level].legal[chance].len();
        let mut mean = vec![0.0; self.roles.n_roles];
        for index in 0..n_moves {
            self.frames[level].pick(chance, index);
            self.advance(level)?;
            for (sum, score) in mean.iter_mut().zip(self.vector(level + 1)?) {
                *sum += score;
            }
        }
        mean.iter_mut().for_each(|sum| *sum /= n_moves as f64);
        Ok(mean)
    }
}
