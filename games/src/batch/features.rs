//! Runs a computation compiled for the vector instructions that this CPU has.
//!
//! Rust compiles for the least CPU of its target; a function marked with
//! `target_feature` is compiled for more, together with all that is inlined
//! into it, and must be called on a CPU that has it. This is the one place
//! where that is checked and done.

#![expect(unsafe_code, reason = "calls of functions compiled for detected CPU features")]

/// A computation. Its `run` and what `run` calls in inner loops are to be
/// `#[inline(always)]`, for only what is inlined is compiled for the features.
pub(crate) trait Kernel {
    /// What comes out.
    type Output;

    /// Whether it computes with vector registers, and so exists only where there
    /// is AVX2. Each is compiled for the CPUs that it is for, and no others: the
    /// kernels are large.
    const IN_REGISTERS: bool;

    /// Computes it.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the best instructions there are.
#[inline]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if K::IN_REGISTERS && has_avx512() {
            // SAFETY: `has_avx512` detected all the features.
            return unsafe { run_avx512(kernel) };
        }
        if K::IN_REGISTERS {
            assert!(has_avx2(), "vector registers are used where there are some");
            // SAFETY: `has_avx2` detected all the features.
            return unsafe { run_avx2(kernel) };
        }
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

/// Whether there is AVX2, and what every CPU with AVX2 has too, though that is
/// not written anywhere.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

/// Whether there is AVX-512 as far as it is used, also on shorter registers.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") && has_avx2()
}

/// Other computers have neither.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn has_avx2() -> bool {
    false
}

/// Other computers have neither.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn has_avx512() -> bool {
    false
}
