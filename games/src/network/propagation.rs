//! Differential propagation: the network for one position at a time, in work
//! proportional to what changes between two positions.
//!
//! The conjunctions become gates of any number of inputs, each with a count of
//! the inputs that do not hold; a gate holds when its count is 0. An input that
//! flips changes the counts of its consumers, and a gate whose count leaves or
//! reaches 0 flips in turn. The network has no cycles, so the counts agree with
//! the inputs whatever the order of the flips. As in Sancho and galvanise, whose
//! state machines work this way.

use std::sync::Arc;

use super::{Graph, Lit};

/// No gate needs this many inputs, nor a node this many consumers.
const MAX: u32 = u32::MAX >> 1;

/// The gates that some outputs of a graph depend on, as lists of consumers.
#[derive(Debug)]
pub(crate) struct Wiring {
    n_inputs: usize,
    /// Number of nodes: inputs, then gates, in order of evaluation.
    n_nodes: usize,
    /// By node, where its consumers begin in `consumers`; one more at the end.
    first: Vec<u32>,
    /// Consumers: a gate that takes the node (`gate << 1 | negated`), or after
    /// `first_output[node]` an output.
    consumers: Vec<u32>,
    /// By node, where its outputs begin in `consumers`.
    first_output: Vec<u32>,
    /// By gate (from `n_inputs`), inputs that do not hold while all inputs of
    /// the network are false.
    counts: Vec<i32>,
    /// Outputs while all inputs of the network are false.
    outputs: Vec<u64>,
    /// Number of consumers of gates and inputs, outputs left out.
    n_edges: usize,
}

impl Wiring {
    /// The wiring of `outputs`, which may repeat and may be constant.
    pub(crate) fn new(graph: &Graph, outputs: &[Lit]) -> Self {
        let n_inputs = graph.n_inputs();
        let gates = Gates::new(graph, outputs);
        let n_nodes = n_inputs + gates.inputs.len();
        // Consumers of each node, as lists before they are laid side by side.
        let mut takers: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (index, inputs) in gates.inputs.iter().enumerate() {
            let gate = to_u32(n_inputs + index);
            for &(node, negated) in inputs {
                takers[node as usize].push(gate << 1 | u32::from(negated));
            }
        }
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (index, &output) in outputs.iter().enumerate() {
            if !output.is_constant() {
                readers[gates.node(output) as usize].push(to_u32(index));
            }
        }
        let mut wiring = Self {
            n_inputs,
            n_nodes,
            first: Vec::with_capacity(n_nodes + 1),
            consumers: Vec::new(),
            first_output: Vec::with_capacity(n_nodes),
            counts: Vec::new(),
            outputs: vec![0; outputs.len().div_ceil(64)],
            n_edges: takers.iter().map(Vec::len).sum(),
        };
        for (takers, readers) in takers.iter().zip(&readers) {
            wiring.first.push(to_u32(wiring.consumers.len()));
            wiring.consumers.extend_from_slice(takers);
            wiring.first_output.push(to_u32(wiring.consumers.len()));
            wiring.consumers.extend_from_slice(readers);
        }
        wiring.first.push(to_u32(wiring.consumers.len()));
        wiring.settle(&gates, outputs);
        wiring
    }

    /// Finds the counts and outputs while all inputs are false.
    fn settle(&mut self, gates: &Gates, outputs: &[Lit]) {
        let mut holds = vec![false; self.n_nodes];
        for (index, inputs) in gates.inputs.iter().enumerate() {
            let fails = |&&(node, negated): &&(u32, bool)| holds[node as usize] == negated;
            let count = inputs.iter().filter(fails).count() as i32;
            self.counts.push(count);
            holds[self.n_inputs + index] = count == 0;
        }
        for (index, &output) in outputs.iter().enumerate() {
            let value = if output.is_constant() {
                output == Lit::TRUE
            } else {
                holds[gates.node(output) as usize] != output.is_negated()
            };
            self.outputs[index / 64] |= u64::from(value) << (index % 64);
        }
    }

    /// Number of gates.
    pub(crate) fn n_gates(&self) -> usize {
        self.n_nodes - self.n_inputs
    }

    /// Number of inputs of all gates.
    pub(crate) fn n_edges(&self) -> usize {
        self.n_edges
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).ok().filter(|&number| number < MAX).expect("networks fit their numbers")
}

/// Conjunctions of any number of inputs: a conjunction that only one other takes,
/// as it is, becomes part of that one.
struct Gates {
    /// By gate, nodes of the wiring with their negations.
    inputs: Vec<Vec<(u32, bool)>>,
    /// By node of the graph, the node of the wiring.
    node_of: Vec<u32>,
}

impl Gates {
    fn new(graph: &Graph, outputs: &[Lit]) -> Self {
        let n_inputs = graph.n_inputs();
        let (needed, inner) = Self::shape(graph, outputs);
        let mut gates = Self { inputs: Vec::new(), node_of: vec![u32::MAX; graph.n_nodes()] };
        for input in 0..n_inputs {
            gates.node_of[1 + input] = to_u32(input);
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
                    _ => inputs.push((gates.node_of[below as usize], literal.is_negated())),
                }
            }
            // The same input twice would count twice, which is as good as once,
            // but costs.
            inputs.sort_unstable();
            inputs.dedup();
            gates.node_of[node as usize] = to_u32(n_inputs + gates.inputs.len());
            gates.inputs.push(inputs);
        }
        gates
    }

    /// Which nodes outputs depend on, and which of them vanish into the only
    /// conjunction that takes them.
    fn shape(graph: &Graph, outputs: &[Lit]) -> (Vec<bool>, Vec<bool>) {
        const OFTEN: u8 = 2;
        let mut needed = vec![false; graph.n_nodes()];
        // How often each node is taken; a negation or an output counts as often.
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

    fn node(&self, literal: Lit) -> u32 {
        self.node_of[literal.node() as usize]
    }
}

/// The values of one position, and what it costs to reach the next.
#[derive(Clone, Debug)]
pub(crate) struct Propagation {
    wiring: Arc<Wiring>,
    /// By gate.
    counts: Vec<i32>,
    /// By input.
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    /// Nodes that flipped, with their new value, and whose consumers do not know
    /// yet.
    pending: Vec<u32>,
}

impl Propagation {
    /// The position in which nothing holds.
    pub(crate) fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            counts: wiring.counts.clone(),
            inputs: vec![0; wiring.n_inputs.div_ceil(64)],
            outputs: wiring.outputs.clone(),
            pending: Vec::new(),
            wiring,
        }
    }

    /// Whether an input holds.
    pub(crate) fn input(&self, index: usize) -> bool {
        self.inputs[index / 64] >> (index % 64) & 1 == 1
    }

    /// Makes an input hold, or not.
    pub(crate) fn set(&mut self, index: usize, value: bool) {
        if self.input(index) != value {
            self.flip(index, value);
        }
    }

    /// Sets the inputs from 0 on, as many as the words have bits; bits beyond
    /// the last input must be 0. Tells whether any changed.
    pub(crate) fn load(&mut self, words: &[u64], n_bits: usize) -> bool {
        let mut any = false;
        for (at, &word) in words.iter().enumerate() {
            let left = n_bits - at * 64;
            let mask = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            let mut changed = (self.inputs[at] ^ word) & mask;
            any |= changed != 0;
            while changed != 0 {
                let index = at * 64 + changed.trailing_zeros() as usize;
                self.flip(index, word >> (index % 64) & 1 == 1);
                changed &= changed - 1;
            }
        }
        any
    }

    /// Whether an output holds.
    pub(crate) fn output(&self, index: usize) -> bool {
        self.outputs[index / 64] >> (index % 64) & 1 == 1
    }

    /// The outputs as bits.
    pub(crate) fn outputs(&self) -> &[u64] {
        &self.outputs
    }

    fn flip(&mut self, input: usize, value: bool) {
        self.inputs[input / 64] ^= 1 << (input % 64);
        self.pending.push((input as u32) << 1 | u32::from(value));
        let Self { wiring, counts, outputs, pending, .. } = self;
        while let Some(flipped) = pending.pop() {
            let (node, value) = ((flipped >> 1) as usize, flipped & 1);
            let middle = wiring.first_output[node] as usize;
            let takers = &wiring.consumers[wiring.first[node] as usize..middle];
            for &taker in takers {
                let gate = taker >> 1;
                let count = &mut counts[gate as usize - wiring.n_inputs];
                if taker & 1 != value {
                    *count -= 1;
                    if *count == 0 {
                        pending.push(gate << 1 | 1);
                    }
                } else {
                    *count += 1;
                    if *count == 1 {
                        pending.push(gate << 1);
                    }
                }
            }
            for &output in &wiring.consumers[middle..wiring.first[node + 1] as usize] {
                outputs[output as usize / 64] ^= 1 << (output % 64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A graph of random conjunctions, and random literals of it.
    fn random_graph(n_inputs: usize, picks: &[(u32, u32, u8)]) -> (Graph, Vec<Lit>) {
        let mut graph = Graph::new(n_inputs);
        let mut literals: Vec<Lit> = (0..n_inputs).map(|input| graph.input(input)).collect();
        for &(a, b, negated) in picks {
            let pick = |index: u32| literals[index as usize % literals.len()];
            let a = pick(a).negated_if(negated & 1 == 1);
            let b = pick(b).negated_if(negated & 2 == 2);
            let literal = graph.and(a, b);
            literals.push(literal.negated_if(negated & 4 == 4));
        }
        let outputs = literals.into_iter().rev().take(20).chain([Lit::TRUE, Lit::FALSE]).collect();
        (graph, outputs)
    }

    proptest! {
        /// After any sequence of changes all outputs are what the graph says.
        #[test]
        fn outputs_follow_inputs(
            n_inputs in 1..12_usize,
            picks in prop::collection::vec((any::<u32>(), any::<u32>(), 0..8_u8), 0..60),
            states in prop::collection::vec(any::<u64>(), 1..12),
        ) {
            let (graph, outputs) = random_graph(n_inputs, &picks);
            let mut propagation = Propagation::new(Arc::new(Wiring::new(&graph, &outputs)));
            for bits in states {
                let bits = bits & ((1 << n_inputs) - 1);
                propagation.load(&[bits], n_inputs);
                let inputs: Vec<bool> = (0..n_inputs).map(|i| bits >> i & 1 == 1).collect();
                let values = graph.evaluate(&inputs);
                for (index, output) in outputs.iter().enumerate() {
                    let expected = values[output.node() as usize] != output.is_negated();
                    prop_assert_eq!(propagation.output(index), expected, "output {}", index);
                }
            }
        }
    }

    #[test]
    fn chains_of_conjunctions_are_one_gate() {
        let mut graph = Graph::new(8);
        let mut literals: Vec<Lit> = (0..8).map(|input| graph.input(input)).collect();
        let all = graph.all(&mut literals);
        assert_eq!(graph.n_ands(), 7);
        let wiring = Wiring::new(&graph, &[all]);
        assert_eq!((wiring.n_gates(), wiring.n_edges()), (1, 8));
    }
}
