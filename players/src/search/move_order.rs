//! Which moves to try first, learned from cut-offs during the search.
//!
//! A move that cut off a sibling is a *killer* of its level (Akl and Newborn, "The principal
//! continuation and the killer heuristic", 1977; Slate and Atkin, "CHESS 4.5", 1977). The
//! *history* of a move counts its cut-offs anywhere in the tree, deep ones more (Schaeffer, "The
//! history heuristic and alpha-beta search enhancements in practice", IEEE TPAMI 1989).
//!
//! The order changes how many states a search enters, but neither its value nor its move: at the
//! root, moves keep their given order.

use games::MoveId;

/// A role's move, at most this id. A machine that numbers its moves beyond it has no history
/// of these.
const MOST_IDS: usize = 1 << 16;
/// A history that reaches this is halved with all others, so that recent cut-offs count more.
const MOST_CUTS: u32 = 1 << 28;

/// What cut-offs say of moves.
#[derive(Clone, Debug)]
pub(crate) struct MoveOrder {
    killer_moves: bool,
    history: bool,
    /// By level, the last two killers: role and move.
    killers: Vec<[Option<(usize, MoveId)>; 2]>,
    /// By role, then by move.
    cuts: Vec<Vec<u32>>,
}

impl MoveOrder {
    /// Nothing is known yet. Only the heuristics that are asked for are used.
    pub(crate) fn new(n_roles: usize, killer_moves: bool, history: bool) -> Self {
        Self { killer_moves, history, killers: Vec::new(), cuts: vec![Vec::new(); n_roles] }
    }

    /// Whether any heuristic is used.
    pub(crate) fn is_used(&self) -> bool {
        self.killer_moves || self.history
    }

    /// Notes that a role's move cut off its siblings at `level`, with a search that looked
    /// `depth_left` levels ahead.
    pub(crate) fn cut_off(&mut self, level: usize, role: usize, id: MoveId, depth_left: usize) {
        if self.killer_moves {
            if self.killers.len() <= level {
                self.killers.resize(level + 1, [None; 2]);
            }
            let killers = &mut self.killers[level];
            if killers[0] != Some((role, id)) {
                *killers = [Some((role, id)), killers[0]];
            }
        }
        let at = id.0 as usize;
        if self.history && at < MOST_IDS {
            let cuts = &mut self.cuts[role];
            if cuts.len() <= at {
                cuts.resize(at + 1, 0);
            }
            let weight = u32::try_from(depth_left.min(1000).pow(2)).unwrap_or(u32::MAX);
            cuts[at] = cuts[at].saturating_add(weight.max(1));
            if cuts[at] >= MOST_CUTS {
                self.cuts.iter_mut().flatten().for_each(|cuts| *cuts /= 2);
            }
        }
    }

    /// Puts a role's `moves` at `level` into `order`: `first`, then killers, then by history; of
    /// equals the first.
    #[inline]
    pub(crate) fn order(
        &self,
        level: usize,
        role: usize,
        moves: &[MoveId],
        first: Option<usize>,
        order: &mut Order,
    ) {
        let [killer, other] = self.killers.get(level).copied().unwrap_or_default();
        let (killer, other) = (killer.filter(|it| it.0 == role), other.filter(|it| it.0 == role));
        let (killer, other) = (killer.map(|it| it.1), other.map(|it| it.1));
        let cuts = &self.cuts[role];
        let Order(order) = order;
        order.clear();
        order.extend(moves.iter().enumerate().map(|(index, &id)| {
            let rank = if killer == Some(id) {
                u32::MAX - 1
            } else if other == Some(id) {
                u32::MAX - 2
            } else {
                cuts.get(id.0 as usize).copied().unwrap_or(0)
            };
            u64::from(rank) << 32 | u64::from(!(index as u32))
        }));
        if let Some(first) = first {
            order[first] |= u64::from(u32::MAX) << 32;
            order.swap(0, first);
        }
    }
}

/// Moves by their indices, in the order in which they are tried: the rank above, and the
/// complement of the index below, so that the largest comes first. Most lists are cut off after
/// their first moves, so these are chosen when they are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order(Vec<u64>);

impl Order {
    /// Moves that are chosen one by one.
    const CHOSEN: usize = 3;

    /// The index of the move to try at `rank`, which begins with 0, or 1 after a first move that
    /// was given, and increases by one.
    #[inline]
    pub(crate) fn index(&mut self, rank: usize) -> usize {
        let Self(order) = self;
        if rank < Self::CHOSEN {
            for at in rank + 1..order.len() {
                if order[at] > order[rank] {
                    order.swap(at, rank);
                }
            }
        } else if rank == Self::CHOSEN {
            order[rank..].sort_unstable_by(|a, b| b.cmp(a));
        }
        !(order[rank] as u32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(heuristics: &MoveOrder, level: usize, first: Option<usize>) -> Vec<usize> {
        let moves: Vec<MoveId> = (10..15).map(MoveId).collect();
        let mut order = Order::default();
        heuristics.order(level, 1, &moves, first, &mut order);
        (0..moves.len()).map(|rank| order.index(rank)).collect()
    }

    #[test]
    fn the_hint_comes_before_killers_and_killers_before_history() {
        let mut heuristics = MoveOrder::new(2, true, true);
        assert_eq!(order(&heuristics, 0, None), [0, 1, 2, 3, 4]);
        heuristics.cut_off(7, 1, MoveId(14), 3);
        heuristics.cut_off(7, 1, MoveId(12), 1);
        heuristics.cut_off(8, 1, MoveId(13), 2);
        // The other role's moves are others.
        heuristics.cut_off(8, 0, MoveId(11), 9);
        assert_eq!(order(&heuristics, 7, Some(0)), [0, 2, 4, 3, 1]);
        assert_eq!(order(&heuristics, 8, None), [3, 4, 2, 0, 1]);
        assert_eq!(order(&heuristics, 0, Some(1)), [1, 4, 3, 2, 0]);
    }

    #[test]
    fn a_killer_twice_is_one_killer() {
        let mut heuristics = MoveOrder::new(2, true, false);
        for id in [14, 13, 13] {
            heuristics.cut_off(0, 1, MoveId(id), 1);
        }
        assert_eq!(order(&heuristics, 0, None), [3, 4, 0, 1, 2]);
        let mut none = MoveOrder::new(2, false, false);
        none.cut_off(0, 1, MoveId(14), 1);
        assert!(!none.is_used());
        assert_eq!(order(&none, 0, None), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn large_histories_are_halved_and_keep_their_order() {
        let mut heuristics = MoveOrder::new(2, false, true);
        for _ in 0..600 {
            heuristics.cut_off(0, 1, MoveId(14), 1000);
            heuristics.cut_off(0, 1, MoveId(12), 700);
        }
        heuristics.cut_off(0, 1, MoveId(u32::MAX), 1);
        assert_eq!(order(&heuristics, 0, None), [4, 2, 0, 1, 3]);
    }
}
