//! Disjunctions that depend on moves, taken apart by the moves of each role.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::conditions::{Conditions, Factors};
use crate::Cancel;
use crate::network::{Lit, Network};

/// How many products all disjunctions have, at most, for each conjunction of the network.
const MAX_PRODUCTS: usize = 4;

/// What a disjunction is under the moves of one role.
pub(super) struct Part {
    pub(super) root: Lit,
    /// Factors that all products have.
    pub(super) common: Factors,
    /// By move, in order of inputs.
    pub(super) branches: Vec<Branch>,
}

/// What holds under a move but for the common factors: one of the products.
pub(super) struct Branch {
    pub(super) input: u32,
    /// Conditions on facts, without the common factors. The first factor of each is its *pivot*
    /// once pivots are chosen.
    pub(super) products: Vec<Factors>,
}

/// The disjunctions that depend on moves.
pub(super) struct Disjunctions {
    pub(super) parts: Vec<Part>,
    /// By root that has parts: its other alternatives.
    pub(super) others: BTreeMap<Lit, Vec<Lit>>,
}

impl Disjunctions {
    /// `None` if `cancel` is raised before they are found.
    pub(super) fn of(
        network: &Network,
        conditions: &mut Conditions,
        role_of: &[u8],
        cancel: &Cancel,
    ) -> Option<Self> {
        let by_moves = conditions.by_moves(network);
        let operands = network.graph.ands().flat_map(|(_, operands)| operands);
        // An output of one alternative is a disjunction too.
        let mut roots: Vec<Lit> = operands.filter(|lit| lit.is_negated()).collect();
        roots.extend(network.outputs());
        roots.retain(|lit| {
            network.graph.operands(lit.node()).is_some() && conditions.depends_on_moves(*lit)
        });
        roots.sort_unstable();
        roots.dedup();
        // Of a node that is used both ways, the negation.
        roots.reverse();
        roots.dedup_by_key(|lit| lit.node());
        let mut room = MAX_PRODUCTS * network.graph.n_ands();
        let mut found = Self { parts: Vec::new(), others: BTreeMap::new() };
        for root in roots.into_iter().rev() {
            if cancel.is_cancelled() {
                return None;
            }
            // By role and move: conditions one of which holds.
            let mut of_moves: BTreeMap<(u8, u32), Vec<Lit>> = BTreeMap::new();
            let mut others = Vec::new();
            for lit in conditions.alternatives(root) {
                let moves = &by_moves[lit.node() as usize][usize::from(lit.is_negated())];
                if moves.is_empty() || moves.iter().any(|&(_, condition)| condition == Lit::TRUE) {
                    others.push(lit);
                    continue;
                }
                for &(input, condition) in moves {
                    let key = (role_of[input as usize], input);
                    of_moves.entry(key).or_default().push(condition);
                }
            }
            let of_moves: Vec<((u8, u32), Vec<Lit>)> = of_moves.into_iter().collect();
            for of_role in of_moves.chunk_by(|one, next| one.0.0 == next.0.0) {
                let moves = of_role.iter().map(|((_, input), any)| (*input, any.as_slice()));
                found.parts.push(Part::new(root, moves, conditions, &mut room));
            }
            if !of_moves.is_empty() {
                found.others.insert(root, others);
            }
        }
        Some(found)
    }
}

impl Part {
    /// From moves, each with conditions one of which holds. Where there is no `room` for more
    /// products, they are not taken apart.
    fn new<'a>(
        root: Lit,
        moves: impl Iterator<Item = (u32, &'a [Lit])>,
        conditions: &Conditions,
        room: &mut usize,
    ) -> Self {
        let products = |any: &[Lit]| any.iter().map(|&lit| conditions.factors(lit)).collect();
        let branch = |(input, any)| Branch { input, products: products(any) };
        let mut branches: Vec<Branch> = moves.map(branch).collect();
        let mut common = branches[0].products[0].clone();
        let all = || branches.iter().flat_map(|branch| &branch.products);
        all().for_each(|factors| common.retain(|lit| factors.contains(lit)));
        if all().count() == 1 {
            common.retain(|lit| !conditions.is_own_disjunction(*lit));
        }
        for branch in &mut branches {
            let mut products = Vec::new();
            for mut factors in branch.products.drain(..) {
                factors.retain(|lit| !common.contains(lit));
                match factors[..] {
                    [lit] if *room > 0 && conditions.is_own_disjunction(lit) => {
                        let alternatives = conditions.alternatives(lit);
                        *room = room.saturating_sub(alternatives.len());
                        products.extend(alternatives.iter().map(|&one| conditions.factors(one)));
                    }
                    _ => products.push(factors),
                }
            }
            branch.products = products;
        }
        Self { root, common, branches }
    }

    pub(super) fn n_products(&self) -> usize {
        self.branches.iter().map(|branch| branch.products.len()).sum()
    }
}

/// Puts that factor of each product first which matters for most moves of the role.
pub(super) fn choose_pivots(parts: &mut [Part], role_of: &[u8]) {
    let mut met: Vec<(u8, Lit, u32)> = Vec::new();
    for branch in parts.iter().flat_map(|part| &part.branches) {
        let role = role_of[branch.input as usize];
        met.extend(branch.products.iter().flatten().map(|&lit| (role, lit, branch.input)));
    }
    met.sort_unstable();
    met.dedup();
    let mut n_moves: FxHashMap<(u8, Lit), usize> = FxHashMap::default();
    for of_literal in met.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
        n_moves.insert((of_literal[0].0, of_literal[0].1), of_literal.len());
    }
    for branch in parts.iter_mut().flat_map(|part| &mut part.branches) {
        let role = role_of[branch.input as usize];
        for factors in &mut branch.products {
            // The first of equals.
            let pivot = (0..factors.len()).rev().max_by_key(|&at| n_moves[&(role, factors[at])]);
            if let Some(pivot) = pivot {
                factors.swap(0, pivot);
                factors[1..].sort_unstable();
            }
        }
    }
}

/// The pivot of a product.
pub(super) fn pivot(factors: &Factors) -> Lit {
    factors.first().copied().unwrap_or(Lit::TRUE)
}

pub(super) fn role_by_input(network: &Network) -> Vec<u8> {
    // Facts have none, and are not asked for.
    let mut roles = vec![u8::MAX; network.n_facts()];
    for (id, role) in network.role_ids().zip(&network.roles) {
        roles.resize(roles.len() + role.moves.len(), id.0);
    }
    roles
}
