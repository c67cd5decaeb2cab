//! Fetching memory before it is needed.

#![expect(unsafe_code, reason = "an instruction that the standard library declares unsafe")]

/// Begins to fetch the cache line where `value` begins. This changes no value.
#[inline]
pub(super) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: all CPUs of this architecture have the instruction, and a reference is valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
