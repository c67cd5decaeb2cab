//! Memory with code in it, and the call into it: the one place where bytes that
//! we made are run.
//!
//! Pages are written first and made executable after that, never both at once.

#![expect(unsafe_code, reason = "calls of generated code")]

use memmap2::{Mmap, MmapMut};

use crate::compiled_network::lanes::Lanes;

/// Executable pages.
#[derive(Debug)]
pub(super) struct Pages {
    /// `None` if there is no code.
    map: Option<Mmap>,
    len: usize,
}

impl Pages {
    /// Pages with this code, which is made by [`translate`](super::translate).
    ///
    /// # Errors
    /// If the operating system gives no memory, or not to be executed.
    pub(super) fn new(code: &[u8]) -> std::io::Result<Self> {
        if code.is_empty() {
            return Ok(Self { map: None, len: 0 });
        }
        let mut map = MmapMut::map_anon(code.len())?;
        map[..code.len()].copy_from_slice(code);
        Ok(Self { map: Some(map.make_exec()?), len: code.len() })
    }

    /// Bytes of code.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Calls the function at `start`, which reads and writes the part of each slot that
    /// begins `offset` bytes in.
    ///
    /// # Safety
    /// - The code was made by [`translate`](super::translate) for a target that was
    ///   detected on this CPU.
    /// - `start` is the beginning of one of its functions.
    /// - There are at least as many slots as the code uses, and their size is that of the
    ///   target's blocks.
    /// - `offset` is a multiple of the target's register size and less than its block
    ///   size.
    #[inline(always)]
    pub(super) unsafe fn call<L: Lanes>(&self, start: usize, slots: &mut [L], offset: usize) {
        assert!(start < self.len && offset < size_of::<L>(), "no function, or no such part");
        let Some(map) = &self.map else { return };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: by the contract the pages hold code for this CPU. Its functions get
        // the base in RDI. Of the other registers they change those that the calling
        // convention gives them, restore what they change of the rest, use RSP for that
        // and to return, and set no upper part of a vector register without clearing it.
        // They touch only slots that are there, and within a
        // slot, since registers divide blocks. Lanes are words of any bits, and they are
        // borrowed exclusively. The map lives as long as `self`.
        unsafe {
            let base = slots.as_mut_ptr().cast::<u8>();
            let code = map.as_ptr().add(start);
            let function = std::mem::transmute::<*const u8, extern "sysv64" fn(*mut u8)>(code);
            function(base.add(offset));
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("no target is detected, so there is no code of {map:?}");
    }
}
