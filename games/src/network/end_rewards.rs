//! The rewards that a role may get at the end of a match.

use std::collections::BTreeSet;

use super::solver::{Answer, Solver};
use super::{GoalValue, Network};
use crate::RoleId;

/// Decisions of the SAT solver for one reward.
const DECISIONS: u64 = 10_000;

/// The rewards from 0 to 100 that the rules give the role in terminal states. A reward that no
/// terminal state can give is left out where that is found out quickly: many rules name a goal for
/// states in which play goes on.
pub(crate) fn end_rewards(network: &Network, role: RoleId) -> BTreeSet<u8> {
    let graph = &network.graph;
    let mut solver = Solver::new(DECISIONS);
    let goals = network.roles[usize::from(role.0)].goals.iter();
    goals
        .filter_map(|&(value, holds)| Some((GoalValue::reward(value)?, holds)))
        .filter(|&(_, holds)| {
            !matches!(solver.ask(graph, &[network.terminal, holds]).0, Answer::Never)
        })
        .map(|(reward, _)| reward)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};

    #[test]
    fn rewards_that_no_end_gives_are_left_out() {
        let of = |name: &str, text: &str| {
            let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
            let limits = GroundingLimits::default();
            let network = ground(&Arc::new(game), &limits, &Cancel::new()).unwrap();
            Vec::from_iter(end_rewards(&network, RoleId(0)))
        };
        let shipped = |name: &str| of(name, library::find(name).unwrap().text);
        // Its rules name 50 for states in which play goes on.
        assert_eq!(shipped("hex_4x4"), [0, 100]);
        assert_eq!(shipped("connect_four_4x4"), [0, 50, 100]);
        let long = "(role a) (init (at 1)) (legal a go) (legal a stop) (next (at 2))
            (<= (next stopped) (does a stop)) (<= terminal (true stopped))
            (<= (goal a 70) (true (at 2))) (<= (goal a 30) (true (at 1)))";
        // That the first state is not terminal, a state alone does not show.
        assert_eq!(of("long", long), [30, 70]);
    }
}
