//! Covers an and-inverter graph with gates of at most three operands.
//!
//! Technology mapping by cuts: each conjunction keeps its few best cuts of up to
//! three leaves, each a gate of the [`Library`], priced by area flow; rounds
//! with the fan-outs that the last cover really had improve it (Mishchenko,
//! Cho, Chatterjee and Brayton, "Combinational and sequential mapping with
//! priority cuts", ICCAD 2007). Depth does not matter here, only the sum.

use super::gates::{Library, OPERANDS, depends};
use crate::network::{Graph, Lit};

/// Cuts kept at each conjunction.
const MAX_CUTS: usize = 8;

/// Rounds of choosing: the first with the graph's own fan-outs.
const N_ROUNDS: usize = 4;

/// What gates cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    /// Each AND, AND-NOT, OR or XOR.
    pub(crate) instruction: f32,
    /// Besides, a gate of two operands.
    pub(crate) two: f32,
    /// Besides, a gate of three operands.
    pub(crate) three: f32,
}

impl Prices {
    /// Of the interpreter: it spends more on reading two or three slots,
    /// writing one and decoding than on computing.
    pub(crate) const INTERPRETED: Self = Self { instruction: 1.0, two: 3.0, three: 3.5 };
}

/// A function of up to three nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The leaves, ascending; the table ignores those from `n_leaves` on.
    pub(crate) leaves: [u32; 3],
    /// Number of leaves.
    pub(crate) n_leaves: u8,
    /// The function.
    pub(crate) table: u8,
}

/// Gates that compute some literals of a graph.
pub(crate) struct Cover {
    /// By node: the gate that computes it; `None` for inputs and what is not
    /// needed.
    pub(crate) cuts: Vec<Option<Cut>>,
    /// By node: what it turned out to be equal to, itself or an earlier one.
    same: Vec<Lit>,
}

impl Cover {
    /// Covers the conjunctions that `roots` need.
    pub(crate) fn new(graph: &Graph, library: &Library, prices: &Prices, roots: &[Lit]) -> Self {
        let mut candidates = Candidates::new(graph, prices, roots);
        candidates.enumerate(graph, library);
        let roots: Vec<Lit> = roots.iter().map(|&root| candidates.resolve(root)).collect();
        let mut cuts = candidates.choose(&roots);
        for _ in 1..N_ROUNDS {
            candidates.learn_from(&cuts, &roots);
            candidates.price(library);
            cuts = candidates.choose(&roots);
        }
        Self { cuts, same: candidates.same }
    }

    /// The literal to look for in [`cuts`](Cover::cuts): a needed conjunction,
    /// an input or a constant.
    pub(crate) fn resolve(&self, literal: Lit) -> Lit {
        literal.replaced_by(&self.same)
    }
}

struct Candidates {
    prices: Prices,
    /// By node: whether a root depends on it.
    needed: Vec<bool>,
    same: Vec<Lit>,
    cuts: Vec<Cut>,
    /// By node: its range of `cuts`.
    ranges: Vec<(u32, u8)>,
    /// By node: which of its cuts is best, and what it costs with all before
    /// it, shared out among their users.
    best: Vec<(u8, f32)>,
    /// By node: among how many users its cost is shared.
    users: Vec<f32>,
}

impl Candidates {
    fn new(graph: &Graph, prices: &Prices, roots: &[Lit]) -> Self {
        let n_nodes = graph.n_nodes();
        let mut users = vec![0.0_f32; n_nodes];
        for root in roots {
            users[root.node() as usize] += 1.0;
        }
        for node in (0..n_nodes).rev() {
            if users[node] == 0.0 {
                continue;
            }
            for operand in graph.operands(node as u32).into_iter().flatten() {
                users[operand.node() as usize] += 1.0;
            }
        }
        Self {
            prices: *prices,
            needed: users.iter().map(|&users| users > 0.0).collect(),
            same: graph.literals(),
            cuts: Vec::new(),
            ranges: vec![(0, 0); n_nodes],
            best: vec![(0, 0.0); n_nodes],
            users,
        }
    }

    fn resolve(&self, literal: Lit) -> Lit {
        literal.replaced_by(&self.same)
    }

    fn cuts_of(&self, node: u32) -> &[Cut] {
        let (start, n) = self.ranges[node as usize];
        &self.cuts[start as usize..start as usize + usize::from(n)]
    }

    /// Finds and prices the cuts of all needed conjunctions.
    fn enumerate(&mut self, graph: &Graph, library: &Library) {
        let mut merged: Vec<(f32, Cut)> = Vec::new();
        for (node, operands) in graph.ands() {
            if !self.needed[node as usize] {
                continue;
            }
            let [a, b] = operands.map(|operand| self.resolve(operand));
            if let Some(literal) = trivial(a, b) {
                self.same[node as usize] = literal;
                continue;
            }
            merged.clear();
            let mut same = None;
            self.for_each_pair(a, b, |x, y| {
                let Some(cut) = merge(x, a.is_negated(), y, b.is_negated()) else { return };
                match cut.n_leaves {
                    0 => same = Some(Lit::FALSE.negated_if(cut.table & 1 == 1)),
                    1 => same = Some(Lit::new(cut.leaves[0], cut.table & 1 == 1)),
                    _ => {
                        let known = |other: &(f32, Cut)| other.1.leaves == cut.leaves;
                        if !merged.iter().any(known) {
                            merged.push((self.flow(library, &cut), cut));
                        }
                    }
                }
            });
            if let Some(literal) = same {
                self.same[node as usize] = literal;
                continue;
            }
            merged.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            merged.truncate(MAX_CUTS);
            let start = u32::try_from(self.cuts.len()).expect("cuts fit their numbers");
            self.ranges[node as usize] = (start, merged.len() as u8);
            self.cuts.extend(merged.iter().map(|(_, cut)| cut));
            let flow = merged.first().map_or(0.0, |(flow, _)| *flow);
            self.best[node as usize] = (0, flow / self.users[node as usize].max(1.0));
        }
    }

    /// Every cut of `a`, or `a` itself, with every one of `b`.
    fn for_each_pair(&self, a: Lit, b: Lit, mut f: impl FnMut(&Cut, &Cut)) {
        let itself = |literal: Lit| Cut {
            leaves: [literal.node(), u32::MAX, u32::MAX],
            n_leaves: 1,
            table: OPERANDS[0],
        };
        let (a_itself, b_itself) = (itself(a), itself(b));
        for x in self.cuts_of(a.node()).iter().chain([&a_itself]) {
            for y in self.cuts_of(b.node()).iter().chain([&b_itself]) {
                f(x, y);
            }
        }
    }

    /// What a cut costs with all before it.
    fn flow(&self, library: &Library, cut: &Cut) -> f32 {
        let leaves = &cut.leaves[..usize::from(cut.n_leaves)];
        let before: f32 = leaves.iter().map(|&leaf| self.best[leaf as usize].1).sum();
        // A slot may as well hold the complement, so the cheaper one counts.
        let price = |table| {
            let found = library.find(table).expect("the table depends on all its leaves");
            let Prices { instruction, two, three } = self.prices;
            f32::from(found.cost) * instruction + if found.arity == 2 { two } else { three }
        };
        before + price(cut.table).min(price(!cut.table))
    }

    /// Prices all cuts anew and chooses the best of each node.
    fn price(&mut self, library: &Library) {
        for node in 0..self.best.len() {
            let flows = self.cuts_of(node as u32).iter().map(|cut| self.flow(library, cut));
            let best = flows.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((index, flow)) = best {
                self.best[node] = (index as u8, flow / self.users[node].max(1.0));
            }
        }
    }

    /// The gates that the roots need, each by its best cut.
    fn choose(&self, roots: &[Lit]) -> Vec<Option<Cut>> {
        let mut chosen = vec![None; self.best.len()];
        let mut wanted: Vec<bool> = vec![false; self.best.len()];
        for root in roots {
            wanted[root.node() as usize] = true;
        }
        for node in (0..wanted.len()).rev() {
            let cuts = self.cuts_of(node as u32);
            if !wanted[node] || cuts.is_empty() {
                continue;
            }
            let cut = cuts[usize::from(self.best[node].0)];
            for leaf in &cut.leaves[..usize::from(cut.n_leaves)] {
                wanted[*leaf as usize] = true;
            }
            chosen[node] = Some(cut);
        }
        chosen
    }

    /// Moves the numbers of users towards those of the cover.
    fn learn_from(&mut self, cover: &[Option<Cut>], roots: &[Lit]) {
        let mut users = vec![0.0_f32; self.users.len()];
        for root in roots {
            users[root.node() as usize] += 1.0;
        }
        for cut in cover.iter().flatten() {
            for leaf in &cut.leaves[..usize::from(cut.n_leaves)] {
                users[*leaf as usize] += 1.0;
            }
        }
        for (estimate, users) in self.users.iter_mut().zip(users) {
            *estimate = (*estimate + 2.0 * users) / 3.0;
        }
    }
}

/// The conjunction, where it is no new function.
fn trivial(a: Lit, b: Lit) -> Option<Lit> {
    match (a, b) {
        (Lit::TRUE, other) | (other, Lit::TRUE) => Some(other),
        (Lit::FALSE, _) | (_, Lit::FALSE) => Some(Lit::FALSE),
        _ if a == b => Some(a),
        _ if a == !b => Some(Lit::FALSE),
        _ => None,
    }
}

/// The conjunction of two cuts, each perhaps negated; `None` if it has more than
/// three leaves. Leaves that do not matter are dropped.
fn merge(x: &Cut, negate_x: bool, y: &Cut, negate_y: bool) -> Option<Cut> {
    let mut leaves = [u32::MAX; 3];
    let (xs, ys) = (&x.leaves[..usize::from(x.n_leaves)], &y.leaves[..usize::from(y.n_leaves)]);
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < xs.len() || j < ys.len() {
        if n == 3 {
            return None;
        }
        let (a, b) =
            (xs.get(i).copied().unwrap_or(u32::MAX), ys.get(j).copied().unwrap_or(u32::MAX));
        leaves[n] = a.min(b);
        i += usize::from(a <= b && i < xs.len());
        j += usize::from(b <= a && j < ys.len());
        n += 1;
    }
    let a = over(x, &leaves) ^ if negate_x { 0xFF } else { 0 };
    let b = over(y, &leaves) ^ if negate_y { 0xFF } else { 0 };
    let mut cut = Cut { leaves, n_leaves: n as u8, table: a & b };
    for at in (0..n).rev() {
        if !depends(cut.table, at) {
            drop_leaf(&mut cut, at);
        }
    }
    Some(cut)
}

/// The table of a cut over a list of leaves that has all of its own.
fn over(cut: &Cut, leaves: &[u32; 3]) -> u8 {
    let own = &cut.leaves[..usize::from(cut.n_leaves)];
    let position = |leaf: &u32| leaves.iter().position(|l| l == leaf).expect("leaves were merged");
    let mut table = 0;
    for row in 0..8_u8 {
        let bit = |(k, leaf): (usize, &u32)| (row >> position(leaf) & 1) << k;
        let own_row: u8 = own.iter().enumerate().map(bit).sum();
        table |= (cut.table >> own_row & 1) << row;
    }
    table
}

/// Takes out a leaf that the table does not depend on.
fn drop_leaf(cut: &mut Cut, at: usize) {
    let before = *cut;
    let last = usize::from(cut.n_leaves) - 1;
    cut.leaves.copy_within(at + 1..=last, at);
    cut.leaves[last] = u32::MAX;
    cut.n_leaves -= 1;
    cut.table = 0;
    for row in 0..8_u8 {
        let low = row & ((1 << at) - 1);
        let high = (row >> at) << (at + 1);
        cut.table |= (before.table >> ((low | high) & 7) & 1) << row;
    }
}
