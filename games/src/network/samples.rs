//! Positions of random play, 64 at a time.

use super::{Graph, Lit, Network};
use crate::split_mix::SplitMix;

/// 64 matches of random play at the same step each.
pub(crate) struct Samples<'n> {
    network: &'n Network,
    /// By input.
    inputs: Vec<u64>,
    /// By node.
    values: Vec<u64>,
    /// Chooses moves.
    random: SplitMix,
}

/// What all nodes are in 64 positions.
pub(crate) struct Sample<'s> {
    /// By node, a bit for each position; moves are random legal ones.
    pub(crate) values: &'s [u64],
    /// The positions in which a joint move is made.
    pub(crate) going: u64,
}

impl<'n> Samples<'n> {
    /// The first sample is 64 times the initial position.
    pub(crate) fn new(network: &'n Network) -> Self {
        let mut inputs: Vec<u64> =
            network.initial.iter().map(|&holds| if holds { u64::MAX } else { 0 }).collect();
        inputs.resize(network.graph.n_inputs(), 0);
        // Which positions are looked at must not differ from run to run.
        Self { network, inputs, values: Vec::new(), random: SplitMix::new(1) }
    }

    /// The positions, each with a joint move; makes the moves. A match that is at
    /// its end begins anew.
    pub(crate) fn next(&mut self) -> Sample<'_> {
        let network = self.network;
        self.inputs[network.n_facts()..].fill(0);
        evaluate(&network.graph, &self.inputs, &mut self.values);
        let mut going = !value(&self.values, network.terminal);
        for (id, outputs) in network.role_ids().zip(&network.roles) {
            let first = network.first_move(id);
            let legal: Vec<u64> =
                outputs.legal.iter().map(|&lit| value(&self.values, lit)).collect();
            for lane in 0..64 {
                let is_legal = |word: &&u64| **word >> lane & 1 == 1;
                let n_legal = legal.iter().filter(is_legal).count();
                let chosen = self.random.below(n_legal);
                let mut moves = (0..legal.len()).filter(|&at| is_legal(&&legal[at]));
                let Some(at) = moves.nth(chosen) else {
                    going &= !(1 << lane);
                    continue;
                };
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

/// What a literal is in 64 positions, by the values of all nodes.
pub(crate) fn value(values: &[u64], lit: Lit) -> u64 {
    let value = values[lit.node() as usize];
    if lit.is_negated() { !value } else { value }
}

/// The value of each node in 64 positions.
pub(crate) fn evaluate(graph: &Graph, inputs: &[u64], values: &mut Vec<u64>) {
    values.clear();
    values.push(0);
    values.extend_from_slice(inputs);
    for (_, [a, b]) in graph.ands() {
        values.push(value(values, a) & value(values, b));
    }
}
