//! What a batch does, for each width.

use std::sync::Arc;

use super::Width;
use super::choice::{Choose, Chooser};
use super::code::{ALL, Code};
use super::features::{self, Kernel};
use super::interpreter::Interpret;
use super::lanes::Block;
use super::machine::Machine;
use super::playouts::{Course, Limits, Playouts, Run};
use super::program::{Part, Program, Results};
use super::transpose::transpose;
use crate::State;

/// What the public face of a batch asks, whatever the width.
pub(super) trait Core: Send {
    /// A slot's lanes.
    fn slot(&self, slot: usize) -> &[u64];
    /// A slot's lanes, to be changed.
    fn slot_mut(&mut self, slot: usize) -> &mut [u64];
    /// Puts the same state into all lanes.
    fn fill(&mut self, state: &State);
    /// Puts states into lanes from `first` on.
    fn load(&mut self, first: usize, states: &[State]);
    /// Reads the state of a lane.
    fn state(&self, lane: usize) -> State;
    /// Computes legal moves and the end.
    fn evaluate(&mut self);
    /// The lanes at their end, as last computed.
    fn terminal(&self) -> &[u64];
    /// Chooses in each of these lanes; gives those where every role could.
    fn choose_at_random(&mut self, lanes: &[u64]) -> &[u64];
    /// Forgets the choices of all lanes.
    fn clear_choices(&mut self);
    /// The lanes that have moves.
    fn moving_mut(&mut self) -> &mut [u64];
    /// Makes the moves of the lanes that have some.
    fn advance(&mut self);
    /// Computes the goals of all lanes.
    fn evaluate_goals(&mut self);
    /// Computes the percepts of all lanes.
    fn evaluate_percepts(&mut self);
    /// By role and value: its lanes, as last computed.
    fn goal(&self, role: usize, index: usize) -> &[u64];
    /// By role and percept: its lanes, as last computed.
    fn percept(&self, role: usize, index: usize) -> &[u64];
    /// Plays at random.
    fn playouts(
        &mut self,
        from: &State,
        limits: &Limits,
        watch: &mut dyn FnMut(&Playouts) -> Course,
    ) -> Playouts;
}

/// Slots of one width.
pub(super) struct Slots<B: Block> {
    pub(super) program: Arc<Program>,
    width: Width,
    /// What runs in place of the program's own code.
    machine: Option<Arc<Machine>>,
    pub(super) slots: Vec<B>,
    pub(super) chooser: Chooser<B>,
    /// The lanes whose moves are chosen.
    pub(super) moving: B,
    pub(super) goals: Vec<B>,
    percepts: Vec<B>,
}

/// All slots empty but the one of all lanes.
fn empty_slots<B: Block>(n: usize) -> Vec<B> {
    let mut slots = vec![B::NONE; n];
    slots[ALL as usize] = B::ALL;
    slots
}

impl<B: Block> Slots<B> {
    pub(super) fn new(program: Arc<Program>, width: Width, seed: u64) -> Self {
        Self {
            width,
            machine: None,
            slots: empty_slots(program.results.n_slots),
            chooser: Chooser::new(&program.choices, seed),
            moving: B::NONE,
            goals: empty_slots(program.results.n_goal_slots),
            percepts: empty_slots(program.percepts.n_slots),
            program,
        }
    }

    /// Uses machine code from now on if there is some by now. Only between
    /// steps: what computes the next state may read what the same code left
    /// when it computed what is legal.
    pub(super) fn renew_machine(&mut self) {
        if self.machine.is_some() {
            return;
        }
        if let Some(machine) = self.program.machine(self.width) {
            let Results { n_slots, n_goal_slots, .. } = machine.results;
            self.slots.resize(n_slots.max(self.slots.len()), B::NONE);
            self.goals.resize(n_goal_slots.max(self.goals.len()), B::NONE);
            self.machine = Some(machine.clone());
        }
    }

    /// Where results are.
    #[inline(always)]
    pub(super) fn results(&self) -> &Results {
        self.machine.as_ref().map_or(&self.program.results, |machine| &machine.results)
    }

    /// Computes what is legal, and whether it is the end.
    #[inline(always)]
    pub(super) fn compute_state(&mut self) {
        match &self.machine {
            Some(machine) => machine.state.run(&mut self.slots),
            None => interpret(&self.program.state, &mut self.slots),
        }
    }

    /// Computes what is next.
    #[inline(always)]
    pub(super) fn compute_next(&mut self) {
        match &self.machine {
            Some(machine) => machine.next.run(&mut self.slots),
            None => interpret(&self.program.next, &mut self.slots),
        }
    }

    /// Computes goals from their inputs.
    #[inline(always)]
    pub(super) fn compute_goals(&mut self) {
        match &self.machine {
            Some(machine) => machine.goals.run(&mut self.goals),
            None => interpret(&self.program.goals.code, &mut self.goals),
        }
    }

    /// Chooses in some lanes; gives those where every role could.
    #[inline]
    pub(super) fn choose(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving = features::run(Choose { choices, chooser, slots, lanes });
        self.moving
    }
}

#[inline]
fn interpret<B: Block>(code: &Code, slots: &mut [B]) {
    features::run(Interpret { code, slots });
}

/// Copies the inputs of a part from the slots as they are.
fn copy_inputs<B: Block>(part: &Part, from: &[B], to: &mut [B]) {
    for [source, target] in &part.inputs {
        to[*target as usize] = from[*source as usize];
    }
}

/// Replaces facts by their next values in some lanes, and by others in others.
pub(super) struct Commit<'a, B> {
    pub(super) slots: &'a mut [B],
    /// The slot of the first fact.
    pub(super) first: usize,
    /// By fact: the slot of its next value.
    pub(super) next: &'a [u32],
    /// By fact: what it becomes in `renewed`; what it is, if `None`.
    pub(super) origin: Option<&'a [B]>,
    /// The lanes that do not become what is next.
    pub(super) renewed: B,
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

impl<B: Block> Core for Slots<B> {
    fn slot(&self, slot: usize) -> &[u64] {
        self.slots[slot].words()
    }

    fn slot_mut(&mut self, slot: usize) -> &mut [u64] {
        self.slots[slot].words_mut()
    }

    fn fill(&mut self, state: &State) {
        for fact in 0..self.program.network.n_facts() {
            let holds = self.program.network.holds(state, fact);
            self.slots[self.program.fact(fact)] = if holds { B::ALL } else { B::NONE };
        }
    }

    fn load(&mut self, first: usize, states: &[State]) {
        let n_facts = self.program.network.n_facts();
        let mut lane = first;
        while lane < first + states.len() {
            // All states for this word of lanes, a word of their facts at a time.
            let until = (lane / 64 * 64 + 64).min(first + states.len());
            let written = (lane..until).fold(0, |lanes, lane| lanes | 1_u64 << (lane % 64));
            for word in 0..n_facts.div_ceil(64) {
                let mut rows = [0; 64];
                for lane in lane..until {
                    rows[lane % 64] = states[lane - first].words[word];
                }
                transpose(&mut rows);
                for (fact, row) in (word * 64..n_facts.min(word * 64 + 64)).zip(rows) {
                    let to = &mut self.slots[self.program.fact(fact)].words_mut()[lane / 64];
                    *to = *to & !written | row;
                }
            }
            lane = until;
        }
    }

    fn state(&self, lane: usize) -> State {
        let holds = |fact| self.slots[self.program.fact(fact)].has(lane);
        self.program.network.state_where(holds)
    }

    fn evaluate(&mut self) {
        self.renew_machine();
        self.compute_state();
    }

    fn choose_at_random(&mut self, lanes: &[u64]) -> &[u64] {
        let mut wanted = B::NONE;
        wanted.words_mut().copy_from_slice(lanes);
        self.choose(wanted);
        self.moving.words()
    }

    fn clear_choices(&mut self) {
        for slot in self.program.all_does.clone() {
            self.slots[slot] = B::NONE;
        }
        self.moving = B::NONE;
        self.chooser.forget();
    }

    fn moving_mut(&mut self) -> &mut [u64] {
        // Whoever asks has written choices.
        self.chooser.forget();
        self.moving.words_mut()
    }

    fn advance(&mut self) {
        self.compute_next();
        let results = self.machine.as_ref().map_or(&self.program.results, |m| &m.results);
        features::run(Commit {
            slots: &mut self.slots,
            first: self.program.fact(0),
            next: &results.next_facts,
            origin: None,
            renewed: !self.moving,
        });
        self.clear_choices();
    }

    fn evaluate_goals(&mut self) {
        copy_inputs(&self.program.goals, &self.slots, &mut self.goals);
        self.compute_goals();
    }

    fn evaluate_percepts(&mut self) {
        copy_inputs(&self.program.percepts, &self.slots, &mut self.percepts);
        interpret(&self.program.percepts.code, &mut self.percepts);
    }

    fn terminal(&self) -> &[u64] {
        self.slots[self.results().terminal as usize].words()
    }

    fn goal(&self, role: usize, index: usize) -> &[u64] {
        self.goals[self.results().goals[role][index] as usize].words()
    }

    fn percept(&self, role: usize, index: usize) -> &[u64] {
        self.percepts[self.program.percept_outputs[role][index] as usize].words()
    }

    fn playouts(
        &mut self,
        from: &State,
        limits: &Limits,
        watch: &mut dyn FnMut(&Playouts) -> Course,
    ) -> Playouts {
        self.renew_machine();
        features::run(Run::new(self, from, limits, watch))
    }
}
