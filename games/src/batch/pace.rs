//! When lanes start again: at once, or in step with each other.
//!
//! In a game in which roles take turns, lanes that started at different times
//! have different roles to move, and choosing costs the moves of all roles. If
//! all lanes start at multiples of the number of roles, only one role's moves
//! cost; but a lane waits half a turn for its next start, on average. The choice is made
//! once in a series of playouts, by comparing the cost of choosing before the first
//! playout ended, when all lanes were in step, with the cost afterwards. Cost is counted
//! in operations, never in time, so that equal seeds play equal games.

/// Operations on lanes that a gate counts as.
const GATE: f64 = 8.0;

/// Decides when lanes may start.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Steps made.
    step: u64,
    /// Lanes start at multiples of this.
    period: u64,
    /// What is tried.
    stage: Stage,
    /// Number of turns.
    n_turns: u64,
    /// What a step costs besides choosing, in operations.
    fixed: f64,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// No playout is over yet. Work and step when it began.
    InStep(u64),
    /// Playouts end at different times. Work of a step when they were in step,
    /// then work and step from which on it is measured, and the step until.
    Mixed(f64, u64, u64, u64),
    Decided,
}

impl Pace {
    /// For a game of `n_turns` roles that move in a step, and `n_gates` gates. `work` is what
    /// choosing moves has cost so far.
    pub(super) fn new(n_turns: usize, n_gates: usize, work: u64) -> Self {
        let stage = if n_turns > 1 { Stage::InStep(work) } else { Stage::Decided };
        let fixed = n_gates as f64 * GATE + 500.0;
        Self { step: 0, period: 1, stage, n_turns: n_turns as u64, fixed }
    }

    /// Whether lanes may start after this step. `has_ended` says whether some
    /// playout was over in it.
    #[inline(always)]
    pub(super) fn may_start(&mut self, work: u64, has_ended: bool) -> bool {
        self.step += 1;
        if !matches!(self.stage, Stage::Decided) {
            self.observe(work, has_ended);
        }
        self.period == 1 || self.step.is_multiple_of(self.period)
    }

    #[cold]
    fn observe(&mut self, work: u64, has_ended: bool) {
        match self.stage {
            Stage::InStep(start) if has_ended => {
                let in_step = (work - start) as f64 / self.step as f64;
                // Long enough to get out of step, then for one more playout.
                self.stage = Stage::Mixed(in_step, 0, self.step * 4, self.step * 6 + 8);
            }
            Stage::Mixed(in_step, _, from, until) if self.step == from => {
                self.stage = Stage::Mixed(in_step, work, from, until);
            }
            Stage::Mixed(in_step, start, from, until) if self.step >= until => {
                let mixed = (work - start) as f64 / (self.step - from) as f64;
                let saved = (mixed - in_step) / (mixed + self.fixed);
                // The first end was after a fourth of `from`.
                let waited = (self.n_turns - 1) as f64 / 2.0;
                let lost = waited / (waited + from as f64 / 4.0);
                if saved > lost {
                    self.period = self.n_turns;
                }
                self.stage = Stage::Decided;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps at which lanes may start after many steps of such work: in step for
    /// 50 steps, then mixed.
    fn check(in_step: u64, mixed: u64, n_gates: usize, expected: u64) {
        let mut pace = Pace::new(2, n_gates, 1000);
        let mut work = 1000;
        for step in 1..1000_u64 {
            work += if step <= 50 { in_step } else { mixed };
            pace.may_start(work, step >= 50);
        }
        assert_eq!(pace.period, expected);
    }

    #[test]
    fn lanes_wait_where_it_pays() {
        check(2500, 5000, 500, 2);
        check(2500, 2500, 500, 1);
        check(250, 500, 50_000, 1);
        check(2500, 2550, 500, 1);
    }
}
