//! Many positions of one game at once: each bit of a block of 64, 256 or 512
//! lanes belongs to a position, and each gate of the network is computed for all
//! of them by a few instructions.
//!
//! ```text
//! Network -> CompiledNetwork -> Batch: set states, evaluate, choose moves, advance
//! ```
//!
//! Electronic design automation calls this parallel-pattern simulation. A run of the
//! code takes little longer for 512 lanes than for one, so a batch pays for callers with
//! many positions: playouts in lock step, many matches, the counting of states.

mod ages;
mod core;
mod in_frames;
mod last_steps;
mod pace;
mod playouts;
pub(crate) mod slots;
mod translation;
pub(crate) mod transpose;

use std::fmt;
use std::sync::Arc;

pub(crate) use last_steps::{PlayedOut, Watch};
pub use playouts::{Goals, Limits, PlayoutControl, Playouts};

use self::core::Core;
use self::slots::Slots;
use crate::compiled_network::lanes::{Lanes64, Lanes256, Lanes512};
use crate::compiled_network::{CompiledNetwork, Width};
#[cfg(target_arch = "x86_64")]
use crate::compiled_network::{
    features::{Avx2, Avx512},
    registers::Registers,
    wide_register::WideRegister,
};
use crate::{GoalReading, RoleId, State};

/// Positions of one game, side by side.
///
/// States are those of [`Network::initial_state`](crate::Network), moves are
/// indices into [`RoleOutputs::moves`](crate::network::RoleOutputs). Sets of
/// lanes are words: lane `i` is bit `i % 64` of word `i / 64`.
///
/// The order of calls in a step: set states, unless the last step left them;
/// [`evaluate`]; read legal moves and terminal lanes; choose moves, at random for all
/// lanes or one by one; [`advance`]. Percepts are read between choosing and advancing.
///
/// ```
/// use std::sync::Arc;
///
/// use games::batch::Limits;
/// use games::{
///     Batch, GroundingLimits, Cancel, Case, CompiledNetwork, Leniency, Width, ground, library, validate,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("tic_tac_toe").ok_or("it is shipped")?.text;
/// let game = validate::read("tic_tac_toe", text, Case::Folded, Leniency::Strict).game;
/// let game = Arc::new(game.ok_or("it is valid")?);
/// let network = ground(&game, &GroundingLimits::default(), &Cancel::new())?;
/// let initial = network.initial_state();
/// let compiled = Arc::new(CompiledNetwork::new(Arc::new(network)));
///
/// let mut batch = Batch::new(&compiled, Width::Lanes256, 7);
/// let limits = Limits { n_playouts: 1000, ..Limits::default() };
/// let played = batch.playouts(&initial, &limits);
/// assert_eq!(played.n, 1000);
/// assert_eq!((played.min_length, played.max_length), (5, 9));
/// // The first player wins about 58 playouts of 100.
/// assert!((0.5..0.8).contains(&(played.goals[0].mean().ok_or("some ended")? / 100.0)));
/// # Ok(())
/// # }
/// ```
///
/// [`evaluate`]: Batch::evaluate
/// [`advance`]: Batch::advance
pub struct Batch {
    program: Arc<CompiledNetwork>,
    width: Width,
    core: Box<dyn Core>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("width", &self.width).finish_non_exhaustive()
    }
}

impl Batch {
    /// A batch with the initial state in all lanes. All its random choices follow from
    /// the seed.
    #[must_use]
    pub fn new(program: &Arc<CompiledNetwork>, width: Width, seed: u64) -> Self {
        let shared = program.clone();
        let core = core(shared, width, seed);
        let mut batch = Self { program: program.clone(), width, core };
        batch.fill(&program.network().initial_state());
        batch
    }

    /// The compiled network that it runs.
    #[must_use]
    pub fn program(&self) -> &Arc<CompiledNetwork> {
        &self.program
    }

    /// Number of lanes.
    #[must_use]
    pub fn n_lanes(&self) -> usize {
        self.width.n_lanes()
    }

    /// Puts a state into all lanes.
    ///
    /// # Panics
    /// If it is no state of this network.
    pub fn fill(&mut self, state: &State) {
        self.check(state);
        self.core.fill(state);
        self.core.clear_choices();
    }

    /// Puts states into the lanes from `first` on, 64 at a time by one
    /// transposition of bits.
    ///
    /// # Panics
    /// If there are too few lanes, or if one is not a state of this network.
    pub fn load(&mut self, first: usize, states: &[State]) {
        assert!(first + states.len() <= self.n_lanes(), "more states than lanes");
        states.iter().for_each(|state| self.check(state));
        self.core.load(first, states);
        self.core.clear_choices();
    }

    /// The state of a lane.
    ///
    /// # Panics
    /// If there is no such lane.
    #[must_use]
    pub fn state(&self, lane: usize) -> State {
        self.core.state(lane)
    }

    /// The lanes in which a fact holds.
    ///
    /// # Panics
    /// If there is no such fact.
    #[must_use]
    pub fn fact(&self, fact: usize) -> &[u64] {
        assert!(fact < self.program.network().n_facts(), "no fact {fact}");
        self.core.slot(self.program.fact(fact))
    }

    /// Computes for all lanes which moves are legal and whether the state is terminal.
    /// Replaces the results for earlier states.
    pub fn evaluate(&mut self) {
        self.core.evaluate();
    }

    /// The lanes whose state is terminal, as last evaluated.
    #[must_use]
    pub fn terminal(&self) -> &[u64] {
        self.core.terminal()
    }

    /// The lanes in which a move of a role is legal, as last evaluated.
    ///
    /// # Panics
    /// If there is no such role or move.
    #[must_use]
    pub fn legal(&self, role: RoleId, index: usize) -> &[u64] {
        assert!(index < self.program.network().roles[usize::from(role.0)].moves.len());
        self.core.slot(self.program.legal(role, index))
    }

    /// Puts the legal moves of a role in a lane into `moves` (cleared first), in
    /// canonical order, as last evaluated.
    ///
    /// # Panics
    /// If there is no such role or lane.
    pub fn legal_moves(&self, lane: usize, role: RoleId, moves: &mut Vec<usize>) {
        moves.clear();
        let n_moves = self.program.network().roles[usize::from(role.0)].moves.len();
        moves.extend((0..n_moves).filter(|&index| has(self.legal(role, index), lane)));
    }

    /// Chooses a move for each role in each lane that is not terminal, uniformly
    /// and independently among the legal ones as last evaluated. Replaces all earlier
    /// choices. Returns the lanes in which every role had a legal move; in the other
    /// lanes nothing is chosen.
    pub fn choose_at_random(&mut self) -> &[u64] {
        let live: Vec<u64> = self.terminal().iter().map(|terminal| !terminal).collect();
        self.core.choose_at_random(&live)
    }

    /// Chooses the moves of one lane, one for each role, in place of those it
    /// had. They need not be legal.
    ///
    /// # Panics
    /// If there is no such lane or move, or not one move for each role.
    pub fn choose(&mut self, lane: usize, joint_move: &[usize]) {
        let network = self.program.network();
        assert_eq!(joint_move.len(), network.roles.len(), "one move for each role");
        assert!(lane < self.n_lanes(), "lane {lane} of {}", self.n_lanes());
        let (word, bit) = (lane / 64, 1 << (lane % 64));
        for slot in self.program.all_does.clone() {
            self.core.slot_mut(slot)[word] &= !bit;
        }
        for (role, &index) in network.role_ids().zip(joint_move) {
            assert!(index < network.roles[usize::from(role.0)].moves.len(), "no move {index}");
            self.core.slot_mut(self.program.does(role, index))[word] |= bit;
        }
        self.core.moving_mut()[word] |= bit;
    }

    /// The lanes in which a role makes a move, as chosen.
    ///
    /// # Panics
    /// If there is no such role or move.
    #[must_use]
    pub fn chosen(&self, role: RoleId, index: usize) -> &[u64] {
        assert!(index < self.program.network().roles[usize::from(role.0)].moves.len());
        self.core.slot(self.program.does(role, index))
    }

    /// Makes the chosen moves. Lanes without chosen moves keep their state.
    pub fn advance(&mut self) {
        self.core.advance();
    }

    /// The goals of each role in each of some lanes: by lane as listed, then by role.
    /// Computed for all lanes at once.
    ///
    /// # Panics
    /// If there is no such lane.
    #[must_use]
    pub fn goals(&mut self, lanes: &[usize]) -> Vec<Vec<GoalReading>> {
        self.core.evaluate_goals();
        let roles = 0..self.program.network().roles.len();
        let reading = |lane: usize, role: usize| {
            let mut reading = GoalReading::default();
            for (index, value) in self.program.goal_values(role).enumerate() {
                if !has(self.core.goal(role, index), lane) {
                    continue;
                }
                value.read_into(&mut reading);
            }
            reading
        };
        let of_lane = |&lane| roles.clone().map(|role| reading(lane, role)).collect();
        lanes.iter().map(of_lane).collect()
    }

    /// The percepts of a role after the chosen moves in each of some lanes: by lane as
    /// listed, indices into
    /// [`RoleOutputs::percepts`](crate::network::RoleOutputs::percepts). Computed for all
    /// lanes at once.
    ///
    /// # Panics
    /// If there is no such role or lane.
    #[must_use]
    pub fn percepts(&mut self, role: RoleId, lanes: &[usize]) -> Vec<Vec<usize>> {
        self.core.evaluate_percepts();
        let role = usize::from(role.0);
        let n_percepts = self.program.network().roles[role].percepts.len();
        let sees = |lane, index| has(self.core.percept(role, index), lane);
        let of_lane = |&lane| (0..n_percepts).filter(|&index| sees(lane, index)).collect();
        lanes.iter().map(of_lane).collect()
    }

    /// Plays from a state to the end again and again, each role's move chosen uniformly
    /// among its legal ones. Every started playout counts, so the statistics are those
    /// of independent playouts. Overwrites the lanes.
    ///
    /// # Panics
    /// If it is no state of this network.
    #[must_use]
    pub fn playouts(&mut self, from: &State, limits: &Limits) -> Playouts {
        self.playouts_while(from, limits, &mut |_| PlayoutControl::Continue)
    }

    /// As [`playouts`](Self::playouts), for callers with a clock or another reason to
    /// stop: `watch` is called before each step of all lanes with the results so far,
    /// without the goals of recent ends. A step may take only a millionth of a second,
    /// so callers should not read a clock at each call.
    ///
    /// # Panics
    /// If it is no state of this network.
    #[must_use]
    pub fn playouts_while(
        &mut self,
        from: &State,
        limits: &Limits,
        watch: &mut dyn FnMut(&Playouts) -> PlayoutControl,
    ) -> Playouts {
        self.check(from);
        let playouts = self.core.playouts(from, limits, watch);
        self.core.clear_choices();
        playouts
    }

    /// Lets playouts begin at any time, in place of keeping them in time frames: for programs that
    /// will not be translated, since only machine code makes use of time frames.
    pub(crate) fn start_at_any_time(&mut self) {
        self.core.start_at_any_time();
    }

    /// Plays from some states to the end, each in `per_state` lanes, one after the other, from the
    /// first lane on, by random numbers of a seed. Terminal lanes keep their state.
    ///
    /// # Panics
    /// If there are too few lanes, or if one is not a state of this network.
    pub(crate) fn play_out(
        &mut self,
        states: &[State],
        per_state: usize,
        max_length: u32,
        seed: u64,
        watch: &mut Watch<'_>,
    ) -> PlayedOut {
        assert!(states.len() * per_state <= self.n_lanes(), "more states than lanes");
        states.iter().for_each(|state| self.check(state));
        self.core.reseed(seed);
        self.core.play_out(states, per_state, max_length, watch)
    }

    /// The lanes in which a role made a move while lanes were last
    /// [played out](Batch::play_out) by a policy.
    pub(crate) fn made(&self, role: usize, index: usize) -> &[u64] {
        self.core.made(self.program.choices.place(role, index))
    }

    /// Computes the goals of all lanes.
    pub(crate) fn evaluate_goals(&mut self) {
        self.core.evaluate_goals();
    }

    /// The lanes in which a role has a goal, as last computed.
    pub(crate) fn goal(&self, role: usize, index: usize) -> &[u64] {
        self.core.goal(role, index)
    }

    fn check(&self, state: &State) {
        assert_eq!(
            state.words.len(),
            self.program.network().n_state_words(),
            "a state of another network or machine"
        );
    }
}

/// The slots of a width, in the form that is fastest on this CPU. Results do not depend
/// on the form.
fn core(program: Arc<CompiledNetwork>, width: Width, seed: u64) -> Box<dyn Core> {
    #[cfg(target_arch = "x86_64")]
    if width != Width::Lanes64 {
        if let Some(avx512) = Avx512::detect() {
            return match width {
                Width::Lanes512 => {
                    Box::new(Slots::<WideRegister>::new(program, width, seed, avx512))
                }
                _ => Box::new(Slots::<Registers<1, _>>::new(program, width, seed, avx512)),
            };
        }
        if let Some(avx2) = Avx2::detect() {
            return match width {
                Width::Lanes512 => {
                    Box::new(Slots::<Registers<2, _>>::new(program, width, seed, avx2))
                }
                _ => Box::new(Slots::<Registers<1, _>>::new(program, width, seed, avx2)),
            };
        }
    }
    match width {
        Width::Lanes64 => Box::new(Slots::<Lanes64>::new(program, width, seed, ())),
        Width::Lanes256 => Box::new(Slots::<Lanes256>::new(program, width, seed, ())),
        Width::Lanes512 => Box::new(Slots::<Lanes512>::new(program, width, seed, ())),
    }
}

fn has(words: &[u64], lane: usize) -> bool {
    words[lane / 64] >> (lane % 64) & 1 == 1
}
