//! Parts for different moves that are computed as one, where that takes fewer conjunctions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::conditions::{ByMove, Conditions};
use super::parts::{Disjunctions, Part, pivot};
use crate::Cancel;
use crate::network::{Graph, Lit, Network};

/// How many literals and moves of parts are compared, at most, for each conjunction of the network.
const MAX_COMPARED: usize = 100;

/// A sharing is made if its conjunctions are fewer than this part of those that it replaces.
const WORTH: f64 = 0.8;

/// Parts for different moves of a role that are computed as one.
pub(super) struct Sharing {
    pub(super) parts: Vec<usize>,
    /// The inputs of their moves, ascending.
    inputs: Vec<u32>,
    /// Their pivots, ascending.
    pivots: Vec<Lit>,
    /// By pivot, the rests of its products under each move.
    pub(super) terms: Vec<(Lit, ByMove)>,
}

/// All parts, those of different moves with many pivots in common together; `None` if `cancel` is
/// raised before. `n_ands` bounds the work.
pub(super) fn sharings(
    parts: &[Part],
    role_of: &[u8],
    n_ands: usize,
    cancel: &Cancel,
) -> Option<Vec<Sharing>> {
    let mut sharings: Vec<Sharing> = Vec::new();
    // By role, since moves of different roles do not exclude each other, and first pivot.
    let mut by_pivot: FxHashMap<(u8, Lit), Vec<usize>> = FxHashMap::default();
    let mut room = MAX_COMPARED * n_ands;
    for (at, part) in parts.iter().enumerate() {
        if cancel.is_cancelled() {
            return None;
        }
        let products = part.branches.iter().flat_map(|branch| &branch.products);
        let mut pivots: Vec<Lit> = products.map(pivot).collect();
        pivots.sort_unstable();
        pivots.dedup();
        let inputs: Vec<u32> = part.branches.iter().map(|branch| branch.input).collect();
        let role = role_of[inputs[0] as usize];
        let with_pivot = by_pivot.entry((role, pivots[0])).or_default();
        let alike = with_pivot.iter().rev().copied().find(|&other| {
            room = room.saturating_sub(1 + pivots.len() + inputs.len());
            room > 0 && sharings[other].fits(&inputs, &pivots)
        });
        let Some(alike) = alike else {
            with_pivot.push(sharings.len());
            sharings.push(Sharing { parts: vec![at], inputs, pivots, terms: Vec::new() });
            continue;
        };
        sharings[alike].add(at, inputs, pivots);
    }
    Some(sharings)
}

impl Sharing {
    /// Whether a part with these moves and pivots has none of the moves and many of the pivots.
    fn fits(&self, inputs: &[u32], pivots: &[Lit]) -> bool {
        let most = pivots.len().max(self.pivots.len());
        let is_in_both = |pivot: &&Lit| self.pivots.binary_search(pivot).is_ok();
        2 * pivots.len().min(self.pivots.len()) >= most
            && inputs.iter().all(|input| self.inputs.binary_search(input).is_err())
            && 2 * pivots.iter().filter(is_in_both).count() >= most
    }

    fn add(&mut self, part: usize, inputs: Vec<u32>, pivots: Vec<Lit>) {
        self.parts.push(part);
        self.inputs.extend(inputs);
        self.inputs.sort_unstable();
        self.pivots.extend(pivots);
        self.pivots.sort_unstable();
        self.pivots.dedup();
    }

    pub(super) fn find_terms(&mut self, parts: &[Part], conditions: &mut Conditions) {
        let mut terms: BTreeMap<Lit, ByMove> = BTreeMap::new();
        for branch in self.parts.iter().flat_map(|&part| &parts[part].branches) {
            for factors in &branch.products {
                let mut rest = factors.get(1..).unwrap_or_default().to_vec();
                let rest = conditions.graph.all(&mut rest);
                terms.entry(pivot(factors)).or_default().push((branch.input, rest));
            }
        }
        self.terms = terms.into_iter().collect();
        self.terms.iter_mut().for_each(|(_, rests)| rests.sort_unstable());
    }
}

/// The sharings that take clearly fewer conjunctions than their parts by themselves.
pub(super) fn worth_making(
    sharings: Vec<Sharing>,
    network: &Network,
    conditions: &Conditions,
    disjunctions: &Disjunctions,
) -> Vec<Sharing> {
    let Disjunctions { parts, others } = disjunctions;
    // By root: the conjunctions that it alone uses, and its alternatives.
    let mut sizes: BTreeMap<Lit, (f64, f64)> = BTreeMap::new();
    for (&root, others) in others {
        let own = n_own(&network.graph, conditions, root.node()) as f64;
        sizes.insert(root, (own, others.len() as f64));
    }
    for part in parts {
        sizes.get_mut(&part.root).expect("roots have others").1 += part.n_products() as f64;
    }
    let mut n_uses: FxHashMap<&ByMove, f64> = FxHashMap::default();
    for (_, rests) in sharings.iter().flat_map(|sharing| &sharing.terms) {
        *n_uses.entry(rests).or_default() += 1.0;
    }
    let is_worth = |sharing: &Sharing| {
        let now = |&part: &usize| {
            let part = &parts[part];
            let (own, n_alternatives) = sizes[&part.root];
            own * part.n_products() as f64 / n_alternatives
        };
        let now: f64 = sharing.parts.iter().map(now).sum();
        let term = |(_, rests): &(Lit, ByMove)| 2.0 + 2.0 * rests.len() as f64 / n_uses[rests];
        let mut then: f64 = sharing.terms.iter().map(term).sum();
        if sharing.parts.len() > 1 {
            // Each part asks whether one of its moves is made.
            then += (sharing.inputs.len() + sharing.parts.len()) as f64;
        }
        then < WORTH * now
    };
    let is_worth: Vec<bool> = sharings.iter().map(is_worth).collect();
    sharings.into_iter().zip(is_worth).filter_map(|(sharing, is)| is.then_some(sharing)).collect()
}

/// The number of conjunctions that are needed for one alone, roughly.
fn n_own(graph: &Graph, conditions: &Conditions, root: u32) -> usize {
    let mut n = 0;
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        let Some(operands) = graph.operands(node) else { continue };
        n += 1;
        todo.extend(
            operands.iter().filter(|lit| conditions.is_used_once(**lit)).map(|lit| lit.node()),
        );
    }
    n
}
