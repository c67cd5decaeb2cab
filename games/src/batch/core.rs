//! The operations of a batch, for each width.

use std::ops::Range;

use smallvec::smallvec;

use super::in_frames::{InFrames, Joining};
use super::last_steps::{LastSteps, PlayedOut, Watch};
use super::playouts::{Limits, PlayoutControl, Playouts, Run};
use super::slots::{Advance, Slots, copy_inputs};
use super::transpose::transpose;
use crate::State;
use crate::compiled_network::features;
use crate::compiled_network::interpreter::interpret;
use crate::compiled_network::lanes::Lanes;

/// The operations that [`Batch`](super::Batch) needs, whatever the width.
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
    /// Begins the random numbers of another seed.
    fn reseed(&mut self, seed: u64);
    /// Lets playouts begin at any time.
    fn start_at_any_time(&mut self);
    /// Plays each state to the end in the same number of adjacent lanes, beginning with the first
    /// lane.
    fn play_out(
        &mut self,
        states: &[State],
        per_state: usize,
        max_length: u32,
        watch: &mut Watch<'_>,
    ) -> PlayedOut;
    /// The lanes in which a move was made while lanes were played by a policy, by its place
    /// among the choices.
    fn made(&self, place: usize) -> &[u64];
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
        watch: &mut dyn FnMut(&Playouts) -> PlayoutControl,
    ) -> Playouts;
}

impl<B: Lanes> Core for Slots<B> {
    fn slot(&self, slot: usize) -> &[u64] {
        self.slots[slot].words()
    }

    fn slot_mut(&mut self, slot: usize) -> &mut [u64] {
        self.slots[slot].words_mut()
    }

    fn fill(&mut self, state: &State) {
        let (none, all) = (self.moving.empty(), self.moving.full());
        for fact in 0..self.program.network.n_facts() {
            let holds = self.program.network.holds(state, fact);
            self.slots[self.program.fact(fact)] = if holds { all } else { none };
        }
    }

    fn load(&mut self, first: usize, states: &[State]) {
        self.load_lanes(first..first + states.len(), |lane| &states[lane - first]);
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
        let mut wanted = self.moving.empty();
        wanted.words_mut().copy_from_slice(lanes);
        self.choose(wanted);
        self.moving.words()
    }

    fn clear_choices(&mut self) {
        for slot in self.program.all_does.clone() {
            self.slots[slot] = self.moving.empty();
        }
        self.moving = self.moving.empty();
        self.chooser.forget();
    }

    fn moving_mut(&mut self) -> &mut [u64] {
        // The caller writes choices.
        self.chooser.forget();
        self.moving.words_mut()
    }

    fn advance(&mut self) {
        let moving = self.moving;
        features::run(Advance { slots: self, moving }, moving.proof());
        self.clear_choices();
    }

    fn reseed(&mut self, seed: u64) {
        Slots::reseed(self, seed);
    }

    fn play_out(
        &mut self,
        states: &[State],
        per_state: usize,
        max_length: u32,
        watch: &mut Watch<'_>,
    ) -> PlayedOut {
        self.renew_machine();
        let n_lanes = states.len() * per_state;
        self.load_lanes(0..n_lanes, |lane| &states[lane / per_state]);
        self.clear_choices();
        if let Some(policy) = watch.policy {
            self.set_policy(policy);
        }
        let lanes = |lanes: Range<usize>| {
            let mut some = self.moving.empty();
            lanes.for_each(|lane| some.words_mut()[lane / 64] |= 1 << (lane % 64));
            some
        };
        let of_start = |start| lanes(start * per_state..(start + 1) * per_state);
        let found = self
            .time_frames()
            .and_then(|time_frames| InFrames::from_each(time_frames, states, of_start));
        let (in_frames, joining) = match found {
            Some((in_frames, joining)) => (Some(in_frames), joining),
            None => (None, smallvec![Joining { wait: 0, lanes: lanes(0..n_lanes) }]),
        };
        let running = self.moving.empty();
        let played = features::run(
            LastSteps { slots: self, running, joining, in_frames, max_length, watch },
            running.proof(),
        );
        self.clear_choices();
        played
    }

    fn start_at_any_time(&mut self) {
        self.starts_at_any_time = true;
    }

    fn made(&self, place: usize) -> &[u64] {
        self.made[place].words()
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
        Slots::terminal(self).words()
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
        watch: &mut dyn FnMut(&Playouts) -> PlayoutControl,
    ) -> Playouts {
        self.renew_machine();
        let proof = self.moving.proof();
        features::run(Run::new(self, from, limits, watch), proof)
    }
}

impl<B: Lanes> Slots<B> {
    /// Puts states into these lanes.
    fn load_lanes<'s>(&mut self, lanes: Range<usize>, state: impl Fn(usize) -> &'s State) {
        let n_facts = self.program.network.n_facts();
        let mut lane = lanes.start;
        while lane < lanes.end {
            // All states for this word of lanes, a word of their facts at a time.
            let until = (lane / 64 * 64 + 64).min(lanes.end);
            let written = (lane..until).fold(0, |lanes, lane| lanes | 1_u64 << (lane % 64));
            for word in 0..n_facts.div_ceil(64) {
                let mut rows = [0; 64];
                for lane in lane..until {
                    rows[lane % 64] = state(lane).words[word];
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
}
