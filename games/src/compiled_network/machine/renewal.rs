//! Next facts that replace the facts: in some lanes the next value, in others the old one, and
//! none in the rest.
//!
//! A choice between the next value and the old one takes three instructions for each fact. It
//! takes fewer where the rules say which facts stay. Of a next value `before & stays | comes`, only
//! `stays` and a factor of `comes` depend on the lanes, and these are often common to many facts.

use rustc_hash::FxHashMap;

use crate::compiled_network::schedule::Task;
use crate::network::{Graph, Lit};

/// A task whose inputs that are renewed get two masks, which are further inputs in the first two
/// slots after those of the task: where the next value is taken, and where the old one is kept. If
/// it `leaves` facts, those whose next values are the old ones get no masks.
pub(super) fn with_masks(old: &Graph, task: &Task, leaves: bool) -> (Graph, Task) {
    let mut graph = Graph::new(old.n_inputs() + 2);
    let copies = old.copy_into(&mut graph, &[]);
    let mut task = task.of_copy(&copies);
    let n_users = n_users(&graph, task.wanted.iter().flatten());
    let next = task.wanted[1].iter().take(task.n_renewed).enumerate();
    let finder = Finder { graph: &graph, n_users: &n_users };
    let next_values: Vec<NextValue> =
        next.map(|(at, &next)| finder.next_value(graph.input(at), next)).collect();
    let shares = Shares::new(&next_values);
    let mut masked = Masked {
        moving: graph.input(old.n_inputs()),
        keeping: graph.input(old.n_inputs() + 1),
        graph,
    };
    for (next, value) in task.wanted[1].iter_mut().zip(&next_values) {
        if *next != value.before || !leaves {
            *next = masked.renewed(value, &shares);
        }
    }
    task.inputs.extend([task.first_slot, task.first_slot + 1]);
    task.first_slot += 2;
    (masked.graph, task)
}

/// By node: how many conjunctions and outputs use it.
fn n_users<'a>(graph: &Graph, outputs: impl Iterator<Item = &'a Lit>) -> Vec<u32> {
    let mut n_users = vec![0; graph.n_nodes()];
    for output in outputs {
        n_users[output.node() as usize] += 1;
    }
    for node in (0..graph.n_nodes() as u32).rev() {
        if n_users[node as usize] > 0 {
            for operand in graph.operands(node).into_iter().flatten() {
                n_users[operand.node() as usize] += 1;
            }
        }
    }
    n_users
}

/// A conjunction of which one factor is to be masked.
#[derive(Clone, Debug)]
struct Product {
    /// The factor to be masked: one that has many users.
    masked: Lit,
    /// The others.
    others: Vec<Lit>,
}

/// How the next value of a fact is made.
#[derive(Clone, Debug)]
struct NextValue {
    before: Lit,
    /// The next value as one product.
    whole: Product,
    /// The next value as a disjunction of which one part is the old value, under some conditions.
    parts: Option<Parts>,
}

/// The next value is the old one under all of the first conditions, or one of the products.
#[derive(Clone, Debug)]
struct Parts {
    stays: Vec<Lit>,
    comes: Vec<Product>,
}

/// Takes a graph apart, as far as nodes have one user.
struct Finder<'a> {
    graph: &'a Graph,
    n_users: &'a [u32],
}

impl Finder<'_> {
    fn next_value(&self, before: Lit, next: Lit) -> NextValue {
        NextValue { before, whole: self.product(next), parts: self.parts(before, next) }
    }

    /// The operands of a conjunction that has one user.
    fn operands(&self, literal: Lit) -> Option<[Lit; 2]> {
        let is_inner = !literal.is_negated() && self.n_users[literal.node() as usize] == 1;
        if is_inner { self.graph.operands(literal.node()) } else { None }
    }

    /// A literal as a product, whose masked factor is found by going on to the operand with more
    /// users.
    fn product(&self, literal: Lit) -> Product {
        let (mut masked, mut others) = (literal, Vec::new());
        while let Some([a, b]) = self.operands(masked) {
            let [n_a, n_b] = [a, b].map(|one| self.n_users[one.node() as usize]);
            let (more, less) = if n_a >= n_b { (a, b) } else { (b, a) };
            others.push(less);
            masked = more;
        }
        if self.n_users[masked.node() as usize] > 1 {
            Product { masked, others }
        } else {
            Product { masked: literal, others: Vec::new() }
        }
    }

    fn parts(&self, before: Lit, next: Lit) -> Option<Parts> {
        // Each with what it is an operand of, and whether that is within a conjunction.
        let mut found = vec![(next, 0, false)];
        let mut at = 0;
        let mut is_within = loop {
            let &(literal, _, is_within) = found.get(at)?;
            if literal == before {
                break is_within;
            }
            if let Some(operands) = self.operands(literal) {
                found.extend(operands.map(|operand| (operand, at, true)));
            } else if !is_within && let Some(operands) = self.operands(!literal) {
                found.extend(operands.map(|operand| (!operand, at, false)));
            }
            at += 1;
        };
        let mut parts = Parts { stays: Vec::new(), comes: Vec::new() };
        while at > 0 {
            // Operands are adjacent, the first one at an odd place.
            let sibling = found[if at % 2 == 1 { at + 1 } else { at - 1 }].0;
            if is_within {
                parts.stays.push(sibling);
            } else {
                parts.comes.push(self.product(sibling));
            }
            at = found[at].1;
            is_within = found[at].2;
        }
        Some(parts)
    }
}

/// How many facts share what depends on the lanes.
struct Shares {
    /// By masked factor: the facts whose next values need it.
    n_masked: FxHashMap<Lit, u32>,
    /// By condition under which a fact stays: the facts that it is the only one of.
    n_held: FxHashMap<Lit, u32>,
}

impl Shares {
    fn new(next_values: &[NextValue]) -> Self {
        let (mut n_masked, mut n_held) = (FxHashMap::default(), FxHashMap::default());
        for next_value in next_values {
            let Some(parts) = &next_value.parts else {
                *n_masked.entry(next_value.whole.masked).or_insert(0) += 1;
                continue;
            };
            for product in &parts.comes {
                *n_masked.entry(product.masked).or_insert(0) += 1;
            }
            if let [stays] = parts.stays[..] {
                *n_held.entry(stays).or_insert(0) += 1;
            }
        }
        Self { n_masked, n_held }
    }

    /// A fact's share of the instructions that mask a product.
    fn of_product(&self, product: &Product) -> f64 {
        1.0 / f64::from(self.n_masked.get(&product.masked).copied().unwrap_or(1))
    }

    /// A fact's share of the instructions that masks take.
    fn of_parts(&self, parts: &Parts) -> f64 {
        let stays = match parts.stays[..] {
            [] => 0.0,
            [stays] => 2.0 / f64::from(self.n_held.get(&stays).copied().unwrap_or(1)),
            _ => 2.0,
        };
        stays + parts.comes.iter().map(|product| self.of_product(product)).sum::<f64>()
    }
}

/// A graph, and the masks among its inputs.
struct Masked {
    graph: Graph,
    /// Where the next value is taken.
    moving: Lit,
    /// Where the old one is kept.
    keeping: Lit,
}

impl Masked {
    /// The next value where `moving`, or the old one where `keeping`.
    fn renewed(&mut self, value: &NextValue, shares: &Shares) -> Lit {
        let NextValue { before, whole, parts } = value;
        let of_whole = 2.0 + shares.of_product(whole);
        match parts {
            Some(parts) if shares.of_parts(parts) < of_whole => {
                let stays = self.graph.all(&mut parts.stays.clone());
                let moves = self.graph.and(self.moving, stays);
                let stays = self.graph.or(moves, self.keeping);
                let mut next = self.graph.and(*before, stays);
                for product in &parts.comes {
                    let comes = self.product(product);
                    next = self.graph.or(next, comes);
                }
                next
            }
            _ => {
                let next = self.product(whole);
                let kept = self.graph.and(*before, self.keeping);
                self.graph.or(next, kept)
            }
        }
    }

    /// A product where `moving`.
    fn product(&mut self, product: &Product) -> Lit {
        let mut all = self.graph.and(self.moving, product.masked);
        for &other in product.others.iter().rev() {
            all = self.graph.and(all, other);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks next values in all assignments; gives the number of conjunctions that they need.
    fn check(graph: &Graph, next: Vec<Lit>) -> usize {
        let n_inputs = graph.n_inputs();
        let task = Task {
            inputs: (2..).take(n_inputs).collect(),
            first_slot: 2 + n_inputs as u32,
            n_renewed: next.len(),
            wanted: vec![Vec::new(), next],
            fixed: Vec::new(),
        };
        let (masked, renewed) = with_masks(graph, &task, false);
        assert_eq!(renewed.inputs.len(), n_inputs + 2);
        for row in 0..1_u32 << (n_inputs + 2) {
            let inputs: Vec<bool> = (0..n_inputs + 2).map(|at| row >> at & 1 == 1).collect();
            let value = |graph: &Graph, inputs: &[bool], literal: Lit| {
                graph.evaluate(inputs)[literal.node() as usize] ^ literal.is_negated()
            };
            let [moves, keeps] = [inputs[n_inputs], inputs[n_inputs + 1]];
            for (at, (&old, &new)) in task.wanted[1].iter().zip(&renewed.wanted[1]).enumerate() {
                let next = value(graph, &inputs[..n_inputs], old);
                let expected = next && moves || inputs[at] && keeps;
                assert_eq!(value(&masked, &inputs, new), expected, "fact {at}, {inputs:?}");
            }
        }
        let is_needed = masked.needed(renewed.wanted[1].iter().copied(), |literal| literal);
        masked.ands().filter(|&(node, _)| is_needed[node as usize]).count()
    }

    #[test]
    fn masks_are_common_to_facts_that_stay_and_come_alike() {
        let mut graph = Graph::new(8);
        let [goes, comes] = [6, 7].map(|input| graph.input(input));
        let next = (0..3).map(|fact| {
            let stays = graph.and(graph.input(fact), !goes);
            let made = graph.and(graph.input(3 + fact), comes);
            graph.or(stays, made)
        });
        let next = next.collect();
        assert_eq!(check(&graph, next), 3 * 3 + 3);
    }

    #[test]
    fn next_values_of_any_form_are_masked() {
        let mut graph = Graph::new(6);
        let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|input| graph.input(input));
        let both = graph.and(d, !e);
        let stays = graph.and(a, !d);
        let stays_long = graph.and(stays, f);
        let either = graph.or(both, f);
        let of_three = graph.or(stays_long, either);
        let unlike = graph.or(!b, d);
        for next in [
            vec![of_three, unlike, both],
            vec![a, !b, Lit::TRUE],
            vec![Lit::FALSE, c, a],
            vec![stays, stays_long, either],
        ] {
            check(&graph, next);
        }
        let stays_or = graph.or(a, d);
        check(&graph, vec![stays_or, stays_or, e]);
    }
}
