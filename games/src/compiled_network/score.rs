//! Code for the goals of states whose end was just computed.
//!
//! The goals of a terminal state often rest on what ends it, such as a line or a chain of
//! stones. So playouts put aside a few values that the code for the state leaves, in place of
//! all the facts that goals depend on, and little is left to compute from them.

use super::gates::Library;
use super::parts::Part;
use crate::Network;
use crate::network::{Graph, Lit};

/// Code that computes goals from values that the code for the state leaves.
#[derive(Debug)]
pub(crate) struct Score {
    /// The values, by input of the code.
    pub(crate) taken: Vec<Lit>,
    /// Goals over these as inputs.
    pub(crate) graph: Graph,
    pub(crate) part: Part,
    /// By role and value: the slot among those of the part.
    pub(crate) outputs: Vec<Vec<u32>>,
}

impl Score {
    /// Generates the code; `None` if that saves less than it costs to keep the values. `goals`
    /// computes the goals from facts alone.
    pub(super) fn new(network: &Network, library: &Library, goals: &Part) -> Option<Self> {
        let old = &network.graph;
        let legal = network.roles.iter().flat_map(|role| role.legal.iter().copied());
        let is_at_hand = old.needed(legal.chain([network.terminal]), |literal| literal);
        let wanted = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let wanted: Vec<Vec<Lit>> = wanted.map(Iterator::collect).collect();

        let mut is_needed = vec![false; old.n_nodes()];
        for literal in wanted.iter().flatten() {
            is_needed[literal.node() as usize] = true;
        }
        let mut taken = Vec::new();
        let mut n_taken_gates = 0;
        for node in (1..old.n_nodes() as u32).rev() {
            if !is_needed[node as usize] {
                continue;
            }
            match old.operands(node) {
                Some(operands) if !is_at_hand[node as usize] => {
                    operands.iter().for_each(|one| is_needed[one.node() as usize] = true);
                }
                operands => {
                    n_taken_gates += usize::from(operands.is_some());
                    taken.push(Lit::new(node, false));
                }
            }
        }
        // Each gate that is kept may cost an instruction a step; each input is copied at each end.
        if taken.len() + n_taken_gates >= goals.inputs.len() {
            return None;
        }

        let mut graph = Graph::new(taken.len());
        let mut copies = vec![Lit::FALSE; old.n_nodes()];
        for (input, literal) in taken.iter().enumerate() {
            copies[literal.node() as usize] = graph.input(input);
        }
        for (node, operands) in old.ands() {
            if is_needed[node as usize] && !is_at_hand[node as usize] {
                let [left, right] = operands.map(|one| one.replaced_by(&copies));
                copies[node as usize] = graph.and(left, right);
            }
        }
        let wanted = wanted.iter().map(|role| role.iter().map(|one| one.replaced_by(&copies)));
        let numbers: Vec<u32> = (0..taken.len() as u32).collect();
        let (part, outputs) =
            Part::new(&graph, library, &numbers, wanted.map(Iterator::collect).collect());
        let outputs = part.by_role(outputs);
        Some(Self { taken, graph, part, outputs })
    }
}
