//! What is so in every state that play reaches.

use super::variables::Variable;
use crate::network::{Graph, Lit};

/// Whether some facts of a list hold.
pub(super) type Signal = Vec<u32>;

/// One of two literals holds: numbers of signals, and whether they hold.
pub(super) type Clause = [(usize, bool); 2];

/// What is proven of all states that play reaches.
#[derive(Clone, Debug, Default)]
pub(super) struct Invariants {
    pub(super) variables: Vec<Variable>,
    pub(super) signals: Vec<Signal>,
    pub(super) clauses: Vec<Clause>,
}

impl Invariants {
    /// The signals, if the facts are these.
    pub(super) fn lits(&self, graph: &mut Graph, facts: &[Lit]) -> Vec<Lit> {
        let lit = |fact: &u32| facts[*fact as usize];
        let signals = self.signals.iter();
        signals.map(|signal| graph.any(&mut signal.iter().map(lit).collect())).collect()
    }
}
