//! From numbers back to names.

use std::sync::Arc;

use crate::evidence::Evidence;
use crate::kept_matches::KeptMatch;
use crate::stats::scored::{ScoredMatch, ScoredSeat, Stratum};

/// The matches that were scored, in the order of the schedule, and how many each stands
/// for. Faults are left out.
pub(crate) fn scored_matches(evidence: &Evidence) -> Vec<(ScoredMatch, u32)> {
    let players: Vec<Arc<str>> = evidence.players.iter().map(|name| name.as_str().into()).collect();
    let strata = evidence.games.iter().map(|game| {
        let stratum = |&clock| Arc::new(Stratum { game: game.clone(), clock });
        evidence.clocks.iter().map(stratum).collect()
    });
    let strata: Vec<Vec<Arc<Stratum>>> = strata.collect();
    let named = |kept: KeptMatch| {
        let seats = kept.seats.iter().map(|seat| ScoredSeat {
            role: seat.role,
            player: players[seat.player as usize].clone(),
            reward: Some(seat.reward),
            faults: [0; 6],
        });
        let stratum = strata[kept.game as usize][kept.clock as usize].clone();
        let (job, block, lap) = (kept.job, kept.block, 0);
        (ScoredMatch { job, block, lap, stratum, seats: seats.collect() }, kept.n)
    };
    evidence.kept.matches().into_iter().map(named).collect()
}
