//! Conditions on facts, and what depends on moves.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::network::reduction::reads_moves;
use crate::network::{Graph, Lit, Network};

/// Moves on which a literal depends, at most, for it to be taken apart by moves. Of 4, 8 and 32, the
/// smallest gives the smallest networks (of kalaha 10 and 27 thousand conjunctions).
const MAX_MOVES: usize = 4;

/// Factors of a condition that is taken apart, at most.
const MAX_FACTORS: usize = 6;

/// That one of these moves is made, and the condition on facts holds that stands with it. A move may
/// stand there several times.
pub(super) type ByMove = Vec<(u32, Lit)>;

/// Literals all of which hold.
pub(super) type Factors = SmallVec<[Lit; 3]>;

/// The graph with further conditions on facts, which are made on the way.
pub(super) struct Conditions {
    pub(super) graph: Graph,
    /// By node: whether it depends on moves.
    depends_on_moves: Vec<bool>,
    /// By node of the network: how often it is used.
    n_uses: Vec<u32>,
}

impl Conditions {
    pub(super) fn of(network: &Network) -> Self {
        let graph = network.graph.clone();
        let mut n_uses = vec![0; graph.n_nodes()];
        let operands = graph.ands().flat_map(|(_, operands)| operands);
        operands.chain(network.outputs()).for_each(|lit| n_uses[lit.node() as usize] += 1);
        Self { depends_on_moves: reads_moves(network), graph, n_uses }
    }

    pub(super) fn depends_on_moves(&self, lit: Lit) -> bool {
        // What was added depends on facts.
        self.depends_on_moves.get(lit.node() as usize).copied().unwrap_or(false)
    }

    /// Whether a literal's node has a single use. Nodes that were added count as such.
    pub(super) fn is_used_once(&self, lit: Lit) -> bool {
        self.n_uses.get(lit.node() as usize).is_none_or(|&n| n == 1)
    }

    /// Whether a literal is a disjunction with a single use.
    pub(super) fn is_own_disjunction(&self, lit: Lit) -> bool {
        lit.is_negated() && self.graph.operands(lit.node()).is_some() && self.is_used_once(lit)
    }

    /// The literals of which one is the conjunction; itself if they are too many.
    pub(super) fn factors(&self, lit: Lit) -> Factors {
        self.graph.factors(lit, MAX_FACTORS).unwrap_or_else(|| Factors::from_slice(&[lit]))
    }

    /// The literals of which one is the disjunction. Disjunctions in it with several uses are not
    /// taken apart.
    pub(super) fn alternatives(&self, lit: Lit) -> Vec<Lit> {
        let mut alternatives = Vec::new();
        let mut todo = vec![lit];
        // Conditions that were added may meet again.
        let mut met = FxHashSet::default();
        while let Some(one) = todo.pop() {
            if !met.insert(one) {
                continue;
            }
            match self.graph.operands(one.node()) {
                Some(operands)
                    if one == lit && lit.is_negated() || self.is_own_disjunction(one) =>
                {
                    todo.extend(operands.map(|operand| !operand));
                }
                _ => alternatives.push(one),
            }
        }
        alternatives
    }

    /// By node of the network, what it is by moves, and what its negation is; nothing if it is no
    /// disjunction of at most [`MAX_MOVES`] moves, each with a condition on facts.
    pub(super) fn by_moves(&mut self, network: &Network) -> Vec<[ByMove; 2]> {
        let graph = &network.graph;
        let mut by_moves: Vec<[ByMove; 2]> = vec![Default::default(); graph.n_nodes()];
        for input in network.n_facts()..graph.n_inputs() {
            by_moves[graph.input(input).node() as usize][0] = vec![(input as u32, Lit::TRUE)];
        }
        for (node, [left, right]) in graph.ands() {
            if !self.depends_on_moves[node as usize] {
                continue;
            }
            let of = |lit: Lit| &by_moves[lit.node() as usize][usize::from(lit.is_negated())];
            let (moves, condition) = match self.depends_on_moves(left) {
                true => (of(left), right),
                false => (of(right), left),
            };
            let mut all = ByMove::new();
            if !self.depends_on_moves(condition) {
                let both =
                    |&(input, before): &(u32, Lit)| (input, self.graph.and(before, condition));
                all.extend(moves.iter().map(both));
            }
            let (first, last) = (of(!left), of(!right));
            let mut any = ByMove::new();
            if !first.is_empty() && !last.is_empty() && first.len() + last.len() <= MAX_MOVES {
                any.clone_from(first);
                for &(input, condition) in last {
                    match any.iter_mut().find(|(same, _)| *same == input) {
                        Some((_, before)) => *before = self.graph.or(*before, condition),
                        None => any.push((input, condition)),
                    }
                }
            }
            by_moves[node as usize] = [all, any];
        }
        by_moves
    }
}
