//! A network as code for one position.
//!
//! All lanes of a slot belong to the position, so a slot is a single word, and code gathers its
//! results as bits of words: whether move 7 is legal is bit 7 of a word. That takes one gate
//! more for each result, since the words with a single bit are inputs, and saves reading the
//! results one by one.

use std::sync::Arc;

use smallvec::SmallVec;

use super::code::{Assembly, Code, assemble};
use super::cover::Prices;
use super::features::Avx2;
use super::gates::Library;
use super::interpreter::interpret;
use super::machine::{Routine, Target, TaskMachine, functions};
#[cfg(target_arch = "x86_64")]
use super::registers;
use super::schedule::{ALL, FIRST, Schedule, Task};
use crate::Network;
use crate::network::{Graph, Lit};

/// Bits of a word.
pub(crate) const WORD: usize = 64;

/// The slot of the word with the first bit; those of the other bits follow.
const BITS: u32 = FIRST;
/// The slot of the first fact. The other facts follow, unused slots up to a whole byte of a
/// state, and then the moves.
pub(crate) const FACTS: usize = FIRST as usize + WORD;

/// Code for one position, over slots that are words. The slots of inputs and results depend only
/// on the numbers of facts and moves.
#[derive(Debug)]
pub(crate) struct PackedProgram {
    state: Phase,
    next: Phase,
    goals: Phase,
    /// Number of slots.
    pub(crate) n_slots: usize,
    /// The slot of whether the position is terminal.
    pub(crate) terminal: usize,
    /// What was compiled.
    pub(crate) network: Arc<Network>,
}

/// Where the results are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The slot of the first move.
    pub(crate) moves: usize,
    /// By role: the first slot of its legal moves as bits, and the number of these slots.
    pub(crate) legal: Vec<(usize, usize)>,
    /// The first slot of the facts as bits. The caller writes them along with the facts.
    pub(crate) facts: usize,
    /// The first slot of the next facts as bits.
    pub(crate) next: usize,
    /// The first slot of all goals as bits, role after role, and the number of these slots.
    pub(crate) goals: (usize, usize),
    /// The first slot for other values.
    end: usize,
}

impl Places {
    /// The slots of a network.
    pub(crate) fn new(network: &Network) -> Self {
        let moves = FACTS + network.n_facts().next_multiple_of(8);
        let mut end = moves + network.n_moves();
        let mut take = |n_bits: usize| {
            let first = end;
            end += n_bits.div_ceil(WORD);
            (first, end - first)
        };
        let legal = network.roles.iter().map(|role| take(role.moves.len())).collect();
        let (facts, _) = take(network.n_facts());
        let (next, _) = take(network.n_facts());
        let goals = take(network.roles.iter().map(|role| role.goals.len()).sum());
        Self { moves, legal, facts, next, goals, end }
    }

    /// The slots of the inputs of a [`Packing`].
    fn inputs(&self, network: &Network) -> Vec<u32> {
        let mut inputs = row(FACTS, network.n_facts());
        inputs.extend(row(self.moves, network.n_moves()));
        inputs.extend(row(BITS as usize, WORD));
        inputs.extend(row(self.facts, network.n_state_words()));
        inputs
    }
}

/// Consecutive slots.
fn row(first: usize, n: usize) -> Vec<u32> {
    (first as u32..).take(n).collect()
}

impl PackedProgram {
    /// Compiles a network, into machine code if there is some for this CPU.
    pub(crate) fn new(network: Arc<Network>) -> Self {
        let places = Places::new(&network);
        let mut packing = Packing::new(&network, &[]);
        let mut legal: Vec<Lit> = Vec::new();
        for role in &network.roles {
            packing.pack(role.legal.iter().copied(), &mut legal);
        }
        let terminal = packing.copy(network.terminal);
        let mut next = Vec::new();
        packing.pack(network.next.iter().copied(), &mut next);
        let mut goals = Vec::new();
        let all_goals = network.roles.iter().flat_map(|role| &role.goals);
        packing.pack(all_goals.map(|goal| goal.1), &mut goals);

        let legal_slots = places.legal.iter().flat_map(|&(first, n)| first..first + n);
        let fixed =
            vec![legal_slots.map(|slot| slot as u32).collect(), row(places.next, next.len())];
        let task = Task {
            inputs: places.inputs(&network),
            first_slot: places.end as u32,
            wanted: vec![legal.into_iter().chain([terminal]).collect(), next],
            fixed,
            n_renewed: 0,
        };
        let (phases, outputs, n_slots) = generate(&packing.graph, &task);
        let [state, next] = phases.try_into().expect("two phases");
        let terminal = *outputs[0].last().expect("the last one is whether it is terminal");
        // Goals are computed after a state and leave its values alone.
        let fixed = vec![row(places.goals.0, goals.len())];
        let task = Task { first_slot: n_slots as u32, wanted: vec![goals], fixed, ..task };
        let (phases, _, n_slots) = generate(&packing.graph, &task);
        let [goals] = phases.try_into().expect("one phase");
        Self { state, next, goals, n_slots, terminal: terminal as usize, network }
    }

    /// Slots without a position.
    pub(crate) fn blank_slots(&self) -> Vec<u64> {
        let mut slots = vec![0; self.n_slots];
        slots[ALL as usize] = !0;
        for bit in 0..WORD {
            slots[BITS as usize + bit] = 1 << bit;
        }
        slots
    }

    /// Whether it is machine code.
    pub(crate) fn is_translated(&self) -> bool {
        matches!(self.state, Phase::Translated(_))
    }

    /// How many bytes of machine code compute the next facts; 0 if there is none.
    pub(crate) fn n_next_bytes(&self) -> usize {
        match &self.next {
            Phase::Translated(routine) => routine.n_bytes(),
            Phase::Interpreted(_) => 0,
        }
    }

    /// Computes legal moves and the end.
    #[inline(always)]
    pub(crate) fn run_state(&self, slots: &mut [u64]) {
        self.state.run(slots);
    }

    /// Computes the next facts, after the state.
    #[inline(always)]
    pub(crate) fn run_next(&self, slots: &mut [u64]) {
        self.next.run(slots);
    }

    /// Computes the goals, at any time.
    pub(crate) fn run_goals(&self, slots: &mut [u64]) {
        self.goals.run(slots);
    }
}

/// Writes the bits of a word into slots of their own, by vectors if there is evidence for AVX2.
#[inline(always)]
pub(crate) fn spread(word: u64, slots: &mut [u64], avx2: Option<Avx2>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2 {
        return registers::spread(word, slots, avx2);
    }
    #[cfg(not(target_arch = "x86_64"))]
    assert!(avx2.is_none(), "evidence of other instructions");
    for (bit, slot) in slots.iter_mut().enumerate() {
        *slot = 0_u64.wrapping_sub(word >> bit & 1);
    }
}

/// Code for the next facts after each of these joint moves, given as inputs, and the number of
/// its slots. `None` if there is no machine code.
pub(crate) fn after_joint_moves(
    network: &Network,
    joint_moves: &[SmallVec<[u32; 4]>],
) -> Option<(Routine, usize)> {
    let target = Target::detect_words().ok()?;
    let places = Places::new(network);
    let n_facts = network.n_facts();
    let moves = n_facts as u32..(n_facts + network.n_moves()) as u32;
    let task = |joint_move: &SmallVec<[u32; 4]>| {
        let known: Vec<_> =
            moves.clone().map(|input| (input, joint_move.contains(&input))).collect();
        let mut packing = Packing::new(network, &known);
        let wanted = vec![packing.flipped(network)];
        let fixed = vec![row(places.next, network.n_state_words())];
        let (inputs, first_slot) = (places.inputs(network), places.end as u32);
        (packing.graph, Task { inputs, first_slot, wanted, fixed, n_renewed: 0 })
    };
    functions(joint_moves.iter().map(task), target).ok()
}

/// One phase.
#[derive(Debug)]
enum Phase {
    Translated(Routine),
    Interpreted(Code),
}

impl Phase {
    #[inline(always)]
    fn run(&self, slots: &mut [u64]) {
        match self {
            Self::Translated(routine) => routine.run_one(0, slots),
            Self::Interpreted(code) => interpret(code, slots),
        }
    }
}

/// Code of all phases, the slots of their outputs, and the number of slots.
fn generate(graph: &Graph, task: &Task) -> (Vec<Phase>, Vec<Vec<u32>>, usize) {
    if let Ok(target) = Target::detect_words()
        && let Ok(machine) = TaskMachine::new(graph, task, target)
    {
        let TaskMachine { routines, outputs, n_slots } = machine;
        return (routines.into_iter().map(Phase::Translated).collect(), outputs, n_slots);
    }
    let schedule = Schedule::new(graph, &Library::new(), task, &Prices::INTERPRETED);
    let Assembly { phases, outputs, n_slots } = assemble(schedule);
    (phases.into_iter().map(Phase::Interpreted).collect(), outputs, n_slots)
}

/// A graph copied part by part: what a result needs directly before the gate that puts the
/// result into its word, since code computes smaller nodes first.
struct Packing<'a> {
    old: &'a Graph,
    graph: Graph,
    /// By old node: its literal in the new graph, once it is copied.
    copied: Vec<Option<Lit>>,
}

impl<'a> Packing<'a> {
    /// Inputs of the network, of which some are known, then the words with a single bit and the
    /// facts as bits.
    fn new(network: &'a Network, known: &[(u32, bool)]) -> Self {
        let old = &network.graph;
        let graph = Graph::new(old.n_inputs() + WORD + network.n_state_words());
        let mut copied = vec![None; old.n_nodes()];
        copied[0] = Some(Lit::FALSE);
        for input in 0..old.n_inputs() {
            copied[1 + input] = Some(graph.input(input));
        }
        for &(input, holds) in known {
            copied[1 + input as usize] = Some(Lit::FALSE.negated_if(holds));
        }
        Self { old, graph, copied }
    }

    /// The literal in the new graph.
    fn copy(&mut self, literal: Lit) -> Lit {
        let mut stack = vec![literal.node()];
        while let Some(&node) = stack.last() {
            if self.copied[node as usize].is_some() {
                stack.pop();
                continue;
            }
            let operands = self.old.operands(node).expect("inputs are copied");
            let new = operands.map(|operand| {
                let copied = self.copied[operand.node() as usize]?;
                Some(copied.negated_if(operand.is_negated()))
            });
            if new.contains(&Some(Lit::FALSE)) {
                self.copied[node as usize] = Some(Lit::FALSE);
                stack.pop();
            } else if let [Some(a), Some(b)] = new {
                self.copied[node as usize] = Some(self.graph.and(a, b));
                stack.pop();
            } else {
                // One after the other: if one is false, the other is not needed.
                let missing = operands.iter().zip(new).find(|(_, new)| new.is_none());
                stack.extend(missing.map(|(operand, _)| operand.node()));
            }
        }
        let copied = self.copied[literal.node() as usize].expect("just copied");
        copied.negated_if(literal.is_negated())
    }

    /// Adds the words whose bits are these literals.
    fn pack(&mut self, literals: impl Iterator<Item = Lit>, words: &mut Vec<Lit>) {
        for (at, literal) in literals.enumerate() {
            if at % WORD == 0 {
                words.push(Lit::FALSE);
            }
            let literal = self.copy(literal);
            let bit = self.graph.input(self.old.n_inputs() + at % WORD);
            let own = self.graph.and(literal, bit);
            if let Some(word) = words.last_mut() {
                *word = self.graph.or(*word, own);
            }
        }
    }

    /// The next facts as words: those of the position, with bits flipped.
    fn flipped(&mut self, network: &Network) -> Vec<Lit> {
        let bits = self.old.n_inputs();
        let mut words: Vec<Lit> =
            (0..network.n_state_words()).map(|word| self.graph.input(bits + WORD + word)).collect();
        for (fact, &next) in network.next.iter().enumerate() {
            let next = self.copy(next);
            let flips = self.differ(next, self.graph.input(fact));
            let flips = self.graph.and(flips, self.graph.input(bits + fact % WORD));
            words[fact / WORD] = self.differ(words[fact / WORD], flips);
        }
        words
    }

    /// The exclusive disjunction.
    fn differ(&mut self, a: Lit, b: Lit) -> Lit {
        let (both, neither) = (self.graph.and(a, b), self.graph.and(!a, !b));
        self.graph.and(!both, !neither)
    }
}
