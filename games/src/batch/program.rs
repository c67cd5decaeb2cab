//! A network compiled for batches.

use std::sync::Arc;

use super::choice::Choices;
use super::code::{Assembler, Assembly, Code, FIRST};
use super::gates::Library;
use crate::network::{GoalValue, Graph, Lit};
use crate::{Network, RoleId};

/// A network as straight-line code, in four parts: what is legal and whether
/// the state is terminal; the next state, from facts and chosen moves; the
/// goals and the percepts, each only when asked for. Shared by all batches.
#[derive(Debug)]
pub struct Program {
    pub(super) network: Arc<Network>,
    /// Which moves are legal, and whether the state is terminal.
    pub(super) state: Code,
    /// What is next. Runs after `state`, over the same slots.
    pub(super) next: Code,
    /// Slots of `state` and `next`.
    pub(super) n_slots: usize,
    /// By move of all roles: the slot of whether it is legal.
    pub(super) legal: Vec<u32>,
    pub(super) terminal: u32,
    /// By fact: the slot of whether it is next.
    pub(super) next_facts: Vec<u32>,
    pub(super) choices: Choices,
    pub(super) goals: Part,
    pub(super) percepts: Part,
}

/// Code over slots of its own for what is computed only now and then.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) code: Code,
    pub(super) n_slots: usize,
    /// The inputs it reads: the slot of the [`Program`] and the one here.
    pub(super) inputs: Vec<[u32; 2]>,
    /// By role and literal: its slot.
    pub(super) outputs: Vec<Vec<u32>>,
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

/// The slot that is written and never read.
const SPARE: u32 = FIRST;

impl Program {
    /// Compiles a network.
    #[must_use]
    pub fn new(network: Arc<Network>) -> Self {
        let library = Library::new();
        let graph = &network.graph;
        let n_facts = network.n_facts();
        let inputs: Vec<u32> = (0..graph.n_inputs() as u32).map(|i| SPARE + 1 + i).collect();
        let assembler = Assembler {
            graph,
            library: &library,
            inputs: &inputs,
            first_slot: SPARE + 1 + inputs.len() as u32,
        };
        let all_legal = network.roles.iter().flat_map(|role| role.legal.iter().copied());
        let mut state: Vec<Lit> = all_legal.collect();
        state.push(network.terminal);
        let wanted = [state, network.next.clone()];
        // Moves are not written while facts are, and a fact may keep its slot.
        let Assembly { phases, mut outputs, n_slots } = assembler
            .assemble(&wanted, |phase, index, input| {
                phase == 0 || input >= n_facts || input == index
            });
        let [state, next]: [Code; 2] = phases.try_into().expect("two phases");
        let next_facts = outputs.pop().expect("two phases");
        let mut legal = outputs.pop().expect("two phases");
        let terminal = legal.pop().expect("the last one is whether it is terminal");
        let mut roles = Vec::new();
        let mut at = 0;
        for role in &network.roles {
            let moves = (at..at + role.moves.len())
                .filter(|&i| wanted[0][i] != Lit::FALSE)
                .map(|i| [legal[i], inputs[n_facts + i]]);
            roles.push(moves.collect());
            at += role.moves.len();
        }
        let goals = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let goals = goals.map(Iterator::collect).collect();
        let percepts = network.roles.iter().map(|role| role.percepts.iter().map(|sees| sees.1));
        let percepts = percepts.map(Iterator::collect).collect();
        Self {
            state,
            next,
            n_slots,
            legal,
            terminal,
            next_facts,
            choices: Choices::new(&roles, SPARE),
            goals: Part::new(graph, &library, goals),
            percepts: Part::new(graph, &library, percepts),
            network,
        }
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
            n_slots: self.n_slots,
        }
    }

    /// The slot of a fact.
    pub(super) fn fact(&self, fact: usize) -> usize {
        SPARE as usize + 1 + fact
    }

    /// The slot of whether a move is made.
    pub(super) fn does(&self, role: RoleId, index: usize) -> usize {
        SPARE as usize + 1 + self.network.first_move(role) + index
    }

    /// The slots of all moves' being made.
    pub(super) fn all_does(&self) -> std::ops::Range<usize> {
        let start = self.fact(self.network.n_facts());
        start..start + self.network.n_moves()
    }

    /// The slot of whether a move is legal.
    pub(super) fn legal(&self, role: RoleId, index: usize) -> usize {
        self.legal[self.network.first_move(role) - self.network.n_facts() + index] as usize
    }

    /// The values that the goal of a role may take.
    pub(super) fn goal_values(&self, role: usize) -> impl Iterator<Item = GoalValue> + '_ {
        self.network.roles[role].goals.iter().map(|goal| goal.0)
    }
}

impl Part {
    /// Code for the literals of each role.
    fn new(graph: &Graph, library: &Library, wanted: Vec<Vec<Lit>>) -> Self {
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
                inputs.push([SPARE + 1 + input as u32, first_slot]);
                first_slot += 1;
            }
        }
        let assembler = Assembler { graph, library, inputs: &slots, first_slot };
        let all = wanted.iter().flatten().copied().collect();
        let Assembly { phases, outputs, n_slots } = assembler.assemble(&[all], |_, _, _| true);
        let mut outputs = outputs.into_iter().flatten();
        let outputs = wanted.iter().map(|role| outputs.by_ref().take(role.len()).collect());
        let outputs = outputs.collect();
        let code = phases.into_iter().next().expect("one phase");
        Self { code, n_slots, inputs, outputs }
    }
}
