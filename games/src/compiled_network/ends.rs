//! Code for whether states are terminal and what they are worth, and nothing else.
//!
//! The first part of a [`CompiledNetwork`](super::CompiledNetwork) computes the legal moves along
//! with the end. Where a search stops, nobody asks for moves, and the end often shares most of
//! its gates with the goals.

use super::CompiledNetwork;
use super::code::Code;
use super::gates::Library;
use super::interpreter::interpret;
use super::lanes::Lanes;
use super::machine::{PartMachine, Target};
use super::parts::Part;
use super::width::Width;
use crate::Network;

/// Code that reads the next facts where the compiled network leaves them.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Number of slots, those of the compiled network included.
    pub(crate) n_slots: usize,
    /// The slot of whether the state is terminal.
    pub(crate) terminal: u32,
    /// By role and value: the slot of the goal.
    pub(crate) goals: Vec<Vec<u32>>,
    code: Code,
    machine: Option<PartMachine>,
}

impl Ends {
    /// Generates the code for the ends of `network`, of which `program` may compute a cofactor; for
    /// blocks of 256 lanes as machine code if `is_translated`: then it follows machine code of the
    /// program.
    pub(super) fn new(network: &Network, program: &CompiledNetwork, is_translated: bool) -> Self {
        let library = Library::new();
        let translated = program.machine(Width::Lanes256).filter(|_| is_translated);
        let results = translated.map_or(&program.results, |machine| &machine.results);
        let goals = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let mut wanted: Vec<Vec<_>> = goals.map(Iterator::collect).collect();
        wanted.push(vec![network.terminal]);
        let first_slot = results.n_slots as u32;
        let (part, outputs) =
            Part::in_place(&network.graph, &library, &results.next_facts, first_slot, wanted);
        let target = translated.and_then(|_| Target::detect(Width::Lanes256).ok());
        let machine =
            target.and_then(|target| PartMachine::new(&network.graph, &part, target).ok());
        let (outputs, n_slots) = match &machine {
            Some(machine) => (machine.outputs.clone(), machine.n_slots),
            None => (part.by_role(outputs), part.n_slots),
        };
        let mut goals = outputs;
        let terminal = goals.pop().and_then(|last| last.first().copied());
        Self {
            n_slots,
            terminal: terminal.expect("the last one is whether it is terminal"),
            goals,
            code: part.code,
            machine,
        }
    }

    /// Runs it over these slots.
    #[inline]
    pub(crate) fn run<L: Lanes>(&self, slots: &mut [L]) {
        match &self.machine {
            Some(machine) => machine.routine.run(slots),
            None => interpret(&self.code, slots),
        }
    }
}
