//! Blocks of 512 lanes as registers of AVX-512, for the reason in
//! [`registers`](super::registers).

#![expect(unsafe_code, reason = "vector instructions, on CPUs that have them")]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_or_si512, _mm512_rol_epi64,
    _mm512_slli_epi64, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask, _mm512_xor_si512,
};
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::features::Avx512;
use super::lanes::Lanes;

/// 512 lanes. Each value has evidence that the CPU has AVX-512, which all operators rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideRegister(__m512i, Avx512);

// SAFETY: any bits are a register.
const ZEROS: __m512i = unsafe { std::mem::transmute::<[u64; 8], __m512i>([0; 8]) };
// SAFETY: any bits are a register.
const ONES: __m512i = unsafe { std::mem::transmute::<[u64; 8], __m512i>([!0; 8]) };

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $intrinsic:ident) => {
        impl $trait for WideRegister {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the CPU has AVX-512, as the value's evidence proves.
                Self(unsafe { $intrinsic(self.0, other.0) }, self.1)
            }
        }

        impl $assign for WideRegister {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    };
}

operator!(BitAnd, bitand, BitAndAssign, bitand_assign, _mm512_and_si512);
operator!(BitOr, bitor, BitOrAssign, bitor_assign, _mm512_or_si512);
operator!(BitXor, bitxor, BitXorAssign, bitxor_assign, _mm512_xor_si512);

impl Not for WideRegister {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ self.full()
    }
}

impl Lanes for WideRegister {
    const N_WORDS: usize = 8;
    type Proof = Avx512;

    #[inline(always)]
    fn none(proof: Avx512) -> Self {
        Self(ZEROS, proof)
    }

    #[inline(always)]
    fn all(proof: Avx512) -> Self {
        Self(ONES, proof)
    }

    #[inline(always)]
    fn proof(self) -> Avx512 {
        self.1
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        // SAFETY: a register is eight words, and stricter aligned.
        unsafe { std::slice::from_raw_parts((&raw const self.0).cast(), 8) }
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: a register is eight words, and stricter aligned; any words are a register.
        unsafe { std::slice::from_raw_parts_mut((&raw mut self.0).cast(), 8) }
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: the CPU has AVX-512, as the value's evidence proves.
        unsafe { _mm512_test_epi64_mask(self.0, self.0) != 0 }
    }

    #[inline(always)]
    fn add(self, other: Self, carry: Self) -> (Self, Self) {
        let Self(a, proof) = self;
        // SAFETY: the CPU has AVX-512, as the value's evidence proves.
        unsafe {
            let sum = _mm512_ternarylogic_epi64::<0b1001_0110>(a, other.0, carry.0);
            let carry = _mm512_ternarylogic_epi64::<0b1110_1000>(a, other.0, carry.0);
            (Self(sum, proof), Self(carry, proof))
        }
    }

    #[inline(always)]
    fn subtract(self, other: Self, borrow: Self) -> (Self, Self) {
        let Self(a, proof) = self;
        // SAFETY: the CPU has AVX-512, as the value's evidence proves.
        unsafe {
            let difference = _mm512_ternarylogic_epi64::<0b1001_0110>(a, other.0, borrow.0);
            let borrow = _mm512_ternarylogic_epi64::<0b1000_1110>(a, other.0, borrow.0);
            (Self(difference, proof), Self(borrow, proof))
        }
    }

    #[inline(always)]
    fn xoshiro([a, b, c, d]: &mut [Self; 4]) -> Self {
        let (x, y, mut z, mut w, proof) = (a.0, b.0, c.0, d.0, a.1);
        // SAFETY: the CPU has AVX-512, as the value's evidence proves.
        unsafe {
            let sum = _mm512_rol_epi64::<23>(_mm512_add_epi64(x, w));
            let random = _mm512_add_epi64(sum, x);
            z = _mm512_xor_si512(z, x);
            w = _mm512_xor_si512(w, y);
            b.0 = _mm512_xor_si512(y, z);
            a.0 = _mm512_xor_si512(x, w);
            c.0 = _mm512_xor_si512(z, _mm512_slli_epi64::<17>(y));
            d.0 = _mm512_rol_epi64::<45>(w);
            Self(random, proof)
        }
    }
}
