//! When lanes start again: at once, or in step with each other, or some together.
//!
//! In a game in which roles take turns, lanes that started at different times
//! have different roles to move, and choosing costs the moves of all roles. If
//! all lanes start at multiples of the number of roles, only one role's moves
//! cost; but a lane waits half a turn for its next start, on average. The choice is made
//! once in a series of playouts, by comparing the cost of choosing before the first
//! playout ended, when all lanes were in step, with the cost afterwards.
//!
//! A start rewrites all facts, however few lanes start. So lanes that are idle wait for others
//! until their idle steps have cost as much as a start does: where as many become idle in each
//! step, no other rule costs less (the economic order quantity; Harris 1913).
//!
//! Cost is counted in operations, never in time, so that equal seeds play equal games.

/// Operations on pieces that a gate counts as.
const GATE: f64 = 8.0;

/// Operations on pieces that a fact counts as when lanes start.
const FACT: f64 = 8.0;

/// If so many starts in a row had nothing to wait for, none has.
const MAX_AT_ONCE: u32 = 16;

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
    /// Work when the first step was made.
    first_work: u64,
    n_lanes: u64,
    /// What a start costs, in operations.
    start: f64,
    /// Steps of idle lanes since the last start.
    n_idle: u64,
    /// Starts in a row whose lanes had not waited.
    n_at_once: u32,
}

/// What a step of a batch consists of.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSize {
    /// Roles that move in a step, in a game in which roles take turns.
    pub(super) n_turns: usize,
    pub(super) n_gates: usize,
    pub(super) n_facts: usize,
    /// Pieces that a value of all lanes has.
    pub(super) n_pieces: usize,
    pub(super) n_lanes: u64,
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
    /// For steps of this size. `work` is what choosing moves has cost so far.
    pub(super) fn new(size: &StepSize, work: u64) -> Self {
        let stage = if size.n_turns > 1 { Stage::InStep(work) } else { Stage::Decided };
        let cost = |n: usize, each: f64| n as f64 * each * size.n_pieces as f64;
        Self {
            step: 0,
            period: 1,
            stage,
            n_turns: size.n_turns as u64,
            fixed: cost(size.n_gates, GATE) + cost(1, 500.0),
            first_work: work,
            n_lanes: size.n_lanes,
            start: cost(size.n_facts, FACT),
            n_idle: 0,
            n_at_once: 0,
        }
    }

    /// Whether lanes may start after this step. `has_ended` says whether some
    /// playout was over in it, `n_idle` how many lanes have none.
    #[inline(always)]
    pub(super) fn may_start(
        &mut self,
        work: u64,
        has_ended: bool,
        n_idle: impl FnOnce() -> u64,
    ) -> bool {
        self.step += 1;
        if !matches!(self.stage, Stage::Decided) {
            self.observe(work, has_ended);
        }
        (self.period == 1 || self.step.is_multiple_of(self.period))
            && (self.n_at_once >= MAX_AT_ONCE || self.is_worth_it(work, n_idle()))
    }

    /// Whether the lanes that are idle have cost as much as a start.
    #[inline(always)]
    fn is_worth_it(&mut self, work: u64, n_idle: u64) -> bool {
        if n_idle == 0 {
            return false;
        }
        let has_waited = self.n_idle > 0;
        self.n_idle += n_idle * self.period;
        let step = self.fixed + (work - self.first_work) as f64 / self.step as f64;
        let is_worth_it =
            n_idle == self.n_lanes || self.n_idle as f64 * step >= self.start * self.n_lanes as f64;
        if is_worth_it {
            self.n_idle = 0;
            self.n_at_once = if has_waited { 0 } else { self.n_at_once + 1 };
        }
        is_worth_it
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
        let size = StepSize { n_turns: 2, n_gates, n_facts: 0, n_pieces: 2, n_lanes: 512 };
        let mut pace = Pace::new(&size, 1000);
        let mut work = 1000;
        for step in 1..1000_u64 {
            work += if step <= 50 { in_step } else { mixed };
            pace.may_start(work, step >= 50, || 1);
        }
        assert_eq!(pace.period, expected);
    }

    #[test]
    fn lanes_wait_where_it_pays() {
        check(5000, 10_000, 500, 2);
        check(5000, 5000, 500, 1);
        check(500, 1000, 50_000, 1);
        check(5000, 5100, 500, 1);
    }

    /// Steps between starts if as many lanes become idle in each step.
    fn interval(n_facts: usize, n_idle_a_step: u64) -> u64 {
        let size = StepSize { n_turns: 1, n_gates: 1000, n_facts, n_pieces: 2, n_lanes: 512 };
        let mut pace = Pace::new(&size, 0);
        let (mut n_idle, mut n_starts) = (0, 0);
        for _ in 0..10_000 {
            n_idle += n_idle_a_step;
            if pace.may_start(0, true, || n_idle) {
                (n_idle, n_starts) = (0, n_starts + 1);
            }
        }
        10_000 / n_starts
    }

    #[test]
    fn idle_lanes_wait_for_others_where_a_start_costs_much() {
        // Facts that cost as much as the rest of a step, so n(n + 1)/2 * 8 >= 512.
        assert_eq!(interval(1062, 8), 11);
        assert_eq!(interval(1062, 1), 32);
        assert_eq!(interval(1062, 512), 1);
        assert_eq!(interval(10, 8), 1);
        // No lane is left.
        assert_eq!(interval(100_000, 8), 64);
    }
}
