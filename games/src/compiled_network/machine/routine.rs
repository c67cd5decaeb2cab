//! Machine code of a phase: it checks the slots and calls the code.

#![expect(unsafe_code, reason = "calls of generated code, for which the contract is checked here")]

use super::allocate::Chunks;
use super::error::NoMachineCode;
use super::pages::Pages;
use super::target::Target;
use crate::compiled_network::lanes::Lanes;

/// Machine code of a phase, ready to run.
#[derive(Debug)]
pub(crate) struct Routine {
    pages: Pages,
    starts: Vec<usize>,
    target: Target,
    n_pieces: usize,
    n_slots: usize,
}

impl Routine {
    pub(super) fn new(
        chunks: Chunks,
        n_slots: usize,
        target: Target,
    ) -> Result<Self, NoMachineCode> {
        assert!(target.is_supported(), "code for another CPU");
        let pages = Pages::new(&chunks.bytes).map_err(|e| NoMachineCode::Pages(e.to_string()))?;
        let n_pieces = target.n_pieces();
        Ok(Self { pages, starts: chunks.starts, target, n_pieces, n_slots })
    }

    /// Bytes of code.
    pub(crate) fn n_bytes(&self) -> usize {
        self.pages.len()
    }

    /// Runs it over these slots.
    ///
    /// # Panics
    /// If there are fewer than it uses, or they are of another width.
    #[inline(always)]
    pub(crate) fn run<L: Lanes>(&self, slots: &mut [L]) {
        for &start in &self.starts {
            self.run_from(start, slots);
        }
    }

    /// Runs one of its functions, by number.
    ///
    /// # Panics
    /// As [`run`](Self::run), and if there is no such function.
    #[inline(always)]
    pub(crate) fn run_one<L: Lanes>(&self, number: usize, slots: &mut [L]) {
        self.run_from(self.starts[number], slots);
    }

    #[inline(always)]
    fn run_from<L: Lanes>(&self, start: usize, slots: &mut [L]) {
        assert!(slots.len() >= self.n_slots, "{} slots of {}", slots.len(), self.n_slots);
        assert_eq!(size_of::<L>(), self.target.block, "lanes of another width");
        // A word is a single piece. Known when this is compiled, it leaves no loop.
        let n_pieces = if size_of::<L>() == size_of::<u64>() { 1 } else { self.n_pieces };
        for piece in 0..n_pieces {
            // SAFETY: the code was made by `translate` for `target`, which this CPU supports as
            // `new` checked, and `start` is the beginning of one of its functions. The number of
            // slots and their size were compared above, and a piece is a whole register of a
            // slot.
            unsafe { self.pages.call(start, slots, piece * self.target.register) };
        }
    }
}
