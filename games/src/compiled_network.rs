//! A network as straight-line code, compiled for the CPU at hand: what batches and
//! single passes run.
//!
//! ```text
//! Network -> gates (cover) -> order (schedule) -> slots (code) -> interpreter
//!                                              -> registers and slots -> machine code
//! ```
//!
//! Each bit of a block of 64, 256 or 512 lanes belongs to a position, and each gate is
//! computed for all of them by a few instructions.

pub(crate) mod choice;
pub(crate) mod code;
mod cover;
pub(crate) mod ends;
pub(crate) mod features;
mod gates;
pub(crate) mod interpreter;
pub(crate) mod lanes;
pub(crate) mod machine;
pub(crate) mod packed;
pub(crate) mod parts;
mod random;
#[cfg(target_arch = "x86_64")]
pub(crate) mod registers;
pub(crate) mod schedule;
mod score;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide_register;
mod width;

use std::sync::{Arc, OnceLock};

pub use features::{UnknownVectors, check_vectors, vectors};
pub use machine::NoMachineCode;
pub use width::Width;

use self::choice::Choices;
use self::code::{Assembly, Code, assemble};
use self::cover::Prices;
use self::ends::Ends;
use self::gates::Library;
use self::machine::{Machine, Target};
use self::parts::{Part, Results};
use self::schedule::{FIRST, Schedule, Task};
use self::score::Score;
use crate::network::time_frames::TimeFrames;
use crate::network::{GoalValue, Lit, RoleOutputs};
use crate::{Network, RoleId};

/// A network as straight-line code in four parts: legal moves and the end of the game;
/// the next state, from facts and chosen moves; the goals; the percepts. The last two run
/// on request only. Shared by all batches.
#[derive(Debug)]
pub struct CompiledNetwork {
    pub(crate) network: Arc<Network>,
    /// What the first two parts compute, in two phases over common slots.
    pub(crate) task: Task,
    /// Which moves are legal, and whether the state is terminal.
    pub(crate) state: Code,
    /// The next state. Runs after `state`, over the same slots.
    pub(crate) next: Code,
    /// The slots of all moves' being made.
    pub(crate) all_does: std::ops::Range<usize>,
    pub(crate) choices: Choices,
    pub(crate) goals: Part,
    /// The goals of states whose end was just computed, if that is less work.
    pub(crate) score: Option<Score>,
    pub(crate) percepts: Part,
    pub(crate) percept_outputs: Vec<Vec<u32>>,
    pub(crate) results: Results,
    /// By width, if it was translated.
    machines: [OnceLock<Result<Arc<Machine>, NoMachineCode>>; 3],
    /// For playouts of 512 lanes.
    time_frames: OnceLock<Option<Arc<TimeFrames>>>,
    /// By time frame, for 512 lanes, if it was translated.
    frame_machines: OnceLock<Arc<[Machine]>>,
    /// For 512 lanes whose facts stay when the next state is computed, if it was translated.
    beside: OnceLock<Result<Arc<Machine>, NoMachineCode>>,
    /// As it is interpreted, and translated; made on first use.
    ends: [OnceLock<Arc<Ends>>; 2],
}

/// The size of a [`CompiledNetwork`].
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

impl CompiledNetwork {
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
        let goals = network.roles.iter().map(|role| role.goals.iter().map(|goal| goal.1));
        let goals = goals.map(Iterator::collect).collect();
        let (goals, goal_outputs) = Part::new(graph, &library, &inputs, goals);
        let score = Score::new(&network, &library, &goals);
        state.extend(score.iter().flat_map(|score| &score.taken));
        let task = Task {
            inputs,
            first_slot: rows.end,
            wanted: vec![state, network.next.clone()],
            fixed: vec![rows.legal],
            n_renewed: n_facts,
        };
        let Assembly { phases, outputs, n_slots } =
            assemble(Schedule::new(graph, &library, &task, &Prices::INTERPRETED));
        let [state, next]: [Code; 2] = phases.try_into().expect("two phases");
        let percepts = network.roles.iter().map(|role| role.percepts.iter().map(|sees| sees.1));
        let percepts = percepts.map(Iterator::collect).collect();
        let (percepts, percept_outputs) = Part::new(graph, &library, &task.inputs, percepts);
        let goal_slots = (&goals, goals.by_role(goal_outputs), goals.n_slots);
        let score_slots = score.as_ref().map(|Score { taken, part, outputs, .. }| {
            (taken.len(), part, outputs.clone(), part.n_slots)
        });
        let results = Results::new(outputs, n_slots, goal_slots, score_slots);
        Self {
            task,
            state,
            next,
            all_does: rows.all_does,
            choices: rows.choices,
            percept_outputs: percepts.by_role(percept_outputs),
            goals,
            score,
            percepts,
            results,
            machines: Default::default(),
            time_frames: OnceLock::new(),
            frame_machines: OnceLock::new(),
            beside: OnceLock::new(),
            ends: Default::default(),
            network,
        }
    }

    /// Translates it into machine code for batches of this width, unless that was done
    /// before. Existing batches use it from their next evaluation or playouts on, so
    /// another thread may translate while they run. The results are the same. It takes
    /// about as long as [`CompiledNetwork::new`]; 512 lanes take up to five times as long if
    /// there are [time frames](Self::n_time_frames), each of which has code of its own.
    ///
    /// # Errors
    /// If there is no machine code for this width or on this computer. Batches then keep
    /// interpreting.
    pub fn translate(&self, width: Width) -> Result<(), NoMachineCode> {
        let machine = &self.machines[width as usize];
        let made = machine.get_or_init(|| {
            let target = Target::detect(width)?;
            let (graph, score) = (&self.network.graph, self.score.as_ref());
            let machine = match width {
                Width::Lanes256 => Machine::new(graph, &self.in_rows(), &self.goals, None, target),
                _ => Machine::in_place(graph, &self.task, &self.goals, score, target),
            };
            machine.map(Arc::new)
        });
        let machine = made.as_ref().map_err(Clone::clone)?;
        if width == Width::Lanes512 {
            self.frame_machines.get_or_init(|| self.translate_frames(machine).into());
        }
        Ok(())
    }

    /// Code for playouts that are in the same time frame, by frame; none if there are no frames.
    fn translate_frames(&self, whole: &Machine) -> Vec<Machine> {
        let Some(time_frames) = self.time_frames(Width::Lanes512) else { return Vec::new() };
        let of_frame = |frame| {
            let target = Target::detect(Width::Lanes512)?;
            let (graph, score) = (&self.network.graph, self.score.as_ref());
            let frame = (frame, time_frames.starts());
            whole.of_frame(graph, &self.task, &self.goals, score, frame, target)
        };
        // They are of use together only.
        time_frames.frames().iter().map(of_frame).collect::<Result<_, _>>().unwrap_or_default()
    }

    /// By which playouts of this width are kept at the same steps, if that saves something.
    pub(crate) fn time_frames(&self, width: Width) -> Option<&Arc<TimeFrames>> {
        // Narrow batches are for few playouts.
        if width != Width::Lanes512 {
            return None;
        }
        self.time_frames.get_or_init(|| TimeFrames::new(&self.network).map(Arc::new)).as_ref()
    }

    /// The number of time frames of playouts: machine code for playouts at the same step leaves out
    /// what is known by then, such as whose turn it is. 0 if playouts start at any time: where
    /// frames save little, take too long to find, or the width is less than 512. The first call
    /// may take some tenths of a second.
    #[must_use]
    pub fn n_time_frames(&self, width: Width) -> usize {
        self.time_frames(width).map_or(0, |time_frames| time_frames.frames().len())
    }

    /// The machine code of each time frame for 512 lanes, if there is some by now.
    pub(crate) fn frame_machines(&self) -> Option<&Arc<[Machine]>> {
        self.frame_machines.get().filter(|machines| !machines.is_empty())
    }

    /// Translates it for 512 lanes whose facts stay when the next state is computed.
    pub(crate) fn translate_beside(&self) {
        self.beside.get_or_init(|| {
            let target = Target::detect(Width::Lanes512)?;
            let (graph, score) = (&self.network.graph, self.score.as_ref());
            Machine::new(graph, &self.task, &self.goals, score, target).map(Arc::new)
        });
    }

    /// What [`translate_beside`](Self::translate_beside) made, if it did.
    pub(crate) fn machine_beside(&self) -> Option<&Arc<Machine>> {
        self.beside.get()?.as_ref().ok()
    }

    /// The task with the next facts in consecutive slots, and without what only playouts read: for
    /// single passes. Batches take fewer slots without.
    fn in_rows(&self) -> Task {
        let mut task = self.task.clone();
        let end = task.first_slot + self.network.n_facts() as u32;
        task.fixed.push((task.first_slot..end).collect());
        let n_taken = self.score.as_ref().map_or(0, |score| score.taken.len());
        let n_read = task.wanted[0].len() - n_taken;
        task.wanted[0].truncate(n_read);
        Task { first_slot: end, ..task }
    }

    /// The machine code for a width, if there is some by now.
    #[inline]
    pub(crate) fn machine(&self, width: Width) -> Option<&Arc<Machine>> {
        let made = self.machines[width as usize].get().and_then(|made| made.as_ref().ok());
        made.or_else(|| self.machine_beside().filter(|_| width == Width::Lanes512))
    }

    /// Code for ends and goals alone of next states; as machine code for 256 lanes if
    /// `is_translated`. `network` is the one that it was made from or, if that is a cofactor, what
    /// it is a cofactor of: always the same.
    pub(crate) fn ends(&self, network: &Network, is_translated: bool) -> &Arc<Ends> {
        self.ends[usize::from(is_translated)]
            .get_or_init(|| Arc::new(Ends::new(network, self, is_translated)))
    }

    /// How many bytes of machine code there are for batches of this width; 0 if
    /// it was not translated.
    #[must_use]
    pub fn n_machine_code_bytes(&self, width: Width) -> usize {
        let machines = self.frame_machines().filter(|_| width == Width::Lanes512);
        let of_frames = machines.into_iter().flat_map(|machines| machines.iter());
        let of_frames: usize = of_frames.map(Machine::n_own_bytes).sum();
        self.machine(width).map_or(0, |machine| machine.n_bytes()) + of_frames
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
    pub(crate) fn fact(&self, fact: usize) -> usize {
        FIRST as usize + fact
    }

    /// The slot of whether a move is made.
    pub(crate) fn does(&self, role: RoleId, index: usize) -> usize {
        self.task.inputs[self.network.first_move(role) + index] as usize
    }

    /// The slot of whether a move is legal.
    pub(crate) fn legal(&self, role: RoleId, index: usize) -> usize {
        self.task.fixed[0][self.network.first_move(role) - self.network.n_facts() + index] as usize
    }

    /// The values that the goal of a role may take.
    pub(crate) fn goal_values(&self, role: usize) -> impl Iterator<Item = GoalValue> + '_ {
        self.network.goal_values(role)
    }
}

/// Where moves are: in rows of slots for [`Choices`]. Moves that are never legal come
/// last, since `Choices` does not use them.
struct Rows {
    choices: Choices,
    /// By move: the slot of whether it is legal.
    legal: Vec<u32>,
    /// By move: the slot of whether it is made.
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
