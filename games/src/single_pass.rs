//! One position by one run of the compiled network over all gates.
//!
//! A pass does not use the position before, so its cost does not depend on how much
//! changed. For a network of few gates that is cheaper than finding the differences. All
//! lanes belong to the one position, which answers as an [`Evaluator`].

mod expansion;
mod price;

use std::sync::Arc;

use smallvec::SmallVec;

use expansion::Difference;
pub(crate) use expansion::{Expander, RoleInputs, expander, expansion_width};
pub(crate) use price::{PassSize, common_price, gates_price};

use crate::RoleId;
use crate::compiled_network::CompiledNetwork;
use crate::compiled_network::Width;
use crate::compiled_network::ends::Ends;
use crate::compiled_network::features::{self, Kernel};
use crate::compiled_network::interpreter::interpret;
use crate::compiled_network::lanes::Lanes;
use crate::compiled_network::machine::{Machine, Routine};
use crate::compiled_network::parts::Results;
use crate::compiled_network::schedule::{ALL, NONE};
use crate::network::{Evaluator, Lit, Network, RoleOutputs};

/// Bits of a word.
const WORD: usize = 64;

/// The compiled network as machine code for registers.
#[cfg(target_arch = "x86_64")]
fn translated(program: &CompiledNetwork) -> Option<Arc<Machine>> {
    program.translate(Width::Lanes256).ok()?;
    program.machine(Width::Lanes256).cloned()
}

/// Which results the slots hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// None.
    Nothing,
    /// Legal moves and the end. Computing next states overwrote their inputs.
    Legal,
    /// Legal moves and the end, and the inputs of the next state.
    State,
    /// The next state, and still the legal moves.
    Next,
}

/// Slots of one position.
#[derive(Debug)]
struct SinglePass<B: Lanes> {
    proof: B::Proof,
    program: Arc<CompiledNetwork>,
    /// The whole network, by which successors are judged; the program may be of a cofactor of it.
    whole_network: Arc<Network>,
    machine: Option<Arc<Machine>>,
    slots: Vec<B>,
    goals: Vec<B>,
    /// Slots for the children of the position, made when some are first computed.
    child_slots: Vec<B>,
    /// In which lanes the next states differ from the position.
    differences: Vec<Difference>,
    /// The next facts in order, if their slots are not consecutive.
    gathered: Vec<B>,
    /// What computes the outcomes of children, made when some are first computed.
    ends: Option<Arc<Ends>>,
    /// The facts as they are in the slots.
    facts: Vec<u64>,
    /// The inputs of the moves in the slots.
    moves: SmallVec<[u32; 4]>,
    /// Inputs of moves that differ from lane to lane and are still set; by role if they are all
    /// joint moves in order.
    lane_moves: RoleInputs,
    known: Known,
    is_terminal: bool,
    /// By role: the slots of whether its moves are legal.
    legal_slots: Vec<Vec<u32>>,
    /// The same as rows.
    legal_rows: Vec<Vec<Row>>,
    /// By role: the same as bytes, without moves that are never legal.
    legal_bytes: Vec<Vec<Byte>>,
    /// By role: its legal moves as bits, if `knows_legal`.
    legal: Vec<Vec<u64>>,
    knows_legal: bool,
    /// The slots of the next facts.
    next_bytes: Vec<Byte>,
    /// The first of these, if they are consecutive.
    next_row: Option<usize>,
    /// The next facts as bits, if `knows_next`.
    next: Vec<u64>,
    knows_next: bool,
    knows_goals: bool,
}

impl<B: Lanes> SinglePass<B> {
    fn new(
        program: &Arc<CompiledNetwork>,
        whole_network: &Arc<Network>,
        machine: Option<Arc<Machine>>,
        proof: B::Proof,
    ) -> Self {
        let network = program.network();
        let results = machine.as_ref().map_or(&program.results, |machine| &machine.results);
        let blank = |n: usize| {
            let mut slots = vec![B::none(proof); n];
            slots[ALL as usize] = B::all(proof);
            slots
        };
        let legal_slots = |(id, role): (RoleId, &RoleOutputs)| {
            let moves = 0..role.moves.len();
            moves.map(|index| program.legal(id, index) as u32).collect()
        };
        let legal_slots: Vec<Vec<u32>> =
            network.role_ids().zip(&network.roles).map(legal_slots).collect();
        let legal_bytes = network.roles.iter().zip(&legal_slots).map(|(role, slots)| {
            let bits = role.legal.iter().zip(slots).enumerate();
            Byte::all(
                bits.filter(|(_, (legal, _))| **legal != Lit::FALSE)
                    .map(|(bit, (_, slot))| (bit, *slot)),
            )
        });
        Self {
            slots: blank(results.n_slots),
            goals: blank(results.n_goal_slots),
            child_slots: Vec::new(),
            differences: Vec::new(),
            gathered: Vec::new(),
            ends: None,
            facts: vec![0; network.n_state_words()],
            moves: SmallVec::new(),
            lane_moves: RoleInputs::default(),
            known: Known::Nothing,
            is_terminal: false,
            legal: legal_slots.iter().map(|slots| vec![0; slots.len().div_ceil(WORD)]).collect(),
            legal_bytes: legal_bytes.collect(),
            next_bytes: Byte::all(results.next_facts.iter().copied().enumerate()),
            next_row: first_of_row(&results.next_facts),
            legal_rows: legal_slots.iter().map(|slots| Row::all(slots)).collect(),
            legal_slots,
            knows_legal: false,
            next: vec![0; network.n_state_words()],
            knows_next: false,
            knows_goals: false,
            program: Arc::clone(program),
            whole_network: Arc::clone(whole_network),
            machine,
            proof,
        }
    }

    fn results(&self) -> &Results {
        self.machine.as_ref().map_or(&self.program.results, |machine| &machine.results)
    }

    /// Computes legal moves and the end over slots of the same kind.
    fn run_state(&self, slots: &mut [B]) {
        match &self.machine {
            Some(machine) => machine.state.run(slots),
            None => interpret(&self.program.state, slots),
        }
    }

    fn compute_state(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        self.run_state(&mut slots);
        self.slots = slots;
        self.is_terminal = self.slots[self.results().terminal as usize].has(0);
        self.known = Known::State;
    }

    fn compute_next(&mut self) {
        match &self.machine {
            Some(machine) => machine.next.run(&mut self.slots),
            None => interpret(&self.program.next, &mut self.slots),
        }
        self.known = Known::Next;
        self.knows_next = false;
    }

    /// Makes different moves in each lane and computes the next states. `moves` are
    /// inputs: those of the first lane, then those of the second.
    fn make_many(&mut self, moves: &[u32], n_roles: usize) {
        self.clear_moves();
        let places = &self.program.task.inputs;
        for (lane, joint_move) in moves.chunks(n_roles).enumerate() {
            for &input in joint_move {
                let slot = &mut self.slots[places[input as usize] as usize];
                slot.words_mut()[lane / WORD] |= 1 << (lane % WORD);
            }
        }
        self.lane_moves.push_unordered(moves);
        self.compute_next_of_lanes();
    }

    /// Prepares the slots of moves for moves that differ from lane to lane.
    fn clear_moves(&mut self) {
        if self.known != Known::State {
            self.compute_state();
        }
        // A next fact may be a move itself, so the moves are cleared as late as now.
        let places = &self.program.task.inputs;
        for input in self.moves.drain(..).chain(self.lane_moves.drain()) {
            self.slots[places[input as usize] as usize] = B::none(self.proof);
        }
    }

    /// Computes the next states by moves that differ from lane to lane.
    fn compute_next_of_lanes(&mut self) {
        self.compute_next();
        self.known = Known::Legal;
    }

    /// Goes to a position. Machine code also reads the legal moves at once.
    fn enter(&mut self, state: &[u64]) {
        let first = self.program.fact(0);
        let Self { slots, facts, .. } = self;
        let flip = Flip { slots, first, from: facts, to: state };
        if let Some(machine) = &self.machine {
            let (bytes, legal) = (&self.legal_bytes, &mut self.legal);
            self.is_terminal = features::run(Enter { machine, flip, bytes, legal }, self.proof);
            self.known = Known::State;
            self.knows_legal = !self.is_terminal;
        } else {
            features::run(flip, self.proof);
            self.compute_state();
            self.knows_legal = false;
        }
        self.knows_goals = false;
    }

    /// Reads the legal moves of all roles as bits, unless they are known.
    #[inline]
    fn read_legal_bits(&mut self) {
        if !self.knows_legal {
            let (slots, bytes) = (&self.slots, &self.legal_bytes);
            features::run(PackAll { slots, bytes, to: &mut self.legal }, self.proof);
            self.knows_legal = true;
        }
    }

    fn compute_goals(&mut self) {
        let slots = std::mem::take(&mut self.slots);
        self.run_goals(&slots);
        self.slots = slots;
        self.knows_goals = true;
    }

    /// Computes goals from slots of the same kind.
    fn run_goals(&mut self, slots: &[B]) {
        self.knows_goals = false;
        for [source, target] in &self.program.goals.inputs {
            self.goals[*target as usize] = slots[*source as usize];
        }
        match &self.machine {
            Some(machine) => machine.goals.run(&mut self.goals),
            None => interpret(&self.program.goals.code, &mut self.goals),
        }
    }
}

impl<B: Lanes + std::fmt::Debug> Evaluator for SinglePass<B> {
    fn load(&mut self, state: &[u64]) {
        // States have few words, so that they are compared here and not by a call.
        if self.known == Known::Nothing || !self.facts.iter().eq(state) {
            self.enter(state);
        }
    }

    fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        self.slots[self.legal_slots[role][index] as usize].has(0)
    }

    #[inline]
    fn legal(&mut self, role: usize) -> &[u64] {
        self.read_legal_bits();
        &self.legal[role]
    }

    fn make(&mut self, moves: &[u32]) {
        let is_made = self.moves.iter().eq(moves);
        match self.known {
            Known::Next if is_made => return,
            Known::State => {}
            Known::Next | Known::Legal | Known::Nothing => self.compute_state(),
        }
        if !is_made {
            let does = &self.program.task.inputs;
            for input in self.lane_moves.drain() {
                self.slots[does[input as usize] as usize] = B::none(self.proof);
            }
            let (slots, from, to) = (&mut self.slots, &self.moves, moves);
            let next = self.machine.as_ref().map(|machine| &machine.next);
            features::run(Replace { slots, places: does, from, to, next }, self.proof);
            self.moves.clear();
            self.moves.extend(moves.iter().copied());
            if next.is_some() {
                (self.known, self.knows_next) = (Known::Next, false);
                return;
            }
        }
        self.compute_next();
    }

    fn next(&mut self) -> &[u64] {
        if !self.knows_next {
            let (bytes, to) = (&self.next_bytes, &mut self.next);
            features::run(Pack { slots: &self.slots, bytes, to }, self.proof);
            self.knows_next = true;
        }
        &self.next
    }

    fn input(&self, index: usize) -> bool {
        self.slots[self.program.task.inputs[index] as usize].has(0)
    }

    fn goal(&mut self, role: usize, index: usize) -> bool {
        if !self.knows_goals {
            self.compute_goals();
        }
        self.goals[self.results().goals[role][index] as usize].has(0)
    }
}

/// Consecutive slots that are consecutive bits of one word.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first slot.
    slot: usize,
    /// Number of slots.
    n: usize,
    /// The first bit.
    bit: usize,
}

impl Row {
    /// Maximum number of slots of a row: few, so that a single one in use causes little work.
    const MOST: usize = 8;

    /// The slots of bits as rows.
    fn all(slots: &[u32]) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for (bit, &slot) in slots.iter().enumerate() {
            let slot = slot as usize;
            match rows.last_mut() {
                Some(row) if row.slot + row.n == slot && row.n < Self::MOST && bit % WORD != 0 => {
                    row.n += 1;
                }
                _ => rows.push(Self { slot, n: 1, bit }),
            }
        }
        rows
    }
}

/// The first of consecutive slots.
fn first_of_row(slots: &[u32]) -> Option<usize> {
    let first = *slots.first()?;
    (first..).zip(slots).all(|(expected, &slot)| slot == expected).then_some(first as usize)
}

/// Slots that are bits of one byte.
#[derive(Clone, Copy, Debug)]
struct Byte {
    at: u32,
    slots: [u32; 8],
    /// The first slot, if they are consecutive.
    row: Option<u32>,
}

impl Byte {
    /// Bits, ascending, and their slots as bytes. Bits that are not named are 0.
    fn all(bits: impl Iterator<Item = (usize, u32)>) -> Vec<Self> {
        let mut bytes: Vec<Self> = Vec::new();
        for (bit, slot) in bits {
            let at = bit as u32 / 8;
            if bytes.last().is_none_or(|byte| byte.at != at) {
                bytes.push(Self { at, slots: [NONE; 8], row: None });
            }
            if let Some(byte) = bytes.last_mut() {
                byte.slots[bit % 8] = slot;
            }
        }
        for byte in &mut bytes {
            byte.row = first_of_row(&byte.slots).map(|first| first as u32);
        }
        bytes
    }
}

/// Reads slots, every lane of which is the same, as bits.
struct Pack<'a, B> {
    slots: &'a [B],
    bytes: &'a [Byte],
    to: &'a mut [u64],
}

impl<B: Lanes> Kernel for Pack<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        let Self { slots, bytes, to } = self;
        pack(slots, bytes, to);
    }
}

/// The same of several lists.
struct PackAll<'a, B> {
    slots: &'a [B],
    bytes: &'a [Vec<Byte>],
    to: &'a mut [Vec<u64>],
}

impl<B: Lanes> Kernel for PackAll<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        for (bytes, to) in self.bytes.iter().zip(self.to) {
            pack(self.slots, bytes, to);
        }
    }
}

/// Reads slots as bits. Lists are short: each word is written once.
#[inline(always)]
fn pack<B: Lanes>(slots: &[B], bytes: &[Byte], to: &mut [u64]) {
    let mut bytes = bytes.iter().peekable();
    for (at, word) in to.iter_mut().enumerate() {
        let mut bits = 0;
        while let Some(byte) = bytes.next_if(|byte| byte.at as usize / 8 == at) {
            let row = byte.row.and_then(|first| slots[first as usize..].first_chunk::<8>());
            let eight = match row {
                Some(row) => B::uniform(row.each_ref()),
                None => B::uniform(byte.slots.map(|slot| &slots[slot as usize])),
            };
            bits |= u64::from(eight) << (byte.at % 8 * 8);
        }
        *word = bits;
    }
}

/// Goes to a position, computes its legal moves and whether it is terminal, and reads the moves
/// if it is not. Returns whether it is terminal. All in one call: each part is short.
struct Enter<'a, B> {
    machine: &'a Machine,
    flip: Flip<'a, B>,
    /// By role: the slots of whether its moves are legal.
    bytes: &'a [Vec<Byte>],
    legal: &'a mut [Vec<u64>],
}

impl<B: Lanes> Kernel for Enter<'_, B> {
    type Output = bool;
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { machine, flip: Flip { slots, first, from, to }, bytes, legal } = self;
        Flip { slots: &mut *slots, first, from, to }.run();
        machine.state.run(slots);
        let is_terminal = slots[machine.results.terminal as usize].has(0);
        if !is_terminal {
            PackAll { slots, bytes, to: legal }.run();
        }
        is_terminal
    }
}

/// Flips the slots of facts that differ between two states.
struct Flip<'a, B> {
    slots: &'a mut [B],
    /// The slot of the first fact.
    first: usize,
    from: &'a mut [u64],
    to: &'a [u64],
}

impl<B: Lanes> Kernel for Flip<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        for (at, (from, &to)) in self.from.iter_mut().zip(self.to).enumerate() {
            let mut changed = *from ^ to;
            *from = to;
            while changed != 0 {
                let slot = self.first + at * WORD + changed.trailing_zeros() as usize;
                self.slots[slot] = !self.slots[slot];
                changed &= changed - 1;
            }
        }
    }
}

/// Clears some inputs and sets others, and computes what is next if there is machine code for it.
struct Replace<'a, B> {
    slots: &'a mut [B],
    /// By input: its slot.
    places: &'a [u32],
    from: &'a [u32],
    to: &'a [u32],
    next: Option<&'a Routine>,
}

impl<B: Lanes> Kernel for Replace<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        let (none, all) = (self.slots[NONE as usize], self.slots[ALL as usize]);
        for &input in self.from {
            self.slots[self.places[input as usize] as usize] = none;
        }
        for &input in self.to {
            self.slots[self.places[input as usize] as usize] = all;
        }
        if let Some(next) = self.next {
            next.run(self.slots);
        }
    }
}
