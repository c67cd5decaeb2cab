//! Steps of random play, 64 at a time.

use crate::Network;
use crate::network::samples::{Sample, Samples, value};

/// Work on samples, in nodes that are evaluated and moves that are looked at.
const WORK: usize = 30_000_000;

/// A step of 64 matches.
pub(super) struct ObservedStep {
    /// By fact: the matches in which it holds, a bit for each.
    pub(super) now: Vec<u64>,
    /// As `now`, after the step.
    pub(super) next: Vec<u64>,
    /// The matches that go on; the others begin again.
    pub(super) going: u64,
}

/// Plays at random.
pub(super) fn observe(network: &Network, most: u32) -> Vec<ObservedStep> {
    let work = 2 * network.graph.n_nodes() + 64 * network.n_moves();
    let n_steps = (WORK / work).clamp(8, most as usize);
    let mut samples = Samples::new(network);
    let mut steps = Vec::new();
    for _ in 0..n_steps {
        let Sample { values, going } = samples.next();
        let next = network.next.iter().map(|&lit| value(values, lit));
        let now = values[1..=network.n_facts()].to_vec();
        steps.push(ObservedStep { now, next: next.collect(), going });
    }
    steps
}
