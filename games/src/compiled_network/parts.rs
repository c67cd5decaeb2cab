//! Parts of a compiled network: where code leaves its results, and code over slots of
//! its own.

use super::code::{Assembly, Code, assemble};
use super::cover::Prices;
use super::gates::Library;
use super::schedule::{FIRST, NOWHERE, Schedule, Task};
use crate::network::{Graph, Lit};

/// Where code leaves its results, which depends on who generated it.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    /// Slots of the states.
    pub(crate) n_slots: usize,
    /// Whether the state is terminal.
    pub(crate) terminal: u32,
    /// By fact: the slot of whether it is next.
    pub(crate) next_facts: Vec<u32>,
    /// Slots of the goals.
    pub(crate) n_goal_slots: usize,
    /// By role and value: the slot among those of the goals.
    pub(crate) goals: Vec<Vec<u32>>,
    /// What ended playouts put aside for their goals.
    pub(crate) score: ScoreSlots,
    /// If the code for the next state replaces the facts.
    pub(crate) in_place: Option<InPlace>,
}

/// How code for the next state replaces the facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InPlace {
    /// The slot of the lanes that take the next state.
    pub(crate) moving: u32,
    /// The slot of the lanes that keep the state. In lanes that neither slot has, no fact holds
    /// afterwards.
    pub(crate) keeping: u32,
}

/// Where the goals of states whose end was just computed come from.
#[derive(Clone, Debug)]
pub(crate) struct ScoreSlots {
    /// The inputs: the slot of the compiled network and the one among those of the goals.
    pub(crate) inputs: Vec<[u32; 2]>,
    /// By role and value: the slot among those of the goals.
    pub(crate) goals: Vec<Vec<u32>>,
}

/// Code over slots of its own for what is computed only now and then.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) task: Task,
    pub(crate) code: Code,
    pub(crate) n_slots: usize,
    /// The inputs it reads: the slot of the compiled network and the one here.
    pub(crate) inputs: Vec<[u32; 2]>,
    /// By role: how many outputs.
    n_outputs: Vec<usize>,
}

impl Results {
    /// From the slots of the outputs of both phases, and the code for goals. `score` is code for
    /// the goals of states whose end was just computed, with the number of values that the code
    /// for the state leaves for it: they are the last outputs of the first phase.
    pub(crate) fn new(
        outputs: Vec<Vec<u32>>,
        n_slots: usize,
        goals: (&Part, Vec<Vec<u32>>, usize),
        score: Option<(usize, &Part, Vec<Vec<u32>>, usize)>,
    ) -> Self {
        let [mut state, next_facts] = outputs.try_into().expect("two phases");
        let (part, goals, mut n_goal_slots) = goals;
        let score = match score {
            None => ScoreSlots { inputs: part.inputs.clone(), goals: goals.clone() },
            Some((n_taken, part, outputs, n_score_slots)) => {
                n_goal_slots = n_goal_slots.max(n_score_slots);
                let taken = state.split_off(state.len() - n_taken);
                let inputs = part.inputs.iter();
                let inputs = inputs.map(|&[input, slot]| [taken[input as usize], slot]);
                ScoreSlots { inputs: inputs.collect(), goals: outputs }
            }
        };
        let terminal = state.pop().expect("the last one is whether it is terminal");
        Self { n_slots, terminal, next_facts, n_goal_slots, goals, score, in_place: None }
    }

    /// For code that replaces the facts. `task` is what it was asked to do.
    pub(crate) fn in_place(mut self, task: &Task) -> Self {
        let moving = task.first_slot;
        self.in_place = Some(InPlace { moving, keeping: moving + 1 });
        self
    }
}

impl Part {
    /// Code for the literals of each role, and the slots of its outputs. `sources`
    /// are the slots of the inputs in the compiled network.
    pub(crate) fn new(
        graph: &Graph,
        library: &Library,
        sources: &[u32],
        wanted: Vec<Vec<Lit>>,
    ) -> (Self, Vec<Vec<u32>>) {
        let reads = reads(graph, &wanted);
        let mut first_slot = FIRST;
        let mut inputs = Vec::new();
        let mut slots = vec![NOWHERE; graph.n_inputs()];
        for (input, slot) in slots.iter_mut().enumerate() {
            if reads[input + 1] {
                *slot = first_slot;
                inputs.push([sources[input], first_slot]);
                first_slot += 1;
            }
        }
        Self::of_inputs(graph, library, inputs, slots, first_slot, wanted)
    }

    /// The same over the slots of the compiled network, with values of its own from `first_slot`
    /// on. `places` are the slots of the first inputs; the others must not be needed.
    pub(crate) fn in_place(
        graph: &Graph,
        library: &Library,
        places: &[u32],
        first_slot: u32,
        wanted: Vec<Vec<Lit>>,
    ) -> (Self, Vec<Vec<u32>>) {
        let reads = reads(graph, &wanted);
        let n_inputs = graph.n_inputs();
        assert!(!reads[places.len() + 1..=n_inputs].contains(&true), "an input without a slot");
        let mut slots = places.to_vec();
        slots.resize(n_inputs, NOWHERE);
        Self::of_inputs(graph, library, Vec::new(), slots, first_slot, wanted)
    }

    fn of_inputs(
        graph: &Graph,
        library: &Library,
        inputs: Vec<[u32; 2]>,
        slots: Vec<u32>,
        first_slot: u32,
        wanted: Vec<Vec<Lit>>,
    ) -> (Self, Vec<Vec<u32>>) {
        let n_outputs = wanted.iter().map(Vec::len).collect();
        let task = Task {
            inputs: slots,
            first_slot,
            wanted: vec![wanted.into_iter().flatten().collect()],
            fixed: Vec::new(),
            n_renewed: 0,
        };
        let Assembly { phases, outputs, n_slots } =
            assemble(Schedule::new(graph, library, &task, &Prices::INTERPRETED));
        let code = phases.into_iter().next().expect("one phase");
        (Self { task, code, n_slots, inputs, n_outputs }, outputs)
    }

    /// The slots of outputs, by role.
    pub(crate) fn by_role(&self, outputs: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let mut outputs = outputs.into_iter().flatten();
        self.n_outputs.iter().map(|&n| outputs.by_ref().take(n).collect()).collect()
    }
}

/// By node: whether literals depend on it.
fn reads(graph: &Graph, wanted: &[Vec<Lit>]) -> Vec<bool> {
    let mut reads = vec![false; graph.n_nodes()];
    for literal in wanted.iter().flatten() {
        reads[literal.node() as usize] = true;
    }
    for node in (0..graph.n_nodes()).rev().filter(|&node| node > graph.n_inputs()) {
        if reads[node] {
            for operand in graph.operands(node as u32).into_iter().flatten() {
                reads[operand.node() as usize] = true;
            }
        }
    }
    reads
}
