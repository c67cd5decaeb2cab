//! Blocks as registers of AVX2.
//!
//! The compiler does make vector instructions of the plain blocks in
//! [`lanes`](super::lanes), but where many blocks are at hand it likes to lay
//! its vectors across them, and then spends more on shuffling than on logic.
//! Here each register is one value for it.

#![expect(unsafe_code, reason = "vector instructions, on CPUs that have them")]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32, _mm256_castsi256_pd,
    _mm256_castsi256_ps, _mm256_cmpeq_epi64, _mm256_movemask_pd, _mm256_movemask_ps,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set_epi64x, _mm256_set1_epi64x,
    _mm256_slli_epi64, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_ternarylogic_epi64,
    _mm256_testz_si256, _mm256_unpacklo_epi64, _mm256_xor_si256,
};
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::features::{Avx2, Avx512, Evidence};
use super::lanes::{self, Lanes};

/// Evidence of AVX2 or more.
pub(crate) trait Vector: Evidence {
    /// Sum and carry of three bits.
    #[inline(always)]
    fn add(self, bits: [__m256i; 3]) -> (__m256i, __m256i) {
        let [a, b, carry] = bits.map(|register| Registers([register], self));
        let (sum, carry) = lanes::add(a, b, carry);
        (sum.0[0], carry.0[0])
    }

    /// Difference and borrow of a bit and two to take off.
    #[inline(always)]
    fn subtract(self, bits: [__m256i; 3]) -> (__m256i, __m256i) {
        let [a, b, borrow] = bits.map(|register| Registers([register], self));
        let (difference, borrow) = lanes::subtract(a, b, borrow);
        (difference.0[0], borrow.0[0])
    }
}

impl Vector for Avx2 {}

/// By instructions of three inputs.
impl Vector for Avx512 {
    #[inline(always)]
    fn add(self, [a, b, c]: [__m256i; 3]) -> (__m256i, __m256i) {
        // SAFETY: the CPU has AVX-512, also on these registers, as `self` proves.
        unsafe {
            let sum = _mm256_ternarylogic_epi64::<0b1001_0110>(a, b, c);
            (sum, _mm256_ternarylogic_epi64::<0b1110_1000>(a, b, c))
        }
    }

    #[inline(always)]
    fn subtract(self, [a, b, c]: [__m256i; 3]) -> (__m256i, __m256i) {
        // SAFETY: the CPU has AVX-512, also on these registers, as `self` proves.
        unsafe {
            let difference = _mm256_ternarylogic_epi64::<0b1001_0110>(a, b, c);
            (difference, _mm256_ternarylogic_epi64::<0b1000_1110>(a, b, c))
        }
    }
}

/// `256 * N` lanes. Each value has evidence that the CPU has AVX2, which all operators
/// rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers<const N: usize, V: Vector>([__m256i; N], V);

// SAFETY: any bits are a register.
const ZEROS: __m256i = unsafe { std::mem::transmute::<[u64; 4], __m256i>([0; 4]) };
// SAFETY: any bits are a register.
const ONES: __m256i = unsafe { std::mem::transmute::<[u64; 4], __m256i>([!0; 4]) };

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $intrinsic:ident) => {
        impl<const N: usize, V: Vector> $trait for Registers<N, V> {
            type Output = Self;

            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                for (register, other) in self.0.iter_mut().zip(other.0) {
                    // SAFETY: the CPU has AVX2, as the value's evidence proves.
                    *register = unsafe { $intrinsic(*register, other) };
                }
                self
            }
        }

        impl<const N: usize, V: Vector> $assign for Registers<N, V> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    };
}

operator!(BitAnd, bitand, BitAndAssign, bitand_assign, _mm256_and_si256);
operator!(BitOr, bitor, BitOrAssign, bitor_assign, _mm256_or_si256);
operator!(BitXor, bitxor, BitXorAssign, bitxor_assign, _mm256_xor_si256);

impl<const N: usize, V: Vector> Not for Registers<N, V> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ self.full()
    }
}

/// Rotates each word left by `LEFT`; `RIGHT` is the rest of its 64 bits.
#[inline(always)]
fn rotate<const LEFT: i32, const RIGHT: i32>(register: __m256i, _: impl Vector) -> __m256i {
    // SAFETY: the CPU has AVX2, as the argument proves.
    unsafe {
        let (left, right) =
            (_mm256_slli_epi64::<LEFT>(register), _mm256_srli_epi64::<RIGHT>(register));
        _mm256_or_si256(left, right)
    }
}

impl<const N: usize, V: Vector> Lanes for Registers<N, V> {
    const N_WORDS: usize = 4 * N;
    type Proof = V;

    #[inline(always)]
    fn none(proof: V) -> Self {
        Self([ZEROS; N], proof)
    }

    #[inline(always)]
    fn all(proof: V) -> Self {
        Self([ONES; N], proof)
    }

    /// In a register at once: a slot that is written in parts is slow to read as a whole.
    #[inline(always)]
    fn of_word(proof: V, word: u64) -> Self {
        let mut registers = [ZEROS; N];
        // SAFETY: the CPU has AVX2, and so AVX, as the argument proves.
        registers[0] = unsafe { _mm256_set_epi64x(0, 0, 0, word as i64) };
        Self(registers, proof)
    }

    #[inline(always)]
    fn proof(self) -> V {
        self.1
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        // SAFETY: `N` registers are `4 * N` words, and stricter aligned.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), 4 * N) }
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: `N` registers are `4 * N` words, and stricter aligned; any
        // words are registers.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), 4 * N) }
    }

    #[inline(always)]
    fn any(self) -> bool {
        let mut all = self.0[0];
        for register in &self.0[1..] {
            // SAFETY: the CPU has AVX2, as the value's evidence proves.
            all = unsafe { _mm256_or_si256(all, *register) };
        }
        // SAFETY: the CPU has AVX2, and so AVX, as the value's evidence proves.
        unsafe { _mm256_testz_si256(all, all) == 0 }
    }

    /// Block `i` gives 32 lanes to a common register, and of these the last one.
    #[inline(always)]
    fn uniform(eight: [&Self; 8]) -> u8 {
        let [a, b, c, d, e, f, g, h] = eight.map(|block| block.0[0]);
        // SAFETY: the CPU has AVX2, and so AVX, as the value's evidence proves.
        unsafe {
            let ab = _mm256_blend_epi32::<0b0000_0010>(a, b);
            let cd = _mm256_blend_epi32::<0b0000_1000>(c, d);
            let ef = _mm256_blend_epi32::<0b0010_0000>(e, f);
            let gh = _mm256_blend_epi32::<0b1000_0000>(g, h);
            let abcd = _mm256_blend_epi32::<0b0000_1100>(ab, cd);
            let efgh = _mm256_blend_epi32::<0b1100_0000>(ef, gh);
            let all = _mm256_blend_epi32::<0b1111_0000>(abcd, efgh);
            _mm256_movemask_ps(_mm256_castsi256_ps(all)) as u8
        }
    }

    /// The first words of four pairs are compared in a common register. What the compiler makes of
    /// the plain code reads the words by slow gather instructions.
    #[inline(always)]
    fn differing(eight: [&Self; 8], others: [&Self; 8], mask: u64) -> u8 {
        let mut bits = 0;
        for half in 0..2 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|at| eight[4 * half + at].0[0]);
            let [e, f, g, h] = [0, 1, 2, 3].map(|at| others[4 * half + at].0[0]);
            // SAFETY: the CPU has AVX2, as the values' evidence proves.
            unsafe {
                let ab = _mm256_unpacklo_epi64(_mm256_xor_si256(a, e), _mm256_xor_si256(b, f));
                let cd = _mm256_unpacklo_epi64(_mm256_xor_si256(c, g), _mm256_xor_si256(d, h));
                let all = _mm256_permute2x128_si256::<0x20>(ab, cd);
                let lanes = _mm256_and_si256(all, _mm256_set1_epi64x(mask as i64));
                let equal = _mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes, ZEROS));
                bits |= !_mm256_movemask_pd(equal) << (4 * half) & 0xf << (4 * half);
            }
        }
        bits as u8
    }

    #[inline(always)]
    fn add(mut self, mut other: Self, carry: Self) -> (Self, Self) {
        for ((a, b), &c) in self.0.iter_mut().zip(&mut other.0).zip(&carry.0) {
            (*a, *b) = self.1.add([*a, *b, c]);
        }
        (self, other)
    }

    #[inline(always)]
    fn subtract(mut self, mut other: Self, borrow: Self) -> (Self, Self) {
        for ((a, b), &c) in self.0.iter_mut().zip(&mut other.0).zip(&borrow.0) {
            (*a, *b) = self.1.subtract([*a, *b, c]);
        }
        (self, other)
    }

    #[inline(always)]
    fn xoshiro([a, b, c, d]: &mut [Self; 4]) -> Self {
        let mut random = a.empty();
        let proof = random.1;
        for i in 0..N {
            let (x, y, mut z, mut w) = (a.0[i], b.0[i], c.0[i], d.0[i]);
            // SAFETY: the CPU has AVX2, as the value's evidence proves.
            unsafe {
                let sum = rotate::<23, 41>(_mm256_add_epi64(x, w), proof);
                random.0[i] = _mm256_add_epi64(sum, x);
                z = _mm256_xor_si256(z, x);
                w = _mm256_xor_si256(w, y);
                b.0[i] = _mm256_xor_si256(y, z);
                a.0[i] = _mm256_xor_si256(x, w);
                c.0[i] = _mm256_xor_si256(z, _mm256_slli_epi64::<17>(y));
                d.0[i] = rotate::<45, 19>(w, proof);
            }
        }
        random
    }
}

/// Writes the bits of a word into words of their own, all ones or zeros. Words after the last
/// four stay as they are.
#[inline(always)]
pub(crate) fn spread(word: u64, spread: &mut [u64], _: Avx2) {
    // SAFETY: the CPU has AVX2, as the argument proves.
    unsafe { spread_by_registers(word, spread) }
}

/// As [`spread`]. Inlined, its constants would be loaded where nothing is spread.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn spread_by_registers(word: u64, spread: &mut [u64]) {
    let bits = _mm256_set_epi64x(8, 4, 2, 1);
    let mut word = _mm256_set1_epi64x(word as i64);
    for four in spread.as_chunks_mut::<4>().0 {
        let ones = _mm256_cmpeq_epi64(_mm256_and_si256(word, bits), bits);
        // SAFETY: four words are as long as a register, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), ones) };
        word = _mm256_srli_epi64::<4>(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled_network::lanes::{Lanes256, Lanes512};
    use crate::compiled_network::random::Random;
    use crate::compiled_network::wide_register::WideRegister;

    fn pair<L: Lanes>((a, b): (L, L)) -> [Vec<u64>; 2] {
        [a.words().to_vec(), b.words().to_vec()]
    }

    /// Operators and random numbers are those of the plain blocks.
    fn check<R: Lanes, P: Lanes<Proof = ()>>(proof: Option<R::Proof>) {
        let Some(proof) = proof else { return };
        let (mut registers, mut plain) = (Random::<R>::new(3, proof), Random::<P>::new(3, ()));
        for _ in 0..100 {
            let (a, b) = (registers.next(), registers.next());
            let (x, y) = (plain.next(), plain.next());
            assert_eq!(a.words(), x.words());
            assert_eq!((a & b).words(), (x & y).words());
            assert_eq!((a | b).words(), (x | y).words());
            assert_eq!((a ^ b).words(), (x ^ y).words());
            assert_eq!((!a).words(), (!x).words());
            let (c, z) = (registers.next(), plain.next());
            assert_eq!(pair(a.add(b, c)), pair(x.add(y, z)));
            assert_eq!(pair(a.subtract(b, c)), pair(x.subtract(y, z)));
            assert_eq!(a.count(), x.count());
            assert!(a.any() && !R::none(proof).any());
            let bits = a.words()[0] as u8;
            let eight: [R; 8] = std::array::from_fn(|_| registers.next());
            let plain_eight: [P; 8] = std::array::from_fn(|_| plain.next());
            let others: [R; 8] =
                std::array::from_fn(|at| if bits >> at & 1 == 1 { a } else { eight[at] });
            let plain_others: [P; 8] =
                std::array::from_fn(|at| if bits >> at & 1 == 1 { x } else { plain_eight[at] });
            for (mask, expected) in [(u64::MAX, Some(bits)), (0, Some(0)), (1 << (bits % 64), None)]
            {
                let found = R::differing(eight.each_ref(), others.each_ref(), mask);
                let plain = P::differing(plain_eight.each_ref(), plain_others.each_ref(), mask);
                assert_eq!((found, expected.unwrap_or(found)), (plain, found));
            }
            let lanes: [R; 8] = std::array::from_fn(|at| {
                if bits >> at & 1 == 1 { R::all(proof) } else { R::none(proof) }
            });
            assert_eq!(R::uniform(lanes.each_ref()), bits);
            let plain: [P; 8] =
                std::array::from_fn(
                    |at| if bits >> at & 1 == 1 { P::all(()) } else { P::none(()) },
                );
            assert_eq!(P::uniform(plain.each_ref()), bits);
            for lane in 0..R::N_WORDS * 64 {
                let mut one = R::none(proof);
                one.set(lane, true);
                assert!(one.any());
            }
        }
    }

    #[test]
    fn registers_are_plain_blocks() {
        check::<Registers<1, Avx2>, Lanes256>(Avx2::detect());
        check::<Registers<2, Avx2>, Lanes512>(Avx2::detect());
        check::<Registers<1, Avx512>, Lanes256>(Avx512::detect());
        check::<WideRegister, Lanes512>(Avx512::detect());
    }
}
