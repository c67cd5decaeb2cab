//! Blocks of lanes: one bit of each of 64, 256 or 512 positions.
//!
//! Plain arrays of words, by register of AVX2, with whole-array operators, which the compiler turns
//! into vector instructions where the CPU's features are known (see
//! [`features`](super::features)); alignment keeps a block in one cache line.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::features::Evidence;

/// One bit for each lane.
pub(crate) trait Lanes:
    Copy
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Not<Output = Self>
{
    /// Number of words.
    const N_WORDS: usize;
    /// Evidence that this CPU computes with such lanes: `()` if every CPU does.
    type Proof: Evidence;

    /// No lane.
    fn none(proof: Self::Proof) -> Self;

    /// Every lane.
    fn all(proof: Self::Proof) -> Self;

    /// The lanes of the first word alone.
    #[inline(always)]
    fn of_word(proof: Self::Proof, word: u64) -> Self {
        let mut lanes = Self::none(proof);
        lanes.words_mut()[0] = word;
        lanes
    }

    /// The evidence that this value was made with.
    fn proof(self) -> Self::Proof;

    /// No lane, in lanes of the same kind.
    #[inline(always)]
    fn empty(self) -> Self {
        Self::none(self.proof())
    }

    /// Every lane, in lanes of the same kind.
    #[inline(always)]
    fn full(self) -> Self {
        Self::all(self.proof())
    }

    /// The words: lane `i` is bit `i % 64` of word `i / 64`.
    fn words(&self) -> &[u64];

    /// The words, to be changed.
    fn words_mut(&mut self) -> &mut [u64];

    /// Whether there is any lane.
    #[inline(always)]
    fn any(self) -> bool {
        let mut all = 0;
        for &word in self.words() {
            all |= word;
        }
        all != 0
    }

    /// Number of lanes.
    #[inline(always)]
    fn count(self) -> u64 {
        let mut n = 0;
        for word in self.words() {
            n += u64::from(word.count_ones());
        }
        n
    }

    /// Whether the lane is among these.
    #[inline(always)]
    fn has(self, lane: usize) -> bool {
        self.words()[lane / 64] >> (lane % 64) & 1 == 1
    }

    /// A bit for each of eight blocks of which every lane is the same.
    #[inline(always)]
    fn uniform(eight: [&Self; 8]) -> u8 {
        let mut bits = 0;
        for (at, block) in eight.iter().enumerate() {
            bits |= (block.words()[0] as u8 & 1) << at;
        }
        bits
    }

    /// A bit for each of eight pairs of blocks that differ in some lanes of the first word that
    /// are in `mask`.
    #[inline(always)]
    fn differing(eight: [&Self; 8], others: [&Self; 8], mask: u64) -> u8 {
        let mut bits = 0;
        for (at, (block, other)) in eight.iter().zip(others).enumerate() {
            bits |= u8::from((block.words()[0] ^ other.words()[0]) & mask != 0) << at;
        }
        bits
    }

    /// Puts the lane in or takes it out.
    #[cfg(test)]
    fn set(&mut self, lane: usize, value: bool) {
        let word = &mut self.words_mut()[lane / 64];
        *word = *word & !(1 << (lane % 64)) | u64::from(value) << (lane % 64);
    }

    /// Sum and carry of three bits.
    #[inline(always)]
    fn add(self, other: Self, carry: Self) -> (Self, Self) {
        add(self, other, carry)
    }

    /// Difference and borrow of a bit and two to take off.
    #[inline(always)]
    fn subtract(self, other: Self, borrow: Self) -> (Self, Self) {
        subtract(self, other, borrow)
    }

    /// The next random block of xoshiro256++, a generator for each word.
    #[inline(always)]
    fn xoshiro([a, b, c, d]: &mut [Self; 4]) -> Self {
        let mut random = a.empty();
        for (i, word) in random.words_mut().iter_mut().enumerate() {
            let (a, b) = (&mut a.words_mut()[i], &mut b.words_mut()[i]);
            let (c, d) = (&mut c.words_mut()[i], &mut d.words_mut()[i]);
            *word = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
            let shifted = *b << 17;
            *c ^= *a;
            *d ^= *b;
            *b ^= *c;
            *a ^= *d;
            *c ^= shifted;
            *d = d.rotate_left(45);
        }
        random
    }

    /// The first `n` of these lanes (all, if they are not more).
    fn first(self, n: u64) -> Self {
        let mut kept = self.empty();
        let mut left = n;
        for (from, to) in self.words().iter().zip(kept.words_mut()) {
            let mut from = *from;
            while from != 0 && left > 0 {
                *to |= from & from.wrapping_neg();
                from &= from - 1;
                left -= 1;
            }
        }
        kept
    }
}

/// [`Lanes::add`] by operators on two lanes.
#[inline(always)]
pub(crate) fn add<L: Lanes>(a: L, b: L, carry: L) -> (L, L) {
    let either = a ^ b;
    (either ^ carry, a & b | either & carry)
}

/// [`Lanes::subtract`] by operators on two lanes.
#[inline(always)]
pub(crate) fn subtract<L: Lanes>(a: L, b: L, borrow: L) -> (L, L) {
    let differ = a ^ b;
    (differ ^ borrow, !a & b | borrow & !differ)
}

macro_rules! lanes {
    ($(#[$attribute:meta])* $name:ident, $n:literal registers of $words:literal) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name([[u64; $words]; $n]);

        lanes!(@binary $name, BitAnd, bitand, BitAndAssign, bitand_assign, &);
        lanes!(@binary $name, BitOr, bitor, BitOrAssign, bitor_assign, |);
        lanes!(@binary $name, BitXor, bitxor, BitXorAssign, bitxor_assign, ^);

        impl Not for $name {
            type Output = Self;

            #[inline(always)]
            fn not(mut self) -> Self {
                for register in &mut self.0 {
                    for word in register {
                        *word = !*word;
                    }
                }
                self
            }
        }

        impl Lanes for $name {
            const N_WORDS: usize = $n * $words;
            type Proof = ();

            #[inline(always)]
            fn none((): ()) -> Self {
                Self([[0; $words]; $n])
            }

            #[inline(always)]
            fn all((): ()) -> Self {
                Self([[!0; $words]; $n])
            }

            #[inline(always)]
            fn proof(self) {}

            #[inline(always)]
            fn words(&self) -> &[u64] {
                self.0.as_flattened()
            }

            #[inline(always)]
            fn words_mut(&mut self) -> &mut [u64] {
                self.0.as_flattened_mut()
            }
        }
    };
    (@binary $name:ident, $trait:ident, $method:ident, $assign:ident, $assign_method:ident,
        $operator:tt) => {
        impl $trait for $name {
            type Output = Self;

            // A loop, since what takes closures is not always inlined.
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for (register, other) in self.0.iter_mut().zip(&other.0) {
                    for (word, other) in register.iter_mut().zip(other) {
                        $assign::$assign_method(word, other);
                    }
                }
                self
            }
        }

        impl $assign for $name {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    };
}

lanes!(
    /// 256 lanes.
    #[repr(align(32))]
    Lanes256,
    1 registers of 4
);
lanes!(
    /// 512 lanes.
    #[repr(align(64))]
    Lanes512,
    2 registers of 4
);

/// 64 lanes.
pub(crate) type Lanes64 = u64;

impl Lanes for u64 {
    const N_WORDS: usize = 1;
    type Proof = ();

    #[inline(always)]
    fn none((): ()) -> Self {
        0
    }

    #[inline(always)]
    fn all((): ()) -> Self {
        !0
    }

    #[inline(always)]
    fn proof(self) {}

    #[inline(always)]
    fn words(&self) -> &[u64] {
        std::slice::from_ref(self)
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        std::slice::from_mut(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<L: Lanes<Proof = ()>>() {
        let n = L::N_WORDS * 64;
        let mut some = L::none(());
        for lane in (0..n).step_by(3) {
            some.set(lane, true);
        }
        assert!(some.any() && !L::none(()).any());
        assert_eq!(some.count(), n.div_ceil(3) as u64);
        assert_eq!((some | !some).count(), n as u64);
        assert!(!(some & !some).any());
        assert!((0..n).all(|lane| some.has(lane) == (lane % 3 == 0)));
        assert_eq!(some.first(2).count(), 2);
        assert!(some.first(2).has(0) && some.first(2).has(3));
    }

    #[test]
    fn blocks_of_every_width_agree() {
        check::<Lanes64>();
        check::<Lanes256>();
        check::<Lanes512>();
    }
}
