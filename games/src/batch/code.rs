//! Straight-line code: from a graph and the literals wanted of it to gates over
//! numbered slots.
//!
//! Gates stand in depth-first order of what is wanted, so that values are used
//! soon after they are made; within windows of that order equal gates are
//! brought together, so that the interpreter chooses seldom what to do. Slots
//! are given out by a linear scan and used again when their value is dead, the
//! last freed first: it is still in the cache.

use std::collections::BTreeMap;

use super::cover::{Cover, Cut};
use super::gates::{Gate, Library, with_leaf_negated};
use crate::network::{Graph, Lit};

/// The slot in which no lane is ever set.
pub(crate) const NONE: u32 = 0;
/// The slot in which every lane is set.
pub(crate) const ALL: u32 = 1;
/// The first slot that is not a constant.
pub(crate) const FIRST: u32 = 2;

/// Gates in depth-first order that are brought together by kind.
const WINDOW: usize = 2048;

/// Computes a slot from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    /// What is written.
    pub(crate) target: u32,
    /// What is read; a gate of two operands ignores the third, which is a copy
    /// of the first.
    pub(crate) operands: [u32; 3],
}

/// A gate computed several times in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The gate.
    pub(crate) gate: Gate,
    /// Number of instructions.
    pub(crate) n: u32,
}

/// Instructions in order of execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Which gates.
    pub(crate) runs: Vec<Run>,
    /// Over which slots.
    pub(crate) instructions: Vec<Instruction>,
}

/// Code in phases over common slots.
pub(crate) struct Assembly {
    /// By phase.
    pub(crate) phases: Vec<Code>,
    /// By phase: the slots of the wanted literals. Those of a phase hold until
    /// the next phase runs.
    pub(crate) outputs: Vec<Vec<u32>>,
    /// Number of slots.
    pub(crate) n_slots: usize,
}

/// What is to be computed from which slots.
pub(crate) struct Assembler<'a> {
    /// The conjunctions.
    pub(crate) graph: &'a Graph,
    /// The gates.
    pub(crate) library: &'a Library,
    /// By input of the graph: its slot. Never written.
    pub(crate) inputs: &'a [u32],
    /// The first slot that may be used for values.
    pub(crate) first_slot: u32,
}

/// A value: a node, or one beyond the nodes that is derived from one.
type Value = u32;

struct Step {
    gate: Gate,
    target: Value,
    operands: [Value; 3],
}

impl Assembler<'_> {
    /// Code for the wanted literals, phase by phase. An output that is an input
    /// as it stands gets a slot of its own unless `may_share(phase, index,
    /// input)`. The first outputs of the first phase are put into the slots
    /// `fixed`, which are used for nothing else.
    pub(crate) fn assemble(
        &self,
        wanted: &[Vec<Lit>],
        fixed: &[u32],
        may_share: impl Fn(usize, usize, usize) -> bool,
    ) -> Assembly {
        let roots: Vec<Lit> = wanted.iter().flatten().copied().collect();
        let cover = Cover::new(self.graph, self.library, &roots);
        let mut steps = Steps::new(self, &cover, &roots);
        let mut outputs = Vec::new();
        let mut ends = Vec::new();
        for (phase, wanted) in wanted.iter().enumerate() {
            let values = wanted.iter().enumerate().map(|(index, &literal)| {
                let literal = cover.resolve(literal);
                match fixed.get(index).filter(|_| phase == 0) {
                    Some(&slot) => steps.fixed_output(literal, slot),
                    None => steps.output(literal, |input| may_share(phase, index, input)),
                }
            });
            outputs.push(values.collect::<Vec<Value>>());
            ends.push(steps.done.len());
        }
        let mut start = 0;
        for &end in &ends {
            let mut from = start;
            while from < end {
                let to = (from + WINDOW).min(end);
                group(&mut steps.done[from..to]);
                from = to;
            }
            start = end;
        }
        self.place(&steps, &ends, &outputs)
    }

    /// Gives each value a slot.
    fn place(&self, steps: &Steps<'_>, ends: &[usize], outputs: &[Vec<Value>]) -> Assembly {
        // Positions count the ends of phases too: outputs are read there.
        let mut last_use = vec![0; steps.n_values as usize];
        let mut start = 0;
        for (phase, &end) in ends.iter().enumerate() {
            for at in start..end {
                for operand in steps.done[at].operands {
                    last_use[operand as usize] = at + phase;
                }
            }
            start = end;
        }
        for (phase, values) in outputs.iter().enumerate() {
            for &value in values {
                let last = &mut last_use[value as usize];
                *last = (*last).max(ends[phase] + phase);
            }
        }
        let mut slots = vec![u32::MAX; steps.n_values as usize];
        slots[0] = NONE;
        for (input, &slot) in self.inputs.iter().enumerate() {
            slots[input + 1] = slot;
        }
        let n_given = self.inputs.len() + 1;
        let all = steps.all as usize;
        slots[all] = ALL;
        for (&value, &slot) in &steps.fixed {
            slots[value as usize] = slot;
        }
        let is_given = |value: Value| {
            (value as usize) < n_given || value as usize == all || steps.fixed.contains_key(&value)
        };
        let mut free: Vec<u32> = Vec::new();
        let mut n_slots = self.first_slot;
        let mut phases = Vec::new();
        let mut start = 0;
        for (phase, &end) in ends.iter().enumerate() {
            let mut code = Code::default();
            for at in start..end {
                let step = &steps.done[at];
                let operands = step.operands.map(|operand| slots[operand as usize]);
                let mut dead = step.operands.to_vec();
                dead.retain(|&value| last_use[value as usize] == at + phase && !is_given(value));
                free_all(&mut free, &slots, dead);
                let target = match steps.fixed.get(&step.target) {
                    Some(&slot) => slot,
                    None => free.pop().unwrap_or_else(|| {
                        n_slots += 1;
                        n_slots - 1
                    }),
                };
                slots[step.target as usize] = target;
                code.push(step.gate, Instruction { target, operands });
            }
            phases.push(code);
            let mut dead = outputs[phase].clone();
            dead.retain(|&value| last_use[value as usize] == end + phase && !is_given(value));
            free_all(&mut free, &slots, dead);
            start = end;
        }
        let outputs =
            outputs.iter().map(|values| values.iter().map(|&v| slots[v as usize]).collect());
        Assembly { phases, outputs: outputs.collect(), n_slots: n_slots as usize }
    }
}

/// Makes the slots of values, which may be listed twice, free.
fn free_all(free: &mut Vec<u32>, slots: &[u32], mut values: Vec<Value>) {
    values.sort_unstable();
    values.dedup();
    free.extend(values.iter().map(|&value| slots[value as usize]));
}

impl Code {
    fn push(&mut self, gate: Gate, instruction: Instruction) {
        match self.runs.last_mut() {
            Some(run) if run.gate == gate => run.n += 1,
            _ => self.runs.push(Run { gate, n: 1 }),
        }
        self.instructions.push(instruction);
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
    /// Values that are to be in a certain slot.
    fixed: BTreeMap<Value, u32>,
    /// The value that always holds.
    all: Value,
    n_values: u32,
}

impl<'a> Steps<'a> {
    fn new(assembler: &'a Assembler<'_>, cover: &'a Cover, roots: &[Lit]) -> Self {
        let n_nodes = assembler.graph.n_nodes();
        let mut wanted = vec![None; n_nodes];
        for &root in roots {
            let root = cover.resolve(root);
            wanted[root.node() as usize].get_or_insert(root.is_negated());
        }
        let mut is_done = vec![false; n_nodes];
        is_done[..=assembler.graph.n_inputs()].fill(true);
        Self {
            library: assembler.library,
            cover,
            n_inputs: assembler.graph.n_inputs(),
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

/// Reorders steps such that equal gates follow each other: again and again the
/// gate of which most steps are ready, as long as more of it become ready.
fn group(steps: &mut [Step]) {
    let mut at_of = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        at_of.insert(step.target, at);
    }
    let mut missing = vec![0_u8; steps.len()];
    let mut readers = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter().enumerate() {
        let mut operands = step.operands;
        operands.sort_unstable();
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 && operands[i - 1] == *operand {
                continue;
            }
            if let Some(&source) = at_of.get(operand) {
                missing[at] += 1;
                readers[source].push(at);
            }
        }
    }
    let mut ready: BTreeMap<Gate, Vec<usize>> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        if missing[at] == 0 {
            ready.entry(step.gate).or_default().push(at);
        }
    }
    let mut order = Vec::with_capacity(steps.len());
    while let Some(gate) = ready.iter().max_by_key(|(_, at)| at.len()).map(|(&gate, _)| gate) {
        while let Some(mut now) = ready.remove(&gate) {
            now.sort_unstable();
            for &at in &now {
                for &reader in &readers[at] {
                    missing[reader] -= 1;
                    if missing[reader] == 0 {
                        ready.entry(steps[reader].gate).or_default().push(reader);
                    }
                }
            }
            order.extend(now);
        }
    }
    let mut place = vec![0; steps.len()];
    for (place_at, &at) in order.iter().enumerate() {
        place[at] = place_at;
    }
    for at in 0..steps.len() {
        while place[at] != at {
            let to = place[at];
            steps.swap(at, to);
            place.swap(at, to);
        }
    }
}
