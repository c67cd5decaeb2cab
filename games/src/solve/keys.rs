//! The keys of states that are written as compact words.

use std::sync::{Arc, Mutex, PoisonError};

use super::expand::OneByOne;
use super::state_numbers::StateNumbers;
use super::words::Encoding;
use crate::compiled_network::CompiledNetwork;
use crate::{Expression, State, StateKey};

/// A number of facts of a state.
pub(super) type Counter<'a, const N: usize> = Box<dyn Fn(&[u64; N]) -> u32 + 'a>;

/// The keys of states written as words.
pub(super) trait Keys<const N: usize>: Send + Sync {
    fn key(&self, state: &[u64; N]) -> StateKey;

    /// The facts of a state, for messages.
    fn facts(&self, state: &[u64; N]) -> Vec<Expression>;

    /// Counts, state by state, the facts for which `is_counted` holds.
    fn counter<'a>(&'a self, is_counted: &'a dyn Fn(&Expression) -> bool) -> Counter<'a, N> {
        Box::new(move |state| {
            self.facts(state).iter().filter(|fact| is_counted(fact)).count() as u32
        })
    }

    /// The words of a state of the machine that computes the states, if it was reached.
    fn words(&self, _: &State) -> Option<[u64; N]> {
        None
    }

    /// Bytes that grow with the number of states.
    fn n_bytes(&self) -> u64 {
        0
    }
}

/// The key of a state is a sum over its bits: each derived fact is a sum of kept ones.
pub(super) struct FactKeys {
    program: Arc<CompiledNetwork>,
    encoding: Arc<Encoding>,
    constant: StateKey,
    /// By byte of the words and value of the byte.
    by_byte: Vec<[StateKey; 256]>,
}

impl FactKeys {
    pub(super) fn new(program: &Arc<CompiledNetwork>, encoding: &Arc<Encoding>) -> Self {
        let facts = &program.network().facts;
        let key = |fact: u32| StateKey::of_fact(&facts[fact as usize]);
        let mut by_bit: Vec<StateKey> = encoding.kept.iter().map(|&fact| key(fact)).collect();
        let mut constant = StateKey::default();
        for derived in &encoding.derived {
            let key = key(derived.fact);
            if derived.negated {
                constant.toggle(key);
            }
            for of in &derived.of {
                let bit = encoding.kept.iter().position(|kept| kept == of);
                by_bit[bit.expect("sums are of kept facts")].toggle(key);
            }
        }
        let of_byte = |at: usize| {
            std::array::from_fn(|byte| {
                let mut key = StateKey::default();
                for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
                    if let Some(&of_bit) = by_bit.get(at * 8 + bit) {
                        key.toggle(of_bit);
                    }
                }
                key
            })
        };
        let by_byte = (0..encoding.n_words() * 8).map(of_byte).collect();
        Self { program: Arc::clone(program), encoding: Arc::clone(encoding), constant, by_byte }
    }
}

impl<const N: usize> Keys<N> for FactKeys {
    #[inline]
    fn key(&self, state: &[u64; N]) -> StateKey {
        let mut key = self.constant;
        for (word, by_byte) in state.iter().zip(self.by_byte.chunks_exact(8)) {
            for (byte, keys) in word.to_le_bytes().into_iter().zip(by_byte) {
                key.toggle(keys[usize::from(byte)]);
            }
        }
        key
    }

    fn facts(&self, state: &[u64; N]) -> Vec<Expression> {
        let network = self.program.network();
        let bit = |fact: u32| {
            let bit = self.encoding.kept.iter().position(|&kept| kept == fact);
            bit.is_some_and(|bit| state[bit / 64] >> (bit % 64) & 1 == 1)
        };
        let holds = |fact: u32| {
            let derived = self.encoding.derived.iter().find(|derived| derived.fact == fact);
            derived.map_or_else(
                || bit(fact),
                |derived| derived.of.iter().fold(derived.negated, |sum, &of| sum ^ bit(of)),
            )
        };
        let facts = network.facts.iter().zip(0..);
        facts.filter(|&(_, fact)| holds(fact)).map(|(fact, _)| fact.clone()).collect()
    }

    /// Kept facts are bits, and derived ones parities of bits.
    fn counter<'a>(&'a self, is_counted: &'a dyn Fn(&Expression) -> bool) -> Counter<'a, N> {
        let facts = &self.program.network().facts;
        let is_counted = |fact: u32| is_counted(&facts[fact as usize]);
        let bit_of = |fact: u32| {
            let bit = self.encoding.kept.iter().position(|&kept| kept == fact);
            bit.expect("sums are of kept facts")
        };
        let mask = |of: &mut dyn Iterator<Item = u32>| {
            let mut mask = [0_u64; N];
            for bit in of.map(bit_of) {
                mask[bit / 64] |= 1 << (bit % 64);
            }
            mask
        };
        let kept = mask(&mut self.encoding.kept.iter().copied().filter(|&fact| is_counted(fact)));
        let derived = self.encoding.derived.iter().filter(|derived| is_counted(derived.fact));
        let sums: Vec<([u64; N], u32)> = derived
            .map(|derived| (mask(&mut derived.of.iter().copied()), u32::from(derived.negated)))
            .collect();
        let common = |state: &[u64; N], mask: &[u64; N]| -> u32 {
            state.iter().zip(mask).map(|(word, mask)| (word & mask).count_ones()).sum()
        };
        Box::new(move |state| {
            let parity = |(mask, one): &([u64; N], u32)| (common(state, mask) + one) & 1;
            common(state, &kept) + sums.iter().map(parity).sum::<u32>()
        })
    }
}

/// The keys of numbered states.
pub(super) struct Numbered {
    pub(super) machine: Mutex<OneByOne>,
    pub(super) numbers: Arc<Mutex<StateNumbers>>,
}

impl Keys<1> for Numbered {
    fn key(&self, &[number]: &[u64; 1]) -> StateKey {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner).key(number)
    }

    fn facts(&self, &[number]: &[u64; 1]) -> Vec<Expression> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner).facts(number)
    }

    fn words(&self, state: &State) -> Option<[u64; 1]> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        Some([numbers.find(state)?])
    }

    fn n_bytes(&self) -> u64 {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).n_bytes()
    }
}
