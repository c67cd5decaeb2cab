//! What a batch does, for each width.

use std::sync::Arc;

use super::choice::{Choose, Chooser};
use super::code::{ALL, Code};
use super::features::{self, Kernel};
use super::interpreter::Interpret;
use super::lanes::Block;
use super::playouts::{Limits, Playouts, Run};
use super::program::{Part, Program};
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
    fn goal(&self, slot: u32) -> &[u64];
    /// By role and percept: its lanes, as last computed.
    fn percept(&self, slot: u32) -> &[u64];
    /// Plays at random.
    fn playouts(&mut self, from: &State, limits: &Limits) -> Playouts;
}

/// Slots of one width.
pub(super) struct Slots<B: Block> {
    pub(super) program: Arc<Program>,
    pub(super) slots: Vec<B>,
    pub(super) chooser: Chooser<B>,
    /// The lanes whose moves are chosen.
    pub(super) moving: B,
    pub(super) goals: Vec<B>,
    percepts: Vec<B>,
}

impl<B: Block> Slots<B> {
    pub(super) fn new(program: Arc<Program>, seed: u64) -> Self {
        let slots = |n| {
            let mut slots = vec![B::NONE; n];
            slots[ALL as usize] = B::ALL;
            slots
        };
        Self {
            slots: slots(program.n_slots),
            chooser: Chooser::new(&program.choices, seed),
            moving: B::NONE,
            goals: slots(program.goals.n_slots),
            percepts: slots(program.percepts.n_slots),
            program,
        }
    }

    #[inline]
    pub(super) fn execute(code: &Code, slots: &mut [B]) {
        features::run(Interpret { code, slots });
    }

    /// Chooses in some lanes; gives those where every role could.
    #[inline]
    pub(super) fn choose(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving = features::run(Choose { choices, chooser, slots, lanes });
        self.moving
    }

    /// Computes a part from the slots as they are.
    fn compute(part: &Part, from: &[B], to: &mut [B]) {
        for [source, target] in &part.inputs {
            to[*target as usize] = from[*source as usize];
        }
        Self::execute(&part.code, to);
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
        Self::execute(&self.program.state, &mut self.slots);
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
        Self::execute(&self.program.next, &mut self.slots);
        features::run(Commit {
            slots: &mut self.slots,
            first: self.program.fact(0),
            next: &self.program.next_facts,
            origin: None,
            renewed: !self.moving,
        });
        self.clear_choices();
    }

    fn evaluate_goals(&mut self) {
        Self::compute(&self.program.goals, &self.slots, &mut self.goals);
    }

    fn evaluate_percepts(&mut self) {
        Self::compute(&self.program.percepts, &self.slots, &mut self.percepts);
    }

    fn goal(&self, slot: u32) -> &[u64] {
        self.goals[slot as usize].words()
    }

    fn percept(&self, slot: u32) -> &[u64] {
        self.percepts[slot as usize].words()
    }

    fn playouts(&mut self, from: &State, limits: &Limits) -> Playouts {
        features::run(Run::new(self, from, limits))
    }
}
