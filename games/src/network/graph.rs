//! And-inverter graphs with structural hashing.
//!
//! A node is the conjunction of two literals, a literal a node or its
//! negation, so NOT, OR and single-input gates take no node, constants fold and
//! equal conjunctions are one node by construction (Kuehlmann, Paruthi, Krohm
//! and Ganai, "Robust Boolean reasoning for equivalence checking and functional
//! property verification", IEEE TCAD 2002).

use rustc_hash::FxHashMap;
use smallvec::{Array, SmallVec};

/// A node of a [`Graph`] or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// What never holds.
    pub const FALSE: Lit = Lit(0);
    /// What always holds.
    pub const TRUE: Lit = Lit(1);

    /// The literal of a node, negated or not.
    #[must_use]
    pub fn new(node: u32, negated: bool) -> Self {
        Self(node << 1 | u32::from(negated))
    }

    /// The node.
    #[must_use]
    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    /// Whether the node's value is negated.
    #[must_use]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether it is [`Lit::FALSE`] or [`Lit::TRUE`].
    #[must_use]
    pub fn is_constant(self) -> bool {
        self.node() == 0
    }

    /// The literal, negated if `negate`.
    #[must_use]
    pub fn negated_if(self, negate: bool) -> Self {
        Self(self.0 ^ u32::from(negate))
    }

    /// The literal of an input of a graph that holds if the input's value is `holds`.
    pub(crate) fn of_input(input: usize, holds: bool) -> Self {
        Self::new(1 + input as u32, !holds)
    }

    /// The literal after each node is replaced by `substitutes[node]`.
    pub(crate) fn replaced_by(self, substitutes: &[Lit]) -> Self {
        substitutes[self.node() as usize].negated_if(self.is_negated())
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// The conjunction of two literals, if it takes no node.
pub(super) fn folded(a: Lit, b: Lit) -> Option<Lit> {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    if a == Lit::FALSE || a == !b {
        return Some(Lit::FALSE);
    }
    (a == Lit::TRUE || a == b).then_some(b)
}

/// An and-inverter graph. Node 0 is the constant false, the nodes after it are
/// the inputs, all others conjunctions of literals of smaller nodes: the order
/// of node numbers is an order of evaluation.
#[derive(Clone, Debug)]
pub struct Graph {
    n_inputs: u32,
    /// The conjunctions: node `1 + n_inputs + i` is `ands[i]`.
    ands: Vec<[Lit; 2]>,
    hash: FxHashMap<[Lit; 2], u32>,
}

impl Graph {
    /// A graph of inputs alone.
    #[must_use]
    pub fn new(n_inputs: usize) -> Self {
        let n_inputs = u32::try_from(n_inputs).expect("inputs fit node numbers");
        Self { n_inputs, ands: Vec::new(), hash: FxHashMap::default() }
    }

    /// Number of inputs.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.n_inputs as usize
    }

    /// Number of conjunctions.
    #[must_use]
    pub fn n_ands(&self) -> usize {
        self.ands.len()
    }

    /// Number of nodes: the constant, the inputs, the conjunctions.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        1 + self.n_inputs() + self.n_ands()
    }

    /// By node: its literal, a substitution that changes nothing.
    pub(crate) fn literals(&self) -> Vec<Lit> {
        (0..self.n_nodes() as u32).map(|node| Lit::new(node, false)).collect()
    }

    /// By node: whether some of these outputs depend on it. `resolve` maps a literal to
    /// the one that replaces it, of a node that is not greater.
    pub(crate) fn needed(
        &self,
        outputs: impl IntoIterator<Item = Lit>,
        resolve: impl Fn(Lit) -> Lit,
    ) -> Vec<bool> {
        let mut is_needed = vec![false; self.n_nodes()];
        for output in outputs {
            is_needed[resolve(output).node() as usize] = true;
        }
        for (at, operands) in self.ands.iter().enumerate().rev() {
            if is_needed[1 + self.n_inputs() + at] {
                for &operand in operands {
                    is_needed[resolve(operand).node() as usize] = true;
                }
            }
        }
        is_needed
    }

    /// The literal of an input.
    ///
    /// # Panics
    /// If there is no such input.
    #[must_use]
    pub fn input(&self, index: usize) -> Lit {
        assert!(index < self.n_inputs(), "input {index} of {}", self.n_inputs);
        Lit::new(1 + index as u32, false)
    }

    /// The two literals of a conjunction; `None` for the constant and inputs.
    #[must_use]
    pub fn operands(&self, node: u32) -> Option<[Lit; 2]> {
        let index = node.checked_sub(1 + self.n_inputs)?;
        Some(self.ands[index as usize])
    }

    /// The conjunctions in order of evaluation, with their nodes.
    pub fn ands(&self) -> impl ExactSizeIterator<Item = (u32, [Lit; 2])> + '_ {
        let first = 1 + self.n_inputs;
        self.ands.iter().enumerate().map(move |(index, &operands)| (first + index as u32, operands))
    }

    /// The conjunction of two literals.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        if let Some(lit) = folded(a, b) {
            return lit;
        }
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let next = u32::try_from(self.n_nodes()).expect("nodes fit their numbers");
        let node = *self.hash.entry([a, b]).or_insert(next);
        if node == next {
            self.ands.push([a, b]);
        }
        Lit::new(node, false)
    }

    /// The disjunction of two literals.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// The conjunction of many literals. Equal sets become one node; and since
    /// the tree branches by the bits of the literals' numbers, sets that differ
    /// little have most of their subtrees in common.
    pub fn all(&mut self, literals: &mut Vec<Lit>) -> Lit {
        literals.sort_unstable();
        literals.dedup();
        let contradicts = |pair: &[Lit]| pair[0] == !pair[1];
        if literals.windows(2).any(contradicts) {
            return Lit::FALSE;
        }
        // Subtrees to the left of the one at hand, with the bit by which each
        // branches off.
        let mut open: Vec<(Lit, u32)> = Vec::new();
        for (at, &literal) in literals.iter().enumerate() {
            let bit = match literals.get(at + 1) {
                Some(next) => (literal.0 ^ next.0).ilog2(),
                None => u32::MAX,
            };
            let mut tree = literal;
            while let Some((left, _)) = open.pop_if(|(_, other)| *other < bit) {
                tree = self.and(left, tree);
            }
            open.push((tree, bit));
        }
        open.pop().map_or(Lit::TRUE, |(tree, _)| tree)
    }

    /// The disjunction of many literals.
    pub fn any(&mut self, literals: &mut Vec<Lit>) -> Lit {
        for literal in literals.iter_mut() {
            *literal = !*literal;
        }
        !self.all(literals)
    }

    /// Copies what is left of the conjunctions where some literals hold into another graph, of at
    /// least as many inputs. By node: the literal there.
    pub(crate) fn copy_into(&self, graph: &mut Graph, known: &[Lit]) -> Vec<Lit> {
        let mut copies = vec![Lit::FALSE; self.n_nodes()];
        let mut is_known = vec![false; self.n_nodes()];
        for input in 0..self.n_inputs() {
            copies[1 + input] = graph.input(input);
        }
        for lit in known {
            copies[lit.node() as usize] = Lit::TRUE.negated_if(lit.is_negated());
            is_known[lit.node() as usize] = true;
        }
        for (node, operands) in self.ands().filter(|(node, _)| !is_known[*node as usize]) {
            let [left, right] = operands.map(|one| one.replaced_by(&copies));
            copies[node as usize] = graph.and(left, right);
        }
        copies
    }

    /// The literals of which one is the conjunction, in ascending order; `None` if they are more
    /// than `most`, or some are met again and again.
    pub(crate) fn factors<A: Array<Item = Lit>>(
        &self,
        whole: Lit,
        most: usize,
    ) -> Option<SmallVec<A>> {
        let mut factors = SmallVec::<A>::new();
        let mut todo: SmallVec<[Lit; 8]> = SmallVec::from_slice(&[whole]);
        let mut n_left = 8 * most;
        while let Some(one) = todo.pop() {
            n_left = n_left.checked_sub(1)?;
            match self.operands(one.node()) {
                Some(operands) if !one.is_negated() => todo.extend(operands),
                _ if one == Lit::TRUE || factors.contains(&one) => {}
                _ => factors.push(one),
            }
            if factors.len() + todo.len() > most {
                return None;
            }
        }
        factors.sort_unstable();
        Some(factors)
    }

    /// Evaluates every node for one assignment of the inputs: `values[node]`. The
    /// reference for faster evaluators.
    ///
    /// # Panics
    /// If `inputs` has not one value for each input.
    #[must_use]
    pub fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        assert_eq!(inputs.len(), self.n_inputs());
        let mut values = Vec::with_capacity(self.n_nodes());
        values.push(false);
        values.extend_from_slice(inputs);
        for [a, b] in &self.ands {
            let value = |lit: &Lit| values[lit.node() as usize] ^ lit.is_negated();
            values.push(value(a) && value(b));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_twins_take_no_node() {
        let mut graph = Graph::new(2);
        let (a, b) = (graph.input(0), graph.input(1));
        assert_eq!(graph.and(a, Lit::TRUE), a);
        assert_eq!(graph.and(Lit::FALSE, a), Lit::FALSE);
        assert_eq!(graph.and(a, !a), Lit::FALSE);
        assert_eq!(graph.or(a, !a), Lit::TRUE);
        assert_eq!(graph.and(a, a), a);
        assert_eq!(graph.n_ands(), 0);
        assert_eq!(graph.and(a, b), graph.and(b, a));
        assert_eq!(graph.n_ands(), 1);
    }

    #[test]
    fn factors_are_those_of_the_whole_tree() {
        let mut graph = Graph::new(4);
        let inputs: Vec<Lit> = (0..4).map(|at| graph.input(at)).collect();
        let whole = graph.all(&mut vec![inputs[0], !inputs[1], inputs[2]]);
        let either = graph.or(whole, inputs[3]);
        let factors = |graph: &Graph, lit, most| graph.factors::<[Lit; 8]>(lit, most);
        assert_eq!(factors(&graph, whole, 3).unwrap()[..], [inputs[0], !inputs[1], inputs[2]]);
        assert_eq!(factors(&graph, whole, 2), None);
        assert_eq!(factors(&graph, either, 3).unwrap()[..], [either]);
        assert_eq!(factors(&graph, Lit::TRUE, 3).unwrap()[..], []);
    }

    /// Each level is in the next one twice, so there are 2^60 ways down.
    #[test]
    fn factors_that_are_met_too_often_are_given_up() {
        let mut graph = Graph::new(121);
        let mut whole = graph.input(120);
        for level in 0..60 {
            let [left, right] = [0, 1].map(|side| graph.input(2 * level + side));
            let [left, right] = [left, right].map(|side| graph.and(whole, side));
            whole = graph.and(left, right);
        }
        assert_eq!(graph.factors::<[Lit; 8]>(whole, 1000), None);
    }

    #[test]
    fn trees_mean_what_they_say() {
        for bits in 0..32_u32 {
            let mut graph = Graph::new(5);
            let inputs: Vec<bool> = (0..5).map(|i| bits >> i & 1 == 1).collect();
            let literals: Vec<Lit> = (0..5).map(|i| graph.input(i)).collect();
            let all = graph.all(&mut literals.clone());
            let any = graph.any(&mut literals.clone());
            let values = graph.evaluate(&inputs);
            let value = |lit: Lit| values[lit.node() as usize] ^ lit.is_negated();
            assert_eq!(value(all), inputs.iter().all(|&bit| bit));
            assert_eq!(value(any), inputs.iter().any(|&bit| bit));
        }
    }
}
