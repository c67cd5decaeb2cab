//! The consumers of each node of a network.
//!
//! Most gates of large networks have two inputs of which one flips often and the other
//! hardly ever holds, so that most flips of the first have no effect. One input of a gate may
//! therefore *lead* it. The gates with the same leading input are side by side in a bit set, so
//! that a flip of that input reaches 64 of them at once; only those whose other inputs all hold
//! flip with it.
//!
//! A gate with a single consumer is *absorbed* by it: its flips change the consumer's count at
//! once, and the consumer then is what may have to flip. That saves the search for its consumers,
//! but if several of its inputs flip, it may flip and flip back.
//!
//! Each gate and each output has a *place* in the bit set ([`super::layout`]).

use super::WORD;
use super::gates::{Gates, Output, to_u32};
use super::layout::{Layout, Places};

/// The work of finding the consumers of a node that flips, in changes of a count.
pub(crate) const FLIP: u64 = 8;
/// The work of reaching the gates of one word that a node leads, in changes of a count.
pub(crate) const REACH: u64 = 2;

/// Where the consumers of a node begin; they end where those of the next node begin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// In [`Wiring::led`].
    pub(crate) led: u32,
    /// In [`Wiring::consumers`]: places of gates with one input besides the leading one.
    pub(crate) paired: u32,
    /// In the same: all other gates (`place << 1 | negated`).
    pub(crate) counted: u32,
    /// In the same: places of outputs.
    pub(crate) outputs: u32,
}

/// Some gates of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SomeGates {
    pub(crate) mask: u64,
    pub(crate) word: u32,
}

/// Two properties of the gates of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    /// The gates whose leading input holds, or that have none.
    pub(crate) leading: u64,
    /// The gates whose other inputs all hold.
    pub(crate) others: u64,
}

impl Halves {
    /// The gates that hold.
    #[inline]
    pub(crate) fn holding(self) -> u64 {
        self.leading & self.others
    }
}

/// The gates that some outputs of a graph depend on, as lists of consumers.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) n_inputs: usize,
    pub(crate) places: Places,
    /// By node (inputs, then places of gates that are not absorbed); one more at the end.
    pub(crate) spans: Vec<Span>,
    /// The gates that a node leads.
    pub(crate) led: Vec<SomeGates>,
    /// Gates and outputs, as [`Span`] says.
    pub(crate) consumers: Vec<u32>,
    /// By absorbed gate, the gate or output that consumes it (`place << 1 | negated`).
    pub(crate) absorbers: Vec<u32>,
    /// By place, inputs that do not hold while all inputs of the network are false, the
    /// leading one not among them.
    pub(crate) counts: Vec<u16>,
    /// By word of places, what holds while all inputs of the network are false.
    pub(crate) halves: Vec<Halves>,
    /// Outputs while all inputs of the network are false.
    pub(crate) outputs: Vec<u64>,
}

impl Wiring {
    /// The wiring of `gates`, of whose outputs the first `n_late` are needed only after moves are
    /// made; gates on which only they depend are late. `flips` says how often each node flips;
    /// without it, no node leads a gate.
    pub(crate) fn new(gates: &Gates, n_late: usize, flips: Option<&[u32]>) -> Self {
        let n_inputs = gates.n_inputs;
        let layout = Layout::new(gates, n_late, flips);
        let n_places = layout.places.first_absorbed + layout.n_absorbed;
        let mut wiring = Self {
            n_inputs,
            places: layout.places,
            spans: Vec::new(),
            led: Vec::new(),
            consumers: Vec::new(),
            absorbers: vec![0; layout.n_absorbed],
            counts: vec![0; n_places],
            halves: vec![Halves::default(); n_places.div_ceil(WORD)],
            outputs: vec![0; gates.outputs.len().div_ceil(WORD)],
        };
        wiring.connect(gates, &layout);
        wiring.settle(gates, &layout);
        wiring
    }

    /// Lists the consumers of each node.
    fn connect(&mut self, gates: &Gates, layout: &Layout) {
        let n_nodes = self.n_inputs + self.places.first_output;
        let mut consumers = vec![Consumers::default(); n_nodes];
        for (gate, inputs) in gates.inputs.iter().enumerate() {
            let (place, leader) = (layout.place[gate], layout.leader[gate]);
            for &(node, negated) in inputs {
                let taker = place << 1 | u32::from(negated);
                if let Some(absorbed) = layout.absorbed(node, self.n_inputs) {
                    self.absorbers[absorbed] = taker;
                    continue;
                }
                let of_node = &mut consumers[layout.node(node, self.n_inputs)];
                match leader {
                    Some(leader) if leader == node => of_node.led.push(place),
                    Some(_) if inputs.len() == 2 => of_node.paired.push(place),
                    _ => of_node.counted.push(taker),
                }
            }
        }
        for (index, output) in gates.outputs.iter().enumerate() {
            let Output::Node((node, negated)) = *output else { continue };
            let place = to_u32(self.places.first_output + index);
            if let Some(absorbed) = layout.absorbed(node, self.n_inputs) {
                self.absorbers[absorbed] = place << 1 | u32::from(negated);
            } else if let Some(of_node) = consumers.get_mut(layout.node(node, self.n_inputs)) {
                of_node.outputs.push(place);
            } // else the gate is in the place of the output
        }
        for of_node in consumers {
            self.add(of_node);
        }
        self.add(Consumers::default());
    }

    /// Adds the consumers of the next node.
    fn add(&mut self, mut consumers: Consumers) {
        let led = to_u32(self.led.len());
        consumers.led.sort_unstable();
        let same_word = |a: &u32, b: &u32| *a as usize / WORD == *b as usize / WORD;
        for led in consumers.led.chunk_by(same_word) {
            let mask = led.iter().fold(0, |mask, place| mask | 1 << (place % WORD as u32));
            self.led.push(SomeGates { mask, word: led[0] / WORD as u32 });
        }
        let [paired, counted, outputs] = [consumers.paired, consumers.counted, consumers.outputs]
            .map(|mut some| {
                some.sort_unstable();
                let first = to_u32(self.consumers.len());
                self.consumers.extend(some);
                first
            });
        self.spans.push(Span { led, paired, counted, outputs });
    }

    /// Finds the counts and outputs while all inputs are false.
    fn settle(&mut self, gates: &Gates, layout: &Layout) {
        let mut holds = vec![false; gates.n_nodes()];
        for (gate, inputs) in gates.inputs.iter().enumerate() {
            let (place, leader) = (layout.place[gate] as usize, layout.leader[gate]);
            let (mut leads, mut count) = (true, 0);
            for &(node, negated) in inputs {
                let fails = holds[node as usize] == negated;
                match leader == Some(node) {
                    true => leads = !fails,
                    false => count += usize::from(fails),
                }
            }
            self.counts[place] = u16::try_from(count).expect("gates have few enough inputs");
            let halves = &mut self.halves[place / WORD];
            halves.leading |= u64::from(leads) << (place % WORD);
            halves.others |= u64::from(count == 0) << (place % WORD);
            holds[self.n_inputs + gate] = leads && count == 0;
        }
        for (index, output) in gates.outputs.iter().enumerate() {
            let value = match *output {
                Output::Node((node, negated)) => holds[node as usize] != negated,
                Output::Constant(value) => value,
            };
            self.outputs[index / WORD] |= u64::from(value) << (index % WORD);
            let node = output.node();
            if node.is_some_and(|node| layout.absorbed(node, self.n_inputs).is_some()) {
                // The output is a gate of one input.
                let place = self.places.first_output + index;
                self.counts[place] = u16::from(!value);
                let halves = &mut self.halves[place / WORD];
                halves.leading |= 1 << (place % WORD);
                halves.others |= u64::from(value) << (place % WORD);
            }
        }
    }

    /// Bytes of what propagation reads and writes.
    pub(crate) fn n_bytes(&self) -> usize {
        let tables = size_of_val(&*self.spans) + size_of_val(&*self.consumers);
        let tables = tables + size_of_val(&*self.led) + size_of_val(&*self.absorbers);
        let values = size_of_val(&*self.counts) + size_of_val(&*self.halves);
        tables + values
    }
}

/// The consumers of a node, by place.
#[derive(Clone, Default)]
struct Consumers {
    led: Vec<u32>,
    paired: Vec<u32>,
    counted: Vec<u32>,
    outputs: Vec<u32>,
}
