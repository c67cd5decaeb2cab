//! The machine code that runs in place of a program's own code.

use std::sync::Arc;

use crate::compiled_network::CompiledNetwork;
use crate::compiled_network::machine::Machine;
use crate::compiled_network::parts::Results;

/// Machine code of a program, as far as there is some, and which of it runs now.
#[derive(Clone, Debug, Default)]
pub(super) struct Translation {
    /// For all states.
    pub(super) whole: Option<Arc<Machine>>,
    /// By time frame: for states in it.
    pub(super) of_frames: Option<Arc<[Machine]>>,
    /// The time frame of all lanes whose results are read.
    pub(super) frame: Option<usize>,
}

impl Translation {
    /// What runs now; `None` if that is the program's own code.
    #[inline(always)]
    pub(super) fn current(&self) -> Option<&Machine> {
        match (&self.of_frames, self.frame) {
            (Some(machines), Some(frame)) => Some(&machines[frame]),
            _ => self.whole.as_deref(),
        }
    }

    /// Where what runs now leaves its results.
    #[inline(always)]
    pub(super) fn results<'a>(&'a self, program: &'a CompiledNetwork) -> &'a Results {
        self.current().map_or(&program.results, |machine| &machine.results)
    }
}
