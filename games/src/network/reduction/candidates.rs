//! What may be true of all positions, until some position says otherwise.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::Expression;
use crate::network::{Lit, Network};

/// Maximum number of facts that are looked at two by two.
const MAX_GROUP: usize = 64;

const NO_CLASS: u32 = u32::MAX;

/// Nodes that had equal or opposite values whenever they were looked at. The
/// constant is one of them.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// By node.
    class: Vec<u32>,
    /// By node: its value when first looked at. Nodes of a class agree in whether
    /// they have it.
    phase: Option<Vec<bool>>,
    /// By class: its least node.
    least: Vec<u32>,
}

impl Classes {
    /// All nodes that are `included`, in one class.
    pub(super) fn of(included: impl Iterator<Item = bool>) -> Self {
        let class: Vec<u32> =
            included.map(|included| if included { 0 } else { NO_CLASS }).collect();
        Self { class, phase: None, least: vec![0] }
    }

    /// Separates the nodes whose `values` differ in the lanes of `mask`.
    pub(super) fn refine(&mut self, values: &[u64], mask: u64) {
        if mask == 0 {
            return;
        }
        let lane = mask.trailing_zeros();
        let first = || values.iter().map(|value| value >> lane & 1 == 1).collect();
        let phase = self.phase.get_or_insert_with(first);
        let mut classes: FxHashMap<(u32, u64), u32> = FxHashMap::default();
        self.least.clear();
        for (node, class) in
            self.class.iter_mut().enumerate().filter(|(_, class)| **class != NO_CLASS)
        {
            let value = if phase[node] { !values[node] } else { values[node] } & mask;
            let next = classes.len() as u32;
            *class = match classes.entry((*class, value)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(fresh) => {
                    self.least.push(node as u32);
                    *fresh.insert(next)
                }
            };
        }
    }

    /// Makes a node one of its own.
    pub(super) fn part(&mut self, node: u32) {
        self.class[node as usize] = NO_CLASS;
    }

    /// What a node is taken to be: itself, or a lesser one that may be negated.
    pub(super) fn substitute(&self, node: u32) -> Lit {
        let class = self.class[node as usize];
        let Some(phase) = self.phase.as_ref().filter(|_| class != NO_CLASS) else {
            return Lit::new(node, false);
        };
        let least = self.least[class as usize];
        Lit::new(least, phase[node as usize] != phase[least as usize])
    }
}

/// Pairs of facts that never held together.
#[derive(Clone, Debug)]
pub(super) struct Exclusions {
    /// Facts, by number.
    pairs: Vec<[u32; 2]>,
}

impl Exclusions {
    /// All pairs of facts of one name that differ in one argument: what is on a
    /// square, whose turn it is, the number of steps.
    pub(super) fn of(network: &Network) -> Self {
        let mut groups: FxHashMap<(usize, Vec<&Expression>), Vec<u32>> = FxHashMap::default();
        for (fact, expression) in network.facts.iter().enumerate() {
            let Expression::List(items) = expression else { continue };
            for at in 1..items.len() {
                let others = items.iter().enumerate().filter(|&(other, _)| other != at);
                let key = (at + (items.len() << 8), others.map(|(_, item)| item).collect());
                groups.entry(key).or_default().push(fact as u32);
            }
        }
        let mut pairs = Vec::new();
        for facts in groups.values().filter(|facts| facts.len() <= MAX_GROUP) {
            for (at, &fact) in facts.iter().enumerate() {
                pairs.extend(facts[..at].iter().map(|&other| [other, fact]));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self { pairs }
    }

    /// Drops the pairs that hold together in a lane of `mask`.
    pub(super) fn refine(&mut self, values: &[u64], mask: u64) {
        let value = |fact: u32| values[1 + fact as usize];
        self.pairs.retain(|&[a, b]| value(a) & value(b) & mask == 0);
    }

    /// Drops a pair.
    pub(super) fn part(&mut self, pair: [u32; 2]) {
        self.pairs.retain(|&other| other != pair);
    }

    /// The pairs that are left.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
}
