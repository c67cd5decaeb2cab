//! The cofactor of a network: what is left of it where some facts have known values
//! (Shannon, "The synthesis of two-terminal switching circuits", 1949).

use super::graph::folded;
use super::rebuild::rebuild;
use super::{Lit, Network};

/// The network for positions in which these literals of facts hold. Moves that are
/// legal in none of them are constant false, and a role's only move is constant true.
/// The numbering of facts and moves stays.
pub(crate) fn cofactor(network: &Network, known: &[Lit]) -> Network {
    let network = rebuild(network, &with_known(network, known));
    let moves = known_moves(&network, |lit| lit);
    rebuild(&network, &with_known(&network, &moves))
}

/// The number of gates of the cofactor without goals and percepts, and the number of its moves that
/// may be legal; conjunctions may be known as well. Counted without building it, so gates that
/// hashing would merge count separately.
pub(crate) fn cofactor_size(network: &Network, known: &[Lit]) -> (usize, usize) {
    let (_, same_as) = folding_with_moves(network, known);
    let resolve = |lit: Lit| lit.replaced_by(&same_as);
    let legal = network.roles.iter().flat_map(|role| &role.legal);
    let n_moves = legal.clone().filter(|&&legal| resolve(legal) != Lit::FALSE).count();
    let outputs = network.next.iter().chain(legal).chain([&network.terminal]);
    (n_needed(network, &same_as, outputs), n_moves)
}

/// The number of gates on which only the facts of the next state depend, where these
/// literals hold, counted as by [`cofactor_size`].
pub(crate) fn late_size(network: &Network, known: &[Lit]) -> usize {
    let (_, same_as) = folding_with_moves(network, known);
    let early = network.roles.iter().flat_map(|role| &role.legal).chain([&network.terminal]);
    let all = network.next.iter().chain(early.clone());
    n_needed(network, &same_as, all) - n_needed(network, &same_as, early)
}

/// The number of all gates on which the facts of the next state depend, counted in the same way.
pub(crate) fn next_size(network: &Network, known: &[Lit]) -> usize {
    n_needed(network, &folding_with_moves(network, known).1, network.next.iter())
}

/// The number of gates that outputs depend on after each node is replaced.
fn n_needed<'n>(
    network: &Network,
    same_as: &[Lit],
    outputs: impl Iterator<Item = &'n Lit>,
) -> usize {
    let is_needed = network.graph.needed(outputs.copied(), |lit| lit.replaced_by(same_as));
    network.graph.ands().filter(|&(node, _)| is_needed[node as usize]).count()
}

/// Literals that hold where these do: the same and those of moves. And by node, the literal that
/// replaces it there.
pub(super) fn folding_with_moves(network: &Network, known: &[Lit]) -> (Vec<Lit>, Vec<Lit>) {
    let same_as = folding(network, known);
    let moves = known_moves(network, |lit| lit.replaced_by(&same_as));
    if moves.is_empty() {
        return (known.to_vec(), same_as);
    }
    let all = [known, &moves].concat();
    let same_as = folding(network, &all);
    (all, same_as)
}

/// The literals of moves that hold, as follows from legality: a move that is never legal is
/// not made, and a role's only move is made. `resolve` maps a literal to the literal
/// that it equals.
fn known_moves(network: &Network, resolve: impl Fn(Lit) -> Lit) -> Vec<Lit> {
    let mut known = Vec::new();
    for (id, role) in network.role_ids().zip(&network.roles) {
        let first = network.first_move(id);
        let may_be_legal = |&legal: &Lit| resolve(legal) != Lit::FALSE;
        let is_only = role.legal.iter().filter(|&legal| may_be_legal(legal)).count() == 1;
        for (input, legal) in (first..).zip(&role.legal) {
            let may_be_made = may_be_legal(legal);
            if !may_be_made || is_only {
                known.push(Lit::of_input(input, may_be_made));
            }
        }
    }
    known
}

/// By node: the literal that replaces it where these literals hold.
fn with_known(network: &Network, known: &[Lit]) -> Vec<Lit> {
    let mut same_as = network.graph.literals();
    for lit in known {
        same_as[lit.node() as usize] = Lit::TRUE.negated_if(lit.is_negated());
    }
    same_as
}

/// As [`with_known`], and conjunctions that follow from it.
fn folding(network: &Network, known: &[Lit]) -> Vec<Lit> {
    let mut same_as = with_known(network, known);
    for (node, [left, right]) in network.graph.ands() {
        if same_as[node as usize].is_constant() {
            continue;
        }
        if let Some(lit) = folded(left.replaced_by(&same_as), right.replaced_by(&same_as)) {
            same_as[node as usize] = lit;
        }
    }
    same_as
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, library, validate};

    fn network(name: &str) -> Network {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap()
    }

    #[test]
    fn what_is_left_is_counted_without_making_it() {
        for name in ["breakthrough", "checkers", "connect_four", "othello_6x6", "tic_tac_toe"] {
            let network = network(name);
            let turns = (0..network.n_facts()).filter(|&fact| {
                network.facts[fact].to_string().to_lowercase().starts_with("(control")
            });
            let known: Vec<Lit> =
                turns.map(|fact| Lit::of_input(fact, network.initial[fact])).collect();
            assert_eq!(known.len(), 2, "{name}");
            let (n_gates, n_moves) = cofactor_size(&network, &known);
            // Nothing is known of the cofactor: all that it has is counted.
            let (n_left, n_legal) = cofactor_size(&cofactor(&network, &known), &[]);
            assert_eq!(n_moves, n_legal, "{name}");
            assert!(
                n_left <= n_gates && n_gates <= n_left + n_left / 8,
                "{name}: {n_gates} for {n_left}"
            );
            let (n_whole, _) = cofactor_size(&network, &[]);
            assert!(n_left < n_whole, "{name}: {n_left} of {n_whole}");
        }
    }
}
