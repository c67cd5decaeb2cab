//! All children of one position by two passes: one over the position, with a different
//! joint move in each lane, and one over the resulting states.

use std::fmt;
use std::sync::Arc;

use super::{SinglePass, translated};
use crate::MoveId;
use crate::children::{Children, Wanted};
use crate::compiled_network::CompiledNetwork;
use crate::compiled_network::Width;
use crate::compiled_network::features::{self, Kernel, has_avx2};
use crate::compiled_network::lanes::{Block, Lanes64};
use crate::compiled_network::schedule::ALL;
#[cfg(target_arch = "x86_64")]
use crate::compiled_network::{features::Avx2, registers::Registers};
use crate::network::Evaluator as _;

/// Bits of a word.
const WORD: usize = 64;

/// Computes the children of one position after the other.
pub(crate) trait Expander: Send + fmt::Debug {
    /// Loads a state; `false` if it is terminal.
    fn load(&mut self, state: &[u64]) -> bool;

    /// Whether a move, by its index among those of the role, is legal.
    fn is_legal(&self, role: usize, index: usize) -> bool;

    /// Computes the children by moves given as inputs of the graph, a legal one of each
    /// role for each child. `ids` are the ids of moves by role and index.
    fn expand(
        &mut self,
        moves: &[u32],
        wanted: Wanted,
        ids: &[Vec<MoveId>],
        children: &mut Children,
    );
}

/// Maximum number of children of one expansion.
pub(crate) fn expansion_width() -> usize {
    if has_avx2() { Width::Lanes256.n_lanes() } else { Width::Lanes64.n_lanes() }
}

/// An expander by machine code if there is some for this CPU.
pub(crate) fn expander(program: &Arc<CompiledNetwork>) -> Box<dyn Expander> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        let parent = SinglePass::<Registers<1>>::new(program, translated(program), avx2);
        return Box::new(Expansion::new(parent));
    }
    Box::new(Expansion::new(SinglePass::<Lanes64>::new(program, None, ())))
}

/// A position, and slots for its children.
#[derive(Debug)]
struct Expansion<B: Block> {
    parent: SinglePass<B>,
    slots: Vec<B>,
}

impl<B: Block + fmt::Debug> Expansion<B> {
    fn new(parent: SinglePass<B>) -> Self {
        let mut slots = vec![B::none(parent.proof); parent.slots.len()];
        slots[ALL as usize] = B::all(parent.proof);
        Self { parent, slots }
    }

    /// The bits of children, a word of them, that are set in a slot.
    fn each(lanes: B, word: usize, n: usize, mut visit: impl FnMut(usize)) {
        let mut left = lanes.words()[word] & mask(word, n);
        while left != 0 {
            visit(word * WORD + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// The lanes of a word that are children.
fn mask(word: usize, n: usize) -> u64 {
    let left = n - word * WORD;
    if left >= WORD { u64::MAX } else { (1 << left) - 1 }
}

impl<B: Block + fmt::Debug> Expander for Expansion<B> {
    fn load(&mut self, state: &[u64]) -> bool {
        self.parent.load(state);
        !self.parent.is_terminal()
    }

    fn is_legal(&self, role: usize, index: usize) -> bool {
        self.parent.is_legal(role, index)
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
        self.parent.make_many(moves, n_roles);
        let program = Arc::clone(&self.parent.program);
        let next = &self.parent.results().next_facts;
        for child in &mut children.states[..n] {
            child.words.clear();
            child.words.resize(program.network.n_state_words(), 0);
        }
        for word in 0..n.div_ceil(WORD) {
            self.read_states(next, word, n, children);
        }
        let first = program.fact(0);
        features::run(Gather {
            from: &self.parent.slots,
            places: next,
            to: &mut self.slots[first..],
        });
        self.parent.run_state(&mut self.slots);
        let terminal = self.slots[self.parent.results().terminal as usize];
        for word in 0..n.div_ceil(WORD) {
            Self::each(terminal, word, n, |child| children.is_terminal[child] = true);
        }
        if wanted.legal {
            self.read_legal(!terminal, n, ids, children);
        }
        let with_goals = if wanted.all_goals { terminal.full() } else { terminal };
        if children.is_terminal.contains(&true) || wanted.all_goals {
            self.read_goals(with_goals, n, n_roles, children);
        }
    }
}

impl<B: Block + fmt::Debug> Expansion<B> {
    /// What is next, for a word of children. Most facts are the same in all.
    fn read_states(&self, next: &[u32], word: usize, n: usize, children: &mut Children) {
        let mask = mask(word, n);
        let here = word * WORD..n.min((word + 1) * WORD);
        for (at, facts) in next.chunks(WORD).enumerate() {
            let mut common = 0;
            for (bit, &slot) in facts.iter().enumerate() {
                let lanes = self.parent.slots[slot as usize].words()[word] & mask;
                if lanes == mask {
                    common |= 1 << bit;
                } else if lanes != 0 {
                    let mut left = lanes;
                    while left != 0 {
                        let child = word * WORD + left.trailing_zeros() as usize;
                        children.states[child].words[at] |= 1 << bit;
                        left &= left - 1;
                    }
                }
            }
            for child in &mut children.states[here.clone()] {
                child.words[at] |= common;
            }
        }
    }

    fn read_legal(&self, live: B, n: usize, ids: &[Vec<MoveId>], children: &mut Children) {
        let n_roles = ids.len();
        for word in 0..n.div_ceil(WORD) {
            let live = live.words()[word] & mask(word, n);
            for (role, (rows, ids)) in self.parent.legal_rows.iter().zip(ids).enumerate() {
                for row in rows {
                    let slots = &self.slots[row.slot..row.slot + row.n];
                    if slots.iter().fold(0, |any, slot| any | slot.words()[word]) & live == 0 {
                        continue;
                    }
                    for (slot, &id) in slots.iter().zip(&ids[row.bit..]) {
                        let mut left = slot.words()[word] & live;
                        while left != 0 {
                            let child = word * WORD + left.trailing_zeros() as usize;
                            children.legal[child * n_roles + role].push(id);
                            left &= left - 1;
                        }
                    }
                }
            }
        }
    }

    fn read_goals(&mut self, lanes: B, n: usize, n_roles: usize, children: &mut Children) {
        self.parent.run_goals(&self.slots);
        let program = &self.parent.program;
        for role in 0..n_roles {
            let slots = &self.parent.results().goals[role];
            for (value, &slot) in program.goal_values(role).zip(slots) {
                let holds = self.parent.goals[slot as usize] & lanes;
                for word in 0..n.div_ceil(WORD) {
                    Self::each(holds, word, n, |child| {
                        value.read_into(&mut children.goals[child * n_roles + role]);
                    });
                }
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

impl<B: Block> Kernel for Gather<'_, B> {
    type Output = ();
    const IN_REGISTERS: bool = B::IN_REGISTERS;

    #[inline(always)]
    fn run(self) {
        for (to, &place) in self.to.iter_mut().zip(self.places) {
            *to = self.from[place as usize];
        }
    }
}
