//! All children of one position by two passes: one over the position, with a different
//! joint move in each lane, and one over the resulting states.

use std::sync::Arc;

use super::{Known, SinglePass, translated};
use crate::children::{Children, Wanted};
use crate::compiled_network::CompiledNetwork;
use crate::compiled_network::Width;
use crate::compiled_network::features::{self, Kernel, has_avx2};
use crate::compiled_network::lanes::{Lanes, Lanes64};
use crate::compiled_network::schedule::ALL;
#[cfg(target_arch = "x86_64")]
use crate::compiled_network::{
    features::{Avx2, Avx512},
    registers::Registers,
};
use crate::network::{Evaluator, GoalValue};
use crate::successors::{ChildOutcome, Successors};
use crate::{Goal, MoveId, Network, StateKey};

/// Bits of a word.
const WORD: usize = 64;

/// An evaluator that also computes the children of its position, of one position after the
/// other.
pub(crate) trait Expander: Evaluator {
    /// Loads a state. The legal moves by role, as bits; `None` if it is terminal.
    fn load_with_moves(&mut self, state: &[u64]) -> Option<&[Vec<u64>]>;

    /// Computes the children of the position, which is not terminal, by moves given as inputs of
    /// the graph, a legal one of each role for each child. `ids` are the ids of moves by role and
    /// index.
    fn expand(
        &mut self,
        moves: &[u32],
        wanted: Wanted,
        ids: &[Vec<MoveId>],
        children: &mut Children,
    );

    /// Computes the states that follow by all joint moves, the last role's moves changing
    /// fastest. `key` is that of the position, and `keys` are those of the facts.
    fn successors(
        &mut self,
        moves: &RoleInputs,
        key: StateKey,
        keys: &[StateKey],
        successors: &mut Successors,
    );

    /// Computes what the same states are worth to a role.
    fn outcomes(&mut self, moves: &RoleInputs, role: usize, outcomes: &mut Vec<ChildOutcome>);
}

/// Moves of each role as inputs of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RoleInputs {
    inputs: Vec<u32>,
    /// By role: where its moves end.
    ends: Vec<usize>,
}

impl RoleInputs {
    /// Removes all roles.
    pub(crate) fn clear(&mut self) {
        self.inputs.clear();
        self.ends.clear();
    }

    /// Adds the moves of the next role, given as bits; `first` is the input of bit 0.
    #[inline]
    pub(crate) fn push_role(&mut self, first: u32, moves: &[u64]) {
        for (at, &word) in moves.iter().enumerate() {
            each_bit(word, |bit| self.inputs.push(first + (at * WORD + bit) as u32));
        }
        self.ends.push(self.inputs.len());
    }

    /// Adds inputs of several roles, in whatever order.
    pub(super) fn push_unordered(&mut self, inputs: &[u32]) {
        self.inputs.extend_from_slice(inputs);
    }

    /// Removes all, and gives the inputs.
    #[inline]
    pub(super) fn drain(&mut self) -> impl Iterator<Item = u32> {
        self.ends.clear();
        self.inputs.drain(..)
    }

    /// By role: its moves.
    fn roles(&self) -> impl DoubleEndedIterator<Item = &[u32]> + Clone {
        let start = |role: usize| role.checked_sub(1).map_or(0, |before| self.ends[before]);
        (0..self.ends.len()).map(move |role| &self.inputs[start(role)..self.ends[role]])
    }

    /// The number of joint moves.
    pub(crate) fn n_joint_moves(&self) -> usize {
        self.roles().fold(1, |n: usize, moves| n.saturating_mul(moves.len()))
    }
}

/// Maximum number of children of one expansion.
pub(crate) fn expansion_width() -> usize {
    if has_avx2() { Width::Lanes256.n_lanes() } else { Width::Lanes64.n_lanes() }
}

/// An expander by machine code if there is some for this CPU. `network` is the one that `program`
/// was made from or, if only legal moves, successors and outcomes are wanted, one that it is a
/// cofactor of.
pub(crate) fn expander(
    program: &Arc<CompiledNetwork>,
    network: &Arc<Network>,
) -> Box<dyn Expander> {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = Avx512::detect() {
            let machine = translated(program);
            return Box::new(SinglePass::<Registers<1, _>>::new(program, network, machine, avx512));
        }
        if let Some(avx2) = Avx2::detect() {
            let machine = translated(program);
            return Box::new(SinglePass::<Registers<1, _>>::new(program, network, machine, avx2));
        }
    }
    Box::new(SinglePass::<Lanes64>::new(program, network, None, ()))
}

/// The bits of children, a word of them, that are set in a slot.
#[inline(always)]
fn each<B: Lanes>(lanes: B, word: usize, n: usize, mut visit: impl FnMut(usize)) {
    let mut left = lanes.words()[word] & mask(word, n);
    while left != 0 {
        visit(word * WORD + left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// The lanes of a word that are children.
#[inline(always)]
fn mask(word: usize, n: usize) -> u64 {
    let left = n - word * WORD;
    if left >= WORD { u64::MAX } else { (1 << left) - 1 }
}

impl<B: Lanes + std::fmt::Debug> Expander for SinglePass<B> {
    fn load_with_moves(&mut self, state: &[u64]) -> Option<&[Vec<u64>]> {
        self.load(state);
        if self.is_terminal {
            return None;
        }
        self.read_legal_bits();
        Some(&self.legal)
    }

    fn expand(
        &mut self,
        moves: &[u32],
        wanted: Wanted,
        ids: &[Vec<MoveId>],
        children: &mut Children,
    ) {
        let n_roles = ids.len();
        let n = moves.len() / n_roles;
        assert!(n <= B::N_WORDS * WORD, "{n} children of {}", B::N_WORDS * WORD);
        children.clear(n, n_roles);
        self.make_many(moves, n_roles);
        for child in &mut children.states[..n] {
            child.words.clear();
            child.words.extend_from_slice(&self.facts);
        }
        self.find_differences(n);
        for &Difference { word, fact, lanes } in &self.differences {
            each_bit(lanes, |lane| {
                let child = word as usize * WORD + lane;
                children.states[child].words[fact as usize / WORD] ^= 1 << (fact as usize % WORD);
            });
        }
        let mut slots = self.compute_children();
        let terminal = slots[self.results().terminal as usize];
        for word in 0..n.div_ceil(WORD) {
            each(terminal, word, n, |child| children.is_terminal[child] = true);
        }
        if wanted.legal {
            self.read_legal(&slots, !terminal, n, ids, children);
        }
        let with_goals = if wanted.all_goals { terminal.full() } else { terminal };
        if children.is_terminal.contains(&true) || wanted.all_goals {
            self.run_goals(&slots);
            self.read_goals(with_goals, n, n_roles, children);
        }
        std::mem::swap(&mut self.child_slots, &mut slots);
    }

    fn successors(
        &mut self,
        moves: &RoleInputs,
        key: StateKey,
        keys: &[StateKey],
        successors: &mut Successors,
    ) {
        let n = self.make_all(moves);
        self.find_differences(n);
        // Facts that differ in all successors are changed before these are laid out.
        let everywhere = if n <= WORD { mask(0, n) } else { 0 };
        let Self { facts, next, differences, .. } = self;
        self.knows_next = false;
        next.copy_from_slice(facts);
        let mut key = key;
        for &Difference { fact, lanes, .. } in differences.iter() {
            if lanes == everywhere {
                let fact = fact as usize;
                next[fact / WORD] ^= 1 << (fact % WORD);
                key.toggle(keys[fact]);
            }
        }
        successors.fill(n, next, key);
        let n_words = facts.len();
        let Successors { words, keys: successor_keys, .. } = successors;
        for &Difference { word, fact, lanes } in differences.iter() {
            if lanes == everywhere {
                continue;
            }
            let (first, fact) = (word as usize * WORD, fact as usize);
            let (at, bit, key) = (fact / WORD, 1 << (fact % WORD), keys[fact]);
            each_bit(lanes, |lane| {
                words[(first + lane) * n_words + at] ^= bit;
                successor_keys[first + lane].toggle(key);
            });
        }
    }

    fn outcomes(&mut self, moves: &RoleInputs, role: usize, outcomes: &mut Vec<ChildOutcome>) {
        let n = self.make_all(moves);
        let Self { program, whole_network: network, machine, ends, slots, proof, .. } = self;
        let ends = ends.get_or_insert_with(|| {
            let ends = program.ends(network, machine.is_some());
            slots.resize(ends.n_slots, B::none(*proof));
            Arc::clone(ends)
        });
        ends.run(slots);
        let terminal = slots[ends.terminal as usize];
        outcomes.clear();
        outcomes.resize(n, ChildOutcome::default());
        for word in 0..n.div_ceil(WORD) {
            each(terminal, word, n, |child| outcomes[child].is_terminal = true);
            // Children with a value that is not exactly one goal.
            let mut spoiled = 0;
            for (value, &slot) in network.goal_values(role).zip(&ends.goals[role]) {
                let lanes = slots[slot as usize].words()[word] & mask(word, n);
                if lanes == 0 {
                    continue;
                }
                let GoalValue::Integer(value) = value else {
                    spoiled |= lanes;
                    continue;
                };
                let goal = Goal::clamped(value);
                if i64::from(goal.value()) != value {
                    spoiled |= lanes;
                }
                each_bit(lanes, |lane| {
                    let outcome = &mut outcomes[word * WORD + lane];
                    match outcome.worst {
                        // Values are ascending.
                        Some(worst) if worst != goal => spoiled |= 1 << lane,
                        Some(_) => {}
                        None => (outcome.worst, outcome.unique) = (Some(goal), Some(goal)),
                    }
                });
            }
            each_bit(spoiled, |lane| outcomes[word * WORD + lane].unique = None);
        }
    }
}

/// Visits the bits of a word that are set, mostly lanes.
#[inline(always)]
fn each_bit(mut lanes: u64, mut visit: impl FnMut(usize)) {
    while lanes != 0 {
        visit(lanes.trailing_zeros() as usize);
        lanes &= lanes - 1;
    }
}

impl<B: Lanes + std::fmt::Debug> SinglePass<B> {
    /// Makes a joint move in each lane, all of them in order, and computes the next states.
    /// Returns how many there are.
    fn make_all(&mut self, moves: &RoleInputs) -> usize {
        let n = moves.n_joint_moves();
        assert!(n <= B::N_WORDS * WORD, "{n} children of {}", B::N_WORDS * WORD);
        if self.known != Known::State {
            self.compute_state();
        }
        // Siblings mostly have the same legal moves, which are still made.
        if !self.moves.is_empty() || self.lane_moves != *moves {
            let Self { program, slots, proof, moves: before, lane_moves, .. } = self;
            let (places, proof) = (program.task.inputs.as_slice(), *proof);
            let lanes_before = lane_moves.inputs.as_slice();
            features::run(MakeAll { slots, places, before, lanes_before, moves, n, proof }, proof);
            before.clear();
            lane_moves.inputs.clone_from(&moves.inputs);
            lane_moves.ends.clone_from(&moves.ends);
        }
        self.compute_next_of_lanes();
        n
    }

    /// Computes what follows from the next states of lanes, in slots of their own, which are to
    /// be put back.
    fn compute_children(&mut self) -> Vec<B> {
        let mut slots = std::mem::take(&mut self.child_slots);
        if slots.is_empty() {
            slots = vec![B::none(self.proof); self.slots.len()];
            slots[ALL as usize] = B::all(self.proof);
        }
        let first = self.program.fact(0);
        let (from, places) = (&self.slots, &self.results().next_facts);
        features::run(Gather { from, places, to: &mut slots[first..] }, self.proof);
        self.run_state(&mut slots);
        slots
    }

    /// Finds the lanes whose next state differs from the position.
    fn find_differences(&mut self, n: usize) {
        let mut found = std::mem::take(&mut self.differences);
        let mut gathered = std::mem::take(&mut self.gathered);
        found.clear();
        let facts = &self.slots[self.program.fact(0)..];
        let places = &self.results().next_facts;
        let next = match self.next_row {
            Some(first) => &self.slots[first..][..places.len()],
            None => {
                gathered.clear();
                gathered.extend(places.iter().map(|&place| self.slots[place as usize]));
                &gathered
            }
        };
        for word in 0..n.div_ceil(WORD) {
            let (found, mask) = (&mut found, mask(word, n));
            features::run(Compare { next, facts, word, mask, found }, self.proof);
        }
        (self.differences, self.gathered) = (found, gathered);
    }

    fn read_legal(
        &self,
        slots: &[B],
        live: B,
        n: usize,
        ids: &[Vec<MoveId>],
        children: &mut Children,
    ) {
        let n_roles = ids.len();
        for word in 0..n.div_ceil(WORD) {
            let live = live.words()[word] & mask(word, n);
            for (role, (rows, ids)) in self.legal_rows.iter().zip(ids).enumerate() {
                for row in rows {
                    let slots = &slots[row.slot..row.slot + row.n];
                    if slots.iter().fold(0, |any, slot| any | slot.words()[word]) & live == 0 {
                        continue;
                    }
                    for (slot, &id) in slots.iter().zip(&ids[row.bit..]) {
                        each_bit(slot.words()[word] & live, |lane| {
                            let child = word * WORD + lane;
                            children.legal[child * n_roles + role].push(id);
                        });
                    }
                }
            }
        }
    }

    /// Reads the goals that were computed last.
    fn read_goals(&self, lanes: B, n: usize, n_roles: usize, children: &mut Children) {
        for role in 0..n_roles {
            let slots = &self.results().goals[role];
            for (value, &slot) in self.program.goal_values(role).zip(slots) {
                let holds = self.goals[slot as usize] & lanes;
                for word in 0..n.div_ceil(WORD) {
                    each(holds, word, n, |child| {
                        value.read_into(&mut children.goals[child * n_roles + role]);
                    });
                }
            }
        }
    }
}

/// As many ones as `length`, and again after each `cycle`, beginning before `n`, which is at most
/// the number of bits of a word.
#[inline(always)]
fn periodic(length: usize, cycle: usize, n: usize) -> u64 {
    let ones = u64::MAX >> (WORD - length);
    let (mut word, mut start) = (0, 0);
    while start < n {
        word |= ones << start;
        start += cycle;
    }
    word
}

/// Makes a joint move in each lane, all of them in order. Slots of which only the first word has
/// lanes are written at once: a slot that is written in parts is slow to read as a whole.
struct MakeAll<'a, B: Lanes> {
    slots: &'a mut [B],
    /// By input: its slot.
    places: &'a [u32],
    /// The inputs that are set.
    before: &'a [u32],
    lanes_before: &'a [u32],
    moves: &'a RoleInputs,
    /// The number of joint moves.
    n: usize,
    proof: B::Proof,
}

impl<B: Lanes> Kernel for MakeAll<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        let Self { slots, places, before, lanes_before, moves, n, proof } = self;
        for &input in before.iter().chain(lanes_before) {
            slots[places[input as usize] as usize] = B::none(proof);
        }
        // A role's move changes every `period` lanes, and its moves repeat every `cycle` lanes.
        let mut period = 1;
        for inputs in moves.roles().rev() {
            let cycle = period * inputs.len();
            if n <= WORD {
                let mut lanes =
                    if cycle == period { mask(0, n) } else { periodic(period, cycle, n) };
                for &input in inputs {
                    slots[places[input as usize] as usize] = B::of_word(proof, lanes & mask(0, n));
                    lanes = lanes.checked_shl(period as u32).unwrap_or(0);
                }
                period = cycle;
                continue;
            }
            for (at, &input) in inputs.iter().enumerate() {
                let (place, first) = (places[input as usize], at * period);
                let slot = &mut slots[place as usize];
                for start in (first..n).step_by(cycle) {
                    for lane in start..start + period {
                        slot.words_mut()[lane / WORD] |= 1 << (lane % WORD);
                    }
                }
            }
            period = cycle;
        }
    }
}

/// Lanes of a word in which a fact differs from the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    word: u32,
    fact: u32,
    lanes: u64,
}

/// Finds the facts that differ in some lanes of a word.
struct Compare<'a, B> {
    /// By fact: whether it is next.
    next: &'a [B],
    /// By fact: whether it holds. There may be more.
    facts: &'a [B],
    word: usize,
    /// The lanes of the word that are compared.
    mask: u64,
    found: &'a mut Vec<Difference>,
}

impl<B: Lanes> Kernel for Compare<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        let Self { next, facts, word, mask, found } = self;
        let differs = |next: &B, before: &B| (next.words()[word] ^ before.words()[word]) & mask;
        let mut note = |fact: usize, lanes: u64| {
            found.push(Difference { word: word as u32, fact: fact as u32, lanes });
        };
        let (groups, rest) = next.as_chunks::<8>();
        for (at, (next, facts)) in groups.iter().zip(facts.as_chunks().0).enumerate() {
            // Few facts differ, and which ones cannot be foreseen: a branch for each costs more
            // than to compare them all first.
            let bits = if word == 0 {
                u64::from(B::differing(next.each_ref(), facts.each_ref(), mask))
            } else {
                let bit = |bit: usize| u64::from(differs(&next[bit], &facts[bit]) != 0) << bit;
                (0..8).fold(0, |bits, at| bits | bit(at))
            };
            each_bit(bits, |bit| note(8 * at + bit, differs(&next[bit], &facts[bit])));
        }
        let first = 8 * groups.len();
        for (fact, (next, before)) in (first..).zip(rest.iter().zip(&facts[first..])) {
            let lanes = differs(next, before);
            if lanes != 0 {
                note(fact, lanes);
            }
        }
    }
}

/// Copies slots from where they are.
struct Gather<'a, B> {
    from: &'a [B],
    places: &'a [u32],
    to: &'a mut [B],
}

impl<B: Lanes> Kernel for Gather<'_, B> {
    type Output = ();
    type Proof = B::Proof;

    #[inline(always)]
    fn run(self) {
        for (to, &place) in self.to.iter_mut().zip(self.places) {
            *to = self.from[place as usize];
        }
    }
}
