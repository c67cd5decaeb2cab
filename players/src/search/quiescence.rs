//! Quiescence: looking beyond the depth limit where an estimate cannot be trusted yet (Shannon,
//! "Programming a computer for playing chess", 1950).
//!
//! A state at the limit is *quiet* if its estimate is about that of the state before, and no move
//! ends the match with the best or the worst reward. Otherwise the role that chooses may take the
//! estimate as it is ("stand pat") or a noisy move: one that ends the match or changes the
//! estimate. A forced move has no such choice, and where two sides or chance choose, states count
//! as quiet.

use super::{Arrival, Halt, Opponents, Search};

/// The change of an estimate, of 100, from which a move is noisy.
const NOISE: f64 = 10.0;

/// Who chooses in a state.
#[derive(Clone, Copy, Debug)]
struct Chooser {
    /// Whether it is the role that is searched for.
    is_me: bool,
    /// Whether it maximises the role's reward.
    maximises: bool,
    /// Whether there is no choice.
    is_forced: bool,
    /// The number of moves, or of joint replies.
    n_choices: u64,
}

impl Search<'_> {
    /// The value of the state at the depth limit in the frame of `level`, which is not
    /// terminal, looking at most `n_left` levels further: exact if it lies between `alpha`
    /// and `beta`, otherwise a bound.
    ///
    /// # Errors
    /// If the search must stop, or the reasoner fails.
    pub(super) fn settle(
        &mut self,
        level: usize,
        alpha: f64,
        beta: f64,
        n_left: u32,
    ) -> Result<f64, Halt> {
        let estimate = self.estimate(level)?;
        if n_left == 0 || level >= self.deepest {
            return Ok(estimate);
        }
        let jumped = (estimate - self.estimate(level - 1)?).abs() >= NOISE;
        let Some(chooser) = self.chooser(level)? else { return Ok(estimate) };
        if !jumped && !self.is_about_to_end(level, chooser)? {
            return Ok(estimate);
        }
        let (mut floor, mut ceiling) = (alpha, beta);
        let mut best = (!chooser.is_forced).then_some(estimate);
        for index in 0..chooser.n_choices {
            if let Some(best) = best {
                let cuts = if chooser.maximises { best >= beta } else { best <= alpha };
                if cuts {
                    self.stopwatch.prune(chooser.n_choices - index);
                    break;
                }
                if self.settings.narrow && chooser.maximises {
                    floor = floor.max(best);
                } else if self.settings.narrow {
                    ceiling = ceiling.min(best);
                }
            }
            let is_terminal = self.try_choice(level, chooser, index)?;
            let score = if is_terminal {
                self.stopwatch.deliberation.leaves += 1;
                self.leaf(level + 1, Arrival::Terminal, self.roles.me)?
            } else {
                let changed = (self.estimate(level + 1)? - estimate).abs() >= NOISE;
                if !changed && !chooser.is_forced {
                    continue;
                }
                self.stopwatch.deliberation.leaves += 1;
                self.settle(level + 1, floor, ceiling, n_left - 1)?
            };
            let is_better = |best: f64| if chooser.maximises { score > best } else { score < best };
            if best.is_none_or(is_better) {
                best = Some(score);
            }
        }
        Ok(best.unwrap_or(estimate))
    }

    /// The estimate of the state in the frame of `level`.
    fn estimate(&mut self, level: usize) -> Result<f64, Halt> {
        if let Some(estimate) = self.frames[level].estimate {
            return Ok(estimate);
        }
        let estimate = self.leaf(level, Arrival::CutOff, self.roles.me)?;
        self.frames[level].estimate = Some(estimate);
        Ok(estimate)
    }

    /// Who chooses in the state in the frame of `level`; `None` if two sides or chance do, or
    /// some role has no move.
    fn chooser(&mut self, level: usize) -> Result<Option<Chooser>, Halt> {
        let (above, frame) = super::at(&mut self.frames, level);
        if !frame.list_moves(self.machine, above, &self.ranks)? {
            return Ok(None);
        }
        let n_moves = frame.legal[self.roles.index()].len() as u64;
        let n_replies = self.roles.n_replies(frame);
        let chance_chooses = self.roles.chance.is_some_and(|chance| frame.legal[chance].len() > 1);
        if chance_chooses || (n_moves > 1 && n_replies > 1) {
            return Ok(None);
        }
        let is_me = n_replies == 1;
        Ok(Some(Chooser {
            is_me,
            maximises: is_me || self.settings.opponents == Opponents::Cooperative,
            is_forced: n_moves == 1 && n_replies == 1,
            n_choices: if is_me { n_moves } else { n_replies },
        }))
    }

    /// Puts the successor by a choice into the next frame, and counts it. Returns whether it is
    /// terminal.
    fn try_choice(&mut self, level: usize, chooser: Chooser, index: u64) -> Result<bool, Halt> {
        let frame = &mut self.frames[level];
        let mine = if chooser.is_me { index as usize } else { 0 };
        frame.pick(self.roles.index(), mine);
        self.roles.set_reply(frame, if chooser.is_me { 0 } else { index });
        if let Some(chance) = self.roles.chance {
            frame.pick(chance, 0);
        }
        self.advance(level)?;
        self.stopwatch.enter(level + 1)?;
        let (above, below) = super::at(&mut self.frames, level + 1);
        Ok(below.is_terminal(self.machine, above)?)
    }

    /// Whether some choice ends the match with the best or the worst reward.
    fn is_about_to_end(&mut self, level: usize, chooser: Chooser) -> Result<bool, Halt> {
        for index in 0..chooser.n_choices {
            if self.try_choice(level, chooser, index)? {
                let reward = self.leaf(level + 1, Arrival::Terminal, self.roles.me)?;
                if reward <= 0.0 || reward >= 100.0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
