//! All successors of up to 512 states side by side, a lane each.
//!
//! The lanes run through their joint moves in step: each pass makes the next joint move
//! of every lane that has one left, found by logic on whole blocks of lanes. So there
//! are as many passes as the state with the most joint moves has, and no lane waits for
//! the moves of another.

use std::sync::Arc;

use super::expand::{
    Expander, Fault, GROUP, Group, JOINT, MAX_GROUP_BYTES, Mask, Outcome, TERMINAL,
};
use super::words::Encoding;
use crate::batch::slots::Slots;
use crate::batch::transpose::transpose;
use crate::compiled_network::features::{self, Kernel};
use crate::compiled_network::lanes::{Lanes, Lanes512};
use crate::compiled_network::{CompiledNetwork, Width};
#[cfg(target_arch = "x86_64")]
use crate::compiled_network::{
    features::{Avx2, Avx512},
    registers::Registers,
    wide_register::WideRegister,
};
use crate::network::Lit;
use crate::state::RoleId;

/// An expander in the form that is fastest on this CPU.
pub(super) fn expander(
    program: &Arc<CompiledNetwork>,
    encoding: &Arc<Encoding>,
) -> Box<dyn Expander> {
    let (program, encoding) = (Arc::clone(program), Arc::clone(encoding));
    #[cfg(target_arch = "x86_64")]
    {
        let width = Width::Lanes512;
        if let Some(avx512) = Avx512::detect() {
            let slots = Slots::<WideRegister>::new(program, width, 0, avx512);
            return Box::new(SideBySide::new(slots, encoding));
        }
        if let Some(avx2) = Avx2::detect() {
            let slots = Slots::<Registers<2, _>>::new(program, width, 0, avx2);
            return Box::new(SideBySide::new(slots, encoding));
        }
    }
    let slots = Slots::<Lanes512>::new(program, Width::Lanes512, 0, ());
    Box::new(SideBySide::new(slots, encoding))
}

/// Lanes, and where their states are read and written.
struct SideBySide<B: Lanes> {
    slots: Slots<B>,
    encoding: Arc<Encoding>,
    /// By role: the slots of whether each move is legal and of whether it is made,
    /// without moves that are never legal.
    moves: Vec<Vec<[u32; 2]>>,
    /// By role: its goals from the worst on, and their places among all of the role.
    goals: Vec<Vec<(u8, usize)>>,
}

impl<B: Lanes> SideBySide<B> {
    fn new(slots: Slots<B>, encoding: Arc<Encoding>) -> Self {
        let program = &slots.program;
        let network = &program.network;
        let moves = network.role_ids().zip(&network.roles).map(|(role, outputs)| {
            let possible =
                (0..outputs.moves.len()).filter(|&index| outputs.legal[index] != Lit::FALSE);
            possible
                .map(|index| [program.legal(role, index) as u32, program.does(role, index) as u32])
                .collect()
        });
        let moves = moves.collect();
        let goals = network.roles.iter().map(|role| {
            let goals = role.goals.iter().enumerate();
            let mut goals: Vec<(u8, usize)> =
                goals.filter_map(|(at, goal)| Some((goal.0.reward()?, at))).collect();
            goals.sort_unstable();
            goals
        });
        let goals = goals.collect();
        Self { slots, encoding, moves, goals }
    }
}

impl<B: Lanes> Expander for SideBySide<B> {
    fn expand(&mut self, states: &[u64], n_words: usize, group: &mut Group) -> Result<(), Fault> {
        group.begin();
        if !self.slots.is_translated()
            && let Some(machine) = self.slots.program.machine_beside().cloned()
        {
            self.slots.take_machine(machine);
        }
        let proof = self.slots.moving.proof();
        features::run(Run { of: self, states, n_words, group }, proof)
    }
}

/// One expansion.
struct Run<'a, B: Lanes> {
    of: &'a mut SideBySide<B>,
    states: &'a [u64],
    n_words: usize,
    group: &'a mut Group,
}

impl<B: Lanes> Kernel for Run<'_, B> {
    type Output = Result<(), Fault>;
    type Proof = B::Proof;

    #[inline(always)]
    fn run(mut self) -> Self::Output {
        let present = self.load();
        self.of.slots.compute_state();
        let terminal = self.of.slots.slots[self.of.slots.results().terminal as usize] & present;
        let live = present & !terminal;
        self.group.movers.resize(self.states.len() / self.n_words, 0);
        if terminal.any() {
            each(terminal, |lane| self.group.movers[lane] = TERMINAL);
            self.read_outcomes(terminal);
        }
        if !live.any() {
            return Ok(());
        }
        let several = self.start(live)?;
        self.find_movers(&several, live);
        let n_bytes_before = self.group.n_bytes();
        let mut active = live;
        loop {
            self.of.slots.compute_next();
            self.check(active)?;
            self.read(active);
            if self.group.n_bytes() - n_bytes_before > MAX_GROUP_BYTES {
                return Err(Fault::Memory);
            }
            active &= !self.advance(active, &several);
            if !active.any() {
                return Ok(());
            }
            // Computing the next state may have overwritten what it needs.
            self.of.slots.compute_state();
        }
    }
}

/// Calls `visit` for each of some lanes, in order.
#[inline(always)]
fn each<B: Lanes>(lanes: B, mut visit: impl FnMut(usize)) {
    for (word, &lanes) in lanes.words().iter().enumerate() {
        let mut left = lanes;
        while left != 0 {
            visit(word * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// The lanes as plain words.
#[inline(always)]
fn mask<B: Lanes>(lanes: B) -> Mask {
    let mut mask = Mask::default();
    mask.copy_from_slice(lanes.words());
    mask
}

impl<B: Lanes> Run<'_, B> {
    /// Puts the states into the lanes; gives the lanes with one.
    #[inline(always)]
    fn load(&mut self) -> B {
        let SideBySide { slots, encoding, .. } = &mut *self.of;
        let first = slots.program.fact(0);
        let mut present = slots.moving.empty();
        for (word, states) in self.states.chunks(64 * self.n_words).enumerate() {
            present.words_mut()[word] = u64::MAX >> (64 - states.len() / self.n_words);
            for (at, kept) in encoding.kept.chunks(64).enumerate() {
                let mut rows = [0; 64];
                for (row, state) in rows.iter_mut().zip(states.chunks_exact(self.n_words)) {
                    *row = state[at];
                }
                transpose(&mut rows);
                for (&fact, row) in kept.iter().zip(rows) {
                    slots.slots[first + fact as usize].words_mut()[word] = row;
                }
            }
        }
        for derived in &encoding.derived {
            let mut sum = if derived.negated { present.full() } else { present.empty() };
            for &fact in &derived.of {
                sum ^= slots.slots[first + fact as usize];
            }
            slots.slots[first + derived.fact as usize] = sum;
        }
        present
    }

    /// Sets the outcomes of terminal lanes: the worst goal that the rules give to each
    /// role, 0 if they give none.
    #[inline(always)]
    fn read_outcomes(&mut self, terminal: B) {
        let SideBySide { slots, goals, .. } = &mut *self.of;
        for &[source, target] in &slots.program.goals.inputs {
            slots.goals[target as usize] = slots.slots[source as usize];
        }
        slots.compute_goals();
        let mut classes: Vec<(B, Outcome)> = vec![(terminal, Outcome::new())];
        for (role, goals) in goals.iter().enumerate() {
            let mut split = Vec::new();
            for (mut lanes, outcome) in classes {
                for &(goal, at) in goals {
                    let slot = slots.results().goals[role][at];
                    let here = lanes & slots.goals[slot as usize];
                    if here.any() {
                        let mut outcome = outcome.clone();
                        outcome.push(goal);
                        split.push((here, outcome));
                        lanes &= !here;
                    }
                }
                if lanes.any() {
                    let mut outcome = outcome;
                    outcome.push(0);
                    split.push((lanes, outcome));
                }
            }
            classes = split;
        }
        for (lanes, outcome) in classes {
            self.group.outcomes.push((mask(lanes), outcome));
        }
    }

    /// Makes the first joint move of each live lane. Gives, by role, the lanes in which
    /// it has several moves.
    #[inline(always)]
    fn start(&mut self, live: B) -> Result<Vec<B>, Fault> {
        let SideBySide { slots, moves, .. } = &mut *self.of;
        let mut several = Vec::with_capacity(moves.len());
        for (role, moves) in moves.iter().enumerate() {
            let (mut any, mut two) = (live.empty(), live.empty());
            for &[legal, does] in moves {
                let legal = slots.slots[legal as usize] & live;
                slots.slots[does as usize] = legal & !any;
                two |= any & legal;
                any |= legal;
            }
            if (live & !any).any() {
                return Err(Fault::Stuck(RoleId(role as u8)));
            }
            several.push(two);
        }
        Ok(several)
    }

    /// Finds out who chooses in each live lane.
    #[inline(always)]
    fn find_movers(&mut self, several: &[B], live: B) {
        let (mut one, mut joint) = (live.empty(), live.empty());
        for &lanes in several {
            joint |= one & lanes;
            one |= lanes;
        }
        for (role, &lanes) in several.iter().enumerate().skip(1) {
            each(lanes & !joint, |lane| self.group.movers[lane] = role as u8);
        }
        if !joint.any() {
            return;
        }
        let Self { of, group, .. } = self;
        each(joint, |lane| {
            group.movers[lane] = JOINT;
            for moves in &of.moves {
                let is_legal = |&&[legal, _]: &&[u32; 2]| of.slots.slots[legal as usize].has(lane);
                group.counts.push(moves.iter().filter(is_legal).count() as u32);
            }
        });
    }

    /// Whether the derived facts of the next states follow from the kept ones.
    #[inline(always)]
    fn check(&self, active: B) -> Result<(), Fault> {
        let SideBySide { slots, encoding, .. } = &*self.of;
        let next = &slots.results().next_facts;
        let mut broken = active.empty();
        for derived in &encoding.derived {
            let mut sum = slots.slots[next[derived.fact as usize] as usize];
            if derived.negated {
                sum = !sum;
            }
            for &fact in &derived.of {
                sum ^= slots.slots[next[fact as usize] as usize];
            }
            broken |= sum;
        }
        if !(broken & active).any() {
            return Ok(());
        }
        Err(Fault::Encoding(self.broken(active)))
    }

    /// The derived facts that do not follow from the kept ones.
    #[cold]
    fn broken(&self, active: B) -> Vec<u32> {
        let SideBySide { slots, encoding, .. } = &*self.of;
        let next = &slots.results().next_facts;
        let value = |fact: u32, lane| slots.slots[next[fact as usize] as usize].has(lane);
        let is_broken = |derived: &&super::words::Derived| {
            (0..GROUP).filter(|&lane| active.has(lane)).any(|lane| {
                let sum = derived.of.iter().fold(derived.negated, |sum, &of| sum ^ value(of, lane));
                sum != value(derived.fact, lane)
            })
        };
        encoding.derived.iter().filter(is_broken).map(|derived| derived.fact).collect()
    }

    /// Reads the next states of some lanes.
    #[inline(always)]
    fn read(&mut self, active: B) {
        let SideBySide { slots, encoding, .. } = &*self.of;
        let next = &slots.results().next_facts;
        let active = mask(active);
        self.group.passes.push(active);
        let mut rows = [[0_u64; 64]; super::MAX_WORDS];
        for (word, &lanes) in active.iter().enumerate() {
            if lanes == 0 {
                continue;
            }
            let rows = &mut rows[..self.n_words];
            for (rows, kept) in rows.iter_mut().zip(encoding.kept.chunks(64)) {
                let (here, beyond) = rows.split_at_mut(kept.len());
                for (row, &fact) in here.iter_mut().zip(kept) {
                    *row = slots.slots[next[fact as usize] as usize].words()[word];
                }
                beyond.fill(0);
                transpose(rows);
            }
            let successors = &mut self.group.successors;
            let first = successors.len();
            successors.resize(first + lanes.count_ones() as usize * self.n_words, 0);
            let mut left = lanes;
            for state in successors[first..].chunks_exact_mut(self.n_words) {
                let lane = left.trailing_zeros() as usize % 64;
                state.iter_mut().zip(&*rows).for_each(|(word, rows)| *word = rows[lane]);
                left &= left.wrapping_sub(1);
            }
        }
    }

    /// Goes to the next joint move of each active lane; gives the lanes that have none.
    #[inline(always)]
    fn advance(&mut self, active: B, several: &[B]) -> B {
        let SideBySide { slots, moves, .. } = &mut *self.of;
        // The lanes whose joint move must change in this role or an earlier one.
        let mut carry = active;
        for (moves, &several) in moves.iter().zip(several).rev() {
            let moving = carry & several;
            if !moving.any() {
                continue;
            }
            let (mut passed, mut found) = (moving.empty(), moving.empty());
            for &[legal, does] in moves {
                let legal = slots.slots[legal as usize] & moving;
                let made = slots.slots[does as usize];
                let new = legal & passed & !found;
                found |= new;
                passed |= made & moving;
                slots.slots[does as usize] = made & !moving | new;
            }
            let wrapped = moving & !found;
            if wrapped.any() {
                let mut left = wrapped;
                for &[legal, does] in moves {
                    let legal = slots.slots[legal as usize] & left;
                    slots.slots[does as usize] |= legal;
                    left &= !legal;
                }
            }
            carry = carry & !moving | wrapped;
        }
        carry
    }
}
