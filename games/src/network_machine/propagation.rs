//! Differential propagation: the network for one position at a time, in work
//! proportional to what changes between two positions.
//!
//! A gate has a count of its inputs that do not hold, the leading one not among them; it holds
//! when the count is 0 and the leading input holds (see [`super::wiring`]). An input that flips
//! changes the counts of its consumers, or the bits of the gates that it leads, and a gate that
//! comes to hold or holds no more must flip. Sancho and galvanise work with counts alone and flip
//! gates in the order in which they meet them. Here pending gates are bits of a set and are taken
//! in the order of evaluation, so a pending gate flips at most once however many paths lead to it.
//! Pending gates that depend on moves wait until the moves are made.
//!
//! Absorbed gates are never pending: their only consumer is notified at once. Neither are gates
//! whose bit in the set is an output, since outputs are the end of the same bits.

use std::sync::Arc;

use super::WORD;
use super::wiring::{FLIP, Halves, REACH, SomeGates, Wiring};

/// The values of one position, and the cost of reaching the next.
#[derive(Clone, Debug)]
pub(crate) struct Propagation {
    wiring: Arc<Wiring>,
    /// By input.
    inputs: Vec<u64>,
    gates: GateValues,
    /// What was done so far, in changes of a count.
    work: u64,
}

impl Propagation {
    /// The position in which nothing holds.
    pub(crate) fn new(wiring: Arc<Wiring>) -> Self {
        Self {
            inputs: vec![0; wiring.n_inputs.div_ceil(WORD)],
            gates: GateValues::new(&wiring),
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
        &self.gates.pending[self.wiring.places.first_output / WORD..]
    }

    /// What was done so far, in changes of a count.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    fn flip(&mut self, input: usize, value: bool) {
        self.inputs[input / WORD] ^= 1 << (input % WORD);
        self.work += self.gates.notify(&self.wiring, input, u32::from(value));
    }

    /// Flips the pending gates of the first `n_words` words.
    fn settle(&mut self, n_words: usize) {
        let Self { wiring, gates, work, .. } = self;
        for block in 0..n_words.div_ceil(WORD) {
            let left = n_words - block * WORD;
            let mask = if left >= WORD { u64::MAX } else { (1 << left) - 1 };
            while gates.words[block] & mask != 0 {
                let within = (gates.words[block] & mask).trailing_zeros();
                gates.words[block] &= !(1 << within);
                let word = block * WORD + within as usize;
                while gates.pending[word] != 0 {
                    let gate = word * WORD + gates.pending[word].trailing_zeros() as usize;
                    gates.pending[word] &= gates.pending[word] - 1;
                    let value = gates.halves[word].holding() >> (gate % WORD) & 1;
                    *work += gates.notify(wiring, wiring.n_inputs + gate, value as u32);
                }
            }
        }
    }
}

/// What gates know of their inputs, the gates that must flip, and the outputs.
#[derive(Clone, Debug)]
struct GateValues {
    /// By place, inputs that do not hold, the leading one not among them.
    counts: Vec<u16>,
    /// By word of places.
    halves: Vec<Halves>,
    /// By place up to the last output: whether the gate is pending; whether the output holds.
    pending: Vec<u64>,
    /// By word of `pending`: whether a gate of it may be pending; not used for words of outputs.
    words: Vec<u64>,
}

impl GateValues {
    fn new(wiring: &Wiring) -> Self {
        let mut pending = vec![0; wiring.places.first_output / WORD];
        pending.extend_from_slice(&wiring.outputs);
        Self {
            counts: wiring.counts.clone(),
            halves: wiring.halves.clone(),
            words: vec![0; pending.len().div_ceil(WORD)],
            pending,
        }
    }

    /// Updates the consumers of a node that flipped. Returns the work.
    #[inline]
    fn notify(&mut self, wiring: &Wiring, node: usize, value: u32) -> u64 {
        let [span, next] = [wiring.spans[node], wiring.spans[node + 1]];
        let mut work = FLIP + u64::from(span.outputs - span.paired);
        if (span.led ^ next.led) | (span.paired ^ span.counted) != 0 {
            let led = &wiring.led[span.led as usize..next.led as usize];
            work += REACH * led.len() as u64;
            for &SomeGates { mask, word } in led {
                let halves = &mut self.halves[word as usize];
                halves.leading ^= mask;
                let flips = halves.others & mask;
                let holding = halves.holding();
                let word = word as usize;
                if word < wiring.places.first_absorbed / WORD {
                    self.toggle(word, flips);
                } else {
                    work += self.notify_absorbers(wiring, word, flips, holding);
                }
            }
            for &gate in &wiring.consumers[span.paired as usize..span.counted as usize] {
                if let Some(value) = self.toggle_others(wiring, gate as usize) {
                    work += self.notify_absorber(wiring, gate as usize, value);
                }
            }
        }
        for &taker in &wiring.consumers[span.counted as usize..span.outputs as usize] {
            let gate = (taker >> 1) as usize;
            if self.count(taker, value)
                && let Some(value) = self.toggle_others(wiring, gate)
            {
                work += self.notify_absorber(wiring, gate, value);
            }
        }
        for &output in &wiring.consumers[span.outputs as usize..next.paired as usize] {
            self.pending[output as usize / WORD] ^= 1 << (output % WORD as u32);
        }
        work
    }

    /// Notes that an input of a gate (`place << 1 | negated`) flipped. Returns whether all inputs
    /// besides the leading one hold now but did not before, or the other way round.
    #[inline]
    fn count(&mut self, taker: u32, value: u32) -> bool {
        let count = &mut self.counts[(taker >> 1) as usize];
        // One more input that does not hold, or one fewer. If several absorbed inputs flip at once,
        // the count may be one too high for a moment, so it wraps.
        let more = taker & 1 == value;
        let before = *count;
        *count = if more { before.wrapping_add(1) } else { before.wrapping_sub(1) };
        before == 0 || *count == 0
    }

    /// Notes that the inputs of a gate besides the leading one now all hold, or no more. Returns
    /// the new value of the gate if it is absorbed and flips. Calls of it took a seventh of the
    /// time.
    #[inline(always)]
    fn toggle_others(&mut self, wiring: &Wiring, gate: usize) -> Option<u32> {
        let (word, bit) = (gate / WORD, 1 << (gate % WORD));
        let halves = &mut self.halves[word];
        halves.others ^= bit;
        let flips = halves.leading & bit;
        if gate < wiring.places.first_absorbed {
            self.toggle(word, flips);
            return None;
        }
        (flips != 0).then_some(u32::from(halves.others & bit != 0))
    }

    /// Notifies the consumer of an absorbed gate that this flipped, and so on as long as gates are
    /// absorbed. Returns the work. It is apart from the loops that seldom need it.
    #[inline(never)]
    fn notify_absorber(&mut self, wiring: &Wiring, mut gate: usize, mut value: u32) -> u64 {
        let mut work = 0;
        loop {
            work += 1;
            let taker = wiring.absorbers[gate - wiring.places.first_absorbed];
            if !self.count(taker, value) {
                return work;
            }
            gate = (taker >> 1) as usize;
            match self.toggle_others(wiring, gate) {
                Some(new) => value = new,
                None => return work,
            }
        }
    }

    /// The same for some gates of a word; `holding` are those that hold.
    #[inline]
    fn notify_absorbers(&mut self, wiring: &Wiring, word: usize, flips: u64, holding: u64) -> u64 {
        let (mut work, mut left) = (0, flips);
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let value = (holding >> at & 1) as u32;
            work += self.notify_absorber(wiring, word * WORD + at as usize, value);
        }
        work
    }

    /// Makes some gates of a word pending. A gate that would flip twice does not flip. In the
    /// place of an output, toggles that.
    #[inline]
    fn toggle(&mut self, word: usize, gates: u64) {
        self.pending[word] ^= gates;
        self.words[word / WORD] |= u64::from(gates != 0) << (word % WORD);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gates::Gates;
    use super::*;
    use crate::network::{Graph, Lit};

    /// A graph of random conjunctions, and random literals of it.
    fn random_graph(n_inputs: usize, picks: &[(u32, u32, u8)]) -> (Graph, Vec<Lit>) {
        let mut graph = Graph::new(n_inputs);
        let mut literals: Vec<Lit> = (0..n_inputs).map(|input| graph.input(input)).collect();
        for &(a, b, negated) in picks {
            // Every other time one of the first three, so that some have many consumers.
            let pick = |index: u32| {
                let last = if index & 1 == 0 { 3.min(literals.len()) } else { literals.len() };
                literals[index as usize / 2 % last]
            };
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
            flips in prop::collection::vec(0..3_u32, 72),
        ) {
            let (graph, outputs) = random_graph(n_inputs, &picks);
            let wiring = Wiring::new(&Gates::new(&graph, &outputs), n_late, Some(&flips));
            let mut propagation = Propagation::new(Arc::new(wiring));
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
    fn gates_of_too_many_inputs_are_split() {
        let n_inputs = 2 * usize::from(u16::MAX) + 5;
        let mut graph = Graph::new(n_inputs);
        let mut literals: Vec<Lit> = (0..n_inputs).map(|input| graph.input(input)).collect();
        let all = graph.all(&mut literals);
        let gates = Gates::new(&graph, &[all]);
        assert_eq!(gates.inputs.len(), 3);
        let flips = vec![1; gates.n_nodes()];
        let mut propagation = Propagation::new(Arc::new(Wiring::new(&gates, 0, Some(&flips))));
        for input in 0..n_inputs {
            propagation.settle_all();
            assert!(!propagation.output(0), "{input} of {n_inputs}");
            propagation.set(input, true);
        }
        propagation.settle_all();
        assert!(propagation.output(0));
    }
}
