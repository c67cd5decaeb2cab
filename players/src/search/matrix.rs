//! Simultaneous moves as a matrix game: the mixed strategy with the best
//! guaranteed expectation (von Neumann 1928).

use games::solve::matrix::solve;

use super::{Halt, Search, Value};

/// The largest matrix that is solved; beyond it the pure max-min is taken,
/// which is a lower bound.
const MAX_CELLS: u64 = 1 << 16;

impl Search<'_> {
    /// The value of a state in which both sides have a choice. Every cell is
    /// searched: a mixed strategy may use any of them.
    pub(super) fn mixed(
        &mut self,
        level: usize,
        n_moves: usize,
        n_replies: u64,
    ) -> Result<Value, Halt> {
        let (alpha, beta) = self.settings.window;
        let me = self.roles.index();
        let is_large = n_replies.saturating_mul(n_moves as u64) > MAX_CELLS;
        let mut rows = Vec::with_capacity(n_moves);
        let mut proven = true;
        for index in 0..n_moves {
            self.frames[level].pick(me, index);
            if is_large {
                let worst = self.reply(level, None, alpha, beta)?;
                proven &= worst.proven;
                rows.push(vec![worst.score]);
                continue;
            }
            let mut row = Vec::with_capacity(n_replies as usize);
            for reply in 0..n_replies {
                self.roles.set_reply(&mut self.frames[level], reply);
                let value = self.mean(level, alpha, beta)?;
                proven &= value.proven;
                row.push(value.score);
            }
            rows.push(row);
        }
        let (score, strategy) = solve(&rows);
        let mut best = 0;
        for (index, share) in strategy.iter().enumerate() {
            if *share > strategy[best] {
                best = index;
            }
        }
        self.frames[level].best = Some(best);
        if level == 0 {
            self.root_strategy = Some(strategy);
        }
        Ok(Value { score, proven })
    }
}
