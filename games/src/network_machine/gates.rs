//! The gates of a network: conjunctions of any number of inputs.
//!
//! A conjunction of a graph has two operands. One with a single consumer that does not
//! negate it is merged into that consumer.

use crate::network::{Graph, Lit};

/// Maximum number of inputs of a gate: counts of inputs are `u16`, since smaller arrays
/// stay in the cache.
const MAX_FAN_IN: usize = u16::MAX as usize;

/// The number of gates and outputs and the number of all their inputs stay below this.
const MAX_NUMBER: u32 = u32::MAX >> 1;

/// An input of a gate: a node (inputs of the network first, then gates) and whether it is negated.
pub(crate) type GateInput = (u32, bool);

/// The gates that some outputs of a graph depend on, in order of evaluation.
#[derive(Debug)]
pub(crate) struct Gates {
    /// The inputs of the network.
    pub(crate) n_inputs: usize,
    /// By gate, its inputs in ascending order.
    pub(crate) inputs: Vec<Vec<GateInput>>,
    /// By output.
    pub(crate) outputs: Vec<Output>,
}

/// What an output is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Output {
    /// The same in all positions.
    Constant(bool),
    /// A node, perhaps negated.
    Node(GateInput),
}

impl Output {
    /// The node, unless the output is constant.
    pub(crate) fn node(self) -> Option<u32> {
        match self {
            Self::Constant(_) => None,
            Self::Node((node, _)) => Some(node),
        }
    }
}

impl Gates {
    /// The gates for `outputs`, which may repeat and may be constant.
    pub(crate) fn new(graph: &Graph, outputs: &[Lit]) -> Self {
        let n_inputs = graph.n_inputs();
        let (needed, inner) = shape(graph, outputs);
        let mut gates = Self { n_inputs, inputs: Vec::new(), outputs: Vec::new() };
        // By node of the graph, the node here.
        let mut node_of = vec![u32::MAX; graph.n_nodes()];
        for input in 0..n_inputs {
            node_of[1 + input] = to_u32(input);
        }
        let mut pending = Vec::new();
        for (node, operands) in graph.ands() {
            if !needed[node as usize] || inner[node as usize] {
                continue;
            }
            let mut inputs = Vec::new();
            pending.extend(operands);
            while let Some(literal) = pending.pop() {
                let below = literal.node();
                match graph.operands(below) {
                    Some(operands) if !literal.is_negated() && inner[below as usize] => {
                        pending.extend(operands);
                    }
                    _ => inputs.push((node_of[below as usize], literal.is_negated())),
                }
            }
            // A repeated input would count twice: correct, but slower.
            inputs.sort_unstable();
            inputs.dedup();
            while inputs.len() > MAX_FAN_IN {
                let rest = inputs.split_off(MAX_FAN_IN - 1);
                let part = gates.push(std::mem::replace(&mut inputs, rest));
                inputs.push((part, false));
            }
            node_of[node as usize] = gates.push(inputs);
        }
        let read = |output: &Lit| match output.is_constant() {
            true => Output::Constant(*output == Lit::TRUE),
            false => Output::Node((node_of[output.node() as usize], output.is_negated())),
        };
        gates.outputs = outputs.iter().map(read).collect();
        gates
    }

    fn push(&mut self, inputs: Vec<GateInput>) -> u32 {
        self.inputs.push(inputs);
        to_u32(self.n_nodes() - 1)
    }

    /// Inputs of the network and gates.
    pub(crate) fn n_nodes(&self) -> usize {
        self.n_inputs + self.inputs.len()
    }

    /// Number of inputs of all gates.
    pub(crate) fn n_edges(&self) -> usize {
        self.inputs.iter().map(Vec::len).sum()
    }

    /// By gate: whether outputs from `n_late` on depend on it.
    pub(crate) fn early(&self, n_late: usize) -> Vec<bool> {
        let mut early = vec![false; self.n_nodes()];
        for node in self.outputs[n_late..].iter().filter_map(|output| output.node()) {
            early[node as usize] = true;
        }
        for (gate, inputs) in self.inputs.iter().enumerate().rev() {
            if early[self.n_inputs + gate] {
                inputs.iter().for_each(|&(node, _)| early[node as usize] = true);
            }
        }
        early.split_off(self.n_inputs)
    }

    /// By node: how many inputs of gates and outputs it is.
    pub(crate) fn n_consumers(&self) -> Vec<u32> {
        let mut n_consumers = vec![0; self.n_nodes()];
        let of_gates = self.inputs.iter().flatten().map(|input| input.0);
        for node in of_gates.chain(self.outputs.iter().filter_map(|output| output.node())) {
            n_consumers[node as usize] += 1;
        }
        n_consumers
    }

    /// By gate: the output that is its only consumer, if it has just one. `n_consumers` are
    /// those of all nodes.
    pub(crate) fn sole_outputs(&self, n_consumers: &[u32]) -> Vec<Option<usize>> {
        let mut sole = vec![None; self.inputs.len()];
        for (index, output) in self.outputs.iter().enumerate() {
            if let Some(node) = output.node()
                && let Some(gate) = (node as usize).checked_sub(self.n_inputs)
                && n_consumers[node as usize] == 1
            {
                sole[gate] = Some(index);
            }
        }
        sole
    }
}

/// The nodes that outputs depend on, and those of them that are merged into their
/// single consumer.
fn shape(graph: &Graph, outputs: &[Lit]) -> (Vec<bool>, Vec<bool>) {
    const OFTEN: u8 = 2;
    let mut needed = vec![false; graph.n_nodes()];
    // The number of consumers of each node; a negation or an output prevents a merge.
    let mut uses = vec![0_u8; graph.n_nodes()];
    for output in outputs {
        needed[output.node() as usize] = true;
        uses[output.node() as usize] = OFTEN;
    }
    let first = 1 + graph.n_inputs();
    for node in (first..graph.n_nodes()).rev() {
        if !needed[node] {
            continue;
        }
        let operands = graph.operands(node as u32).expect("conjunctions come after inputs");
        for literal in operands {
            let below = literal.node() as usize;
            needed[below] = true;
            let more = if literal.is_negated() { OFTEN } else { 1 };
            uses[below] = uses[below].saturating_add(more);
        }
    }
    let inner = (0..graph.n_nodes()).map(|node| node >= first && uses[node] == 1).collect();
    (needed, inner)
}

/// A number of a node, gate or consumer, which has one bit to spare. Panics if it has not.
pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number)
        .ok()
        .filter(|&number| number < MAX_NUMBER)
        .expect("networks fit their numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_conjunctions_are_one_gate() {
        let mut graph = Graph::new(8);
        let mut literals: Vec<Lit> = (0..8).map(|input| graph.input(input)).collect();
        let all = graph.all(&mut literals);
        assert_eq!(graph.n_ands(), 7);
        let gates = Gates::new(&graph, &[all]);
        assert_eq!((gates.inputs.len(), gates.n_edges()), (1, 8));
    }
}
