//! What is left of a network where some facts have known values: its cofactor
//! (Shannon, "The synthesis of two-terminal switching circuits", 1949).

use super::graph::folded;
use super::rebuild::rebuild;
use super::{Lit, Network};

/// The network for positions in which these facts have these values. Moves that
/// are not legal in any of them are not made there, and the only move of a role
/// is. Facts and moves stay what they are.
pub(crate) fn cofactor(network: &Network, known: &[(usize, bool)]) -> Network {
    let mut substitutes = identity(network);
    for &(fact, holds) in known {
        substitutes[network.graph.input(fact).node() as usize] = constant(holds);
    }
    let network = rebuild(network, &substitutes);
    let mut substitutes = identity(&network);
    let mut first = network.n_facts();
    for role in &network.roles {
        let n_possible = role.legal.iter().filter(|&&legal| legal != Lit::FALSE).count();
        for (input, &legal) in (first..).zip(&role.legal) {
            if legal == Lit::FALSE || n_possible == 1 {
                let node = network.graph.input(input).node();
                substitutes[node as usize] = constant(legal != Lit::FALSE);
            }
        }
        first += role.moves.len();
    }
    rebuild(&network, &substitutes)
}

/// How many gates of the cofactor are not for goals and percepts, and how many of
/// its moves may be legal. Counted without making it; what hashing would find is
/// not counted off.
pub(crate) fn cofactor_size(network: &Network, known: &[(usize, bool)]) -> (usize, usize) {
    let graph = &network.graph;
    let mut same_as = identity(network);
    for &(fact, holds) in known {
        same_as[graph.input(fact).node() as usize] = constant(holds);
    }
    let resolve =
        |same_as: &[Lit], lit: Lit| same_as[lit.node() as usize].negated_if(lit.is_negated());
    for (node, [left, right]) in graph.ands() {
        if let Some(lit) = folded(resolve(&same_as, left), resolve(&same_as, right)) {
            same_as[node as usize] = lit;
        }
    }
    let mut is_needed = vec![false; graph.n_nodes()];
    let legal = network.roles.iter().flat_map(|role| &role.legal);
    let n_moves = legal.clone().filter(|&&legal| resolve(&same_as, legal) != Lit::FALSE).count();
    for &output in network.next.iter().chain(legal).chain([&network.terminal]) {
        is_needed[resolve(&same_as, output).node() as usize] = true;
    }
    let mut n_gates = 0;
    for node in (0..graph.n_nodes() as u32).rev().filter(|&node| graph.operands(node).is_some()) {
        if is_needed[node as usize] {
            n_gates += 1;
            for operand in graph.operands(node).into_iter().flatten() {
                is_needed[resolve(&same_as, operand).node() as usize] = true;
            }
        }
    }
    (n_gates, n_moves)
}

fn identity(network: &Network) -> Vec<Lit> {
    (0..network.graph.n_nodes()).map(|node| Lit::new(node as u32, false)).collect()
}

fn constant(holds: bool) -> Lit {
    if holds { Lit::TRUE } else { Lit::FALSE }
}
