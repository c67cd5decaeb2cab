//! Positions of random play, 64 at a time.

use crate::RoleId;
use crate::network::{Graph, Network};

/// 64 matches of random play at the same step each.
pub(super) struct Samples<'n> {
    network: &'n Network,
    /// By input.
    inputs: Vec<u64>,
    /// By node.
    values: Vec<u64>,
    /// Where the generator of choices is.
    numbers: u64,
}

/// What all nodes are in 64 positions.
pub(super) struct Sample<'s> {
    /// By node, a bit for each position; moves are random legal ones.
    pub(super) values: &'s [u64],
    /// The positions in which a joint move is made.
    pub(super) going: u64,
}

impl<'n> Samples<'n> {
    /// The first sample is 64 times the initial position.
    pub(super) fn new(network: &'n Network) -> Self {
        let mut inputs: Vec<u64> =
            network.initial.iter().map(|&holds| if holds { u64::MAX } else { 0 }).collect();
        inputs.resize(network.graph.n_inputs(), 0);
        // Which positions are looked at must not differ from run to run.
        Self { network, inputs, values: Vec::new(), numbers: 1 }
    }

    /// The positions, each with a joint move; makes the moves. A match that is at
    /// its end begins anew.
    pub(super) fn next(&mut self) -> Sample<'_> {
        let network = self.network;
        self.inputs[network.n_facts()..].fill(0);
        evaluate(&network.graph, &self.inputs, &mut self.values);
        let mut going = !value(&self.values, network.terminal);
        for (role, outputs) in network.roles.iter().enumerate() {
            let first = network.first_move(RoleId(role as u8));
            let legal: Vec<u64> =
                outputs.legal.iter().map(|&lit| value(&self.values, lit)).collect();
            for lane in 0..64 {
                let is_legal = |word: &&u64| **word >> lane & 1 == 1;
                let n_legal = legal.iter().filter(is_legal).count() as u64;
                // That some moves come a little more often is no matter here.
                let Some(chosen) = number(&mut self.numbers).checked_rem(n_legal) else {
                    going &= !(1 << lane);
                    continue;
                };
                let mut moves = (0..legal.len()).filter(|&at| is_legal(&&legal[at]));
                let at = moves.nth(chosen as usize).expect("so many are legal");
                self.inputs[first + at] |= 1 << lane;
            }
        }
        self.inputs[network.n_facts()..].iter_mut().for_each(|word| *word &= going);
        evaluate(&network.graph, &self.inputs, &mut self.values);
        for (fact, &next) in network.next.iter().enumerate() {
            let initial = if network.initial[fact] { u64::MAX } else { 0 };
            self.inputs[fact] = value(&self.values, next) & going | initial & !going;
        }
        Sample { values: &self.values, going }
    }
}

/// The upper bits of Knuth's MMIX generator: enough for choosing what to look at.
fn number(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn value(values: &[u64], lit: crate::network::Lit) -> u64 {
    let value = values[lit.node() as usize];
    if lit.is_negated() { !value } else { value }
}

/// The value of each node in 64 positions.
pub(super) fn evaluate(graph: &Graph, inputs: &[u64], values: &mut Vec<u64>) {
    values.clear();
    values.push(0);
    values.extend_from_slice(inputs);
    for (_, [a, b]) in graph.ands() {
        values.push(value(values, a) & value(values, b));
    }
}
