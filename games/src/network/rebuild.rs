//! Rebuilds a network in which nodes are replaced by literals that they equal.

use std::sync::Arc;

use super::{Graph, Lit, Network};

/// The network with each node replaced by `substitutes[node]`, a literal of a node that
/// is itself not replaced and not greater, and without nodes that no output needs.
pub(crate) fn rebuild(network: &Network, substitutes: &[Lit]) -> Network {
    let smaller = copy(network, substitutes);
    // Folded conjunctions leave others behind that no output needs.
    copy(&smaller, &smaller.graph.literals())
}

fn copy(network: &Network, substitutes: &[Lit]) -> Network {
    let old = &network.graph;
    let mut all = Vec::new();
    let mut outputs = network.clone();
    outputs.for_each_output(|lit| {
        all.push(*lit);
        *lit = lit.replaced_by(substitutes);
    });
    let is_needed = old.needed(all, |lit| lit.replaced_by(substitutes));
    let mut new = Graph::new(old.n_inputs());
    let mut lits = vec![Lit::FALSE];
    lits.extend((0..old.n_inputs()).map(|input| new.input(input)));
    for (node, operands) in old.ands() {
        let [a, b] = operands.map(|lit| lit.replaced_by(substitutes).replaced_by(&lits));
        lits.push(if is_needed[node as usize] { new.and(a, b) } else { Lit::FALSE });
    }
    outputs.for_each_output(|lit| *lit = lit.replaced_by(&lits));
    Network { graph: new, game: Arc::clone(&network.game), ..outputs }
}

impl Network {
    fn for_each_output(&mut self, mut change: impl FnMut(&mut Lit)) {
        change(&mut self.terminal);
        self.next.iter_mut().for_each(&mut change);
        for role in &mut self.roles {
            role.legal.iter_mut().for_each(&mut change);
            role.goals.iter_mut().for_each(|(_, lit)| change(lit));
            role.percepts.iter_mut().for_each(|(_, lit)| change(lit));
        }
    }
}
