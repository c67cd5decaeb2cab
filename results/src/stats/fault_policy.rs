//! What a fault costs, decided afterwards: the same matches scored three ways.
//!
//! A fault can hide weakness (a void match cannot be lost) or feign it (a late
//! move is replaced by a random one). Standings that agree under all three
//! policies do not depend on faults; where they differ, faults decide.

use serde::Serialize;
use strum::IntoStaticStr;

use crate::record::FaultKind;
use crate::stats::scored::ScoredMatch;

/// How matches with faults are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FaultPolicy {
    /// By the rewards of the match as it was played, with substitute moves.
    #[default]
    AsPlayed,
    /// A player that committed a fault gets 0; other rewards stay.
    OffenderZero,
    /// A match with a fault is unscored, so its block is incomplete and does not count. A
    /// player that is losing can void a match, so do not use this policy alone.
    Void,
}

impl FaultPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::AsPlayed, Self::OffenderZero, Self::Void];

    /// The match under this policy, where a fault is one that `counts`. Unscored matches
    /// stay unscored.
    #[must_use]
    pub fn apply(self, played: &ScoredMatch, counts: impl Fn(FaultKind) -> bool) -> ScoredMatch {
        let offends = |faults: &[u32; 6]| {
            FaultKind::ALL.iter().zip(faults).any(|(&kind, &n)| n > 0 && counts(kind))
        };
        let mut scored = played.clone();
        let void = scored.seats.iter().any(|seat| offends(&seat.faults));
        for seat in &mut scored.seats {
            let reward = seat.reward.map(u32::from);
            let reward = reward.and_then(|reward| self.reward(reward, offends(&seat.faults), void));
            seat.reward = reward.and_then(|reward| u8::try_from(reward).ok());
        }
        scored
    }

    /// What counts of a reward if its player `offends`, in a match in which
    /// somebody did if `void`.
    pub(crate) fn reward(self, reward: u32, offends: bool, void: bool) -> Option<u32> {
        match self {
            Self::OffenderZero if offends => Some(0),
            Self::Void if void => None,
            _ => Some(reward),
        }
    }

    /// As written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn rewards(policy: FaultPolicy, faults: [[u32; 6]; 2]) -> [Option<u8>; 2] {
        let record = sample::record(0, "ticTacToe", ["alpha", "beta"], [60, 40]);
        let mut played = ScoredMatch::from(&record);
        for (seat, faults) in played.seats.iter_mut().zip(faults) {
            seat.faults = faults;
        }
        let scored = policy.apply(&played, |kind| kind != FaultKind::LateStart);
        [scored.seats[0].reward, scored.seats[1].reward]
    }

    #[test]
    fn each_policy_scores_each_offender() {
        const NONE: [u32; 6] = [0; 6];
        const LATE_START: [u32; 6] = [1, 0, 0, 0, 0, 0];
        const LATE_MOVE: [u32; 6] = [0, 2, 0, 0, 0, 0];
        use FaultPolicy::{AsPlayed, OffenderZero, Void};
        let table = [
            (AsPlayed, [LATE_MOVE, NONE], [Some(60), Some(40)]),
            (OffenderZero, [NONE, NONE], [Some(60), Some(40)]),
            (OffenderZero, [LATE_MOVE, NONE], [Some(0), Some(40)]),
            (OffenderZero, [LATE_MOVE, LATE_MOVE], [Some(0), Some(0)]),
            (OffenderZero, [LATE_START, NONE], [Some(60), Some(40)]),
            (Void, [NONE, NONE], [Some(60), Some(40)]),
            (Void, [NONE, LATE_MOVE], [None, None]),
            (Void, [LATE_START, NONE], [Some(60), Some(40)]),
        ];
        for (policy, faults, expected) in table {
            assert_eq!(rewards(policy, faults), expected, "{policy:?} {faults:?}");
        }
    }

    #[test]
    fn what_scored_nobody_stays_so() {
        let record = sample::record(0, "ticTacToe", ["alpha", "beta"], [60, 40]);
        let mut played = ScoredMatch::from(&record);
        played.seats[0].faults[1] = 1;
        played.seats.iter_mut().for_each(|seat| seat.reward = None);
        for policy in FaultPolicy::ALL {
            assert_eq!(policy.apply(&played, |_| true), played);
        }
    }
}
