//! Runs a computation compiled for the vector instructions that this CPU has.
//!
//! Rust compiles for the oldest CPU of its target. A function with `target_feature` is
//! compiled for a newer one, together with everything that is inlined into it, and must
//! be called on such a CPU only. This is the one place where that is checked and done, but for
//! `spread` of `registers`, which is given the evidence.

#![expect(unsafe_code, reason = "calls of functions compiled for detected CPU features")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__cpuid;
use std::fmt::Debug;
use std::sync::OnceLock;

/// A computation. Its `run` and everything that `run` calls in inner loops must be
/// `#[inline(always)]`, since only inlined code is compiled for the features.
pub(crate) trait Kernel {
    /// The result.
    type Output;

    /// Evidence of the instructions that it is compiled for.
    type Proof: Evidence;

    /// Computes it.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the instructions that the evidence is of.
#[inline]
pub(crate) fn run<K: Kernel>(kernel: K, _: K::Proof) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if const { matches!(K::Proof::NEEDS, Vectors::Avx512) } {
            // SAFETY: there is evidence of AVX-512, which only the detection of all these features
            // makes.
            return unsafe { run_avx512(kernel) };
        }
        if const { matches!(K::Proof::NEEDS, Vectors::Avx2) } {
            // SAFETY: there is evidence of AVX2, which only the detection of all these features
            // makes.
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

/// The place of the bit of a word before which there are `n` others.
#[inline]
pub(crate) fn nth_bit(word: u64, n: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if has_fast_pdep() {
        // SAFETY: the CPU has BMI1 and BMI2, which `has_fast_pdep` detected.
        return unsafe { nth_bit_bmi2(word, n) };
    }
    let rest = (0..n).fold(word, |word, _| word & word.wrapping_sub(1));
    rest.trailing_zeros() as usize
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn nth_bit_bmi2(word: u64, n: usize) -> usize {
    std::arch::x86_64::_pdep_u64(1 << n, word).trailing_zeros() as usize
}

/// Whether PDEP is used, which CPUs of AMD and Hygon before family 25 (Zen 3) compute bit by bit.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_fast_pdep() -> bool {
    static IS_FAST: OnceLock<bool> = OnceLock::new();
    *IS_FAST.get_or_init(|| {
        let vendor = __cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let is_amd =
            [*b"AuthenticAMD", *b"HygonGenuine"].iter().any(|amd| name.as_flattened() == amd);
        let version = __cpuid(1).eax;
        let family = (version >> 8 & 15) + (version >> 20 & 255);
        has_avx2() && (!is_amd || family >= 25)
    })
}

/// The vector instructions that are used, from few to many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vectors {
    None,
    Avx2,
    Avx512,
}

/// The environment variable that forbids vector instructions: `none`, `avx2` or
/// `avx512` are the most that is used. With `avx2`, all that is done for CPUs
/// without AVX-512 is tested and measured on one that has it.
const VARIABLE: &str = "GAMEMASTER_VECTORS";

impl Vectors {
    /// What is used in this process: what the CPU has and the environment allows.
    ///
    /// # Panics
    /// If the variable holds another word: users who set it want to be sure.
    fn used() -> Self {
        static USED: OnceLock<Vectors> = OnceLock::new();
        *USED.get_or_init(|| {
            let allowed = Self::allowed().unwrap_or_else(|error| panic!("{error}"));
            allowed.min(Self::of_cpu())
        })
    }

    /// What the environment allows.
    fn allowed() -> Result<Self, UnknownVectors> {
        match std::env::var(VARIABLE) {
            Ok(word) => Self::named(&word).ok_or(UnknownVectors(word)),
            Err(_) => Ok(Self::Avx512),
        }
    }

    fn named(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "avx2" => Some(Self::Avx2),
            "avx512" => Some(Self::Avx512),
            _ => None,
        }
    }

    /// What this CPU has: AVX2 with what every CPU with AVX2 has too, though that is
    /// not written anywhere, and AVX-512 as far as it is used, also on shorter
    /// registers.
    #[cfg(target_arch = "x86_64")]
    fn of_cpu() -> Self {
        let has_avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt");
        let has_avx512 =
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        match (has_avx2, has_avx512) {
            (true, true) => Self::Avx512,
            (true, false) => Self::Avx2,
            (false, _) => Self::None,
        }
    }

    /// Other computers have neither.
    #[cfg(not(target_arch = "x86_64"))]
    fn of_cpu() -> Self {
        Self::None
    }
}

/// The environment variable `GAMEMASTER_VECTORS` holds a word that is not known.
#[derive(Debug, thiserror::Error)]
#[error("{VARIABLE}={0}: expected none, avx2 or avx512")]
pub struct UnknownVectors(String);

/// Checks the environment variable that [`vectors`] follows, so that a program can refuse it before
/// a computation panics.
///
/// # Errors
/// The variable holds an unknown word.
pub fn check_vectors() -> Result<(), UnknownVectors> {
    Vectors::allowed().map(drop)
}

/// The vector instructions that batches and passes use in this process: `none`,
/// `avx2` or `avx512`. They are those of the CPU, unless the environment variable
/// `GAMEMASTER_VECTORS` holds one of these words and forbids more.
///
/// # Panics
/// If the variable holds another word.
#[must_use]
pub fn vectors() -> &'static str {
    match Vectors::used() {
        Vectors::None => "none",
        Vectors::Avx2 => "avx2",
        Vectors::Avx512 => "avx512",
    }
}

/// Evidence that instructions are used in this process. Only a checked detection makes one, so
/// code that needs the instructions asks for this instead of a promise.
///
/// # Safety
/// There are values of the type only where this CPU has all that [`NEEDS`](Self::NEEDS) names.
pub(crate) unsafe trait Evidence: Copy + Debug + Send + Sync + 'static {
    /// The instructions.
    const NEEDS: Vectors;
}

/// For what every CPU has.
// SAFETY: it needs nothing.
unsafe impl Evidence for () {
    const NEEDS: Vectors = Vectors::None;
}

/// Evidence of AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

// SAFETY: its field is private to this file, where only `detect` makes it.
unsafe impl Evidence for Avx2 {
    const NEEDS: Vectors = Vectors::Avx2;
}

/// Evidence of AVX-512, also on shorter registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

// SAFETY: its field is private to this file, where only `detect` makes it.
unsafe impl Evidence for Avx512 {
    const NEEDS: Vectors = Vectors::Avx512;
}

impl Avx512 {
    /// The evidence, if AVX-512 is used.
    pub(crate) fn detect() -> Option<Self> {
        has_avx512().then_some(Self(()))
    }
}

impl Avx2 {
    /// The evidence, if AVX2 is used.
    pub(crate) fn detect() -> Option<Self> {
        has_avx2().then_some(Self(()))
    }
}

/// Whether AVX2 is used.
pub(crate) fn has_avx2() -> bool {
    Vectors::used() >= Vectors::Avx2
}

/// Whether AVX-512 is used.
pub(crate) fn has_avx512() -> bool {
    Vectors::used() == Vectors::Avx512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_forbids_and_gives_nothing() {
        let words = [("none", Vectors::None), ("avx2", Vectors::Avx2), ("avx512", Vectors::Avx512)];
        for (word, vectors) in words {
            assert_eq!(Vectors::named(word), Some(vectors));
        }
        assert_eq!(Vectors::named("AVX2"), None);
        let allowed = std::env::var(VARIABLE).ok().and_then(|word| Vectors::named(&word));
        let expected = allowed.unwrap_or(Vectors::Avx512).min(Vectors::of_cpu());
        assert_eq!(Vectors::used(), expected);
        assert_eq!(has_avx2(), expected >= Vectors::Avx2);
        assert_eq!(has_avx512(), expected == Vectors::Avx512);
    }
}
