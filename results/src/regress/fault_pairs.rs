//! Pairs of matches that differ only in whether the base or the head sat there.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::stats::fault_test::FaultyPair;
use crate::stats::scored::{ScoredMatch, ScoredSeat, Stratum};

use super::{BASE, HEAD};

/// What a match is, but for which of the two players sat there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Chances {
    stratum: Arc<Stratum>,
    lap: u32,
    role: u32,
    others: Vec<(u32, Arc<str>)>,
}

/// Matches that wait for the one they are compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultPairs {
    /// Whether it is the head's, and whether it committed a fault.
    waiting: BTreeMap<Chances, (bool, bool)>,
}

fn is_faulty(seat: &ScoredSeat) -> bool {
    seat.faults.iter().any(|&n| n > 0)
}

impl FaultPairs {
    /// Takes the next match, and returns the pair that it completes.
    pub(super) fn take(&mut self, played: &ScoredMatch) -> Option<FaultyPair> {
        let (seat, is_head) = match (played.seat_of(BASE), played.seat_of(HEAD)) {
            (Some(base), Some(head)) => {
                let (base, head) = (is_faulty(base), is_faulty(head));
                return Some(FaultyPair { base, head, same_match: true });
            }
            (Some(base), None) => (base, false),
            (None, Some(head)) => (head, true),
            (None, None) => return None,
        };
        let others = played.seats.iter().filter(|other| other.role != seat.role);
        let chances = Chances {
            stratum: Arc::clone(&played.stratum),
            lap: played.lap,
            role: seat.role,
            others: others.map(|other| (other.role, Arc::clone(&other.player))).collect(),
        };
        match self.waiting.get(&chances) {
            Some(&(other_is_head, other)) if other_is_head != is_head => {
                self.waiting.remove(&chances);
                let (base, head) =
                    if is_head { (other, is_faulty(seat)) } else { (is_faulty(seat), other) };
                Some(FaultyPair { base, head, same_match: false })
            }
            _ => {
                self.waiting.insert(chances, (is_head, is_faulty(seat)));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn played(players: [&str; 2], faulty: Option<&str>) -> ScoredMatch {
        let record = sample::record(0, "ticTacToe", players, [50, 50]);
        let mut played = ScoredMatch::from(&record);
        for seat in &mut played.seats {
            seat.faults[1] = u32::from(faulty == Some(&*seat.player));
        }
        played
    }

    #[test]
    fn who_met_the_same_chances_is_a_pair() {
        let mut pairs = FaultPairs::default();
        let pair = |base, head, same_match| Some(FaultyPair { base, head, same_match });
        assert_eq!(pairs.take(&played([BASE, "other"], None)), None);
        // Another role, and another opponent.
        assert_eq!(pairs.take(&played(["other", HEAD], Some(HEAD))), None);
        assert_eq!(pairs.take(&played([HEAD, "third"], None)), None);
        assert_eq!(pairs.take(&played([HEAD, "other"], Some(HEAD))), pair(false, true, false));
        assert_eq!(pairs.take(&played(["other", BASE], Some("other"))), pair(false, true, false));
        assert_eq!(pairs.take(&played([BASE, "third"], Some(BASE))), pair(true, false, false));
        assert_eq!(pairs.take(&played([BASE, HEAD], Some(BASE))), pair(true, false, true));
        assert_eq!(pairs.take(&played(["canary", "other"], Some("canary"))), None);
        assert!(pairs.waiting.is_empty());
    }
}
