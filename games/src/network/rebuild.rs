//! Rebuilds a network in which nodes are replaced by literals that they equal.

use std::sync::Arc;

use super::{Graph, Lit, Network, RoleOutputs};

/// The network with each node replaced by `substitutes[node]`, a literal of a node that
/// is itself not replaced and not greater, and without nodes that no output needs.
pub(crate) fn rebuild(network: &Network, substitutes: &[Lit]) -> Network {
    let smaller = copy(network, substitutes);
    // Folded conjunctions leave others behind that no output needs.
    copy(&smaller, &smaller.graph.literals())
}

fn copy(network: &Network, substitutes: &[Lit]) -> Network {
    let old = &network.graph;
    let is_needed = old.needed(network.outputs(), |lit| lit.replaced_by(substitutes));
    let mut new = Graph::new(old.n_inputs());
    let mut lits = vec![Lit::FALSE];
    lits.extend((0..old.n_inputs()).map(|input| new.input(input)));
    for (node, operands) in old.ands() {
        let [a, b] = operands.map(|lit| lit.replaced_by(substitutes).replaced_by(&lits));
        lits.push(if is_needed[node as usize] { new.and(a, b) } else { Lit::FALSE });
    }
    network.with_graph(new, |lit| lit.replaced_by(substitutes).replaced_by(&lits))
}

impl Network {
    /// The network with another graph, in which `literal` gives what each output is.
    pub(super) fn with_graph(&self, graph: Graph, literal: impl Fn(Lit) -> Lit) -> Network {
        let all = |lits: &[Lit]| lits.iter().map(|&lit| literal(lit)).collect();
        let of_role = |role: &RoleOutputs| RoleOutputs {
            moves: role.moves.clone(),
            legal: all(&role.legal),
            goals: role.goals.iter().map(|&(value, lit)| (value, literal(lit))).collect(),
            percepts: role.percepts.iter().map(|(it, lit)| (it.clone(), literal(*lit))).collect(),
        };
        Network {
            game: Arc::clone(&self.game),
            graph,
            facts: self.facts.clone(),
            initial: self.initial.clone(),
            next: all(&self.next),
            terminal: literal(self.terminal),
            roles: self.roles.iter().map(of_role).collect(),
        }
    }
}
