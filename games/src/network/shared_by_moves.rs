//! Conditions that differ by the move alone, computed once for the move that is made.
//!
//! Many facts hold next if one of several moves is made and, for that move, one of several
//! conditions holds. With `m` moves and `k` conditions each, that takes `m k` conjunctions. If some
//! part of the conditions is the same for all moves, and a *rest* differs, it takes fewer: the rest
//! for the move that is made is a disjunction of `m` conjunctions, which serves wherever this rest
//! occurs, and one disjunction of `k` conjunctions then stands for all moves. For example, stones
//! of a group take the number of the point that joins them:
//!
//! ```text
//! next(group 7 g)  =  play g, and group(7 h) and beside(h g) for some h
//!                  =  play g, and group(7 h) and beside(h) for some h
//! beside(h)        =  play g and beside(h g) for some g
//! ```
//!
//! Each role makes exactly one move, which is all that a [`Network`] is defined for, so both are the
//! same. In terms of logic synthesis, the common divisors of sums of products (Brayton and McMullen,
//! "The decomposition and factorization of Boolean expressions", 1982) are chosen under the don't
//! cares that moves exclude each other.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::rebuild::rebuild;
use super::reduction::reads_moves;
use super::{Graph, Lit, Network};
use crate::Cancel;

/// Moves on which a literal depends, at most, for it to be taken apart by moves. Of 4, 8 and 32, the
/// smallest gives the smallest networks (of kalaha 10 and 27 thousand conjunctions).
const MAX_MOVES: usize = 4;

/// Factors of a condition that is taken apart, at most.
const MAX_FACTORS: usize = 6;

/// The network with sharings is taken if its conjunctions are fewer than this part of those before.
const CLEARLY_FEWER: f64 = 0.9;

/// How many products all disjunctions have, at most, for each conjunction of the network.
const MAX_PRODUCTS: usize = 4;

/// How many literals and moves of parts are compared, at most, for each conjunction of the network.
const MAX_COMPARED: usize = 100;

/// A sharing is made if its conjunctions are fewer than this part of those that it replaces.
const WORTH: f64 = 0.8;

/// That one of these moves is made, and the condition on facts holds that stands with it. A move may
/// stand there several times.
type ByMove = Vec<(u32, Lit)>;

/// Literals all of which hold.
type Factors = SmallVec<[Lit; 3]>;

/// What a disjunction is under the moves of one role.
struct Part {
    root: Lit,
    /// Factors that all products have.
    common: Factors,
    /// By move, in order of inputs.
    branches: Vec<Branch>,
}

/// What holds under a move but for the common factors: one of the products.
struct Branch {
    input: u32,
    /// Conditions on facts, without the common factors. The first factor of each is its *pivot*
    /// once pivots are chosen.
    products: Vec<Factors>,
}

/// Parts for different moves of a role that are computed as one.
struct Sharing {
    parts: Vec<usize>,
    /// The inputs of their moves, ascending.
    inputs: Vec<u32>,
    /// Their pivots, ascending.
    pivots: Vec<Lit>,
    /// By pivot, the rests of its products under each move.
    terms: Vec<(Lit, ByMove)>,
}

/// The network with conditions that several moves share; `None` if they do not take clearly fewer
/// conjunctions, or `cancel` is raised before it is known.
pub(crate) fn shared_by_moves(network: &Network, cancel: &Cancel) -> Option<Network> {
    let mut conditions = Conditions::of(network);
    let role_of = role_by_input(network);
    let mut disjunctions = Disjunctions::of(network, &mut conditions, &role_of, cancel)?;
    choose_pivots(&mut disjunctions.parts, &role_of);
    let parts = &disjunctions.parts;
    let mut sharings = sharings(parts, &role_of, network.graph.n_ands(), cancel)?;
    sharings.iter_mut().for_each(|sharing| sharing.find_terms(parts, &mut conditions));
    let sharings = worth_making(sharings, network, &conditions, &disjunctions);
    if sharings.is_empty() {
        return None;
    }
    let shared = rebuilt(network, &conditions, &disjunctions, &sharings);
    let (n_before, n_after) = (network.graph.n_ands() as f64, shared.graph.n_ands() as f64);
    (n_after < CLEARLY_FEWER * n_before).then_some(shared)
}

fn role_by_input(network: &Network) -> Vec<u8> {
    // Facts have none, and are not asked for.
    let mut roles = vec![u8::MAX; network.n_facts()];
    for (id, role) in network.role_ids().zip(&network.roles) {
        roles.resize(roles.len() + role.moves.len(), id.0);
    }
    roles
}

/// The graph with further conditions on facts, which are made on the way.
struct Conditions {
    graph: Graph,
    /// By node: whether it depends on moves.
    depends_on_moves: Vec<bool>,
    /// By node of the network: how often it is used.
    n_uses: Vec<u32>,
}

impl Conditions {
    fn of(network: &Network) -> Self {
        let graph = network.graph.clone();
        let mut n_uses = vec![0; graph.n_nodes()];
        let operands = graph.ands().flat_map(|(_, operands)| operands);
        operands.chain(network.outputs()).for_each(|lit| n_uses[lit.node() as usize] += 1);
        Self { depends_on_moves: reads_moves(network), graph, n_uses }
    }

    fn depends_on_moves(&self, lit: Lit) -> bool {
        // What was added depends on facts.
        self.depends_on_moves.get(lit.node() as usize).copied().unwrap_or(false)
    }

    /// Whether a literal's node has a single use. Nodes that were added count as such.
    fn is_used_once(&self, lit: Lit) -> bool {
        self.n_uses.get(lit.node() as usize).is_none_or(|&n| n == 1)
    }

    /// Whether a literal is a disjunction with a single use.
    fn is_own_disjunction(&self, lit: Lit) -> bool {
        lit.is_negated() && self.graph.operands(lit.node()).is_some() && self.is_used_once(lit)
    }

    /// The literals of which one is the conjunction; itself if they are too many.
    fn factors(&self, lit: Lit) -> Factors {
        self.graph.factors(lit, MAX_FACTORS).unwrap_or_else(|| Factors::from_slice(&[lit]))
    }

    /// The literals of which one is the disjunction. Disjunctions in it with several uses are not
    /// taken apart.
    fn alternatives(&self, lit: Lit) -> Vec<Lit> {
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
    fn by_moves(&mut self, network: &Network) -> Vec<[ByMove; 2]> {
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

/// The disjunctions that depend on moves.
struct Disjunctions {
    parts: Vec<Part>,
    /// By root that has parts: its other alternatives.
    others: BTreeMap<Lit, Vec<Lit>>,
}

impl Disjunctions {
    /// `None` if `cancel` is raised before they are found.
    fn of(
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

    fn n_products(&self) -> usize {
        self.branches.iter().map(|branch| branch.products.len()).sum()
    }
}

/// Puts that factor of each product first which matters for most moves of the role.
fn choose_pivots(parts: &mut [Part], role_of: &[u8]) {
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
fn pivot(factors: &Factors) -> Lit {
    factors.first().copied().unwrap_or(Lit::TRUE)
}

/// All parts, those of different moves with many pivots in common together; `None` if `cancel` is
/// raised before. `n_ands` bounds the work.
fn sharings(
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

    fn find_terms(&mut self, parts: &[Part], conditions: &mut Conditions) {
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
fn worth_making(
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

/// The network with these sharings.
fn rebuilt(
    network: &Network,
    conditions: &Conditions,
    disjunctions: &Disjunctions,
    sharings: &[Sharing],
) -> Network {
    let Disjunctions { parts, others } = disjunctions;
    let mut sharing_of: Vec<Option<usize>> = vec![None; parts.len()];
    for (at, sharing) in sharings.iter().enumerate() {
        sharing.parts.iter().for_each(|&part| sharing_of[part] = Some(at));
    }
    let mut parts_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, part) in parts.iter().enumerate() {
        parts_of.entry(part.root.node()).or_default().push(at);
    }
    parts_of.retain(|_, parts| parts.iter().any(|&part| sharing_of[part].is_some()));

    let mut copy = Copy::of_facts(conditions);
    let mut wholes: Vec<Option<Lit>> = vec![None; sharings.len()];
    for (node, operands) in network.graph.ands() {
        if !conditions.depends_on_moves[node as usize] {
            continue;
        }
        let Some(parts_of_root) = parts_of.get(&node) else {
            let [left, right] = operands.map(|lit| copy.lit(lit));
            copy.lits[node as usize] = copy.graph.and(left, right);
            continue;
        };
        let root = parts[parts_of_root[0]].root;
        let mut any: Vec<Lit> = others[&root].iter().map(|&lit| copy.lit(lit)).collect();
        for &at in parts_of_root {
            let part = &parts[at];
            let holds = match sharing_of[at] {
                None => copy.alone(part),
                Some(sharing) => {
                    let whole = *wholes[sharing]
                        .get_or_insert_with(|| copy.whole(&sharings[sharing].terms));
                    match sharings[sharing].parts.len() {
                        1 => whole,
                        _ => {
                            let made = copy.is_made(part);
                            copy.graph.and(whole, made)
                        }
                    }
                }
            };
            let mut all: Vec<Lit> = part.common.iter().map(|&lit| copy.lit(lit)).collect();
            all.push(holds);
            any.push(copy.graph.all(&mut all));
        }
        copy.lits[node as usize] = copy.graph.any(&mut any).negated_if(root.is_negated());
    }
    let Copy { graph, lits } = copy;
    let shared = network.with_graph(graph, |lit| lit.replaced_by(&lits));
    // Some conjunctions are not needed any more.
    rebuild(&shared, &shared.graph.literals())
}

/// A graph that is made from another one.
struct Copy {
    graph: Graph,
    /// By node of the other one.
    lits: Vec<Lit>,
}

impl Copy {
    /// With all conditions on facts.
    fn of_facts(conditions: &Conditions) -> Self {
        let other = &conditions.graph;
        let graph = Graph::new(other.n_inputs());
        let mut lits = vec![Lit::FALSE];
        lits.extend((0..other.n_inputs()).map(|input| graph.input(input)));
        let mut copy = Self { graph, lits };
        for (node, operands) in other.ands() {
            let [left, right] = operands.map(|lit| copy.lit(lit));
            let depends_on_moves = conditions.depends_on_moves(Lit::new(node, false));
            let lit = if depends_on_moves { Lit::FALSE } else { copy.graph.and(left, right) };
            copy.lits.push(lit);
        }
        copy
    }

    fn lit(&self, other: Lit) -> Lit {
        other.replaced_by(&self.lits)
    }

    /// That a move is made, and a condition holds.
    fn under(&mut self, input: u32, condition: Lit) -> Lit {
        self.graph.and(self.graph.input(input as usize), condition)
    }

    /// What the terms of a sharing are.
    fn whole(&mut self, terms: &[(Lit, ByMove)]) -> Lit {
        let mut any = Vec::with_capacity(terms.len());
        for (pivot, rests) in terms {
            let mut selected = Vec::with_capacity(rests.len());
            for &(input, rest) in rests {
                selected.push(self.under(input, self.lit(rest)));
            }
            let selected = self.graph.any(&mut selected);
            any.push(self.graph.and(self.lit(*pivot), selected));
        }
        self.graph.any(&mut any)
    }

    /// Whether a move of the part is made.
    fn is_made(&mut self, part: &Part) -> Lit {
        let inputs = part.branches.iter().map(|branch| branch.input as usize);
        let mut made: Vec<Lit> = inputs.map(|input| self.graph.input(input)).collect();
        self.graph.any(&mut made)
    }

    /// What a part is by itself, without the common factors.
    fn alone(&mut self, part: &Part) -> Lit {
        let mut any = Vec::with_capacity(part.branches.len());
        for branch in &part.branches {
            let mut products = Vec::with_capacity(branch.products.len());
            for factors in &branch.products {
                let mut all = factors.iter().map(|&lit| self.lit(lit)).collect();
                products.push(self.graph.all(&mut all));
            }
            let holds = self.graph.any(&mut products);
            any.push(self.under(branch.input, holds));
        }
        self.graph.any(&mut any)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::network::RoleOutputs;
    use crate::split_mix::SplitMix;
    use crate::{Cancel, Case, Expression, GroundingLimits, Leniency, ground, validate};

    /// A network of facts and moves with these next facts.
    fn network(
        n_facts: usize,
        n_moves: &[usize],
        next: impl FnOnce(&mut Graph) -> Vec<Lit>,
    ) -> Network {
        let rules =
            "(role one) (init a) (<= (next a) (true a)) (legal one go) (terminal) (goal one 0)";
        let game = validate::read("none", rules, Case::Folded, Leniency::Lenient).game.unwrap();
        let network = ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap();
        let mut graph = Graph::new(n_facts + n_moves.iter().sum::<usize>());
        let next = next(&mut graph);
        let role = |&n_moves: &usize| RoleOutputs {
            moves: vec![Expression::atom("go"); n_moves],
            legal: vec![Lit::TRUE; n_moves],
            ..RoleOutputs::default()
        };
        Network {
            facts: vec![Expression::atom("a"); n_facts],
            initial: vec![false; n_facts],
            terminal: Lit::FALSE,
            roles: n_moves.iter().map(role).collect(),
            graph,
            next,
            ..network
        }
    }

    /// Compares two networks for all joint moves, in all states or in many that are random.
    fn check_same(network: &Network, other: &Network) {
        let n_facts = network.n_facts();
        let mut joint_moves = vec![vec![false; network.graph.n_inputs() - n_facts]];
        let mut first = 0;
        for role in &network.roles {
            let with = |moves: &Vec<bool>, made| {
                let mut moves = moves.clone();
                moves[first + made] = true;
                moves
            };
            let made = |moves: &Vec<bool>| {
                (0..role.moves.len()).map(|made| with(moves, made)).collect::<Vec<_>>()
            };
            joint_moves = joint_moves.iter().flat_map(made).collect();
            first += role.moves.len();
        }
        let mut random = SplitMix::new(1);
        for number in 0..64_u64 {
            let mut fact =
                |at| if n_facts > 6 { random.below(4) == 1 } else { number >> at & 1 == 1 };
            let state: Vec<bool> = (0..n_facts).map(&mut fact).collect();
            for moves in &joint_moves {
                let inputs = [state.as_slice(), moves].concat();
                let outputs = |network: &Network| {
                    let values = network.graph.evaluate(&inputs);
                    let value = |lit: &Lit| values[lit.node() as usize] ^ lit.is_negated();
                    network.outputs().map(|lit| value(&lit)).collect::<Vec<_>>()
                };
                assert_eq!(outputs(network), outputs(other), "{inputs:?}");
            }
        }
    }

    /// Points whose groups join that of a move: `next(group p g)` if `play g`, and `group(p h)` and
    /// `beside(h g)` for some `h`. The roles have the moves in turn.
    fn groups(n_points: usize, n_groups: usize, n_roles: usize) -> Network {
        let n_facts = n_points * n_groups + n_groups * n_groups;
        let n_moves = n_groups / n_roles;
        network(n_facts, &vec![n_moves; n_roles], |graph| {
            let mut next = Vec::new();
            for point in 0..n_points {
                for joined in 0..n_groups {
                    let mut any = Vec::new();
                    for group in 0..n_groups {
                        let is_of_group = graph.input(point * n_groups + group);
                        let beside = graph.input((n_points + group) * n_groups + joined);
                        any.push(graph.and(is_of_group, beside));
                    }
                    let some = graph.any(&mut any);
                    let made = graph.input(n_facts + joined % n_roles * n_moves + joined / n_roles);
                    next.push(graph.and(made, some));
                }
            }
            next.resize(n_facts, Lit::FALSE);
            next
        })
    }

    #[test]
    fn groups_that_join_take_conjunctions_for_one_move() {
        let network = groups(30, 20, 1);
        let shared = shared_by_moves(&network, &Cancel::new()).unwrap();
        check_same(&network, &shared);
        // By point, move and group two; then by point and group two, by point and move one, and
        // two by move and group.
        assert_eq!(network.graph.n_ands(), 30 * 20 * (20 + 19 + 1));
        assert_eq!(shared.graph.n_ands(), 30 * (20 + 19 + 20) + 20 * (20 + 19));
    }

    #[test]
    fn a_sum_that_is_the_same_after_all_moves_is_left() {
        let network = network(4, &[3], |graph| {
            let facts: Vec<Lit> = (0..4).map(|fact| graph.input(fact)).collect();
            let mut any: Vec<Lit> = facts.windows(2).map(|two| graph.and(two[0], two[1])).collect();
            let some = graph.any(&mut any);
            vec![graph.and(graph.input(4), some), some, facts[1], facts[2]]
        });
        assert!(shared_by_moves(&network, &Cancel::new()).is_none());
    }

    #[test]
    fn moves_of_different_roles_are_kept_apart() {
        let network = groups(40, 16, 2);
        let shared = shared_by_moves(&network, &Cancel::new()).unwrap();
        check_same(&network, &shared);
        // For each role what one role takes for its moves.
        assert_eq!(shared.graph.n_ands(), 2 * (40 * (16 + 15 + 8) + 16 * (8 + 7)));
    }

    proptest! {
        #[test]
        fn outputs_are_the_same(
            // By fact: its first move, then moves after that, each with two facts, the first one
            // from few, and whether they hold.
            sums in vec(
                (0..8_usize, vec((0..2_usize, 0..2_usize, 0..6_usize, any::<bool>()), 2..9)),
                12,
            ),
            common in 0..6_usize,
        ) {
            // Two roles of four moves.
            let mut network = network(12, &[4, 4], |graph| {
                let mut sum = |(first_move, sum): &(usize, Vec<(usize, usize, usize, bool)>)| {
                    let mut any = Vec::new();
                    for &(made, first, last, negated) in sum {
                        let last = graph.input(last).negated_if(negated);
                        let both = graph.and(graph.input(first), last);
                        let made = graph.input(12 + (first_move + made) % 8);
                        any.push(graph.and(made, both));
                    }
                    let any = graph.any(&mut any);
                    graph.and(any, graph.input(common))
                };
                sums.iter().map(&mut sum).collect()
            });
            // Some are used in both ways, and in other sums.
            let next = &network.next;
            let seen = [!next[0], next[1], network.graph.or(next[0], next[2])];
            network.roles[0].percepts = seen.map(|lit| (Expression::atom("a"), lit)).to_vec();
            if let Some(shared) = shared_by_moves(&network, &Cancel::new()) {
                check_same(&network, &shared);
            }
        }
    }
}
