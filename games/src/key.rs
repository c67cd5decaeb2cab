//! Keys of states: 128 bits that stand for a state in tables.
//!
//! Each fact has a key, and a state's key is the exclusive or of those of its
//! facts (Zobrist, "A new hashing method with application for game playing",
//! 1970), so that the key of a successor follows from the facts that differ. A
//! fact's key depends on its text alone: all reasoners of a game give the same
//! keys.

use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};

use crate::Expression;
use crate::split_mix::{GAMMA, finalise};

/// The key of a state.
///
/// Equal states of a game have equal keys. If the keys of facts were random, some two of
/// `n` different states would have equal keys with a probability of at most
/// `n^2 / 2^129`: for a thousand million states less than `2 * 10^-21`. They are made by
/// mixing, which is as good unless a rulesheet is written to break it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateKey(u128);

/// The bits are already mixed, so a table needs only some of them.
impl Hash for StateKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0 as u64);
    }
}

impl StateKey {
    /// The key of the state with this one fact.
    pub(crate) fn of_fact(fact: &Expression) -> Self {
        let mut text = Text(FNV_BASIS);
        write!(text, "{fact}").expect("the hash takes any text");
        Self(mixed(text.0))
    }

    /// The key of the state of these facts, each of them once.
    pub(crate) fn of_facts(facts: &[Expression]) -> Self {
        let mut key = Self::default();
        for fact in facts {
            key.toggle(Self::of_fact(fact));
        }
        key
    }

    /// Adds a fact that does not hold, or removes one that does.
    #[inline]
    pub(crate) fn toggle(&mut self, fact: Self) {
        self.0 ^= fact.0;
    }

    /// The 128 bits.
    #[must_use]
    pub fn bits(self) -> u128 {
        self.0
    }
}

/// 128 bits that stand for the text of some expressions.
pub(crate) fn text_bits<'a>(expressions: impl Iterator<Item = &'a Expression>) -> u128 {
    let mut text = Text(FNV_BASIS);
    for expression in expressions {
        writeln!(text, "{expression}").expect("the hash takes any text");
    }
    mixed(text.0)
}

/// FNV-1a of 128 bits (Fowler, Noll and Vo).
struct Text(u128);

const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(FNV_PRIME);
        }
        Ok(())
    }
}

/// A permutation of all numbers that makes their bits independent: four rounds of a
/// Feistel network (Luby and Rackoff 1988).
fn mixed(number: u128) -> u128 {
    let (mut high, mut low) = ((number >> 64) as u64, number as u64);
    for round in 1..=4 {
        (high, low) = (low, high ^ finalise(low.wrapping_add(round).wrapping_mul(GAMMA)));
    }
    u128::from(high) << 64 | u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By fact and bit: the bits of keys are set as often as not, in all and in
    /// the sums of any two.
    #[test]
    fn bits_of_keys_are_even() {
        let fact = |n: u32| Expression::parse(&format!("(cell {} {} x)", n % 64, n / 64)).unwrap();
        let keys: Vec<u128> = (0..4096).map(|n| StateKey::of_fact(&fact(n)).0).collect();
        let check = |keys: &[u128]| {
            for bit in 0..128 {
                let n = keys.iter().filter(|&key| key >> bit & 1 == 1).count() as f64;
                let expected = keys.len() as f64 / 2.0;
                // Six standard deviations.
                assert!((n - expected).abs() < 3.0 * (keys.len() as f64).sqrt(), "bit {bit}: {n}");
            }
        };
        check(&keys);
        let sums: Vec<u128> = keys.windows(2).map(|pair| pair[0] ^ pair[1]).collect();
        check(&sums);
        let halves: std::collections::BTreeSet<u32> = keys.iter().map(|&key| key as u32).collect();
        assert!(halves.len() > 4090);
    }
}
