//! Programs as machine code of this CPU.
//!
//! ```text
//! Schedule -> operations -> registers and slots -> bytes -> executable pages
//! ```
//!
//! Code for AVX2 has one instruction for each AND, AND-NOT, OR or XOR; code for
//! AVX-512 one for each gate of three operands. Most of what it gains over the
//! [`interpreter`](super::interpreter) is that values which are used soon again
//! stay in registers (`allocate`). A block that is wider than a register is
//! computed in pieces: the code is cut into chunks that fit the CPU's
//! instruction caches, each of which runs once for every piece.
//!
//! Whatever is computed here the interpreter computes too, and tests hold one
//! against the other. Only `pages` is unsafe.

mod allocate;
mod encode;
mod operations;
mod pages;

use allocate::{Chunked, translate};
use operations::lower;
use pages::Pages;

use super::Width;
use super::cover::Prices;
use super::features::{has_avx2, has_avx512};
use super::gates::Library;
use super::lanes::Lanes;
use super::program::{Program, Results};
use super::schedule::{Schedule, Task};
use crate::network::Graph;

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMachineCode {
    /// Only registers of 256 and 512 lanes are translated for.
    #[error("translate for {0} lanes: machine code is for 256 and 512")]
    Width(usize),
    /// Neither AVX2 nor AVX-512.
    #[error("translate for this CPU: it has neither AVX2 nor AVX-512")]
    Cpu,
    /// The operating system gives no executable memory.
    #[error("map executable memory: {0}")]
    Pages(String),
}

/// Which instructions, and how they see a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Bytes of a block.
    pub(super) block: usize,
    /// Bytes of a register: 32 or 64.
    pub(super) register: usize,
    /// Whether there are the instructions of AVX-512 for this register.
    pub(super) is_avx512: bool,
}

impl Target {
    /// What this CPU is best at.
    pub(super) fn detect(width: Width) -> Result<Self, NoMachineCode> {
        let block = width.n_lanes() / 8;
        match width {
            Width::Lanes64 => Err(NoMachineCode::Width(width.n_lanes())),
            _ if has_avx512() => Ok(Self { block, register: block, is_avx512: true }),
            _ if has_avx2() => Ok(Self { block, register: 32, is_avx512: false }),
            _ => Err(NoMachineCode::Cpu),
        }
    }

    fn n_pieces(self) -> usize {
        self.block / self.register
    }

    fn n_registers(self) -> usize {
        if self.is_avx512 { 32 } else { 16 }
    }

    /// What gates cost: the instructions they become. A slot is read as part of
    /// an instruction and seldom written.
    fn prices(self) -> Prices {
        if self.is_avx512 {
            Prices { instruction: 0.0, two: 1.0, three: 1.0 }
        } else {
            Prices { instruction: 1.0, two: 0.0, three: 0.0 }
        }
    }
}

/// A program as machine code.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) state: Routine,
    pub(super) next: Routine,
    pub(super) goals: Routine,
    pub(super) results: Results,
}

impl Machine {
    pub(super) fn new(program: &Program, target: Target) -> Result<Self, NoMachineCode> {
        let library = Library::new();
        let graph = &program.network.graph;
        let main = generate(graph, &library, &program.task, target);
        let goals = generate(graph, &library, &program.goals.task, target);
        let goal_outputs = program.goals.by_role(goals.outputs);
        let results = Results::new(main.outputs, main.n_slots, goal_outputs, goals.n_slots);
        let routine = |chunks: Chunks, n_slots| Routine::new(chunks, n_slots, target);
        let [state, next] = main.phases.try_into().expect("two phases");
        let [goals] = goals.phases.try_into().expect("one phase");
        Ok(Self {
            state: routine(state, results.n_slots)?,
            next: routine(next, results.n_slots)?,
            goals: routine(goals, results.n_goal_slots)?,
            results,
        })
    }

    /// Bytes of code.
    pub(super) fn n_bytes(&self) -> usize {
        [&self.state, &self.next, &self.goals].iter().map(|routine| routine.pages.len()).sum()
    }
}

/// Functions that follow each other.
#[derive(Clone, Debug, Default)]
struct Chunks {
    bytes: Vec<u8>,
    /// Where in `bytes` each begins.
    starts: Vec<usize>,
}

/// Code of all phases of a task.
fn generate(graph: &Graph, library: &Library, task: &Task, target: Target) -> Chunked {
    let schedule = Schedule::new(graph, library, task, &target.prices());
    translate(&lower(&schedule, target.is_avx512), &schedule, target)
}

/// Machine code of a phase, ready to run.
#[derive(Debug)]
pub(super) struct Routine {
    pages: Pages,
    starts: Vec<usize>,
    target: Target,
    n_slots: usize,
}

impl Routine {
    fn new(chunks: Chunks, n_slots: usize, target: Target) -> Result<Self, NoMachineCode> {
        let pages = Pages::new(&chunks.bytes).map_err(|e| NoMachineCode::Pages(e.to_string()))?;
        Ok(Self { pages, starts: chunks.starts, target, n_slots })
    }

    /// Runs it over these slots.
    ///
    /// # Panics
    /// If there are fewer than it uses, or they are of another width.
    #[inline]
    pub(super) fn run<L: Lanes>(&self, slots: &mut [L]) {
        assert!(slots.len() >= self.n_slots, "{} slots of {}", slots.len(), self.n_slots);
        assert_eq!(size_of::<L>(), self.target.block, "lanes of another width");
        for &start in &self.starts {
            for piece in 0..self.target.n_pieces() {
                self.pages.call(start, slots, piece * self.target.register);
            }
        }
    }
}

#[cfg(test)]
mod tests;
