//! States from which every move leads to the depth limit, where it is known what all moves lead
//! to. Where only one role has a choice, its best move is found without recursion. Everything is
//! counted, tried in the same order and cut off as in the recursion.

use super::next_move::ranked;
use super::{Frame, Halt, Opponents, Search, Value};

impl Search<'_> {
    /// The only role that has a choice in the frame of `level`, if all outcomes are known there.
    /// The player itself if there is no choice.
    pub(super) fn last_to_choose(&self, level: usize) -> Option<usize> {
        let frame = &self.frames[level];
        // Without a table, the recursion keeps the lines; at the root, it keeps the values of all
        // moves.
        if !frame.knows_outcomes() || level == 0 || self.settings.remembered == 0 {
            return None;
        }
        let chance_chooses = self.roles.chance.is_some_and(|chance| frame.legal[chance].len() > 1);
        let is_single = frame.choices.n_choosing <= 1 && !chance_chooses;
        is_single.then(|| frame.choices.replier.unwrap_or(self.roles.index()))
    }

    /// The best outcome for `role`, the only one that has a choice.
    pub(super) fn best_outcome(
        &mut self,
        level: usize,
        role: usize,
        hint: Option<(usize, u64)>,
        alpha: f64,
        beta: f64,
    ) -> Result<Value, Halt> {
        let is_mine = role == self.roles.index();
        let maximises = is_mine || self.settings.opponents == Opponents::Cooperative;
        let bound = if maximises { beta } else { alpha };
        let hint = hint.map(|(mine, reply)| if is_mine { mine } else { reply as usize });
        let depth_left = self.depth_left(level);
        let n_moves = self.frames[level].legal[role].len();
        let is_ordered = n_moves > 1 && self.move_order.is_used();
        let mut chosen: Option<(f64, usize)> = None;
        let mut proven = true;
        for rank in 0..n_moves {
            let index = match hint {
                Some(index) if rank == 0 => index,
                _ if is_ordered => {
                    let Self { frames, move_order, .. } = &mut *self;
                    let Frame { legal, order, .. } = &mut frames[level];
                    if rank == usize::from(hint.is_some()) {
                        move_order.order(level, role, &legal[role], hint, order);
                    }
                    order.index(rank)
                }
                _ => ranked(rank as u64, hint.map(|index| index as u64)) as usize,
            };
            // Joint moves are numbered like the moves of the only role that has a choice.
            let Value { score, proven: is_proven } =
                self.last_child(level, self.frames[level].outcomes[index])?;
            let is_better =
                chosen.is_none_or(|(best, _)| if maximises { score > best } else { score < best });
            if is_better {
                chosen = Some((score, index));
            }
            let is_cut = if maximises { score >= bound } else { score <= bound };
            if is_cut {
                self.stopwatch.prune((n_moves - rank - 1) as u64);
                if is_ordered && (is_proven || score != bound) {
                    let id = self.frames[level].legal[role][index];
                    self.move_order.cut_off(level, role, id, depth_left);
                }
                proven = is_proven;
                break;
            }
            proven &= is_proven;
        }
        let (score, index) = chosen.expect("an inner state has a joint move");
        let frame = &mut self.frames[level];
        (frame.best, frame.best_reply) =
            if is_mine { (Some(index), 0) } else { (Some(0), index as u64) };
        Ok(Value { score, proven })
    }
}
