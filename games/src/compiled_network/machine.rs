//! Programs as machine code of this CPU.
//!
//! ```text
//! Schedule -> operations -> registers and slots -> bytes -> executable pages
//! ```
//!
//! Code for AVX2 has one instruction for each AND, AND-NOT, OR or XOR; code for AVX-512 one for
//! each gate of three operands. Code for single words uses general registers (`general`), and
//! copies a value first where an instruction would overwrite it too early. Most of what it gains
//! over the [`interpreter`](super::interpreter) is that values which are used soon again stay in
//! registers (`allocate`). A block that is wider than a register is computed in pieces: the code is
//! cut into chunks that fit the CPU's instruction caches, each of which runs once for every piece.
//!
//! Whatever is computed here the interpreter computes too, and tests hold one
//! against the other. Only `pages` and `routine` are unsafe.

mod allocate;
mod encode;
mod error;
mod general;
mod in_frame;
mod operands;
mod operations;
mod pages;
mod renewal;
mod routine;
mod target;

pub use error::NoMachineCode;

pub(crate) use routine::Routine;
pub(crate) use target::Target;

use std::sync::Arc;

use self::allocate::{Chunked, Chunks, translate};
use self::in_frame::in_frame;
use self::operations::lower;
use self::renewal::with_masks;
use super::gates::Library;
use super::parts::{Part, Results};
use super::schedule::{Schedule, Task};
use super::score::Score;
use crate::network::Graph;
use crate::network::time_frames::{Starts, TimeFrame};

/// A program as machine code.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) state: Routine,
    pub(crate) next: Routine,
    pub(crate) goals: Arc<Routine>,
    /// The goals of ended playouts, if not by the same code.
    pub(crate) score: Option<Arc<Routine>>,
    pub(crate) results: Results,
}

impl Machine {
    pub(crate) fn new(
        graph: &Graph,
        task: &Task,
        goals_part: &Part,
        score: Option<&Score>,
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        let main = TaskMachine::new(graph, task, target)?;
        Self::with_task(main, goals_part, graph, score, target)
    }

    /// As [`new`](Self::new), for batches that play on: the next facts take the slots of the
    /// facts, by lanes as [`InPlace`] says.
    pub(crate) fn in_place(
        graph: &Graph,
        task: &Task,
        goals_part: &Part,
        score: Option<&Score>,
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        let main = TaskMachine::of(generate_in_place(graph, task, false, target), target)?;
        let machine = Self::with_task(main, goals_part, graph, score, target)?;
        Ok(Self { results: machine.results.in_place(task), ..machine })
    }

    /// As this one, which is [in place](Self::in_place), for positions of a time frame.
    pub(crate) fn of_frame(
        &self,
        graph: &Graph,
        task: &Task,
        goals_part: &Part,
        score: Option<&Score>,
        (frame, starts): (&TimeFrame, Starts),
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        let (graph, task) = in_frame(graph, task, frame);
        // If all playouts start together, no facts have to be cleared for lanes that start. Else
        // even known ones have to be: what is known at a later step may be false at the first.
        let leaves = starts == Starts::Together;
        let main = TaskMachine::of(generate_in_place(&graph, &task, leaves, target), target)?;
        let Results { goals, n_goal_slots, score: scored, .. } = &self.results;
        let score = score
            .map(|score| (score.taken.len(), &score.part, scored.goals.clone(), *n_goal_slots));
        let goals = (goals_part, goals.clone(), *n_goal_slots);
        let results = Results::new(main.outputs, main.n_slots, goals, score).in_place(&task);
        let [state, next] = main.routines.try_into().expect("two phases");
        Ok(Self { state, next, goals: self.goals.clone(), score: self.score.clone(), results })
    }

    fn with_task(
        main: TaskMachine,
        goals_part: &Part,
        graph: &Graph,
        score: Option<&Score>,
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        let PartMachine { routine: goals, outputs, n_slots } =
            PartMachine::new(graph, goals_part, target)?;
        let goal_slots = (goals_part, outputs, n_slots);
        let (score, score_slots) = match score {
            None => (None, None),
            Some(score) => {
                let PartMachine { routine, outputs, n_slots } =
                    PartMachine::new(&score.graph, &score.part, target)?;
                (Some(Arc::new(routine)), Some((score.taken.len(), &score.part, outputs, n_slots)))
            }
        };
        let results = Results::new(main.outputs, main.n_slots, goal_slots, score_slots);
        let [state, next] = main.routines.try_into().expect("two phases");
        Ok(Self { state, next, goals: Arc::new(goals), score, results })
    }

    /// Bytes of code.
    pub(crate) fn n_bytes(&self) -> usize {
        let shared = std::iter::once(&self.goals).chain(&self.score);
        self.n_own_bytes() + shared.map(|routine| routine.n_bytes()).sum::<usize>()
    }

    /// Those that no machine of another time frame has.
    pub(crate) fn n_own_bytes(&self) -> usize {
        self.state.n_bytes() + self.next.n_bytes()
    }
}

/// All phases of a task as machine code.
#[derive(Debug)]
pub(crate) struct TaskMachine {
    pub(crate) routines: Vec<Routine>,
    /// By phase: the slots of the outputs.
    pub(crate) outputs: Vec<Vec<u32>>,
    pub(crate) n_slots: usize,
}

impl TaskMachine {
    pub(crate) fn new(graph: &Graph, task: &Task, target: Target) -> Result<Self, NoMachineCode> {
        Self::of(generate(graph, &Library::new(), task, target), target)
    }

    fn of(chunked: Chunked, target: Target) -> Result<Self, NoMachineCode> {
        let Chunked { phases, outputs, n_slots } = chunked;
        let routine = |chunks| Routine::new(chunks, n_slots, target);
        let routines = phases.into_iter().map(routine).collect::<Result<_, _>>()?;
        Ok(Self { routines, outputs, n_slots })
    }
}

/// Functions for tasks of one phase over common slots, and the number of slots.
pub(crate) fn functions(
    tasks: impl IntoIterator<Item = (Graph, Task)>,
    target: Target,
) -> Result<(Routine, usize), NoMachineCode> {
    let library = Library::new();
    let mut all = Chunks::default();
    let mut most = 0;
    for (graph, task) in tasks {
        let Chunked { phases, n_slots, .. } = generate(&graph, &library, &task, target);
        let [chunks] = phases.try_into().expect("one phase");
        let [start] = chunks.starts.try_into().expect("one function for each task");
        all.bytes.resize(all.bytes.len().next_multiple_of(64), 0xCC);
        all.starts.push(all.bytes.len() + start);
        all.bytes.extend(chunks.bytes);
        most = most.max(n_slots);
    }
    Ok((Routine::new(all, most, target)?, most))
}

/// A part as machine code.
#[derive(Debug)]
pub(crate) struct PartMachine {
    pub(crate) routine: Routine,
    /// By role: the slots of the outputs.
    pub(crate) outputs: Vec<Vec<u32>>,
    pub(crate) n_slots: usize,
}

impl PartMachine {
    pub(crate) fn new(graph: &Graph, part: &Part, target: Target) -> Result<Self, NoMachineCode> {
        let TaskMachine { routines, outputs, n_slots } =
            TaskMachine::new(graph, &part.task, target)?;
        let [routine] = routines.try_into().expect("one phase");
        Ok(Self { routine, outputs: part.by_role(outputs), n_slots })
    }
}

/// Code of all phases of a task whose inputs are renewed in place. The
/// two slots after those of the task are masks: the lanes that take the next values, and those that
/// keep the old ones. If it `leaves` facts, those whose next values are the old ones are left alone
/// in all lanes.
fn generate_in_place(graph: &Graph, task: &Task, leaves: bool, target: Target) -> Chunked {
    let (graph, task) = with_masks(graph, task, leaves);
    let mut schedule = Schedule::new(&graph, &Library::new(), &task, &target.prices());
    schedule.renew_in_place(task.n_renewed);
    translate(&lower(&schedule, target.is_avx512), &schedule, target)
}

/// Code of all phases of a task.
fn generate(graph: &Graph, library: &Library, task: &Task, target: Target) -> Chunked {
    let schedule = Schedule::new(graph, library, task, &target.prices());
    translate(&lower(&schedule, target.is_avx512), &schedule, target)
}

#[cfg(test)]
mod tests;
