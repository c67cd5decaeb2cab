//! Settings of the C library's memory allocator.

/// Makes the allocator give the memory of large arrays back to the system as soon as they are
/// freed, and let them grow without copying. By default glibc keeps more and more of it once
/// large arrays were freed ("dynamic mmap threshold" in `man 3 mallopt`), so that a program
/// whose arrays grow takes up to half as much again as it has in use. No effect with other C
/// libraries.
pub(crate) fn give_large_arrays_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// The default of glibc, which stays once it is set.
        const THRESHOLD_BYTES: i32 = 128 << 10;
        // SAFETY: `mallopt` may be called at any time, and takes no pointers.
        #[expect(unsafe_code, reason = "no crate has a safe function for it")]
        // If it is refused, the default stays.
        let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD_BYTES) };
    }
}

/// Gives the memory of small blocks that were freed back to the system. By default glibc keeps it
/// for later blocks. No effect with other C libraries.
pub(crate) fn give_freed_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: `malloc_trim` may be called at any time, and takes no pointers.
        #[expect(unsafe_code, reason = "no crate has a safe function for it")]
        // Whether there was any memory to give back makes no difference.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}
