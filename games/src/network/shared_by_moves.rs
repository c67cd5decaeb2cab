//! Conditions that differ by the move alone, computed once for the move that is made.
//!
//! Many facts hold next if one of several moves is made and, for that move, one of several
//! conditions holds. With `m` moves and `k` conditions each, that takes `m k` conjunctions. If some
//! part of the conditions is the same for all moves, and a *rest* differs, it takes fewer: the rest
//! for the move that is made is a disjunction of `m` conjunctions, which serves wherever this rest
//! occurs, and one disjunction of `k` conjunctions then stands for all moves. For example, stones
//! of a group take the number of the point that joins them:
//!
//! ```text
//! next(group 7 g)  =  play g, and group(7 h) and beside(h g) for some h
//!                  =  play g, and group(7 h) and beside(h) for some h
//! beside(h)        =  play g and beside(h g) for some g
//! ```
//!
//! Each role makes exactly one move, which is all that a [`Network`] is defined for, so both are the
//! same. In terms of logic synthesis, the common divisors of sums of products (Brayton and McMullen,
//! "The decomposition and factorization of Boolean expressions", 1982) are chosen under the don't
//! cares that moves exclude each other.

mod conditions;
mod parts;
mod rebuilding;
mod sharing;

use self::conditions::Conditions;
use self::parts::{Disjunctions, choose_pivots, role_by_input};
use self::rebuilding::rebuilt;
use self::sharing::{sharings, worth_making};
use super::Network;
use crate::Cancel;

/// The network with sharings is taken if its conjunctions are fewer than this part of those before.
const CLEARLY_FEWER: f64 = 0.9;

/// The network with conditions that several moves share; `None` if they do not take clearly fewer
/// conjunctions, or `cancel` is raised before it is known.
pub(crate) fn shared_by_moves(network: &Network, cancel: &Cancel) -> Option<Network> {
    let mut conditions = Conditions::of(network);
    let role_of = role_by_input(network);
    let mut disjunctions = Disjunctions::of(network, &mut conditions, &role_of, cancel)?;
    choose_pivots(&mut disjunctions.parts, &role_of);
    let parts = &disjunctions.parts;
    let mut sharings = sharings(parts, &role_of, network.graph.n_ands(), cancel)?;
    sharings.iter_mut().for_each(|sharing| sharing.find_terms(parts, &mut conditions));
    let sharings = worth_making(sharings, network, &conditions, &disjunctions);
    if sharings.is_empty() {
        return None;
    }
    let shared = rebuilt(network, &conditions, &disjunctions, &sharings);
    let (n_before, n_after) = (network.graph.n_ands() as f64, shared.graph.n_ands() as f64);
    (n_after < CLEARLY_FEWER * n_before).then_some(shared)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::network::{Graph, Lit, RoleOutputs};
    use crate::split_mix::SplitMix;
    use crate::{Cancel, Case, Expression, GroundingLimits, Leniency, ground, validate};

    /// A network of facts and moves with these next facts.
    fn network(
        n_facts: usize,
        n_moves: &[usize],
        next: impl FnOnce(&mut Graph) -> Vec<Lit>,
    ) -> Network {
        let rules =
            "(role one) (init a) (<= (next a) (true a)) (legal one go) (terminal) (goal one 0)";
        let game = validate::read("none", rules, Case::Folded, Leniency::Lenient).game.unwrap();
        let network = ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap();
        let mut graph = Graph::new(n_facts + n_moves.iter().sum::<usize>());
        let next = next(&mut graph);
        let role = |&n_moves: &usize| RoleOutputs {
            moves: vec![Expression::atom("go"); n_moves],
            legal: vec![Lit::TRUE; n_moves],
            ..RoleOutputs::default()
        };
        Network {
            facts: vec![Expression::atom("a"); n_facts],
            initial: vec![false; n_facts],
            terminal: Lit::FALSE,
            roles: n_moves.iter().map(role).collect(),
            graph,
            next,
            ..network
        }
    }

    /// Compares two networks for all joint moves, in all states or in many that are random.
    fn check_same(network: &Network, other: &Network) {
        let n_facts = network.n_facts();
        let mut joint_moves = vec![vec![false; network.graph.n_inputs() - n_facts]];
        let mut first = 0;
        for role in &network.roles {
            let with = |moves: &Vec<bool>, made| {
                let mut moves = moves.clone();
                moves[first + made] = true;
                moves
            };
            let made = |moves: &Vec<bool>| {
                (0..role.moves.len()).map(|made| with(moves, made)).collect::<Vec<_>>()
            };
            joint_moves = joint_moves.iter().flat_map(made).collect();
            first += role.moves.len();
        }
        let mut random = SplitMix::new(1);
        for number in 0..64_u64 {
            let mut fact =
                |at| if n_facts > 6 { random.below(4) == 1 } else { number >> at & 1 == 1 };
            let state: Vec<bool> = (0..n_facts).map(&mut fact).collect();
            for moves in &joint_moves {
                let inputs = [state.as_slice(), moves].concat();
                let outputs = |network: &Network| {
                    let values = network.graph.evaluate(&inputs);
                    let value = |lit: &Lit| values[lit.node() as usize] ^ lit.is_negated();
                    network.outputs().map(|lit| value(&lit)).collect::<Vec<_>>()
                };
                assert_eq!(outputs(network), outputs(other), "{inputs:?}");
            }
        }
    }

    /// Points whose groups join that of a move: `next(group p g)` if `play g`, and `group(p h)` and
    /// `beside(h g)` for some `h`. The roles have the moves in turn.
    fn groups(n_points: usize, n_groups: usize, n_roles: usize) -> Network {
        let n_facts = n_points * n_groups + n_groups * n_groups;
        let n_moves = n_groups / n_roles;
        network(n_facts, &vec![n_moves; n_roles], |graph| {
            let mut next = Vec::new();
            for point in 0..n_points {
                for joined in 0..n_groups {
                    let mut any = Vec::new();
                    for group in 0..n_groups {
                        let is_of_group = graph.input(point * n_groups + group);
                        let beside = graph.input((n_points + group) * n_groups + joined);
                        any.push(graph.and(is_of_group, beside));
                    }
                    let some = graph.any(&mut any);
                    let made = graph.input(n_facts + joined % n_roles * n_moves + joined / n_roles);
                    next.push(graph.and(made, some));
                }
            }
            next.resize(n_facts, Lit::FALSE);
            next
        })
    }

    #[test]
    fn groups_that_join_take_conjunctions_for_one_move() {
        let network = groups(30, 20, 1);
        let shared = shared_by_moves(&network, &Cancel::new()).unwrap();
        check_same(&network, &shared);
        // By point, move and group two; then by point and group two, by point and move one, and
        // two by move and group.
        assert_eq!(network.graph.n_ands(), 30 * 20 * (20 + 19 + 1));
        assert_eq!(shared.graph.n_ands(), 30 * (20 + 19 + 20) + 20 * (20 + 19));
    }

    #[test]
    fn a_sum_that_is_the_same_after_all_moves_is_left() {
        let network = network(4, &[3], |graph| {
            let facts: Vec<Lit> = (0..4).map(|fact| graph.input(fact)).collect();
            let mut any: Vec<Lit> = facts.windows(2).map(|two| graph.and(two[0], two[1])).collect();
            let some = graph.any(&mut any);
            vec![graph.and(graph.input(4), some), some, facts[1], facts[2]]
        });
        assert!(shared_by_moves(&network, &Cancel::new()).is_none());
    }

    #[test]
    fn moves_of_different_roles_are_kept_apart() {
        let network = groups(40, 16, 2);
        let shared = shared_by_moves(&network, &Cancel::new()).unwrap();
        check_same(&network, &shared);
        // For each role what one role takes for its moves.
        assert_eq!(shared.graph.n_ands(), 2 * (40 * (16 + 15 + 8) + 16 * (8 + 7)));
    }

    proptest! {
        #[test]
        fn outputs_are_the_same(
            // By fact: its first move, then moves after that, each with two facts, the first one
            // from few, and whether they hold.
            sums in vec(
                (0..8_usize, vec((0..2_usize, 0..2_usize, 0..6_usize, any::<bool>()), 2..9)),
                12,
            ),
            common in 0..6_usize,
        ) {
            // Two roles of four moves.
            let mut network = network(12, &[4, 4], |graph| {
                let mut sum = |(first_move, sum): &(usize, Vec<(usize, usize, usize, bool)>)| {
                    let mut any = Vec::new();
                    for &(made, first, last, negated) in sum {
                        let last = graph.input(last).negated_if(negated);
                        let both = graph.and(graph.input(first), last);
                        let made = graph.input(12 + (first_move + made) % 8);
                        any.push(graph.and(made, both));
                    }
                    let any = graph.any(&mut any);
                    graph.and(any, graph.input(common))
                };
                sums.iter().map(&mut sum).collect()
            });
            // Some are used in both ways, and in other sums.
            let next = &network.next;
            let seen = [!next[0], next[1], network.graph.or(next[0], next[2])];
            network.roles[0].percepts = seen.map(|lit| (Expression::atom("a"), lit)).to_vec();
            if let Some(shared) = shared_by_moves(&network, &Cancel::new()) {
                check_same(&network, &shared);
            }
        }
    }
}
