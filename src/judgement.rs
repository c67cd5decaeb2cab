//! Values in words, as people judge positions.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a value says of a position, from the view of the role that it is for. The scale is
/// that of rewards: 50 is even, and the words are symmetric around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// 0 by proof.
    Lost,
    /// Below 10.
    Losing,
    /// From 10, below 30.
    Worse,
    /// From 30, below 45.
    SlightlyWorse,
    /// From 45 to 55.
    Even,
    /// Above 55, up to 70.
    SlightlyBetter,
    /// Above 70, up to 90.
    Better,
    /// Above 90.
    Winning,
    /// 100 by proof.
    Won,
}

impl Judgement {
    /// The judgement of an expected reward from 0 to 100. `is_proven` says whether 0 and 100
    /// are results of complete analysis under the true rules.
    #[must_use]
    pub fn of(value: f64, is_proven: bool) -> Self {
        match value {
            _ if is_proven && value <= 0.0 => Self::Lost,
            _ if is_proven && value >= 100.0 => Self::Won,
            _ if value < 10.0 => Self::Losing,
            _ if value < 30.0 => Self::Worse,
            _ if value < 45.0 => Self::SlightlyWorse,
            _ if value <= 55.0 => Self::Even,
            _ if value <= 70.0 => Self::SlightlyBetter,
            _ if value <= 90.0 => Self::Better,
            _ => Self::Winning,
        }
    }

    /// The word or words: `slightly better`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Losing => "losing",
            Self::Worse => "worse",
            Self::SlightlyWorse => "slightly worse",
            Self::Even => "even",
            Self::SlightlyBetter => "slightly better",
            Self::Better => "better",
            Self::Winning => "winning",
            Self::Won => "won",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl Serialize for Judgement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_bounds() {
        let table = [
            (0.0, "lost"),
            (0.1, "losing"),
            (10.0, "worse"),
            (30.0, "slightly worse"),
            (45.0, "even"),
            (55.0, "even"),
            (55.1, "slightly better"),
            (70.1, "better"),
            (90.1, "winning"),
            (100.0, "won"),
        ];
        for (value, words) in table {
            assert_eq!(Judgement::of(value, true).words(), words, "{value}");
        }
        assert_eq!(Judgement::of(100.0, false), Judgement::Winning);
        assert_eq!(Judgement::of(0.0, false), Judgement::Losing);
    }

    #[test]
    fn the_scale_is_symmetric() {
        let words = |value| Judgement::of(value, true) as i32;
        for tenths in 0..=1000 {
            let value = f64::from(tenths) / 10.0;
            assert_eq!(words(value) + words(100.0 - value), 8, "{value}");
        }
    }
}
