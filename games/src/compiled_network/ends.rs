//! Code for whether states are terminal and what they are worth, and nothing else.
//!
//! The first part of a [`CompiledNetwork`](super::CompiledNetwork) computes the legal moves along
//! with the end. Where a search stops, nobody asks for moves, and the end often shares most of
//! its gates with the goals.

use super::CompiledNetwork;
use super::code::Code;
use super::features;
use super::gates::Library;
use super::interpreter::Interpret;
use super::lanes::Lanes;
use super::machine::{PartMachine, Target};
use super::parts::Part;
use super::width::Width;

/// Code over slots of its own.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The inputs it reads: the fact and the slot here.
    pub(crate) inputs: Vec<[u32; 2]>,
    /// Number of slots.
    pub(crate) n_slots: usize,
    /// The slot of whether the state is terminal.
    pub(crate) terminal: u32,
    /// By role and value: the slot of the goal.
    pub(crate) goals: Vec<Vec<u32>>,
    code: Code,
    machine: Option<PartMachine>,
}

impl Ends {
    /// Generates the code, for blocks of 256 lanes as machine code if `is_translated`.
    pub(super) fn new(program: &CompiledNetwork, is_translated: bool) -> Self {
        let network = &program.network;
        let library = Library::new();
        // Inputs are known by their numbers; the caller knows where facts are.
        let sources: Vec<u32> = (0..program.task.inputs.len() as u32).collect();
        let goals = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let mut wanted: Vec<Vec<_>> = goals.map(Iterator::collect).collect();
        wanted.push(vec![network.terminal]);
        let (part, outputs) = Part::new(&network.graph, &library, &sources, wanted);
        let target = is_translated.then(|| Target::detect(Width::Lanes256));
        let machine = target
            .and_then(Result::ok)
            .and_then(|target| PartMachine::new(&network.graph, &part, target).ok());
        let (outputs, n_slots) = match &machine {
            Some(machine) => (machine.outputs.clone(), machine.n_slots),
            None => (part.by_role(outputs), part.n_slots),
        };
        let mut goals = outputs;
        let terminal = goals.pop().and_then(|last| last.first().copied());
        Self {
            inputs: part.inputs,
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
            None => features::run(Interpret { code: &self.code, slots }),
        }
    }
}
