//! A network compiled for batches.

use std::sync::{Arc, OnceLock};

use super::Width;
use super::choice::Choices;
use super::code::{Assembly, Code, FIRST, assemble};
use super::cover::Prices;
use super::gates::Library;
use super::machine::{Machine, NoMachineCode, Target};
use super::schedule::{Schedule, Task};
use crate::network::{GoalValue, Graph, Lit, RoleOutputs};
use crate::{Network, RoleId};

/// A network as straight-line code, in four parts: what is legal and whether
/// the state is terminal; the next state, from facts and chosen moves; the
/// goals and the percepts, each only when asked for. Shared by all batches.
#[derive(Debug)]
pub struct Program {
    pub(super) network: Arc<Network>,
    /// What the first two parts compute, in two phases over common slots.
    pub(super) task: Task,
    /// Which moves are legal, and whether the state is terminal.
    pub(super) state: Code,
    /// What is next. Runs after `state`, over the same slots.
    pub(super) next: Code,
    /// The slots of all moves' being made.
    pub(super) all_does: std::ops::Range<usize>,
    pub(super) choices: Choices,
    pub(super) goals: Part,
    pub(super) percepts: Part,
    pub(super) percept_outputs: Vec<Vec<u32>>,
    pub(super) results: Results,
    /// By width, if it was translated.
    machines: [OnceLock<Result<Arc<Machine>, NoMachineCode>>; 3],
}

/// Where code leaves its results, which depends on who generated it.
#[derive(Clone, Debug)]
pub(super) struct Results {
    /// Slots of the states.
    pub(super) n_slots: usize,
    /// Whether the state is terminal.
    pub(super) terminal: u32,
    /// By fact: the slot of whether it is next.
    pub(super) next_facts: Vec<u32>,
    /// Slots of the goals.
    pub(super) n_goal_slots: usize,
    /// By role and value: the slot among those of the goals.
    pub(super) goals: Vec<Vec<u32>>,
}

/// Code over slots of its own for what is computed only now and then.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) task: Task,
    pub(super) code: Code,
    pub(super) n_slots: usize,
    /// The inputs it reads: the slot of the [`Program`] and the one here.
    pub(super) inputs: Vec<[u32; 2]>,
    /// By role: how many outputs.
    n_outputs: Vec<usize>,
}

/// How much a [`Program`] does, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Conjunctions of the network.
    pub n_ands: usize,
    /// Gates for legal moves and the end.
    pub n_state_gates: usize,
    /// Gates for the next state.
    pub n_next_gates: usize,
    /// Gates for the goals.
    pub n_goal_gates: usize,
    /// Gates for the percepts.
    pub n_percept_gates: usize,
    /// Blocks of lanes that a batch computes a step in.
    pub n_slots: usize,
}

impl Program {
    /// Compiles a network.
    #[must_use]
    pub fn new(network: Arc<Network>) -> Self {
        let library = Library::new();
        let graph = &network.graph;
        let n_facts = network.n_facts();
        let rows = Rows::new(&network);
        let mut inputs: Vec<u32> = (FIRST..).take(n_facts).collect();
        inputs.extend(&rows.does);
        let all_legal = network.roles.iter().flat_map(|role| role.legal.iter().copied());
        let mut state: Vec<Lit> = all_legal.collect();
        state.push(network.terminal);
        let task = Task {
            inputs,
            first_slot: rows.end,
            wanted: vec![state, network.next.clone()],
            fixed: rows.legal,
            n_renewed: n_facts,
        };
        let Assembly { phases, outputs, n_slots } =
            assemble(Schedule::new(graph, &library, &task, &Prices::INTERPRETED));
        let [state, next]: [Code; 2] = phases.try_into().expect("two phases");
        let goals = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let goals = goals.map(Iterator::collect).collect();
        let (goals, goal_outputs) = Part::new(graph, &library, &task.inputs, goals);
        let percepts = network.roles.iter().map(|role| role.percepts.iter().map(|sees| sees.1));
        let percepts = percepts.map(Iterator::collect).collect();
        let (percepts, percept_outputs) = Part::new(graph, &library, &task.inputs, percepts);
        let results = Results::new(outputs, n_slots, goals.by_role(goal_outputs), goals.n_slots);
        Self {
            task,
            state,
            next,
            all_does: rows.all_does,
            choices: rows.choices,
            percept_outputs: percepts.by_role(percept_outputs),
            goals,
            percepts,
            results,
            machines: Default::default(),
            network,
        }
    }

    /// Translates it into machine code for batches of this width, unless that
    /// was done before. Batches that exist use it from their next evaluation or
    /// playouts on; so programs may be translated by another thread while they
    /// run. The results are the same; it takes about as long as
    /// [`Program::new`].
    ///
    /// # Errors
    /// If there is no machine code for this width or on this computer. Batches
    /// then go on as they did.
    pub fn translate(&self, width: Width) -> Result<(), NoMachineCode> {
        let machine = &self.machines[width as usize];
        let made = machine.get_or_init(|| {
            let target = Target::detect(width)?;
            Machine::new(self, target).map(Arc::new)
        });
        made.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// The machine code for a width, if there is some by now.
    #[inline]
    pub(super) fn machine(&self, width: Width) -> Option<&Arc<Machine>> {
        self.machines[width as usize].get()?.as_ref().ok()
    }

    /// How many bytes of machine code there are for batches of this width; 0 if
    /// it was not translated.
    #[must_use]
    pub fn n_machine_code_bytes(&self, width: Width) -> usize {
        self.machine(width).map_or(0, |machine| machine.n_bytes())
    }

    /// The network it was made from.
    #[must_use]
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// How large the parts are.
    #[must_use]
    pub fn size(&self) -> Size {
        Size {
            n_ands: self.network.graph.n_ands(),
            n_state_gates: self.state.instructions.len(),
            n_next_gates: self.next.instructions.len(),
            n_goal_gates: self.goals.code.instructions.len(),
            n_percept_gates: self.percepts.code.instructions.len(),
            n_slots: self.results.n_slots,
        }
    }

    /// The slot of a fact.
    pub(super) fn fact(&self, fact: usize) -> usize {
        FIRST as usize + fact
    }

    /// The slot of whether a move is made.
    pub(super) fn does(&self, role: RoleId, index: usize) -> usize {
        self.task.inputs[self.network.first_move(role) + index] as usize
    }

    /// The slot of whether a move is legal.
    pub(super) fn legal(&self, role: RoleId, index: usize) -> usize {
        self.task.fixed[self.network.first_move(role) - self.network.n_facts() + index] as usize
    }

    /// The values that the goal of a role may take.
    pub(super) fn goal_values(&self, role: usize) -> impl Iterator<Item = GoalValue> + '_ {
        self.network.roles[role].goals.iter().map(|goal| goal.0)
    }
}

impl Results {
    /// From the slots of the outputs of both phases, and of the goals.
    pub(super) fn new(
        outputs: Vec<Vec<u32>>,
        n_slots: usize,
        goals: Vec<Vec<u32>>,
        n_goal_slots: usize,
    ) -> Self {
        let [mut state, next_facts] = outputs.try_into().expect("two phases");
        let terminal = state.pop().expect("the last one is whether it is terminal");
        Self { n_slots, terminal, next_facts, n_goal_slots, goals }
    }
}

/// Where moves are: in rows of slots for [`Choices`], which has no use for those
/// that are never legal; they come last.
struct Rows {
    choices: Choices,
    /// By move: where whether it is legal is to be.
    legal: Vec<u32>,
    /// By move: where whether it is made is to be.
    does: Vec<u32>,
    all_does: std::ops::Range<usize>,
    /// The first slot after these.
    end: u32,
}

impl Rows {
    fn new(network: &Network) -> Self {
        let is_possible = |literal: &&Lit| **literal != Lit::FALSE;
        let n_possible = |role: &RoleOutputs| role.legal.iter().filter(is_possible).count();
        let n_moves: Vec<usize> = network.roles.iter().map(n_possible).collect();
        let n_slots: usize = n_moves.iter().map(|&n| Choices::n_slots(n)).sum();
        let n_impossible = network.n_moves() - n_moves.iter().sum::<usize>();
        let first_legal = FIRST as usize + network.n_facts();
        let first_does = first_legal + n_slots + n_impossible;
        let mut rows = Self {
            choices: Choices::new(&n_moves, first_legal, first_does),
            legal: Vec::new(),
            does: Vec::new(),
            all_does: first_does..first_does + n_slots + n_impossible,
            end: 0,
        };
        let (mut start, mut impossible) = (0, n_slots);
        for (role, n) in network.roles.iter().zip(n_moves) {
            let mut possible = start;
            for literal in &role.legal {
                let at = if is_possible(&literal) { &mut possible } else { &mut impossible };
                rows.legal.push((first_legal + *at) as u32);
                rows.does.push((first_does + *at) as u32);
                *at += 1;
            }
            start += Choices::n_slots(n);
        }
        rows.end = u32::try_from(rows.all_does.end).expect("slots fit their numbers");
        rows
    }
}

impl Part {
    /// Code for the literals of each role, and the slots of its outputs. `sources`
    /// are the slots of the inputs in the [`Program`].
    fn new(
        graph: &Graph,
        library: &Library,
        sources: &[u32],
        wanted: Vec<Vec<Lit>>,
    ) -> (Self, Vec<Vec<u32>>) {
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
        let mut first_slot = FIRST;
        let mut inputs = Vec::new();
        let mut slots = vec![u32::MAX; graph.n_inputs()];
        for (input, slot) in slots.iter_mut().enumerate() {
            if reads[input + 1] {
                *slot = first_slot;
                inputs.push([sources[input], first_slot]);
                first_slot += 1;
            }
        }
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
    pub(super) fn by_role(&self, outputs: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let mut outputs = outputs.into_iter().flatten();
        self.n_outputs.iter().map(|&n| outputs.by_ref().take(n).collect()).collect()
    }
}
