//! In which order gates are computed: depth-first from what is wanted, so that
//! values are used soon after they are made.

use std::collections::BTreeMap;

use super::cover::{Cover, Cut, Prices};
use super::gates::{Gate, Library, with_leaf_negated};
use crate::network::{Graph, Lit};

/// The slot in which no lane is ever set.
pub(crate) const NONE: u32 = 0;
/// The slot in which every lane is set.
pub(crate) const ALL: u32 = 1;
/// The first slot that is not a constant.
pub(crate) const FIRST: u32 = 2;

/// A value: a node, or one beyond the nodes that is derived from one.
pub(crate) type Value = u32;

/// No slot yet.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Makes a value of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// How.
    pub(crate) gate: Gate,
    /// What is made.
    pub(crate) target: Value,
    /// What of; a gate of two operands ignores the third, which is a copy of
    /// the first.
    pub(crate) operands: [Value; 3],
}

/// The part of a graph to compute, and the slots of its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// By input of the graph: its slot. Written only if inputs are renewed in place.
    pub(crate) inputs: Vec<u32>,
    /// The first slot that may be used for values.
    pub(crate) first_slot: u32,
    /// What is wanted, phase by phase. Later phases may use what earlier ones
    /// made.
    pub(crate) wanted: Vec<Vec<Lit>>,
    /// By phase: the slots for its first outputs. These slots are used for nothing else.
    pub(crate) fixed: Vec<Vec<u32>>,
    /// The number of inputs that receive the outputs of the second phase, one by one,
    /// after it. Such an output may not be another input as it stands.
    pub(crate) n_renewed: usize,
}

impl Task {
    /// The same task for a copy of the graph, with the literal of each node there.
    pub(crate) fn of_copy(&self, copies: &[Lit]) -> Self {
        let mut task = self.clone();
        for literal in task.wanted.iter_mut().flatten() {
            *literal = literal.replaced_by(copies);
        }
        task
    }
}

/// Steps in order, and their outputs.
pub(crate) struct Schedule {
    /// The steps of all phases.
    pub(crate) steps: Vec<Step>,
    /// By phase: the step before which it ends.
    pub(crate) ends: Vec<usize>,
    /// By phase: the values of what is wanted.
    pub(crate) outputs: Vec<Vec<Value>>,
    /// By value: the slot where it is or has to be, else [`NOWHERE`].
    pub(crate) given: Vec<u32>,
    /// The value that always holds.
    pub(crate) all: Value,
    /// The first slot that may be used for other values.
    pub(crate) first_slot: u32,
    /// Values of the last phase that may be left in the slot of an input, once that is not read
    /// any more: value and input.
    pub(crate) in_place: BTreeMap<Value, Value>,
    /// The number of inputs whose slots get the outputs of the last phase at its end.
    pub(crate) n_renewed: usize,
}

impl Schedule {
    /// Puts the outputs of the last phase into the slots of the first `n_renewed` inputs, one by
    /// one. Those that are computed too early for that, or are several at once, are copied there.
    pub(crate) fn renew_in_place(&mut self, n_renewed: usize) {
        self.n_renewed = n_renewed;
        let Some(outputs) = self.outputs.last() else { return };
        for (&value, input) in outputs.iter().zip(1..=n_renewed as Value) {
            if self.given[value as usize] == NOWHERE {
                self.in_place.entry(value).or_insert(input);
            }
        }
    }

    /// Orders what a task takes, covered by gates at these prices.
    pub(crate) fn new(graph: &Graph, library: &Library, task: &Task, prices: &Prices) -> Self {
        let roots: Vec<Lit> = task.wanted.iter().flatten().copied().collect();
        let cover = Cover::new(graph, library, prices, &roots);
        let mut steps = Steps::new(graph, library, &cover, &roots);
        let mut outputs = Vec::new();
        let mut ends = Vec::new();
        for (phase, wanted) in task.wanted.iter().enumerate() {
            let values = wanted.iter().enumerate().map(|(index, &literal)| {
                let literal = cover.resolve(literal);
                match task.fixed.get(phase).and_then(|slots| slots.get(index)) {
                    Some(&slot) => steps.fixed_output(literal, slot),
                    None => steps.output(literal, |input| {
                        phase == 0 || input >= task.n_renewed || input == index
                    }),
                }
            });
            outputs.push(values.collect::<Vec<Value>>());
            ends.push(steps.done.len());
        }
        let mut given = vec![NOWHERE; steps.n_values as usize];
        given[0] = NONE;
        given[1..=task.inputs.len()].copy_from_slice(&task.inputs);
        given[steps.all as usize] = ALL;
        for (&value, &slot) in &steps.fixed {
            given[value as usize] = slot;
        }
        let (all, first_slot) = (steps.all, task.first_slot);
        let (steps, in_place) = (steps.done, BTreeMap::new());
        Self { steps, ends, outputs, given, all, first_slot, in_place, n_renewed: 0 }
    }
}

/// Steps in depth-first order.
struct Steps<'a> {
    library: &'a Library,
    cover: &'a Cover,
    n_inputs: usize,
    done: Vec<Step>,
    is_done: Vec<bool>,
    /// By node: whether its slot holds the complement.
    negated: Vec<bool>,
    /// By node: whether the complement or the node itself is wanted.
    wanted: Vec<Option<bool>>,
    /// Values that were derived to have the other polarity.
    derived: BTreeMap<Lit, Value>,
    /// Values that must be in a certain slot.
    fixed: BTreeMap<Value, u32>,
    /// The value that always holds.
    all: Value,
    n_values: u32,
}

impl<'a> Steps<'a> {
    fn new(graph: &Graph, library: &'a Library, cover: &'a Cover, roots: &[Lit]) -> Self {
        let n_nodes = graph.n_nodes();
        let mut wanted = vec![None; n_nodes];
        for &root in roots {
            let root = cover.resolve(root);
            wanted[root.node() as usize].get_or_insert(root.is_negated());
        }
        let mut is_done = vec![false; n_nodes];
        is_done[..=graph.n_inputs()].fill(true);
        Self {
            library,
            cover,
            n_inputs: graph.n_inputs(),
            done: Vec::new(),
            is_done,
            negated: vec![false; n_nodes],
            wanted,
            derived: BTreeMap::new(),
            fixed: BTreeMap::new(),
            all: n_nodes as u32,
            n_values: n_nodes as u32 + 1,
        }
    }

    /// The value of a wanted literal, computed by now.
    fn output(&mut self, literal: Lit, may_share: impl Fn(usize) -> bool) -> Value {
        let node = literal.node();
        if literal.is_constant() {
            return if literal == Lit::TRUE { self.all } else { 0 };
        }
        self.compute(node);
        let is_input = node as usize <= self.n_inputs;
        let as_it_stands = literal.is_negated() == self.negated[node as usize];
        if as_it_stands && (!is_input || may_share(node as usize - 1)) {
            return node;
        }
        if let Some(&value) = self.derived.get(&literal) {
            return value;
        }
        let value = self.derive(node, as_it_stands);
        self.derived.insert(literal, value);
        value
    }

    /// The value of a wanted literal, to be in a certain slot.
    fn fixed_output(&mut self, literal: Lit, slot: u32) -> Value {
        let node = literal.node();
        if !literal.is_constant() {
            self.compute(node);
        }
        let is_gate = node as usize > self.n_inputs;
        let as_it_stands = literal.is_negated() == self.negated[node as usize];
        let value = if is_gate && as_it_stands && !self.fixed.contains_key(&node) {
            node
        } else {
            self.derive(node, as_it_stands)
        };
        self.fixed.insert(value, slot);
        value
    }

    /// A copy or the complement of the value of a node.
    fn derive(&mut self, node: u32, as_it_stands: bool) -> Value {
        let gate = if as_it_stands { Gate::COPY } else { Gate::NOT };
        let target = self.n_values;
        self.n_values += 1;
        self.done.push(Step { gate, target, operands: [node; 3] });
        target
    }

    /// Appends what a node needs, and the node.
    fn compute(&mut self, node: u32) {
        let mut stack = vec![node];
        while let Some(&node) = stack.last() {
            if self.is_done[node as usize] {
                stack.pop();
                continue;
            }
            let cut = self.cover.cuts[node as usize].expect("the cover has what is wanted");
            let leaves = &cut.leaves[..usize::from(cut.n_leaves)];
            let n_before = stack.len();
            stack.extend(leaves.iter().rev().filter(|&&leaf| !self.is_done[leaf as usize]));
            if stack.len() == n_before {
                self.append(node, cut);
                stack.pop();
            }
        }
    }

    /// Appends the gate of a node whose leaves are computed. The slot holds
    /// whatever polarity is wanted, or else the one whose gate is cheaper.
    fn append(&mut self, node: u32, cut: Cut) {
        let leaves = &cut.leaves[..usize::from(cut.n_leaves)];
        let mut table = cut.table;
        for (at, &leaf) in leaves.iter().enumerate() {
            if self.negated[leaf as usize] {
                table = with_leaf_negated(table, at);
            }
        }
        let negate = self.wanted[node as usize].unwrap_or(table & 1 == 1);
        let table = if negate { !table } else { table };
        let found = self.library.find(table).expect("the table depends on all its leaves");
        let operand = |k: usize| {
            let k = if k < usize::from(found.arity) { k } else { 0 };
            cut.leaves[usize::from(found.leaves[k])]
        };
        let operands = [operand(0), operand(1), operand(2)];
        self.done.push(Step { gate: found.gate, target: node, operands });
        self.negated[node as usize] = negate;
        self.is_done[node as usize] = true;
    }
}
