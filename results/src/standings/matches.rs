//! From columns back to matches.

use std::sync::Arc;

use crate::evidence::Evidence;
use crate::stats::scored::{ScoredMatch, ScoredSeat, Stratum};

/// The matches that were scored, in the order of the schedule.
pub(crate) fn scored_matches(evidence: &Evidence) -> Vec<ScoredMatch> {
    let seats = &evidence.seats;
    let players: Vec<Arc<str>> = evidence.players.iter().map(|name| name.as_str().into()).collect();
    let n_clocks = evidence.clocks.len();
    let stratum = |game: &String, at: usize| {
        let clock = evidence.clocks[at];
        Arc::new(Stratum {
            game: game.clone(),
            start_clock_ms: clock.start_clock_ms,
            play_clock_ms: clock.play_clock_ms,
            nodes: clock.nodes,
        })
    };
    let strata: Vec<Arc<Stratum>> = (evidence.games.iter())
        .flat_map(|game| (0..n_clocks).map(move |clock| stratum(game, clock)))
        .collect();
    let mut rows: Vec<usize> = (0..seats.player.len()).collect();
    rows.sort_by_key(|&row| (seats.job[row], seats.match_number[row]));
    let of_match = |rows: &[usize]| {
        let first = rows[0];
        let seat = |&row: &usize| {
            let role = seats.role[row];
            let faults = evidence.faulted.get(&(seats.match_number[row], role));
            ScoredSeat {
                role,
                player: players[seats.player[row] as usize].clone(),
                reward: u8::try_from(seats.reward[row]).ok(),
                faults: faults.copied().unwrap_or_default(),
            }
        };
        ScoredMatch {
            job: seats.job[first],
            block: seats.block[first],
            lap: 0,
            stratum: strata[seats.game[first] as usize * n_clocks + seats.clock[first] as usize]
                .clone(),
            seats: rows.iter().map(seat).collect(),
        }
    };
    rows.chunk_by(|&a, &b| seats.match_number[a] == seats.match_number[b]).map(of_match).collect()
}
