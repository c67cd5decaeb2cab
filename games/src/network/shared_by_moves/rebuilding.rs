//! A network with sharings in place of the parts that they compute.

use std::collections::BTreeMap;

use super::conditions::{ByMove, Conditions};
use super::parts::{Disjunctions, Part};
use super::sharing::Sharing;
use crate::network::rebuild::rebuild;
use crate::network::{Graph, Lit, Network};

/// The network with these sharings.
pub(super) fn rebuilt(
    network: &Network,
    conditions: &Conditions,
    disjunctions: &Disjunctions,
    sharings: &[Sharing],
) -> Network {
    let Disjunctions { parts, others } = disjunctions;
    let mut sharing_of: Vec<Option<usize>> = vec![None; parts.len()];
    for (at, sharing) in sharings.iter().enumerate() {
        sharing.parts.iter().for_each(|&part| sharing_of[part] = Some(at));
    }
    let mut parts_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, part) in parts.iter().enumerate() {
        parts_of.entry(part.root.node()).or_default().push(at);
    }
    parts_of.retain(|_, parts| parts.iter().any(|&part| sharing_of[part].is_some()));

    let mut copy = Copy::of_facts(conditions);
    let mut wholes: Vec<Option<Lit>> = vec![None; sharings.len()];
    for (node, operands) in network.graph.ands() {
        if !conditions.depends_on_moves(Lit::new(node, false)) {
            continue;
        }
        let Some(parts_of_root) = parts_of.get(&node) else {
            let [left, right] = operands.map(|lit| copy.lit(lit));
            copy.lits[node as usize] = copy.graph.and(left, right);
            continue;
        };
        let root = parts[parts_of_root[0]].root;
        let mut any: Vec<Lit> = others[&root].iter().map(|&lit| copy.lit(lit)).collect();
        for &at in parts_of_root {
            let part = &parts[at];
            let holds = match sharing_of[at] {
                None => copy.alone(part),
                Some(sharing) => {
                    let whole = *wholes[sharing]
                        .get_or_insert_with(|| copy.whole(&sharings[sharing].terms));
                    match sharings[sharing].parts.len() {
                        1 => whole,
                        _ => {
                            let made = copy.is_made(part);
                            copy.graph.and(whole, made)
                        }
                    }
                }
            };
            let mut all: Vec<Lit> = part.common.iter().map(|&lit| copy.lit(lit)).collect();
            all.push(holds);
            any.push(copy.graph.all(&mut all));
        }
        copy.lits[node as usize] = copy.graph.any(&mut any).negated_if(root.is_negated());
    }
    let Copy { graph, lits } = copy;
    let shared = network.with_graph(graph, |lit| lit.replaced_by(&lits));
    // Some conjunctions are not needed any more.
    rebuild(&shared, &shared.graph.literals())
}

/// A graph that is made from another one.
struct Copy {
    graph: Graph,
    /// By node of the other one.
    lits: Vec<Lit>,
}

impl Copy {
    /// With all conditions on facts.
    fn of_facts(conditions: &Conditions) -> Self {
        let other = &conditions.graph;
        let graph = Graph::new(other.n_inputs());
        let mut lits = vec![Lit::FALSE];
        lits.extend((0..other.n_inputs()).map(|input| graph.input(input)));
        let mut copy = Self { graph, lits };
        for (node, operands) in other.ands() {
            let [left, right] = operands.map(|lit| copy.lit(lit));
            let depends_on_moves = conditions.depends_on_moves(Lit::new(node, false));
            let lit = if depends_on_moves { Lit::FALSE } else { copy.graph.and(left, right) };
            copy.lits.push(lit);
        }
        copy
    }

    fn lit(&self, other: Lit) -> Lit {
        other.replaced_by(&self.lits)
    }

    /// That a move is made, and a condition holds.
    fn under(&mut self, input: u32, condition: Lit) -> Lit {
        self.graph.and(self.graph.input(input as usize), condition)
    }

    /// What the terms of a sharing are.
    fn whole(&mut self, terms: &[(Lit, ByMove)]) -> Lit {
        let mut any = Vec::with_capacity(terms.len());
        for (pivot, rests) in terms {
            let mut selected = Vec::with_capacity(rests.len());
            for &(input, rest) in rests {
                selected.push(self.under(input, self.lit(rest)));
            }
            let selected = self.graph.any(&mut selected);
            any.push(self.graph.and(self.lit(*pivot), selected));
        }
        self.graph.any(&mut any)
    }

    /// Whether a move of the part is made.
    fn is_made(&mut self, part: &Part) -> Lit {
        let inputs = part.branches.iter().map(|branch| branch.input as usize);
        let mut made: Vec<Lit> = inputs.map(|input| self.graph.input(input)).collect();
        self.graph.any(&mut made)
    }

    /// What a part is by itself, without the common factors.
    fn alone(&mut self, part: &Part) -> Lit {
        let mut any = Vec::with_capacity(part.branches.len());
        for branch in &part.branches {
            let mut products = Vec::with_capacity(branch.products.len());
            for factors in &branch.products {
                let mut all = factors.iter().map(|&lit| self.lit(lit)).collect();
                products.push(self.graph.all(&mut all));
            }
            let holds = self.graph.any(&mut products);
            any.push(self.under(branch.input, holds));
        }
        self.graph.any(&mut any)
    }
}
