//! The numbers of successors, in 16 bits each where a level has few enough states: references
//! to successors are most of a run's memory, and memory that is new takes time.

/// The number of a state in its shard, counted from the first state in the shard's table.
pub(super) trait Number: Copy + Default + Send {
    /// Number of states that it tells apart.
    const N_STATES: u64;

    /// From a number that is less than [`N_STATES`](Self::N_STATES).
    fn of(number: u32) -> Self;

    fn get(self) -> usize;

    fn collected(all: Vec<Self>) -> SuccessorNumbers;
}

impl Number for u16 {
    const N_STATES: u64 = 1 << 16;

    #[inline(always)]
    fn of(number: u32) -> Self {
        number as Self
    }

    #[inline(always)]
    fn get(self) -> usize {
        self.into()
    }

    fn collected(all: Vec<Self>) -> SuccessorNumbers {
        SuccessorNumbers::Narrow(all)
    }
}

impl Number for u32 {
    const N_STATES: u64 = 1 << 32;

    #[inline(always)]
    fn of(number: u32) -> Self {
        number
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }

    fn collected(all: Vec<Self>) -> SuccessorNumbers {
        SuccessorNumbers::Wide(all)
    }
}

/// A number for each successor.
#[derive(Debug)]
pub(super) enum SuccessorNumbers {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Default for SuccessorNumbers {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl SuccessorNumbers {
    /// Number of successors.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(all) => all.len(),
            Self::Wide(all) => all.len(),
        }
    }

    /// Bytes in use.
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Self::Narrow(all) => size_of::<u16>() * all.capacity(),
            Self::Wide(all) => size_of::<u32>() * all.capacity(),
        }
    }

    pub(super) fn get(&self, at: usize) -> usize {
        match self {
            Self::Narrow(all) => all[at].get(),
            Self::Wide(all) => all[at].get(),
        }
    }
}
