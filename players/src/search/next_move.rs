//! Which move a search tries next, how many it tries, and which ones cut off others.

use super::transposition_table::Entry;
use super::{Frame, Search};

impl Search<'_> {
    /// How many of `n_moves` moves of one role are tried in the frame of `level`: at most `width`,
    /// if that is set. The root tries all, and so do states one step above the depth limit: their
    /// cut-offs show which moves are worth a deeper search.
    #[inline]
    pub(super) fn n_tried(&self, level: usize, n_moves: usize) -> usize {
        match self.settings.width {
            0 => n_moves,
            _ if level == 0 || self.depth_left(level) <= 1 => n_moves,
            width => n_moves.min(width),
        }
    }

    /// Notes that moves were not tried.
    #[inline]
    pub(super) fn leave_out(&mut self, n_moves: u64) {
        self.n_left_out += n_moves;
        self.memory.left_out_moves |= n_moves > 0;
    }

    /// The index of my move to try at `rank`. The root keeps the given order, so that of
    /// equal moves the first is chosen.
    pub(super) fn my_choice(&mut self, level: usize, rank: usize, hint: Option<usize>) -> usize {
        let me = self.roles.index();
        let frame = &mut self.frames[level];
        if level == 0 || frame.legal[me].len() == 1 || !self.move_order.is_used() {
            return ranked(rank as u64, hint.map(|index| index as u64)) as usize;
        }
        match hint {
            Some(index) if rank == 0 => index,
            _ => {
                if rank == usize::from(hint.is_some()) {
                    self.move_order.order(level, me, &frame.legal[me], hint, &mut frame.order);
                }
                frame.order.index(rank)
            }
        }
    }

    /// The index of the joint reply to try at `rank`; `replier` is the only other role that
    /// has a choice, if its moves are to be ordered. The index is then that of its move.
    pub(super) fn reply_choice(
        &mut self,
        level: usize,
        rank: u64,
        hint: Option<u64>,
        replier: Option<usize>,
    ) -> u64 {
        let Some(replier) = replier else { return ranked(rank, hint) };
        match hint {
            Some(index) if rank == 0 => index,
            _ => {
                if rank == u64::from(hint.is_some()) {
                    let Frame { legal, reply_order, .. } = &mut self.frames[level];
                    let first = hint.map(|index| index as usize);
                    self.move_order.order(level, replier, &legal[replier], first, reply_order);
                }
                self.frames[level].reply_order.index(rank as usize) as u64
            }
        }
    }

    /// Notes that the move of `role` in the frame of `level` cut off its siblings. Callers
    /// leave out estimates that are just as good as the bound: where nothing is known of a
    /// state, all estimates are equal, and any move would have cut off.
    pub(super) fn note_cut(&mut self, level: usize, role: usize) {
        if self.move_order.is_used() {
            let (id, depth_left) = (self.frames[level].joint[role], self.depth_left(level));
            self.move_order.cut_off(level, role, id, depth_left);
        }
    }

    /// The move to try first: at the root, the best of the last iteration; below, the one
    /// in the table. Only while deepening, so that a single search keeps the given order.
    pub(super) fn hint(&self, level: usize, entry: Option<Entry>) -> Option<(usize, u64)> {
        if !self.settings.deepening {
            return None;
        }
        let remembered = entry.and_then(|entry| Some((entry.best?, entry.best_reply)));
        match self.root_hint {
            Some(index) if level == 0 => {
                let reply = remembered.filter(|(best, _)| *best == index).map_or(0, |hint| hint.1);
                Some((index, reply))
            }
            _ => remembered,
        }
    }
}

/// The index to try at `rank` if `first` comes before all others.
pub(super) fn ranked(rank: u64, first: Option<u64>) -> u64 {
    match first {
        None => rank,
        Some(first) if rank == 0 => first,
        Some(first) if rank <= first => rank - 1,
        Some(_) => rank,
    }
}
