//! The slots of a batch and what computes them.

use std::cell::Cell;
use std::sync::Arc;

use super::translation::Translation;
use crate::compiled_network::choice::{Choose, Chooser};
use crate::compiled_network::features::{self, Kernel};
use crate::compiled_network::interpreter::interpret;
use crate::compiled_network::lanes::Lanes;
use crate::compiled_network::machine::Machine;
use crate::compiled_network::parts::{Part, Results};
use crate::compiled_network::schedule::ALL;
use crate::compiled_network::{CompiledNetwork, Width};
use crate::network::time_frames::TimeFrames;
use crate::{Network, PlayoutPolicy, State};

/// Slots of one width.
pub(crate) struct Slots<B: Lanes> {
    pub(crate) program: Arc<CompiledNetwork>,
    width: Width,
    proof: B::Proof,
    pub(super) translation: Translation,
    /// Playouts are not kept in time frames.
    pub(super) starts_at_any_time: bool,
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

/// The state that playouts start from.
pub(super) struct Origin {
    /// By fact: whether it holds.
    pub(super) holds: Vec<bool>,
    /// The facts that hold.
    facts: Vec<usize>,
}

impl Origin {
    pub(super) fn new(network: &Network, state: &State) -> Self {
        let holds: Vec<bool> =
            (0..network.n_facts()).map(|fact| network.holds(state, fact)).collect();
        let facts = (0..holds.len()).filter(|&fact| holds[fact]).collect();
        Self { holds, facts }
    }
}

/// All slots empty but the one of all lanes.
fn empty_slots<B: Lanes>(n: usize, proof: B::Proof) -> Vec<B> {
    let mut slots = vec![B::none(proof); n];
    slots[ALL as usize] = B::all(proof);
    slots
}

impl<B: Lanes> Slots<B> {
    pub(crate) fn new(
        program: Arc<CompiledNetwork>,
        width: Width,
        seed: u64,
        proof: B::Proof,
    ) -> Self {
        Self {
            width,
            proof,
            translation: Translation::default(),
            starts_at_any_time: false,
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
    pub(super) fn renew_machine(&mut self) {
        // A caller's panic may have ended playouts in a frame.
        self.enter_frame(None);
        if !self.is_translated()
            && let Some(machine) = self.program.machine(self.width).cloned()
        {
            self.take_machine(machine);
        }
        if self.translation.of_frames.is_none()
            && self.width == Width::Lanes512
            && let Some(machines) = self.program.frame_machines().cloned()
        {
            machines.iter().for_each(|machine| self.make_room(&machine.results));
            self.translation.of_frames = Some(machines);
        }
    }

    /// By which playouts are kept at the same steps; also where there is no machine code, so that
    /// equal seeds play equal games on all CPUs.
    pub(super) fn time_frames(&self) -> Option<&Arc<TimeFrames>> {
        if self.starts_at_any_time { None } else { self.program.time_frames(self.width) }
    }

    /// Sets the time frame of the lanes that choose from now on. Results are right for these lanes
    /// only; with `None`, for all lanes.
    #[inline(always)]
    pub(super) fn enter_frame(&mut self, frame: Option<usize>) {
        self.translation.frame = frame;
        self.chooser.ignores_others = frame.is_some();
    }

    /// Switches to this machine code, which was made for the width.
    pub(crate) fn take_machine(&mut self, machine: Arc<Machine>) {
        self.make_room(&machine.results);
        self.translation.whole = Some(machine);
    }

    /// Whether machine code runs in place of the program's own code.
    pub(crate) fn is_translated(&self) -> bool {
        self.translation.whole.is_some()
    }

    /// Adds the slots that results take.
    fn make_room(&mut self, results: &Results) {
        let none = self.moving.empty();
        self.slots.resize(results.n_slots.max(self.slots.len()), none);
        self.goals.resize(results.n_goal_slots.max(self.goals.len()), none);
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
        self.translation.results(&self.program)
    }

    /// Computes legal moves and terminal lanes.
    #[inline(always)]
    pub(crate) fn compute_state(&mut self) {
        match self.translation.current() {
            Some(machine) => machine.state.run(&mut self.slots),
            None => interpret(&self.program.state, &mut self.slots),
        }
    }

    /// The terminal lanes, as last computed.
    #[inline(always)]
    pub(super) fn terminal(&self) -> &B {
        &self.slots[self.results().terminal as usize]
    }

    /// Computes the next state.
    #[inline(always)]
    pub(crate) fn compute_next(&mut self) {
        match self.translation.current() {
            Some(machine) => machine.next.run(&mut self.slots),
            None => interpret(&self.program.next, &mut self.slots),
        }
    }

    /// Computes the next state, whose facts the lanes that are `taking` take or will take, while
    /// those that are `keeping` keep theirs. The facts of other lanes are lost.
    #[inline(always)]
    pub(super) fn compute_next_of(&mut self, taking: B, keeping: B) {
        if let Some(in_place) = self.results().in_place {
            let masks = [in_place.moving, in_place.keeping].map(|slot| slot as usize);
            self.slots[masks[0]] = taking;
            self.slots[masks[1]] = keeping;
        }
        self.compute_next();
    }

    /// Replaces the facts by those of the next state, which was computed of the lanes that move on,
    /// and by those of an origin in the lanes that are `renewed`.
    #[inline(always)]
    pub(super) fn renew(&mut self, origin: &Origin, renewed: B) {
        let results = self.translation.results(&self.program);
        let first = self.program.fact(0);
        if results.in_place.is_some() {
            // Their facts were lost, so none holds in these lanes.
            if renewed.any() {
                for &fact in &origin.facts {
                    self.slots[first + fact] |= renewed;
                }
            }
        } else if renewed.any() {
            let kept = !renewed;
            let starts = [renewed.empty(), renewed];
            let slots = Cell::from_mut(self.slots.as_mut_slice()).as_slice_of_cells();
            let facts = &slots[first..first + origin.holds.len()];
            for ((fact, &next), &holds) in facts.iter().zip(&results.next_facts).zip(&origin.holds)
            {
                fact.set(slots[next as usize].get() & kept | starts[usize::from(holds)]);
            }
        } else {
            for (at, &next) in results.next_facts.iter().enumerate() {
                self.slots[first + at] = self.slots[next as usize];
            }
        }
    }

    /// Computes goals from their inputs.
    #[inline(always)]
    pub(crate) fn compute_goals(&mut self) {
        match self.translation.current() {
            Some(machine) => machine.goals.run(&mut self.goals),
            None => interpret(&self.program.goals.code, &mut self.goals),
        }
    }

    /// Computes goals from the inputs that the code for the state leaves for that.
    #[inline(always)]
    pub(super) fn compute_score(&mut self) {
        match (self.translation.current(), &self.program.score) {
            (Some(machine), _) => {
                machine.score.as_ref().unwrap_or(&machine.goals).run(&mut self.goals);
            }
            (None, Some(score)) => interpret(&score.part.code, &mut self.goals),
            (None, None) => interpret(&self.program.goals.code, &mut self.goals),
        }
    }

    /// Chooses in some lanes; gives those where every role could.
    #[inline]
    pub(crate) fn choose(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving =
            features::run(Choose::<_, false> { choices, chooser, slots, lanes }, lanes.proof());
        self.moving
    }

    /// The same by the policy that was set, and notes the moves.
    #[inline]
    pub(super) fn choose_by_policy(&mut self, lanes: B) -> B {
        let (choices, chooser, slots) =
            (&self.program.choices, &mut self.chooser, self.slots.as_mut_slice());
        self.moving =
            features::run(Choose::<_, true> { choices, chooser, slots, lanes }, lanes.proof());
        choices.note(&self.chooser, &self.slots, &mut self.made);
        self.moving
    }
}

/// Copies the inputs of a part from the slots as they are.
pub(crate) fn copy_inputs<B: Lanes>(part: &Part, from: &[B], to: &mut [B]) {
    for [source, target] in &part.inputs {
        to[*target as usize] = from[*source as usize];
    }
}

/// Replaces the facts of some lanes by those of the next state.
pub(crate) struct Advance<'a, B: Lanes> {
    pub(crate) slots: &'a mut Slots<B>,
    /// The lanes; the others keep their facts.
    pub(crate) moving: B,
}

impl<B: Lanes> Kernel for Advance<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        let Self { slots: of, moving } = self;
        of.compute_next_of(moving, !moving);
        let Slots { program, translation, slots, .. } = of;
        let results = translation.results(program);
        if results.in_place.is_some() {
            return;
        }
        // No fact's next value is in another fact's slot.
        let stays = !moving;
        let first = program.fact(0);
        for (at, &next) in results.next_facts.iter().enumerate() {
            let next = slots[next as usize] & moving;
            let fact = &mut slots[first + at];
            *fact = next | *fact & stays;
        }
    }
}
