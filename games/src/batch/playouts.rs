//! Random playouts in lock step.
//!
//! A lane whose playout has ended starts another as soon as the pace or the time frames allow. This
//! must not favour short playouts, so every started playout counts: when enough were started or
//! enough states visited, no new ones are started and the running ones are played to their end.
//!
//! Goals are computed for many ends together: the facts of a lane that has ended, or values
//! computed from them (`score`), are put aside. Its goals are computed when the same lane ends
//! for the second time, or after all playouts.

use super::ages::Ages;
use super::in_frames::InFrames;
use super::pace::Pace;
use super::slots::{Origin, Slots};
use crate::State;
use crate::compiled_network::features::Kernel;
use crate::compiled_network::lanes::Lanes;
use crate::network::GoalValue;

/// How much to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// No more playouts than these are started.
    pub n_playouts: u64,
    /// When this many states were reached or playouts were started, no further playout is
    /// started. Running ones are finished, so the number of states may be larger.
    pub n_states: u64,
    /// A playout that has not ended after this many steps is given up.
    pub max_length: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { n_playouts: u64::MAX, n_states: u64::MAX, max_length: u32::MAX }
    }
}

/// How playing continues, as decided by the caller's `watch`
/// ([`Batch::playouts_while`](crate::Batch::playouts_while)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlayoutControl {
    /// As the [`Limits`] say.
    Continue,
    /// No further playout is started; running ones are finished, so that no length is
    /// favoured.
    Finish,
    /// Running playouts are abandoned. The finished ones favour short playouts, the more
    /// the fewer there are.
    Stop,
}

/// The results of some playouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playouts {
    /// Playouts that were started, all of which ended in one of the ways below
    /// or in a terminal state.
    pub n: u64,
    /// States reached: the steps of all playouts.
    pub n_states: u64,
    /// Playouts that were given up at the greatest length.
    pub n_cut: u64,
    /// Playouts that ended where some role had no legal move, a defect of the
    /// rules.
    pub n_stuck: u64,
    /// Playouts that were abandoned because playing was to [`PlayoutControl::Stop`]. Their
    /// steps are in `n_states`, but not in the lengths below.
    pub n_abandoned: u64,
    /// Steps of the shortest playout, however it ended.
    pub min_length: u32,
    /// Steps of the longest playout, however it ended.
    pub max_length: u32,
    /// By role: the goals in the terminal states.
    pub goals: Vec<Goals>,
}

/// The goals of one role in the terminal states that were reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goals {
    /// By goal, 0 to 100: how often.
    pub counts: [u64; 101],
    /// Terminal states with no goal, with several, or with one outside 0 to 100
    /// or no number: a defect of the rules.
    pub n_undefined: u64,
}

impl Goals {
    /// Number of terminal states with a goal.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of the goals.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.counts.iter().zip(0..).map(|(n, goal)| n * goal).sum()
    }

    /// The mean goal; `None` if there was none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let n = self.n();
        (n > 0).then(|| self.sum() as f64 / n as f64)
    }
}

impl Playouts {
    /// No playouts of a game with this many roles.
    #[must_use]
    pub fn none(n_roles: usize) -> Self {
        Self {
            n: 0,
            n_states: 0,
            n_cut: 0,
            n_stuck: 0,
            n_abandoned: 0,
            min_length: u32::MAX,
            max_length: 0,
            goals: vec![Goals { counts: [0; 101], n_undefined: 0 }; n_roles],
        }
    }

    /// The mean number of steps; `None` if there were no playouts.
    #[must_use]
    pub fn mean_length(&self) -> Option<f64> {
        (self.n > 0).then(|| self.n_states as f64 / self.n as f64)
    }

    /// Adds the playouts of another batch of the same game.
    pub fn add(&mut self, other: &Playouts) {
        self.n += other.n;
        self.n_states += other.n_states;
        self.n_cut += other.n_cut;
        self.n_stuck += other.n_stuck;
        self.n_abandoned += other.n_abandoned;
        self.min_length = self.min_length.min(other.min_length);
        self.max_length = self.max_length.max(other.max_length);
        for (goals, other) in self.goals.iter_mut().zip(&other.goals) {
            for (n, other) in goals.counts.iter_mut().zip(&other.counts) {
                *n += other;
            }
            goals.n_undefined += other.n_undefined;
        }
    }
}

/// Playouts that are going on.
pub(super) struct Run<'a, B: Lanes> {
    slots: &'a mut Slots<B>,
    limits: Limits,
    watch: &'a mut dyn FnMut(&Playouts) -> PlayoutControl,
    /// What `watch` said last.
    course: PlayoutControl,
    origin: Origin,
    result: Playouts,
    /// By lane: steps of its playout.
    ages: Ages<B>,
    pace: Pace,
    /// If they are kept in the same time frames, in place of the pace.
    in_frames: Option<InFrames>,
    running: B,
    /// The lanes whose ends are put aside.
    ended: B,
}

impl<'a, B: Lanes> Run<'a, B> {
    pub(super) fn new(
        slots: &'a mut Slots<B>,
        from: &State,
        limits: &Limits,
        watch: &'a mut dyn FnMut(&Playouts) -> PlayoutControl,
    ) -> Self {
        let network = &slots.program.network;
        let none = slots.moving.empty();
        Self {
            limits: *limits,
            watch,
            course: PlayoutControl::Continue,
            origin: Origin::new(network, from),
            result: Playouts::none(network.roles.len()),
            ages: Ages::new(),
            pace: Pace::new(
                network.roles.iter().filter(|role| role.moves.len() > 1).count(),
                slots.program.state.instructions.len() + slots.program.next.instructions.len(),
                slots.chooser.work,
            ),
            in_frames: slots
                .time_frames()
                .and_then(|time_frames| InFrames::from(time_frames, from)),
            running: none,
            ended: none,
            slots,
        }
    }
}

impl<B: Lanes> Kernel for Run<'_, B> {
    type Output = Playouts;
    type Proof = B::Proof;

    #[inline(always)]
    fn run(mut self) -> Playouts {
        self.fill();
        if self.in_frames.is_some() && self.starts_at_end() {
            self.in_frames = None;
        }
        self.running = self.start(self.running.full());
        let mut is_over = !self.running.any();
        while !is_over {
            self.course = (self.watch)(&self.result);
            if self.course == PlayoutControl::Stop {
                self.result.n_abandoned += self.running.count();
                break;
            }
            if let Some(in_frames) = &self.in_frames {
                self.slots.enter_frame(Some(in_frames.frame()));
            }
            self.slots.compute_state();
            let terminal = *self.slots.terminal() & self.running;
            if terminal.any() {
                self.end(terminal);
            }
            let mut live = self.running & !terminal;
            let cut = self.ages.of_age(self.limits.max_length, live);
            if cut.any() {
                live &= !cut;
                self.result.n_cut += cut.count();
                self.note_lengths(cut);
            }
            let moving = self.slots.choose(live);
            let stuck = live & !moving;
            if stuck.any() {
                self.result.n_stuck += stuck.count();
                self.note_lengths(stuck);
            }
            self.result.n_states += moving.count();
            let has_ended = (self.running & !moving).any();
            let may_start = match &mut self.in_frames {
                Some(in_frames) => {
                    in_frames.go_on();
                    in_frames.may_start(!moving.any())
                }
                None => self.pace.may_start(self.slots.chooser.work, has_ended),
            };
            let renewed = if may_start { self.start(!moving) } else { moving.empty() };
            self.ages.grow(renewed);
            if may_start && self.in_frames.as_mut().is_some_and(InFrames::restart_together) {
                self.fill();
            } else {
                // Without frames, waiting lanes go on as the interpreter has it: they count in the
                // work of choosing.
                self.slots.compute_next_of(!renewed, moving.empty());
                self.slots.renew(&self.origin, renewed);
            }
            self.running = moving | renewed;
            is_over = !self.running.any() && (may_start || self.is_enough());
        }
        self.compute_goals();
        self.slots.enter_frame(None);
        self.slots.moving = self.running.empty();
        self.result
    }
}

impl<B: Lanes> Run<'_, B> {
    /// Puts the state that playouts start from into all lanes.
    #[inline(always)]
    fn fill(&mut self) {
        let starts = [self.running.empty(), self.running.full()];
        let first = self.slots.program.fact(0);
        for (fact, &holds) in self.slots.slots[first..].iter_mut().zip(&self.origin.holds) {
            *fact = starts[usize::from(holds)];
        }
    }

    /// Whether the state that playouts start from, which all lanes have, is terminal. The code of
    /// time frames is right only after a step.
    #[inline(always)]
    fn starts_at_end(&mut self) -> bool {
        self.slots.compute_state();
        self.slots.terminal().any()
    }

    /// Whether no further playouts may start.
    #[inline(always)]
    fn is_enough(&self) -> bool {
        self.course != PlayoutControl::Continue
            // A playout that ends where it started costs something, too.
            || self.result.n_states.max(self.result.n) >= self.limits.n_states
            || self.result.n >= self.limits.n_playouts
    }

    /// Starts playouts in some of these lanes, as many as there are still to be
    /// started; gives those.
    #[inline(always)]
    fn start(&mut self, lanes: B) -> B {
        if self.is_enough() {
            return lanes.empty();
        }
        let left = self.limits.n_playouts - self.result.n;
        let lanes = if left < B::N_WORDS as u64 * 64 { lanes.first(left) } else { lanes };
        self.result.n += lanes.count();
        lanes
    }

    /// Notes the lengths of playouts that are over.
    #[inline(always)]
    fn note_lengths(&mut self, lanes: B) {
        if self.ages.some_below(self.result.min_length, lanes) {
            self.result.min_length = self.ages.min(lanes);
        }
        if self.ages.some_above(self.result.max_length, lanes) {
            self.result.max_length = self.ages.max(lanes);
        }
    }

    /// Puts the ends of lanes aside.
    #[inline(always)]
    fn end(&mut self, terminal: B) {
        self.note_lengths(terminal);
        if (self.ended & terminal).any() {
            self.compute_goals();
        }
        self.ended |= terminal;
        let kept = !terminal;
        let Slots { program, translation, slots, goals, .. } = &mut *self.slots;
        for &[source, target] in &translation.results(program).score.inputs {
            let to = &mut goals[target as usize];
            *to = *to & kept | slots[source as usize] & terminal;
        }
    }

    /// Counts the goals of the ends that are put aside.
    #[inline(always)]
    fn compute_goals(&mut self) {
        self.slots.compute_score();
        let (program, planes) = (&self.slots.program, &self.slots.goals);
        for (role, goals) in self.result.goals.iter_mut().enumerate() {
            let outputs = &self.slots.results().score.goals[role];
            let [mut some, mut several, mut unsound] = [self.ended.empty(); 3];
            for (&slot, value) in outputs.iter().zip(program.goal_values(role)) {
                let lanes = planes[slot as usize];
                several |= some & lanes;
                some |= lanes;
                if !matches!(value, GoalValue::Integer(0..=100)) {
                    unsound |= lanes;
                }
            }
            let sound = self.ended & some & !several & !unsound;
            for (&slot, value) in outputs.iter().zip(program.goal_values(role)) {
                if let GoalValue::Integer(value @ 0..=100) = value {
                    goals.counts[value as usize] += (planes[slot as usize] & sound).count();
                }
            }
            goals.n_undefined += (self.ended & !sound).count();
        }
        self.ended = self.ended.empty();
    }
}
