//! A network compiled for batches.

use std::sync::Arc;

use super::choice::Choices;
use super::code::{Assembler, Assembly, Code, FIRST};
use super::gates::Library;
use crate::network::{GoalValue, Graph, Lit, RoleOutputs};
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
    /// By move of all roles: the slot of whether it is made.
    does: Vec<u32>,
    /// The slots of all moves' being made.
    pub(super) all_does: std::ops::Range<usize>,
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
        let assembler =
            Assembler { graph, library: &library, inputs: &inputs, first_slot: rows.end };
        let all_legal = network.roles.iter().flat_map(|role| role.legal.iter().copied());
        let mut state: Vec<Lit> = all_legal.collect();
        state.push(network.terminal);
        let wanted = [state, network.next.clone()];
        // Moves are not written while facts are, and a fact may keep its slot.
        let Assembly { phases, mut outputs, n_slots } =
            assembler.assemble(&wanted, &rows.legal, |phase, index, input| {
                phase == 0 || input >= n_facts || input == index
            });
        let [state, next]: [Code; 2] = phases.try_into().expect("two phases");
        let next_facts = outputs.pop().expect("two phases");
        let mut legal = outputs.pop().expect("two phases");
        let terminal = legal.pop().expect("the last one is whether it is terminal");
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
            choices: rows.choices,
            does: rows.does,
            all_does: rows.all_does,
            goals: Part::new(graph, &library, &inputs, goals),
            percepts: Part::new(graph, &library, &inputs, percepts),
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
        FIRST as usize + fact
    }

    /// The slot of whether a move is made.
    pub(super) fn does(&self, role: RoleId, index: usize) -> usize {
        self.does[self.network.first_move(role) - self.network.n_facts() + index] as usize
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
    /// Code for the literals of each role. `sources` are the slots of the
    /// inputs in the [`Program`].
    fn new(graph: &Graph, library: &Library, sources: &[u32], wanted: Vec<Vec<Lit>>) -> Self {
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
        let assembler = Assembler { graph, library, inputs: &slots, first_slot };
        let all = wanted.iter().flatten().copied().collect();
        let Assembly { phases, outputs, n_slots } = assembler.assemble(&[all], &[], |_, _, _| true);
        let mut outputs = outputs.into_iter().flatten();
        let outputs = wanted.iter().map(|role| outputs.by_ref().take(role.len()).collect());
        let outputs = outputs.collect();
        let code = phases.into_iter().next().expect("one phase");
        Self { code, n_slots, inputs, outputs }
    }
}
