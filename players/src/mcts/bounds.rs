//! Bounds of a value, in units that hold rewards and what rounding leaves of their means.

/// Units of a bound in a reward of 1 of 100.
const UNITS: u32 = 256;
/// A sixteenth of a reward of 1: means of means are rounded again and again.
const ROUNDING: u16 = UNITS as u16 / 16;
/// Units of the best reward.
pub(super) const BEST: u16 = 100 * UNITS as u16;

/// What the value of a role is at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// In units: rounded down.
    pub(super) low: u16,
    /// In units: rounded up.
    pub(super) high: u16,
}

impl Bounds {
    /// Nothing is proven.
    pub(super) const OPEN: Self = Self { low: 0, high: BEST };

    /// The value is this reward.
    pub(super) fn exactly(reward: u8) -> Self {
        let units = u16::from(reward.min(100)) * UNITS as u16;
        Self { low: units, high: units }
    }

    /// The value is this one, 0 to 100, up to rounding.
    pub(super) fn around(value: f64) -> Self {
        let units = value.clamp(0.0, 100.0) * f64::from(UNITS);
        Self { low: units.floor() as u16, high: units.ceil() as u16 }
    }

    /// What both say.
    pub(super) fn and(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Whether the value is proven. Rewards are whole numbers, so only with chance may the
    /// bounds differ by as little as rounding does.
    pub(super) fn is_exact(&self) -> bool {
        self.low + ROUNDING >= self.high
    }

    /// The value, 0 to 1, if it is proven.
    pub(super) fn value(&self) -> f32 {
        (share(self.low) + share(self.high)) / 2.0
    }

    /// The value, 0 to 100, if it is proven.
    pub(super) fn reward(&self) -> f64 {
        f64::from(u32::from(self.low) + u32::from(self.high)) / f64::from(2 * UNITS)
    }

    /// An estimate, 0 to 1, brought between the bounds.
    pub(super) fn clamp(self, mean: f32) -> f32 {
        mean.clamp(share(self.low), share(self.high).max(share(self.low)))
    }
}

/// Units as a share of the best reward.
pub(super) fn share(units: u16) -> f32 {
    f32::from(units) / f32::from(BEST)
}
