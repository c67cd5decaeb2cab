//! The slots of a batch and what computes them.

use std::sync::Arc;

use crate::PlayoutPolicy;
use crate::compiled_network::choice::{Choose, Chooser};
use crate::compiled_network::code::Code;
use crate::compiled_network::features::{self, Kernel};
use crate::compiled_network::interpreter::Interpret;
use crate::compiled_network::lanes::Block;
use crate::compiled_network::machine::Machine;
use crate::compiled_network::parts::{Part, Results};
use crate::compiled_network::schedule::ALL;
use crate::compiled_network::{CompiledNetwork, Width};

/// Slots of one width.
pub(crate) struct Slots<B: Block> {
    pub(crate) program: Arc<CompiledNetwork>,
    width: Width,
    proof: B::Proof,
    /// What runs in place of the program's own code.
    pub(crate) machine: Option<Arc<Machine>>,
    pub(crate) slots: Vec<B>,
    pub(crate) chooser: Chooser<B>,
    /// The lanes whose moves are chosen.
    pub(crate) moving: B,
    /// By place of a move among the choices: the lanes in which it was chosen by the policy
    /// that was set last. Empty before one was set.
    pub(super) made: Vec<B>,
    pub(crate) goals: Vec<B>,
    pub(crate) percepts: Vec<B>,
}

/// All slots empty but the one of all lanes.
fn empty_slots<B: Block>(n: usize, proof: B::Proof) -> Vec<B> {
    let mut slots = vec![B::none(proof); n];
    slots[ALL as usize] = B::all(proof);
    slots
}

impl<B: Block> Slots<B> {
    pub(crate) fn new(
        program: Arc<CompiledNetwork>,
        width: Width,
        seed: u64,
        proof: B::Proof,
    ) -> Self {
        Self {
            width,
            proof,
            machine: None,
            slots: empty_slots(program.results.n_slots, proof),
            chooser: Chooser::new(&program.choices, seed, proof),
            moving: B::none(proof),
            made: Vec::new(),
            goals: empty_slots(program.results.n_goal_slots, proof),
            percepts: empty_slots(program.percepts.n_slots, proof),
            program,
        }
    }

    /// Switches to machine code once there is some. Only between steps: the code for the
    /// next state may read values that the same code left when it computed legal moves.
    pub(crate) fn renew_machine(&mut self) {
        if self.machine.is_some() {
            return;
        }
        if let Some(machine) = self.program.machine(self.width) {
            let Results { n_slots, n_goal_slots, .. } = machine.results;
            let none = self.moving.empty();
            self.slots.resize(n_slots.max(self.slots.len()), none);
            self.goals.resize(n_goal_slots.max(self.goals.len()), none);
            self.machine = Some(machine.clone());
        }
    }

    /// Begins the random numbers of another seed.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.chooser.reseed(seed, self.proof);
    }

    /// Takes over a policy for [`choose_by_policy`](Self::choose_by_policy), and begins to note
    /// the moves that are chosen by it.
    pub(super) fn set_policy(&mut self, policy: &PlayoutPolicy) {
        self.chooser.prefer(&self.program.choices, policy, self.proof);
        self.made.clear();
        self.made.resize(self.program.choices.n_places(), B::none(self.proof));
    }

    /// Where results are.
    #[inline(always)]
    pub(crate) fn results(&self) -> &Results {
        self.machine.as_ref().map_or(&self.program.results, |machine| &machine.results)
    }

    /// Computes legal moves and terminal lanes.
    #[inline(always)]
    pub(crate) fn compute_state(&mut self) {
        match &self.machine {
            Some(machine) => machine.state.run(&mut self.slots),
            None => interpret(&self.program.state, &mut self.slots),
        }
    }

    /// Computes the next state.
    #[inline(always)]
    pub(crate) fn compute_next(&mut self) {
        match &self.machine {
            Some(machine) => machine.next.run(&mut self.slots),
            None => interpret(&self.program.next, &mut self.slots),
        }
    }

    /// Computes goals from their inputs.
    #[inline(always)]
    pub(crate) fn compute_goals(&mut self) {
        match &self.machine {
            Some(machine) => machine.goals.run(&mut self.goals),
            None => interpret(&self.program.goals.code, &mut self.goals),
        }
    }

    /// Computes goals from the inputs that the code for the state leaves for that.
    #[inline(always)]
    pub(super) fn compute_score(&mut self) {
        let machine = self.machine.as_ref().map(|machine| &machine.score);
        match (machine, &self.program.score) {
            (_, None) => self.compute_goals(),
            (Some(Some(routine)), _) => routine.run(&mut self.goals),
            (_, Some(score)) => interpret(&score.part.code, &mut self.goals),
        }
    }

    /// Chooses in some lanes; gives those where every role could.
    #[inline]
    pub(crate) fn choose(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving = features::run(Choose::<_, false> { choices, chooser, slots, lanes });
        self.moving
    }

    /// The same by the policy that was set, and notes the moves.
    #[inline]
    pub(super) fn choose_by_policy(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving = features::run(Choose::<_, true> { choices, chooser, slots, lanes });
        choices.note(&self.chooser, &self.slots, &mut self.made);
        self.moving
    }
}

#[inline]
pub(crate) fn interpret<B: Block>(code: &Code, slots: &mut [B]) {
    features::run(Interpret { code, slots });
}

/// Copies the inputs of a part from the slots as they are.
pub(crate) fn copy_inputs<B: Block>(part: &Part, from: &[B], to: &mut [B]) {
    for [source, target] in &part.inputs {
        to[*target as usize] = from[*source as usize];
    }
}

/// Replaces facts by their next values in some lanes, and by an origin in the others.
pub(crate) struct Commit<'a, B> {
    pub(crate) slots: &'a mut [B],
    /// The slot of the first fact.
    pub(crate) first: usize,
    /// By fact: the slot of its next value.
    pub(crate) next: &'a [u32],
    /// By fact: its value in `renewed`; `None` if it stays there.
    pub(crate) origin: Option<&'a [B]>,
    /// The lanes that do not take the next state.
    pub(crate) renewed: B,
}

impl<B: Block> Kernel for Commit<'_, B> {
    type Output = ();
    const IN_REGISTERS: bool = B::IN_REGISTERS;

    #[inline(always)]
    fn run(self) {
        let kept = !self.renewed;
        if !self.renewed.any() {
            for (at, &next) in self.next.iter().enumerate() {
                self.slots[self.first + at] = self.slots[next as usize];
            }
        } else if let Some(origin) = self.origin {
            for (at, (&next, &origin)) in self.next.iter().zip(origin).enumerate() {
                let value = self.slots[next as usize] & kept | origin & self.renewed;
                self.slots[self.first + at] = value;
            }
        } else {
            // No fact's next value is in another fact's slot.
            for (at, &next) in self.next.iter().enumerate() {
                let next = self.slots[next as usize] & kept;
                let fact = &mut self.slots[self.first + at];
                *fact = next | *fact & self.renewed;
            }
        }
    }
}
