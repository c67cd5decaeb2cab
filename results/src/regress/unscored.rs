//! Unscored matches, as they would count at worst for the head.
//!
//! Whether a match reaches its end depends on who plays it: a player that leads
//! lost positions to the step limit must not gain by that. What such matches would
//! have ended like is not known, only the bounds of it.

use crate::stats::scored::ScoredMatch;

use super::{BASE, HEAD};

/// Whether the match is unscored.
pub(super) fn is_unscored(played: &ScoredMatch) -> bool {
    played.seats.iter().all(|seat| seat.reward.is_none())
}

/// The match as it was, if it scored; else lost for the head, and won for the base.
pub(super) fn at_worst(played: &ScoredMatch) -> ScoredMatch {
    let mut worst = played.clone();
    if is_unscored(played) {
        for seat in &mut worst.seats {
            seat.reward = match &*seat.player {
                HEAD => Some(0),
                BASE => Some(100),
                _ => None,
            };
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_scored_nobody_is_lost_for_the_head_and_won_for_the_base() {
        let check = |players: [&str; 2], scored: bool, expected: [Option<u8>; 2]| {
            let mut played = ScoredMatch::from(&sample::record(0, "nim", players, [70, 30]));
            if !scored {
                played.seats.iter_mut().for_each(|seat| seat.reward = None);
            }
            let worst = at_worst(&played);
            assert_eq!([worst.seats[0].reward, worst.seats[1].reward], expected, "{players:?}");
        };
        check([HEAD, "other"], true, [Some(70), Some(30)]);
        check([HEAD, "other"], false, [Some(0), None]);
        check(["other", BASE], false, [None, Some(100)]);
        check([BASE, HEAD], false, [Some(100), Some(0)]);
    }
}
