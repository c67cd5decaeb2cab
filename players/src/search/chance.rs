//! The mean over the moves of chance, and what need not be looked at to know it (Ballard, "The
//! *-minimax search procedure for trees containing chance nodes", Artificial Intelligence 1983).
//!
//! Rewards lie between 0 and 100. Star1 searches the outcomes in turn, and stops when the others
//! can no longer lift the mean above alpha or let it fall below beta. Star2 first tries a single
//! move after each outcome: what the role that chooses there can get at least, or must concede,
//! bounds the outcome's value more closely than 0 and 100.

use super::transposition_table::Bound;
use super::{Arrival, Halt, Opponents, Search, UNBOUNDED, Value};

/// Slack for sums of rounded means, far below any difference of two goals.
const EPSILON: f64 = 1e-6;

/// What is cut off below chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChanceCuts {
    /// Nothing.
    None,
    /// Outcomes that cannot change the result.
    Star1,
    /// The same, with bounds from trying a move after each outcome.
    Star2,
}

/// What is known of an outcome before it is searched.
#[derive(Clone, Copy, Debug)]
struct Known {
    least: f64,
    most: f64,
    proven: bool,
}

impl Known {
    const NOTHING: Self = Self { least: 0.0, most: 100.0, proven: true };

    fn exactly(value: Value) -> Self {
        let Value { score, proven } = value;
        Self { least: score, most: score, proven }
    }

    fn at_least(value: Value) -> Self {
        Self { least: value.score.max(0.0), proven: value.proven, ..Self::NOTHING }
    }

    fn at_most(value: Value) -> Self {
        Self { most: value.score.min(100.0), proven: value.proven, ..Self::NOTHING }
    }
}

/// The windows in which a move after an outcome is tried.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// For a move of my own: what it must be worth at least to matter, and what is enough.
    gain: (f64, f64),
    /// For a reply: what is as low as need be, and what it may be worth at most to matter.
    loss: (f64, f64),
}

/// How often probing sufficed. Where estimates differ little from each other, it seldom does,
/// and its cost is not worth it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probing {
    n_tried: u32,
    n_cut: u32,
    n_left_out: u32,
}

impl Probing {
    /// Tries before their results count.
    const ENOUGH: u32 = 16;
    /// The share of tries that must suffice.
    const SHARE: u32 = 3;
    /// States without a try after which there is one all the same.
    const PATIENCE: u32 = 64;

    /// Whether to probe once more.
    fn pays(&mut self) -> bool {
        let pays = self.n_tried < Self::ENOUGH || self.n_cut * Self::SHARE >= self.n_tried;
        if pays || self.n_left_out >= Self::PATIENCE {
            self.n_left_out = 0;
            return true;
        }
        self.n_left_out += 1;
        false
    }

    /// Takes note of a try. Old ones count less.
    fn count(&mut self, is_cut: bool) {
        self.n_tried += 1;
        self.n_cut += u32::from(is_cut);
        if self.n_tried >= 1024 {
            self.n_tried /= 2;
            self.n_cut /= 2;
        }
    }
}

impl Search<'_> {
    /// The mean over the moves of chance: exact if it lies between `alpha` and `beta`,
    /// otherwise a bound.
    pub(super) fn mean(&mut self, level: usize, alpha: f64, beta: f64) -> Result<Value, Halt> {
        let Some(chance) = self.roles.chance else { return self.child(level, alpha, beta) };
        let n_moves = self.frames[level].legal[chance].len();
        if n_moves == 1 {
            self.frames[level].pick(chance, 0);
            return self.child(level, alpha, beta);
        }
        let n = n_moves as f64;
        let (lowest, highest) = self.settings.window;
        let cuts = self.settings.narrow && self.settings.chance_cuts != ChanceCuts::None;
        let is_deep = self.limit > self.frames[level].counted + 1;
        let probes = cuts && is_deep && self.settings.chance_cuts == ChanceCuts::Star2;
        let can_cut = alpha > lowest || beta < highest;
        let mut known = Vec::new();
        if probes && can_cut && self.probing.pays() {
            known = vec![Known::NOTHING; n_moves];
            let bound = self.probe_all(level, chance, (alpha, beta), &mut known)?;
            self.probing.count(bound.is_some());
            if let Some(bound) = bound {
                return Ok(bound);
            }
        }
        let of = |index: usize| known.get(index).copied().unwrap_or(Known::NOTHING);
        let (mut sum, mut proven) = (0.0, true);
        for index in 0..n_moves {
            let n_left = n_moves - index - 1;
            let (mut least_left, mut most_left) = (0.0, 100.0 * n_left as f64);
            if !known.is_empty() {
                least_left = known[index + 1..].iter().map(|known| known.least).sum();
                most_left = known[index + 1..].iter().map(|known| known.most).sum();
            }
            let (mut floor, mut ceiling) = (lowest, highest);
            if cuts {
                floor = floor.max(n * alpha - sum - most_left - EPSILON);
                ceiling = ceiling.min(n * beta - sum - least_left + EPSILON);
            }
            self.frames[level].pick(chance, index);
            let value = match of(index) {
                known if known.least == known.most => {
                    Value { score: known.least, proven: known.proven }
                }
                _ => {
                    let value = self.child(level, floor, ceiling)?;
                    // What chance does is no part of a line.
                    self.frames[level + 1].line.clear();
                    value
                }
            };
            sum += value.score;
            proven &= value.proven;
            let left_proven = || (index + 1..n_moves).all(|index| of(index).proven);
            if floor > lowest && value.score <= floor {
                self.stopwatch.prune(n_left as u64);
                let proven = proven && left_proven();
                return Ok(Value { score: (sum + most_left) / n, proven });
            }
            if ceiling < highest && value.score >= ceiling {
                self.stopwatch.prune(n_left as u64);
                let proven = proven && left_proven();
                return Ok(Value { score: (sum + least_left) / n, proven });
            }
        }
        Ok(Value { score: sum / n, proven })
    }

    /// Learns bounds of the outcomes, as long as they may suffice to know that the mean lies
    /// outside of the window; the mean, if they do.
    fn probe_all(
        &mut self,
        level: usize,
        chance: usize,
        (alpha, beta): (f64, f64),
        known: &mut [Known],
    ) -> Result<Option<Value>, Halt> {
        let n = known.len() as f64;
        let (lowest, highest) = self.settings.window;
        // What the outcomes probed so far sum to.
        let (mut least, mut most) = (0.0, 0.0);
        for index in 0..known.len() {
            let n_left = known.len() - index - 1;
            let most_left = 100.0 * n_left as f64;
            // An outcome that is worth less cannot lead to a mean of beta, one that is worth
            // more cannot lead to one of alpha.
            let needed = (n * beta - least - most_left + EPSILON).max(lowest);
            let allowed = (n * alpha - most - EPSILON).min(highest);
            let enough = (n * beta - least + EPSILON).min(highest);
            let harmless = (n * alpha - most - most_left - EPSILON).max(lowest);
            self.frames[level].pick(chance, index);
            self.advance(level)?;
            let windows = Probe { gain: (needed, enough), loss: (harmless, allowed) };
            let found = self.probe(level + 1, &windows)?;
            known[index] = found;
            least += found.least;
            most += found.most;
            let score = if least >= n * beta + EPSILON {
                least / n
            } else if most + most_left <= n * alpha - EPSILON {
                (most + most_left) / n
            } else if least + most_left < n * beta && most > n * alpha {
                return Ok(None);
            } else {
                continue;
            };
            self.stopwatch.prune(n_left as u64);
            let proven = known[..=index].iter().all(|known| known.proven);
            return Ok(Some(Value { score, proven }));
        }
        Ok(None)
    }

    /// Tries a single move in the state in the frame of `level`, the most promising one.
    fn probe(&mut self, level: usize, windows: &Probe) -> Result<Known, Halt> {
        if let Some(value) = self.look_up(level) {
            return Ok(Known::exactly(value));
        }
        let entry = self.recall(level);
        let depth_left = self.depth_left(level);
        if let Some(entry) = entry
            && entry.holds(depth_left, self.settings.deepening)
        {
            return Ok(match entry.bound {
                Bound::Exact => Known::exactly(entry.value),
                Bound::Lower => Known::at_least(entry.value),
                Bound::Upper => Known::at_most(entry.value),
            });
        }
        self.record_entry(level, UNBOUNDED);
        let arrival = self.enter(level, None)?;
        let found = match arrival {
            Arrival::Inner => {
                self.probe_move(level, entry.and_then(|entry| entry.best), windows)?
            }
            arrival => {
                let (lowest, highest) = self.settings.window;
                Known::exactly(self.value_of_leaf(level, arrival, lowest, highest)?)
            }
        };
        let score = if found.least > 0.0 { found.least } else { found.most };
        self.record_value(level, score, Some(arrival));
        Ok(found)
    }

    /// What a single move in an inner state shows of its value.
    fn probe_move(
        &mut self,
        level: usize,
        best: Option<usize>,
        windows: &Probe,
    ) -> Result<Known, Halt> {
        let (lowest, highest) = self.settings.window;
        let me = self.roles.index();
        let n_moves = self.frames[level].legal[me].len();
        let n_replies = self.frames[level].choices.n_replies;
        if n_moves > 1 && n_replies == 1 {
            let (needed, enough) = windows.gain;
            if needed >= enough {
                return Ok(Known::NOTHING);
            }
            self.frames[level].pick(me, best.unwrap_or(0));
            let value = self.reply(level, None, lowest, enough)?;
            return Ok(if value.score > lowest { Known::at_least(value) } else { Known::NOTHING });
        }
        if n_moves == 1 && n_replies > 1 && self.settings.opponents == Opponents::Paranoid {
            let (harmless, allowed) = windows.loss;
            if harmless >= allowed {
                return Ok(Known::NOTHING);
            }
            self.frames[level].pick(me, 0);
            self.roles.set_reply(&mut self.frames[level], 0);
            let value = self.mean(level, harmless, highest)?;
            return Ok(if value.score < highest { Known::at_most(value) } else { Known::NOTHING });
        }
        Ok(Known::NOTHING)
    }
}
