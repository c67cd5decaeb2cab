//! When to reply before the clock ends: no other move can be tried as often as the best one any
//! more (Baier and Winands, "Time management for Monte-Carlo tree search", IEEE T-CIAIG 2016, which
//! calls it STOP).

use std::time::Instant;

use games::RoleId;

use super::search::{End, Search};

/// Descents before which their cost is not known.
const LEAST_DESCENTS: u64 = 256;

/// When to reply before the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeAllocation {
    /// The role whose move is wanted, if the search may end once it is decided.
    chooser: Option<RoleId>,
    /// When the question was asked.
    began: Option<Instant>,
    /// The move was decided before the end.
    pub(super) is_early: bool,
}

impl TimeAllocation {
    /// Begins to think about a state.
    pub(super) fn begin(&mut self) {
        self.began = self.chooser.map(|_| Instant::now());
        self.is_early = false;
    }
}

impl Search {
    /// Later questions end once the move of this role is decided; `None` for at their end.
    pub(super) fn reply_once_decided(&mut self, chooser: Option<RoleId>) {
        self.time_allocation.chooser = chooser;
    }

    /// Whether the search may end since the role has a move that no other can overtake: they are
    /// proven to be no better, or there are fewer descents left than it is ahead.
    pub(super) fn is_decided(&mut self, end: End<'_>) -> bool {
        let TimeAllocation { chooser: Some(chooser), began: Some(began), .. } =
            self.time_allocation
        else {
            return false;
        };
        let n_descents = self.counters.descents;
        if n_descents < LEAST_DESCENTS
            || self.best_line.is_kept()
            || self.matches_regrets(self.root)
        {
            return false;
        }
        let lead = self.lead(self.root, chooser).map_or(f64::INFINITY, f64::from);
        let left = end.limit.saturating_sub(n_descents) as f64;
        let nodes = end.stop.node_budget().map_or(f64::INFINITY, |budget| {
            let spent = self.counters.nodes.max(1);
            n_descents as f64 * budget.saturating_sub(spent) as f64 / spent as f64
                + self.n_cheap_descents()
        });
        let time = end.stop.deadline().map_or(f64::INFINITY, |deadline| {
            let now = Instant::now();
            let spent = (now - began).as_secs_f64().max(1e-9);
            n_descents as f64 * deadline.saturating_duration_since(now).as_secs_f64() / spent
        });
        self.time_allocation.is_early = lead > left.min(nodes).min(time);
        self.time_allocation.is_early
    }
}

#[cfg(test)]
mod tests {
    use games::PlayoutMoves;

    use super::super::move_averages::Preference;
    use super::super::regret_matching::Simultaneous;
    use super::super::search::Settings;
    use super::super::team;
    use super::*;
    use crate::testing::shipped;
    use crate::{Deliberation, Stop, seed};

    /// Those of the player by default.
    const SETTINGS: Settings = Settings {
        exploration: 0.2,
        first_play: 0.0,
        unexpanded: 4,
        leaves: 32,
        lanes: 16,
        max_length: 1000,
        memory: 1 << 30,
        evaluated_exploration: 0.03,
        playout_moves: PlayoutMoves::Decisive,
        preference: Preference { probability: 0.0, margin: 0.05 },
        simultaneous: Simultaneous::Ucb,
    };

    /// The reply after `moves` moves that are each the first legal one.
    fn reply(game: &str, moves: usize, nodes: u64, early: bool) -> (String, Deliberation) {
        let mut machine = shipped(game);
        let mut state = machine.initial_state().unwrap();
        let roles = machine.game().role_ids();
        for _ in 0..moves {
            let mut joint_move = Vec::new();
            for role in roles.clone() {
                let mut legal = Vec::new();
                machine.legal_moves(&state, role, &mut legal).unwrap();
                joint_move.push(legal[0]);
            }
            let mut next = games::State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
        }
        let me = RoleId((moves % 2) as u8);
        let mut search = Search::new(machine.game(), SETTINGS, seed::generator(1, None));
        search.reply_once_decided(early.then_some(me));
        let stop = Stop::never().after_nodes(nodes);
        let root =
            team::search(&mut search, machine.as_mut(), &mut [], &state, &stop, u64::MAX).unwrap();
        let (action, said) = search.answer(root, me, &mut seed::generator(1, None));
        (machine.move_expression(action.unwrap()).to_string(), said)
    }

    /// A reply before the end is the reply at the end, and costs fewer nodes.
    #[test]
    fn a_decided_move_does_not_change() {
        let mut n_early = 0;
        for game in ["connect_four", "breakthrough_6x6", "othello_6x6", "hex_5x5"] {
            for moves in [0, 1, 2, 4, 6] {
                for nodes in [60_000, 300_000] {
                    let (expected, whole) = reply(game, moves, nodes, false);
                    let (chosen, said) = reply(game, moves, nodes, true);
                    // A proof may come later.
                    let is_same = chosen == expected || whole.proven && !said.proven;
                    assert!(
                        is_same,
                        "{game} after {moves} moves, {nodes} nodes: {said:?} {whole:?}"
                    );
                    let is_early = said.notes.iter().any(|note| note.starts_with("replied early"));
                    assert_eq!(is_early, said.nodes < whole.nodes, "{said:?}");
                    n_early += usize::from(is_early);
                }
            }
        }
        assert!(n_early >= 5, "{n_early}");
    }
}
