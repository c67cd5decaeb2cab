//! A smaller network that is equivalent in every position that play may reach.
//!
//! ```text
//! Network -> samples (random play) -> candidates: equal nodes, facts that exclude each other
//!         -> induction with a SAT solver -> what is proven is merged -> Network
//! ```
//!
//! Candidates are nodes that had equal or opposite values (the constant is one
//! of them) in all positions of some random play, and facts of which never two
//! held. Those that read facts alone are proven by induction: they hold
//! initially, and if they hold in a position, then also in each that follows by
//! legal moves. Those that read moves are then proven for each position and
//! legal joint move one by one. What is not proven is dropped (van Eijk,
//! "Sequential equivalence checking without state space traversal", DATE 1998;
//! speculative reduction: Mony, Baumgartner, Mishchenko and Brayton, DATE 2009).
//!
//! Facts and moves stay what they are, so that states and moves of the smaller
//! network are those of the larger one.

mod candidates;
mod proof;

use super::rebuild::rebuild;
use super::samples::{Sample, Samples};
use super::{Lit, Network};
use crate::state_machine::Cancel;
use candidates::{Classes, Exclusions};

/// Limits of the effort. All of them are counted and not timed, so that a game has the
/// same network everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionEffort {
    /// Steps of random play, 64 positions each.
    pub samples: u32,
    /// Decisions of the SAT solver for one question; what needs more is dropped.
    pub decisions_per_question: u64,
    /// Decisions of the SAT solver for all questions of the induction; if it
    /// needs more, nothing is proven.
    pub decisions: u64,
}

impl Default for ReductionEffort {
    fn default() -> Self {
        Self { samples: 128, decisions_per_question: 20_000, decisions: 2_000_000 }
    }
}

/// A smaller network, and figures about the reduction.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Equivalent to the larger network in every position that play reaches.
    pub network: Network,
    /// Conjunctions and inputs that were found to be others, their negations, or
    /// constant.
    pub merged: usize,
    /// Pairs of facts that were shown to exclude each other.
    pub exclusions: usize,
    /// Rounds until all candidates that were left held.
    pub rounds: usize,
    /// Questions to the SAT solver.
    pub questions: u64,
}

/// The network with parts merged that are equal in all positions that play reaches.
/// `None` if the effort did not suffice to prove anything, or if `cancel` was raised.
#[must_use]
pub fn reduce(network: &Network, effort: &ReductionEffort, cancel: &Cancel) -> Option<Reduction> {
    let reads_moves = reads_moves(network);
    let mut in_positions = Classes::of(reads_moves.iter().map(|&reads| !reads));
    let mut in_moves = Classes::of(reads_moves.iter().map(|_| true));
    let mut exclusions = Exclusions::of(network);
    let mut samples = Samples::new(network);
    for _ in 0..effort.samples {
        let Sample { values, going } = samples.next();
        in_positions.refine(values, u64::MAX);
        exclusions.refine(values, u64::MAX);
        in_moves.refine(values, going);
        if cancel.is_cancelled() {
            return None;
        }
    }
    let mut proof = proof::Proof::new(network, &reads_moves, effort, cancel);
    let rounds = proof.induct(&mut in_positions, &mut exclusions)?;
    let substitutes = proof.sweep(&in_positions, &exclusions, &mut in_moves)?;
    let merged = substitutes.iter().enumerate();
    let merged = merged.filter(|&(node, &lit)| lit != Lit::new(node as u32, false)).count();
    Some(Reduction {
        network: rebuild(network, &substitutes),
        merged,
        exclusions: exclusions.pairs().len(),
        rounds,
        questions: proof.questions(),
    })
}

/// By node: whether it reads a move.
pub(super) fn reads_moves(network: &Network) -> Vec<bool> {
    let graph = &network.graph;
    let mut reads: Vec<bool> =
        (0..=graph.n_inputs()).map(|node| node > network.n_facts()).collect();
    for (_, operands) in graph.ands() {
        let of_operands = operands.iter().any(|lit| reads[lit.node() as usize]);
        reads.push(of_operands);
    }
    reads
}
