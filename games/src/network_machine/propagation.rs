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

use std::sync::Arc;

use crate::network::{Graph, Lit};

/// The number of gates and the number of all their inputs stay below this.
const MAX: u32 = u32::MAX >> 1;

/// Bits of a word.
const WORD: usize = 64;

/// The gates that some outputs of a graph depend on, as lists of consumers.
#[derive(Debug)]
pub(crate) struct Wiring {
    n_inputs: usize,
    /// Number of gates. Between the early and the late ones are some without inputs, so
    /// that both groups begin with a word of bits.
    n_gates: usize,
    /// Gates before this one, whole words of them, are early.
    first_late: usize,
    /// By node (inputs, then gates, in order of evaluation), where its gates and
    /// its outputs begin in `consumers`; one more at the end.
    spans: Vec<[u32; 2]>,
    /// Consumers: a gate that takes the node (`gate << 1 | negated`), or an output.
    consumers: Vec<u32>,
    /// By gate, inputs that do not hold while all inputs of the network are false.
    counts: Vec<i32>,
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
        let first_late = gates.move_late_ones(n_inputs, outputs, n_late);
        let n_gates = gates.inputs.len();
        let n_nodes = n_inputs + n_gates;
        // Consumers of each node, as lists before they are concatenated.
        let mut takers: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (gate, inputs) in gates.inputs.iter().enumerate() {
            for &(node, negated) in inputs {
                takers[node as usize].push(to_u32(gate) << 1 | u32::from(negated));
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
            n_gates,
            first_late,
            spans: Vec::with_capacity(n_nodes + 1),
            consumers: Vec::new(),
            counts: Vec::with_capacity(n_gates),
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
        let mut holds = vec![false; self.n_inputs + self.n_gates];
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
            self.outputs[index / WORD] |= u64::from(value) << (index % WORD);
        }
    }

    /// Number of gates with inputs.
    pub(crate) fn n_real_gates(&self) -> usize {
        self.n_real_gates
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

    /// Puts the gates that outputs from `n_late` on depend on before the others and
    /// fills up their last word. Returns where the others begin.
    fn move_late_ones(&mut self, n_inputs: usize, outputs: &[Lit], n_late: usize) -> usize {
        let mut early = vec![false; n_inputs + self.inputs.len()];
        for &output in outputs[n_late..].iter().filter(|output| !output.is_constant()) {
            early[self.node(output) as usize] = true;
        }
        for (index, inputs) in self.inputs.iter().enumerate().rev() {
            if early[n_inputs + index] {
                inputs.iter().for_each(|&(node, _)| early[node as usize] = true);
            }
        }
        let is_early = |index: &usize| early[n_inputs + index];
        let order: Vec<usize> = (0..self.inputs.len()).filter(is_early).collect();
        let first_late = order.len().next_multiple_of(WORD);
        let mut place: Vec<u32> = (0..n_inputs).map(to_u32).collect();
        let (mut next_early, mut next_late) = (n_inputs, n_inputs + first_late);
        for &early in &early[n_inputs..] {
            let next = if early { &mut next_early } else { &mut next_late };
            place.push(to_u32(*next));
            *next += 1;
        }
        let mut moved = vec![Vec::new(); next_late - n_inputs];
        for (index, mut inputs) in std::mem::take(&mut self.inputs).into_iter().enumerate() {
            inputs.iter_mut().for_each(|(node, _)| *node = place[*node as usize]);
            moved[place[n_inputs + index] as usize - n_inputs] = inputs;
        }
        self.inputs = moved;
        for node in self.node_of.iter_mut().filter(|node| **node != u32::MAX) {
            *node = place[*node as usize];
        }
        first_late
    }

    fn node(&self, literal: Lit) -> u32 {
        self.node_of[literal.node() as usize]
    }
}

/// The values of one position, and the cost of reaching the next.
#[derive(Clone, Debug)]
pub(crate) struct Propagation {
    wiring: Arc<Wiring>,
    /// By gate.
    counts: Vec<i32>,
    /// By input.
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    waiting: Waiting,
    /// Counts changed so far.
    work: u64,
}

impl Propagation {
    /// The position in which nothing holds.
    pub(crate) fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            counts: wiring.counts.clone(),
            inputs: vec![0; wiring.n_inputs.div_ceil(WORD)],
            outputs: wiring.outputs.clone(),
            waiting: Waiting::new(wiring.n_gates),
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
        self.settle(self.wiring.first_late / WORD);
    }

    /// Brings all outputs up to date.
    pub(crate) fn settle_all(&mut self) {
        self.settle(self.wiring.n_gates.div_ceil(WORD));
    }

    /// Whether an output holds.
    pub(crate) fn output(&self, index: usize) -> bool {
        self.outputs[index / WORD] >> (index % WORD) & 1 == 1
    }

    /// The outputs as bits.
    pub(crate) fn outputs(&self) -> &[u64] {
        &self.outputs
    }

    /// Number of counts changed so far.
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
        let Self { wiring, counts, outputs, waiting, work, .. } = self;
        let [[first, middle], [end, _]] = [wiring.spans[node], wiring.spans[node + 1]];
        let (first, middle, end) = (first as usize, middle as usize, end as usize);
        *work += (middle - first) as u64;
        for &taker in &wiring.consumers[first..middle] {
            let gate = (taker >> 1) as usize;
            // One more input that does not hold, or one fewer.
            let more = taker & 1 == value;
            let before = counts[gate];
            let after = if more { before + 1 } else { before - 1 };
            counts[gate] = after;
            if before == 0 || after == 0 {
                waiting.toggle(gate);
            }
        }
        for &output in &wiring.consumers[middle..end] {
            outputs[output as usize / WORD] ^= 1 << (output % WORD as u32);
        }
    }

    /// Flips the pending gates of the first `n_words` words.
    fn settle(&mut self, n_words: usize) {
        let n_inputs = self.wiring.n_inputs;
        for block in 0..n_words.div_ceil(WORD) {
            let left = n_words - block * WORD;
            let mask = if left >= WORD { u64::MAX } else { (1 << left) - 1 };
            while self.waiting.words[block] & mask != 0 {
                let within = (self.waiting.words[block] & mask).trailing_zeros();
                self.waiting.words[block] &= !(1 << within);
                let word = block * WORD + within as usize;
                while self.waiting.gates[word] != 0 {
                    let gate = word * WORD + self.waiting.gates[word].trailing_zeros() as usize;
                    self.waiting.gates[word] &= self.waiting.gates[word] - 1;
                    let value = u32::from(self.counts[gate] == 0);
                    self.tell(n_inputs + gate, value);
                }
            }
        }
    }
}

/// The set of pending gates.
#[derive(Clone, Debug)]
struct Waiting {
    /// By gate.
    gates: Vec<u64>,
    /// By word of `gates`: whether one of them may be set.
    words: Vec<u64>,
}

impl Waiting {
    fn new(n_gates: usize) -> Self {
        let n_words = n_gates.div_ceil(WORD);
        Self { gates: vec![0; n_words], words: vec![0; n_words.div_ceil(WORD)] }
    }

    /// A gate that would flip twice does not flip.
    #[inline]
    fn toggle(&mut self, gate: usize) {
        self.gates[gate / WORD] ^= 1 << (gate % WORD);
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
}
