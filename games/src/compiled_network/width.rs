//! How many positions are computed side by side.

/// How many positions a batch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 64: a machine word. For very large networks and for few positions.
    Lanes64,
    /// 256: a register of AVX2.
    Lanes256,
    /// 512: a register of AVX-512, or two of AVX2; the fastest for most games.
    Lanes512,
}

impl Width {
    /// All widths, ascending.
    pub const ALL: [Width; 3] = [Width::Lanes64, Width::Lanes256, Width::Lanes512];

    /// The number of lanes.
    #[must_use]
    pub fn n_lanes(self) -> usize {
        match self {
            Width::Lanes64 => 64,
            Width::Lanes256 => 256,
            Width::Lanes512 => 512,
        }
    }
}
