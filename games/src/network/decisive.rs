//! A network in which only decisive moves are legal: a role wins immediately where it can, and else
//! makes a move after which it has not lost and no opponent can win immediately, if it has one.
//!
//! Playouts over such a network play *decisive* and *anti-decisive* moves (Teytaud and Teytaud,
//! "On the huge impact of decisive moves in Monte-Carlo tree search algorithms", CIG 2010). What a
//! move leads to is computed by a copy of the network, in which the move is made and the other
//! roles make their only moves.

use super::rebuild::rebuild;
use super::samples::{Sample, Samples, value};
use super::{Graph, Lit, Network};
use crate::RoleId;

/// Steps of random play, 64 positions each, that show how the roles take turns.
const N_SAMPLES: usize = 128;

/// Maximum number of conjunctions, as a multiple of those of the game's network. With eleven times as
/// many, playouts of connect four take two and a half times as long.
const MAX_GROWTH: usize = 16;

/// Maximum number of conjunctions that are copied to make it.
const MAX_COPIED: usize = 500_000;

/// The network in which only decisive moves are legal where a role has some, and else only moves
/// that neither lose immediately nor have an answer that wins immediately, where it has some. The
/// role `random` keeps its moves, and so does every role those that were its only legal move in all
/// positions of some random play. Facts, the numbering of moves, and what moves lead to stay.
///
/// `None` if roles move at the same time or win together, as far as random play shows, if no move
/// wins, or if the network would become too large.
pub(crate) fn decisive(network: &Network) -> Option<Network> {
    let players = network.role_ids().filter(|&role| Some(role) != network.game.random());
    let players: Vec<usize> = players.map(|role| usize::from(role.0)).collect();
    let mut copies =
        Copies { network, graph: network.graph.clone(), n_copied: 0, lits: Vec::new() };
    let won: Vec<Lit> = players
        .iter()
        .map(|&role| copies.graph.and(network.terminal, has_best_reward(network, role)))
        .collect();
    // Most games that are too large are known before random play.
    let roles = players.iter().zip(&won);
    let n_copied = roles.map(|(&role, &won)| network.roles[role].moves.len() * copies.price(won));
    let win_alike = |at: usize| won[at] != Lit::FALSE && won[..at].contains(&won[at]);
    if n_copied.sum::<usize>() > MAX_COPIED || (0..won.len()).any(win_alike) {
        return None;
    }
    let is_choice = choices(network, &players)?;
    let none = |role: usize| vec![Lit::FALSE; network.roles[role].moves.len()];

    let mut wins: Vec<Vec<Lit>> = (0..network.roles.len()).map(none).collect();
    let mut can_win = vec![Lit::FALSE; network.roles.len()];
    for (&role, &won) in players.iter().zip(&won) {
        wins[role] = copies.after_each(role, &is_choice[role], won)?;
        can_win[role] = copies.graph.any(&mut wins[role].clone());
    }
    if can_win.iter().all(|&can_win| can_win == Lit::FALSE) {
        return None;
    }
    let mut decisive = network.clone();
    for &role in &players {
        let others = || (0..players.len()).filter(|&at| players[at] != role);
        let can_win_next = copies.graph.any(&mut others().map(|at| can_win[players[at]]).collect());
        let can_win_next = copies.graph.and(can_win_next, !network.terminal);
        let have_won = copies.graph.any(&mut others().map(|at| won[at]).collect());
        let loses = copies.graph.or(have_won, can_win_next);
        let answered = copies.after_each(role, &is_choice[role], loses)?;
        let legal = &mut decisive.roles[role].legal;
        let quiet = unanswered(&mut copies.graph, legal, &answered);
        for (index, quiet) in quiet.into_iter().enumerate() {
            if is_choice[role][index] {
                let quiet = copies.graph.and(quiet, !can_win[role]);
                legal[index] = copies.graph.or(wins[role][index], quiet);
            }
        }
    }
    decisive.graph = copies.graph;
    let decisive = rebuild(&decisive, &decisive.graph.literals());
    let most = network.graph.n_ands().saturating_mul(MAX_GROWTH);
    (decisive.graph.n_ands() <= most).then_some(decisive)
}

/// By move: whether it is legal and does not lose by at most one answer; or legal, if every legal
/// move does.
fn unanswered(graph: &mut Graph, legal: &[Lit], answered: &[Lit]) -> Vec<Lit> {
    let moves = legal.iter().zip(answered);
    let safe: Vec<Lit> = moves.map(|(&legal, &answered)| graph.and(legal, !answered)).collect();
    let is_safe = graph.any(&mut safe.clone());
    let moves = legal.iter().zip(safe);
    let choose = |(&legal, safe)| {
        let unsafe_too = graph.and(legal, !is_safe);
        graph.or(safe, unsafe_too)
    };
    moves.map(choose).collect()
}

/// Whether a role has the highest reward that the rules name. Never if they name only one.
fn has_best_reward(network: &Network, role: usize) -> Lit {
    let goals = &network.roles[role].goals;
    let rewards = goals.iter().filter_map(|&(goal, lit)| Some((goal.reward()?, lit)));
    let best = rewards.max_by_key(|&(reward, _)| reward).filter(|_| goals.len() > 1);
    best.map_or(Lit::FALSE, |(_, best)| best)
}

/// By role and move: whether random play came to a state in which it was legal among others. `None`
/// if several roles had a choice at once, or several players their best rewards at an end.
fn choices(network: &Network, players: &[usize]) -> Option<Vec<Vec<bool>>> {
    let mut is_choice: Vec<Vec<bool>> =
        network.roles.iter().map(|role| vec![false; role.moves.len()]).collect();
    let mut samples = Samples::new(network);
    for _ in 0..N_SAMPLES {
        let Sample { values, going } = samples.next();
        let (mut some_won, mut several_won) = (0, 0);
        for &role in players {
            let won = value(values, has_best_reward(network, role));
            several_won |= some_won & won;
            some_won |= won;
        }
        if several_won & value(values, network.terminal) != 0 {
            return None;
        }
        let mut chosen_before = 0;
        for (role, is_choice) in network.roles.iter().zip(&mut is_choice) {
            let (mut some, mut several) = (0, 0);
            for &legal in &role.legal {
                let legal = value(values, legal) & going;
                several |= some & legal;
                some |= legal;
            }
            if chosen_before & several != 0 {
                return None;
            }
            chosen_before |= several;
            for (is_choice, &legal) in is_choice.iter_mut().zip(&role.legal) {
                *is_choice |= value(values, legal) & several != 0;
            }
        }
    }
    Some(is_choice)
}

/// Copies of parts of a network in one graph.
struct Copies<'n> {
    network: &'n Network,
    graph: Graph,
    /// Conjunctions copied so far.
    n_copied: usize,
    /// By node, what it is in the copy that is being made.
    lits: Vec<Lit>,
}

impl Copies<'_> {
    /// By move of a role: whether it is legal and leads to a state with this property. Never for
    /// moves that are no choice. `None` if too much would have to be copied.
    fn after_each(&mut self, role: usize, is_choice: &[bool], property: Lit) -> Option<Vec<Lit>> {
        let network = self.network;
        let first = network.first_move(RoleId::first(network.roles.len()).nth(role)?);
        let legal = &network.roles[role].legal;
        let StepCones { property: property_cone, next, before: next_cone } = self.cones(property);
        let mut inputs: Vec<Lit> =
            (0..network.n_facts()).map(|fact| self.graph.input(fact)).collect();
        inputs.extend(network.roles.iter().flat_map(|role| &role.legal));
        inputs[first..first + legal.len()].fill(Lit::FALSE);
        let mut next_inputs = vec![Lit::FALSE; inputs.len()];
        let mut after = Vec::with_capacity(legal.len());
        for (index, &legal) in legal.iter().enumerate() {
            if !is_choice[index] {
                after.push(Lit::FALSE);
                continue;
            }
            inputs[first + index] = Lit::TRUE;
            self.copy(&next_cone, &inputs)?;
            for (&fact, next) in property_cone.facts.iter().zip(&next) {
                next_inputs[fact] = next.replaced_by(&self.lits);
            }
            self.copy(&property_cone, &next_inputs)?;
            let holds = property.replaced_by(&self.lits);
            after.push(self.graph.and(legal, holds));
            inputs[first + index] = Lit::FALSE;
        }
        Some(after)
    }

    /// The conjunctions that are copied for a property after one move.
    fn price(&self, property: Lit) -> usize {
        let StepCones { property, before, .. } = self.cones(property);
        property.ands.len() + before.ands.len() + 2 * self.graph.n_inputs()
    }

    /// What a property depends on in the state after a move, and in the state before it.
    fn cones(&self, property: Lit) -> StepCones {
        let property = self.cone(&[property]);
        let next: Vec<Lit> = property.facts.iter().map(|&fact| self.network.next[fact]).collect();
        StepCones { before: self.cone(&next), property, next }
    }

    /// What these literals depend on.
    fn cone(&self, outputs: &[Lit]) -> Cone {
        let is_needed = self.graph.needed(outputs.iter().copied(), |lit| lit);
        let facts = (0..self.network.n_facts()).filter(|&fact| is_needed[1 + fact]).collect();
        let ands = (1 + self.graph.n_inputs()..is_needed.len()).filter(|&node| is_needed[node]);
        Cone { facts, ands: ands.map(|node| node as u32).collect() }
    }

    /// Copies a cone, whose inputs are replaced, to `lits`. `None` if too much was copied.
    fn copy(&mut self, cone: &Cone, inputs: &[Lit]) -> Option<()> {
        self.n_copied += cone.ands.len() + inputs.len();
        if self.n_copied > MAX_COPIED {
            return None;
        }
        let n_nodes = cone.ands.last().map_or(0, |&last| last as usize + 1).max(1 + inputs.len());
        self.lits.resize(n_nodes.max(self.lits.len()), Lit::FALSE);
        self.lits[1..=inputs.len()].copy_from_slice(inputs);
        for &node in &cone.ands {
            let operands = self.graph.operands(node)?;
            let [a, b] = operands.map(|lit| lit.replaced_by(&self.lits));
            self.lits[node as usize] = self.graph.and(a, b);
        }
        Some(())
    }
}

/// What a property depends on before and after a move.
struct StepCones {
    /// In the state after the move.
    property: Cone,
    /// By fact of `property`: whether the move makes it hold.
    next: Vec<Lit>,
    /// What `next` depends on.
    before: Cone,
}

/// What some literals depend on.
struct Cone {
    facts: Vec<usize>,
    /// The conjunctions, in order of evaluation.
    ands: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::split_mix::SplitMix;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};

    fn network(name: &str) -> Network {
        of(name, library::find(name).unwrap().text)
    }

    fn of(name: &str, text: &str) -> Network {
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap()
    }

    /// A state of a network, with a joint move or without one.
    struct Position {
        inputs: Vec<bool>,
        values: Vec<bool>,
    }

    impl Position {
        fn of(network: &Network, facts: &[bool], joint_move: &[usize]) -> Self {
            let mut inputs = facts.to_vec();
            inputs.resize(network.graph.n_inputs(), false);
            for (role, &index) in network.role_ids().zip(joint_move) {
                inputs[network.first_move(role) + index] = true;
            }
            Self { values: network.graph.evaluate(&inputs), inputs }
        }

        fn is(&self, lit: Lit) -> bool {
            self.values[lit.node() as usize] ^ lit.is_negated()
        }

        fn legal(&self, network: &Network, role: usize) -> Vec<usize> {
            let legal = network.roles[role].legal.iter().enumerate();
            legal.filter(|&(_, &lit)| self.is(lit)).map(|(index, _)| index).collect()
        }

        fn next(&self, network: &Network, role: usize, index: usize) -> Self {
            let facts = &self.inputs[..network.n_facts()];
            let joint_move: Vec<usize> = (0..network.roles.len())
                .map(|other| if other == role { index } else { self.legal(network, other)[0] })
                .collect();
            let made = Self::of(network, facts, &joint_move);
            let facts: Vec<bool> = network.next.iter().map(|&lit| made.is(lit)).collect();
            Self::of(network, &facts, &[])
        }

        fn has_won(&self, network: &Network, role: usize) -> bool {
            let goals = &network.roles[role].goals;
            self.is(goals.iter().max_by_key(|it| it.0.reward()).unwrap().1)
        }

        /// The moves of a role, of those that are a choice somewhere, that end the match with its
        /// highest reward.
        fn winning(&self, network: &Network, is_choice: &[bool], role: usize) -> Vec<usize> {
            let wins = |&index: &usize| {
                let next = self.next(network, role, index);
                next.is(network.terminal) && next.has_won(network, role)
            };
            let legal = self.legal(network, role).into_iter();
            legal.filter(|&index| is_choice[index]).filter(wins).collect()
        }
    }

    /// In states of random play, what is left of the legal moves is what a search by hand leaves.
    #[test]
    fn what_is_legal_is_what_a_search_of_two_steps_prefers() {
        for name in ["connect_four_4x4", "connect_three", "endless_tree", "pig"] {
            let network = network(name);
            let decisive = decisive(&network).unwrap();
            let players: Vec<usize> = network
                .role_ids()
                .filter(|&role| Some(role) != network.game.random())
                .map(|role| usize::from(role.0))
                .collect();
            let is_choice = choices(&network, &players).unwrap();
            let mut random = SplitMix::new(7);
            let (mut n_won, mut n_safe) = (0, 0);
            let mut position = Position::of(&network, &network.initial, &[]);
            for _ in 0..300 {
                if position.is(network.terminal) {
                    position = Position::of(&network, &network.initial, &[]);
                }
                let preferred = Position::of(&decisive, &position.inputs[..network.n_facts()], &[]);
                for role in 0..network.roles.len() {
                    let legal = position.legal(&network, role);
                    let won = position.winning(&network, &is_choice[role], role);
                    let is_safe = |&index: &usize| {
                        let next = position.next(&network, role, index);
                        let mut others = players.iter().filter(|&&other| other != role);
                        if next.is(network.terminal) {
                            return !others.any(|&other| next.has_won(&network, other));
                        }
                        others.all(|&other| {
                            next.winning(&network, &is_choice[other], other).is_empty()
                        })
                    };
                    let is_single = legal.len() < 2 || !players.contains(&role);
                    let expected = if is_single {
                        legal
                    } else if !won.is_empty() {
                        n_won += usize::from(won.len() < legal.len());
                        won
                    } else {
                        let safe: Vec<usize> = legal.iter().copied().filter(is_safe).collect();
                        if safe.is_empty() {
                            legal
                        } else {
                            n_safe += usize::from(safe.len() < legal.len());
                            safe
                        }
                    };
                    assert_eq!(preferred.legal(&decisive, role), expected, "{name}");
                }
                let chooser = (0..network.roles.len())
                    .max_by_key(|&role| position.legal(&network, role).len())
                    .unwrap();
                let legal = position.legal(&network, chooser);
                position = position.next(&network, chooser, legal[random.below(legal.len())]);
            }
            assert!(n_won > 0, "{name}");
            assert_eq!(n_safe > 0, name != "pig", "{name}");
        }
    }

    #[test]
    fn no_network_where_it_would_mislead_or_be_too_large() {
        // Moves at the same time; a common win; many moves.
        for name in ["rock_paper_scissors", "tron", "partner_signalling", "hex_4x4", "amazons_6x6"]
        {
            assert!(decisive(&network(name)).is_none(), "{name}");
        }
    }

    /// A player that is behind may end the match: with a draw, which keeps the other from winning, or
    /// with the other's win, which does not.
    #[test]
    fn a_move_that_ends_the_match_has_no_answer() {
        let rules = |ended: &str| {
            format!(
                "(role a) (role b) (init (turn a)) (init new)
                (<= (legal a end) (true (turn a))) (<= (legal a go) (true (turn a)))
                (<= (legal b win) (true (turn b))) (<= (legal b lose) (true (turn b)))
                (<= (legal a noop) (true (turn b))) (<= (legal b noop) (true (turn a)))
                (<= (next (turn b)) (true (turn a))) (<= (next ended) (does a end))
                (<= (next won) (does b win)) (<= (next lost) (does b lose))
                (<= terminal (true ended)) (<= terminal (true won)) (<= terminal (true lost))
                (<= (goal b 100) (true won)) (<= (goal b 0) (true lost))
                (<= (goal a 100) (true lost)) (<= (goal a 0) (true won))
                (<= (goal a {ended}) (true ended)) (<= (goal b (100 - {ended})) (true ended))"
            )
            .replace("(100 - 50)", "50")
            .replace("(100 - 0)", "100")
        };
        for (reward, legal) in [("50", &[0][..]), ("0", &[0, 1])] {
            let network = of("ends", &rules(reward));
            let decisive = decisive(&network).unwrap();
            let names: Vec<String> =
                network.roles[0].moves.iter().map(ToString::to_string).collect();
            assert_eq!(names, ["end", "go", "noop"]);
            let first = Position::of(&decisive, &network.initial, &[]);
            assert_eq!(first.legal(&decisive, 0), legal, "{reward}");
        }
    }
}
