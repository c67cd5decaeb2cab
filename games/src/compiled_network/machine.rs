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
//! against the other. Only `pages` and `routine` are unsafe.

mod allocate;
mod encode;
mod error;
mod operations;
mod pages;
mod routine;
mod target;

pub use error::NoMachineCode;

pub(crate) use target::Target;

use self::allocate::{Chunked, Chunks, translate};
use self::operations::lower;
use self::routine::Routine;
use super::gates::Library;
use super::parts::{Part, Results};
use super::schedule::{Schedule, Task};
use crate::network::Graph;

/// A program as machine code.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) state: Routine,
    pub(crate) next: Routine,
    pub(crate) goals: Routine,
    pub(crate) results: Results,
}

impl Machine {
    pub(crate) fn new(
        graph: &Graph,
        task: &Task,
        goals_part: &Part,
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        let library = Library::new();
        let main = generate(graph, &library, task, target);
        let goals = generate(graph, &library, &goals_part.task, target);
        let goal_outputs = goals_part.by_role(goals.outputs);
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
    pub(crate) fn n_bytes(&self) -> usize {
        [&self.state, &self.next, &self.goals].iter().map(|routine| routine.n_bytes()).sum()
    }
}

/// Code of all phases of a task.
fn generate(graph: &Graph, library: &Library, task: &Task, target: Target) -> Chunked {
    let schedule = Schedule::new(graph, library, task, &target.prices());
    translate(&lower(&schedule, target.is_avx512), &schedule, target)
}

#[cfg(test)]
mod tests;
