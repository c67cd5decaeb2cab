//! Where the gates of a network are among the bits, and which of their inputs lead them.

use rustc_hash::FxHashMap;

use super::WORD;
use super::gates::{GateInput, Gates, to_u32};

/// The minimum number of gates of one rank that a node leads. In 15 games, 5 and 20 were about as
/// fast. In unit tests it is low, so that small networks have leaders too.
const MIN_LED: u32 = if cfg!(test) { 3 } else { 10 };

/// Where gates and outputs are among the bits: early gates, late gates, outputs, absorbed gates.
/// Between these are some without inputs, so that each group begins with a word of bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// Where the late gates begin.
    pub(crate) first_late: usize,
    /// Where the outputs begin. A gate that no node leads and whose only consumer is an output has
    /// the place of that output.
    pub(crate) first_output: usize,
    /// Where the absorbed gates begin.
    pub(crate) first_absorbed: usize,
}

/// Gates of the same rank may stand in any order. Those of a higher rank come later, so that gates
/// that are not absorbed come after their inputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Rank {
    /// Early gates by level.
    Early(u32),
    /// Late gates by level.
    Late(u32),
    /// Absorbed gates, in any order.
    Absorbed,
}

/// The rank of each gate.
fn ranks(gates: &Gates, n_consumers: &[u32], n_late: usize) -> Vec<Rank> {
    let n_inputs = gates.n_inputs;
    let mut levels: Vec<u32> = Vec::with_capacity(gates.inputs.len());
    let early = gates.early(n_late);
    let mut ranks = Vec::with_capacity(gates.inputs.len());
    for (gate, inputs) in gates.inputs.iter().enumerate() {
        let below = inputs.iter().filter_map(|&(node, _)| {
            let gate = (node as usize).checked_sub(n_inputs)?;
            // What absorbed gates do is known at once.
            Some(levels[gate] + u32::from(ranks[gate] != Rank::Absorbed))
        });
        let level = below.max().unwrap_or(0);
        levels.push(level);
        ranks.push(match (n_consumers[n_inputs + gate], early[gate]) {
            (1, _) => Rank::Absorbed,
            (_, true) => Rank::Early(level),
            (_, false) => Rank::Late(level),
        });
    }
    ranks
}

/// Where each gate is, and which of its inputs leads it.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) places: Places,
    pub(crate) n_absorbed: usize,
    /// By gate.
    pub(crate) place: Vec<u32>,
    /// By gate, the node that leads it.
    pub(crate) leader: Vec<Option<u32>>,
}

impl Layout {
    /// The layout of gates, as [`Wiring::new`](super::wiring::Wiring::new) describes them.
    pub(crate) fn new(gates: &Gates, n_late: usize, flips: Option<&[u32]>) -> Self {
        let n_consumers = gates.n_consumers();
        let ranks = ranks(gates, &n_consumers, n_late);
        let sole_outputs = gates.sole_outputs(&n_consumers);
        let leader = match flips {
            Some(flips) => leaders(gates, &n_consumers, &ranks, flips),
            None => vec![None; gates.inputs.len()],
        };
        // A gate whose only consumer is an output is absorbed by it if a node leads it.
        let output = |gate: usize| sole_outputs[gate].filter(|_| leader[gate].is_none());
        let mut order: Vec<usize> = (0..gates.inputs.len()).collect();
        order.retain(|&gate| output(gate).is_none());
        order.sort_by_key(|&gate| (ranks[gate], leader[gate].is_none(), leader[gate]));
        let n_early = order.partition_point(|&gate| matches!(ranks[gate], Rank::Early(_)));
        let n_settled = order.partition_point(|&gate| ranks[gate] != Rank::Absorbed);
        let first_late = n_early.next_multiple_of(WORD);
        let first_output = (first_late + n_settled - n_early).next_multiple_of(WORD);
        let first_absorbed = (first_output + gates.outputs.len()).next_multiple_of(WORD);
        let mut place: Vec<u32> = (0..gates.inputs.len())
            .map(|gate| output(gate).map_or(0, |output| to_u32(first_output + output)))
            .collect();
        let n_absorbed = order.len() - n_settled;
        let groups =
            [(0, n_early), (first_late, n_settled - n_early), (first_absorbed, n_absorbed)];
        let places = groups.into_iter().flat_map(|(first, n)| first..first + n);
        for (gate, at) in order.into_iter().zip(places) {
            place[gate] = to_u32(at);
        }
        Self {
            places: Places { first_late, first_output, first_absorbed },
            n_absorbed,
            place,
            leader,
        }
    }

    /// The number of the absorbed gate that the node is, if it is one.
    pub(crate) fn absorbed(&self, node: u32, n_inputs: usize) -> Option<usize> {
        self.node(node, n_inputs).checked_sub(n_inputs + self.places.first_absorbed)
    }

    /// The node in the wiring. For a gate in the place of an output it is after all nodes that have
    /// consumers.
    pub(crate) fn node(&self, node: u32, n_inputs: usize) -> usize {
        match (node as usize).checked_sub(n_inputs) {
            Some(gate) => n_inputs + self.place[gate] as usize,
            None => node as usize,
        }
    }
}

/// By gate, the input that leads it: the one that flips most often among those that can lead enough
/// gates of the same rank.
fn leaders(gates: &Gates, n_consumers: &[u32], ranks: &[Rank], flips: &[u32]) -> Vec<Option<u32>> {
    let may_lead = |node: u32| flips[node as usize] > 0 && n_consumers[node as usize] >= MIN_LED;
    // A node that is an input twice, once negated, would have to lead and to be counted.
    let same_node = |a: &GateInput, b: &GateInput| a.0 == b.0;
    let candidates = |gate: usize| {
        let nodes = gates.inputs[gate].chunk_by(same_node).filter(|inputs| inputs.len() == 1);
        nodes.map(|inputs| inputs[0].0).filter(|&node| may_lead(node))
    };
    let all = 0..gates.inputs.len();
    let pairs = all.clone().flat_map(|gate| candidates(gate).map(move |node| (gate, node)));
    let mut n_led = count_led(ranks, pairs);
    let mut leaders = Vec::new();
    // The second time, since others may be preferred to a node, which then leads too few.
    for _ in 0..2 {
        let best = |gate: usize| {
            let key = |node: u32| (flips[node as usize], n_led[&(ranks[gate], node)]);
            candidates(gate).filter(|&node| key(node).1 >= MIN_LED).max_by_key(|&node| key(node))
        };
        leaders = all.clone().map(best).collect();
        let led = leaders.iter().enumerate();
        let led = count_led(ranks, led.filter_map(|(gate, leader)| Some((gate, (*leader)?))));
        n_led.iter_mut().for_each(|(key, n)| *n = led.get(key).copied().unwrap_or(0));
    }
    for (gate, leader) in leaders.iter_mut().enumerate() {
        *leader = leader.filter(|&node| n_led[&(ranks[gate], node)] >= MIN_LED);
    }
    leaders
}

/// How many gates of a rank a node leads, or could lead.
fn count_led(
    ranks: &[Rank],
    led: impl Iterator<Item = (usize, u32)>,
) -> FxHashMap<(Rank, u32), u32> {
    let mut n_led = FxHashMap::default();
    for (gate, node) in led {
        *n_led.entry((ranks[gate], node)).or_insert(0) += 1;
    }
    n_led
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Graph, Lit};

    /// One input in conjunction with each of the others, as outputs.
    fn fan(n: usize) -> Gates {
        let mut graph = Graph::new(1 + n);
        let all: Vec<Lit> = (0..=n).map(|input| graph.input(input)).collect();
        let outputs: Vec<Lit> = all[1..].iter().map(|&other| graph.and(all[0], other)).collect();
        Gates::new(&graph, &outputs)
    }

    #[test]
    fn what_flips_most_leads_gates_that_are_side_by_side() {
        let gates = fan(70);
        let mut flips = vec![1; gates.n_nodes()];
        flips[0] = 2;
        let layout = Layout::new(&gates, 0, Some(&flips));
        assert_eq!(layout.leader, vec![Some(0); 70]);
        assert_eq!(layout.n_absorbed, 70);
        let first = layout.places.first_absorbed as u32;
        assert_eq!(layout.place, (first..first + 70).collect::<Vec<u32>>());
    }

    #[test]
    fn what_never_flips_or_has_few_consumers_leads_nothing() {
        let few = fan(MIN_LED as usize - 1);
        let many = fan(70);
        let (often, never) = (vec![1; few.n_nodes()], vec![0; many.n_nodes()]);
        for (gates, flips) in [(&few, Some(&*often)), (&many, Some(&*never)), (&many, None)] {
            let layout = Layout::new(gates, 0, flips);
            assert_eq!(layout.leader, vec![None; gates.inputs.len()]);
            // Each gate is in the place of its output.
            let first = layout.places.first_output as u32;
            assert_eq!(layout.place, (first..).take(gates.inputs.len()).collect::<Vec<u32>>());
        }
    }
}
