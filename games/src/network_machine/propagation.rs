//! Differential propagation: the network for one position at a time, in work
//! proportional to what changes between two positions.
//!
//! The conjunctions become gates of any number of inputs, each with a count of
//! the inputs that do not hold; a gate holds when its count is 0. An input that
//! flips changes the counts of its consumers, and a gate whose count leaves or
//! reaches 0 must flip. Sancho and galvanise work this way and flip gates in the order
//! in which they meet them. Here pending gates are bits of a set and are taken in the
//! order of evaluation, so a gate flips at most once however many paths lead to it.
//! Gates that depend on moves stay pending until the moves are made.
//!
//! A gate whose only consumer is an output is never pending. Its bit in the set is that
//! output, since outputs are the end of the same bits: a count that leaves or reaches 0
//! toggles the output at once.

use std::sync::Arc;

use crate::network::{Graph, Lit};

/// The number of gates and outputs and the number of all their inputs stay below this.
const MAX: u32 = u32::MAX >> 1;

/// Maximum number of inputs of a gate: counts of inputs are `u16`, since smaller arrays
/// stay in the cache.
const MAX_FAN_IN: usize = u16::MAX as usize;

/// Bits of a word.
const WORD: usize = 64;

/// The work of finding the consumers of a node that flips, in changes of a count.
const FLIP: u64 = 8;

/// Where gates and outputs are among the bits: early gates, late gates, outputs. Between
/// these are some without inputs, so that each group begins with a word of bits.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// Where the late gates begin.
    first_late: usize,
    /// Where the outputs begin. A gate whose only consumer is an output has that place.
    first_output: usize,
}

/// The gates that some outputs of a graph depend on, as lists of consumers.
#[derive(Debug)]
pub(crate) struct Wiring {
    n_inputs: usize,
    places: Places,
    /// By node (inputs, then gates, in order of evaluation), where its gates and
    /// its outputs begin in `consumers`; one more at the end.
    spans: Vec<[u32; 2]>,
    /// Consumers: a gate that takes the node (`gate << 1 | negated`), or the place of an output.
    consumers: Vec<u32>,
    /// By place, inputs that do not hold while all inputs of the network are false.
    counts: Vec<u16>,
    /// Outputs while all inputs of the network are false.
    outputs: Vec<u64>,
    /// Number of gates with inputs.
    n_real_gates: usize,
    /// Number of inputs of all gates.
    n_edges: usize,
}

impl Wiring {
    /// The wiring of `outputs`, which may repeat and may be constant. The first
    /// `n_late` are needed only after moves are made; gates on which only they depend
    /// are late.
    pub(crate) fn new(graph: &Graph, outputs: &[Lit], n_late: usize) -> Self {
        let n_inputs = graph.n_inputs();
        let mut gates = Gates::new(graph, outputs);
        let places = gates.lay_out(n_inputs, outputs, n_late);
        let n_nodes = n_inputs + places.first_output;
        // Consumers of each node, as lists before they are concatenated.
        let mut takers: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (gate, inputs) in gates.inputs.iter().enumerate() {
            for &(node, negated) in inputs {
                takers[node as usize].push(to_u32(gate) << 1 | u32::from(negated));
            }
        }
        let mut readers: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (index, &output) in outputs.iter().enumerate() {
            // A gate in the place of the output toggles it without being told to.
            if !output.is_constant()
                && let Some(readers) = readers.get_mut(gates.node(output) as usize)
            {
                readers.push(to_u32(places.first_output + index));
            }
        }
        let mut wiring = Self {
            n_inputs,
            places,
            spans: Vec::with_capacity(n_nodes + 1),
            consumers: Vec::new(),
            counts: Vec::with_capacity(gates.inputs.len()),
            outputs: vec![0; outputs.len().div_ceil(WORD)],
            n_real_gates: gates.inputs.iter().filter(|inputs| !inputs.is_empty()).count(),
            n_edges: takers.iter().map(Vec::len).sum(),
        };
        for (takers, readers) in takers.iter().zip(&readers) {
            let first = to_u32(wiring.consumers.len());
            wiring.consumers.extend_from_slice(takers);
            wiring.spans.push([first, to_u32(wiring.consumers.len())]);
            wiring.consumers.extend_from_slice(readers);
        }
        let end = to_u32(wiring.consumers.len());
        wiring.spans.push([end, end]);
        wiring.settle(&gates, outputs);
        wiring
    }

    /// Finds the counts and outputs while all inputs are false.
    fn settle(&mut self, gates: &Gates, outputs: &[Lit]) {
        let mut holds = vec![false; self.n_inputs + gates.inputs.len()];
        for (index, inputs) in gates.inputs.iter().enumerate() {
            let fails = |&&(node, negated): &&(u32, bool)| holds[node as usize] == negated;
            let count = inputs.iter().filter(fails).count();
            self.counts.push(u16::try_from(count).expect("gates have few enough inputs"));
            holds[self.n_inputs + index] = count == 0;
        }
        for (index, &output) in outputs.iter().enumerate() {
            let value = if output.is_constant() {
                output == Lit::TRUE
            } else {
                holds[gates.node(output) as usize] != output.is_negated()
            };
            self.outputs[index / WORD] |= u64::from(value) << (index % WORD);
        }
    }

    /// Number of gates with inputs.
    pub(crate) fn n_real_gates(&self) -> usize {
        self.n_real_gates
    }

    /// Bytes of what propagation reads and writes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&*self.spans) + size_of_val(&*self.consumers) + size_of_val(&*self.counts)
    }

    /// Number of inputs of all gates.
    pub(crate) fn n_edges(&self) -> usize {
        self.n_edges
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).ok().filter(|&number| number < MAX).expect("networks fit their numbers")
}

/// Conjunctions of any number of inputs: a conjunction with a single consumer that does
/// not negate it is merged into that consumer.
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
            // A repeated input would count twice: correct, but slower.
            inputs.sort_unstable();
            inputs.dedup();
            while inputs.len() > MAX_FAN_IN {
                let rest = inputs.split_off(MAX_FAN_IN - 1);
                let part = to_u32(n_inputs + gates.inputs.len());
                gates.inputs.push(std::mem::replace(&mut inputs, rest));
                inputs.push((part, false));
            }
            gates.node_of[node as usize] = to_u32(n_inputs + gates.inputs.len());
            gates.inputs.push(inputs);
        }
        gates
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

    /// Moves the gates to their places. Early are those that outputs from `n_late` on depend on.
    fn lay_out(&mut self, n_inputs: usize, outputs: &[Lit], n_late: usize) -> Places {
        let n_gates = self.inputs.len();
        let mut early = vec![false; n_inputs + n_gates];
        for &output in outputs[n_late..].iter().filter(|output| !output.is_constant()) {
            early[self.node(output) as usize] = true;
        }
        for (index, inputs) in self.inputs.iter().enumerate().rev() {
            if early[n_inputs + index] {
                inputs.iter().for_each(|&(node, _)| early[node as usize] = true);
            }
        }
        let sole_outputs = self.sole_outputs(n_inputs, outputs);
        let is_early = |&index: &usize| early[n_inputs + index] && sole_outputs[index].is_none();
        let first_late = (0..n_gates).filter(is_early).count().next_multiple_of(WORD);
        let (mut next_early, mut next_late) = (0, first_late);
        let mut moved: Vec<usize> = Vec::with_capacity(n_gates);
        for index in 0..n_gates {
            let next = if early[n_inputs + index] { &mut next_early } else { &mut next_late };
            moved.push(*next);
            *next += usize::from(sole_outputs[index].is_none());
        }
        let first_output = next_late.next_multiple_of(WORD);
        for (place, output) in moved.iter_mut().zip(&sole_outputs) {
            if let Some(output) = output {
                *place = first_output + output;
            }
        }
        let inputs_stay = 0..n_inputs;
        let place: Vec<u32> =
            inputs_stay.chain(moved.iter().map(|place| n_inputs + place)).map(to_u32).collect();
        let mut gates = vec![Vec::new(); first_output + outputs.len()];
        for (mut inputs, moved) in std::mem::take(&mut self.inputs).into_iter().zip(moved) {
            inputs.iter_mut().for_each(|(node, _)| *node = place[*node as usize]);
            gates[moved] = inputs;
        }
        self.inputs = gates;
        for node in self.node_of.iter_mut().filter(|node| **node != u32::MAX) {
            *node = place[*node as usize];
        }
        Places { first_late, first_output }
    }

    /// By gate: the output that is its only consumer, if it has just one.
    fn sole_outputs(&self, n_inputs: usize, outputs: &[Lit]) -> Vec<Option<usize>> {
        let mut n_consumers = vec![0_u32; n_inputs + self.inputs.len()];
        let mut last_output = vec![None; n_inputs + self.inputs.len()];
        for &(node, _) in self.inputs.iter().flatten() {
            n_consumers[node as usize] += 1;
        }
        for (index, &output) in outputs.iter().enumerate() {
            if !output.is_constant() {
                n_consumers[self.node(output) as usize] += 1;
                last_output[self.node(output) as usize] = Some(index);
            }
        }
        let of_node = n_consumers.into_iter().zip(last_output).skip(n_inputs);
        of_node.map(|(n_consumers, output)| output.filter(|_| n_consumers == 1)).collect()
    }

    fn node(&self, literal: Lit) -> u32 {
        self.node_of[literal.node() as usize]
    }
}

/// The values of one position, and the cost of reaching the next.
#[derive(Clone, Debug)]
pub(crate) struct Propagation {
    wiring: Arc<Wiring>,
    /// By place.
    counts: Vec<u16>,
    /// By input.
    inputs: Vec<u64>,
    bits: Bits,
    /// What was done so far, in changes of a count.
    work: u64,
}

impl Propagation {
    /// The position in which nothing holds.
    pub(crate) fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            counts: wiring.counts.clone(),
            inputs: vec![0; wiring.n_inputs.div_ceil(WORD)],
            bits: Bits::new(wiring.places.first_output, &wiring.outputs),
            work: 0,
            wiring,
        }
    }

    /// Whether an input holds.
    pub(crate) fn input(&self, index: usize) -> bool {
        self.inputs[index / WORD] >> (index % WORD) & 1 == 1
    }

    /// Sets an input. The values must be settled afterwards.
    pub(crate) fn set(&mut self, index: usize, value: bool) {
        if self.input(index) != value {
            self.flip(index, value);
        }
    }

    /// Sets the inputs from 0 on, as many as the words have bits; bits after the last
    /// input must be 0. Returns whether any changed. The values must be settled
    /// afterwards.
    pub(crate) fn load(&mut self, words: &[u64], n_bits: usize) -> bool {
        let mut any = false;
        for (at, &word) in words.iter().enumerate() {
            let left = n_bits - at * WORD;
            let mask = if left >= WORD { u64::MAX } else { (1 << left) - 1 };
            let mut changed = (self.inputs[at] ^ word) & mask;
            any |= changed != 0;
            while changed != 0 {
                let index = at * WORD + changed.trailing_zeros() as usize;
                self.flip(index, word >> (index % WORD) & 1 == 1);
                changed &= changed - 1;
            }
        }
        any
    }

    /// Brings the early outputs up to date.
    pub(crate) fn settle_early(&mut self) {
        self.settle(self.wiring.places.first_late / WORD);
    }

    /// Brings all outputs up to date.
    pub(crate) fn settle_all(&mut self) {
        self.settle(self.wiring.places.first_output / WORD);
    }

    /// Whether an output holds.
    pub(crate) fn output(&self, index: usize) -> bool {
        self.outputs()[index / WORD] >> (index % WORD) & 1 == 1
    }

    /// The outputs as bits.
    pub(crate) fn outputs(&self) -> &[u64] {
        &self.bits.all[self.wiring.places.first_output / WORD..]
    }

    /// What was done so far, in changes of a count.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    fn flip(&mut self, input: usize, value: bool) {
        self.inputs[input / WORD] ^= 1 << (input % WORD);
        self.tell(input, u32::from(value));
    }

    /// Updates the consumers of a node that flipped.
    #[inline]
    fn tell(&mut self, node: usize, value: u32) {
        let Self { wiring, counts, bits, work, .. } = self;
        let [[first, middle], [end, _]] = [wiring.spans[node], wiring.spans[node + 1]];
        let (first, middle, end) = (first as usize, middle as usize, end as usize);
        *work += FLIP + (middle - first) as u64;
        for &taker in &wiring.consumers[first..middle] {
            let gate = (taker >> 1) as usize;
            // One more input that does not hold, or one fewer.
            let more = taker & 1 == value;
            let before = counts[gate];
            let after = if more { before.wrapping_add(1) } else { before.wrapping_sub(1) };
            counts[gate] = after;
            if before == 0 || after == 0 {
                bits.toggle(gate);
            }
        }
        for &output in &wiring.consumers[middle..end] {
            bits.all[output as usize / WORD] ^= 1 << (output % WORD as u32);
        }
    }

    /// Flips the pending gates of the first `n_words` words.
    fn settle(&mut self, n_words: usize) {
        let n_inputs = self.wiring.n_inputs;
        for block in 0..n_words.div_ceil(WORD) {
            let left = n_words - block * WORD;
            let mask = if left >= WORD { u64::MAX } else { (1 << left) - 1 };
            while self.bits.words[block] & mask != 0 {
                let within = (self.bits.words[block] & mask).trailing_zeros();
                self.bits.words[block] &= !(1 << within);
                let word = block * WORD + within as usize;
                while self.bits.all[word] != 0 {
                    let gate = word * WORD + self.bits.all[word].trailing_zeros() as usize;
                    self.bits.all[word] &= self.bits.all[word] - 1;
                    let value = u32::from(self.counts[gate] == 0);
                    self.tell(n_inputs + gate, value);
                }
            }
        }
    }
}

/// The set of pending gates, and the outputs.
#[derive(Clone, Debug)]
struct Bits {
    /// By place: whether the gate is pending; whether the output holds.
    all: Vec<u64>,
    /// By word of `all`: whether a gate of it may be pending; not used for words of outputs.
    words: Vec<u64>,
}

impl Bits {
    fn new(n_gates: usize, outputs: &[u64]) -> Self {
        let mut all = vec![0; n_gates / WORD];
        all.extend_from_slice(outputs);
        Self { words: vec![0; all.len().div_ceil(WORD)], all }
    }

    /// A gate that would flip twice does not flip. In the place of an output, toggles that.
    #[inline]
    fn toggle(&mut self, gate: usize) {
        self.all[gate / WORD] ^= 1 << (gate % WORD);
        self.words[gate / (WORD * WORD)] |= 1 << (gate / WORD % WORD);
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
        let mut outputs: Vec<Lit> = literals.into_iter().rev().cycle().take(20).collect();
        outputs.extend([Lit::TRUE, Lit::FALSE]);
        (graph, outputs)
    }

    proptest! {
        /// After any sequence of changes all outputs are what the graph says.
        #[test]
        fn outputs_follow_inputs(
            n_inputs in 1..12_usize,
            picks in prop::collection::vec((any::<u32>(), any::<u32>(), 0..8_u8), 0..60),
            states in prop::collection::vec((any::<u64>(), any::<bool>()), 1..12),
            n_late in 0..20_usize,
        ) {
            let (graph, outputs) = random_graph(n_inputs, &picks);
            let mut propagation = Propagation::new(Arc::new(Wiring::new(&graph, &outputs, n_late)));
            for (bits, all) in states {
                let bits = bits & ((1 << n_inputs) - 1);
                propagation.load(&[bits], n_inputs);
                if all {
                    propagation.settle_all();
                } else {
                    propagation.settle_early();
                }
                let inputs: Vec<bool> = (0..n_inputs).map(|i| bits >> i & 1 == 1).collect();
                let values = graph.evaluate(&inputs);
                let first = if all { 0 } else { n_late };
                for (index, output) in outputs.iter().enumerate().skip(first) {
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
        let wiring = Wiring::new(&graph, &[all], 1);
        assert_eq!((wiring.n_real_gates(), wiring.n_edges()), (1, 8));
    }

    #[test]
    fn gates_of_too_many_inputs_are_split() {
        let n_inputs = 2 * MAX_FAN_IN + 5;
        let mut graph = Graph::new(n_inputs);
        let mut literals: Vec<Lit> = (0..n_inputs).map(|input| graph.input(input)).collect();
        let all = graph.all(&mut literals);
        let mut propagation = Propagation::new(Arc::new(Wiring::new(&graph, &[all], 0)));
        assert_eq!(propagation.wiring.n_real_gates(), 3);
        for input in 0..n_inputs {
            propagation.settle_all();
            assert!(!propagation.output(0), "{input} of {n_inputs}");
            propagation.set(input, true);
        }
        propagation.settle_all();
        assert!(propagation.output(0));
    }
}
