//! Which few matches of many to look at first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Read;
use crate::index::Index;
use crate::record::{FaultKind, MatchRecord};
use crate::stats::scored::ScoredMatch;

/// Most matches that are shown for a fault.
const MAX_FAULTED: usize = 6;

/// A match to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct WorthReplaying {
    /// Its place in the schedule.
    pub job: u64,
    /// What is notable.
    pub reason: String,
    /// The match; `None` before it is read.
    pub record: Option<MatchRecord>,
}

/// At most `n` matches: of each game the first in which the best players met,
/// and before these some with faults, of as many players and kinds as possible.
pub(super) fn worth_replaying(
    matches: &[ScoredMatch],
    players: &[Arc<str>],
    n: usize,
) -> Vec<WorthReplaying> {
    let mut worth: BTreeMap<u64, String> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for played in matches {
        for seat in &played.seats {
            let kinds = FaultKind::ALL.iter().zip(seat.faults).filter(|(_, n)| *n > 0);
            for (kind, _) in kinds {
                let wanted =
                    worth.len() < MAX_FAULTED.min(n / 2) && !worth.contains_key(&played.job);
                if wanted && told.insert((&*seat.player, *kind)) {
                    let kind = kind.name().replace('_', " ");
                    worth.insert(played.job, format!("a fault of {}: {kind}", seat.player));
                }
            }
        }
    }
    let place: BTreeMap<&str, usize> =
        players.iter().zip(1..).map(|(name, place)| (&**name, place)).collect();
    let mut best: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for played in matches {
        let places = played.seats.iter().filter_map(|seat| place.get(&*seat.player));
        let candidate = (places.sum(), played.job);
        let kept = best.entry(&played.stratum.game).or_insert(candidate);
        *kept = candidate.min(*kept);
    }
    for (game, (_, job)) in best {
        let reason = format!("the best at {game}");
        if let Some(also) = worth.get_mut(&job) {
            *also = format!("{reason}; {also}");
        } else if worth.len() < n {
            worth.insert(job, reason);
        }
    }
    let worth = worth.into_iter();
    worth.map(|(job, reason)| WorthReplaying { job, reason, record: None }).collect()
}

/// Reads the records of the matches chosen; a record that is gone stays out.
pub(super) fn read(worth: &mut [WorthReplaying], index: &Index) -> Read<()> {
    let jobs: BTreeSet<u64> = worth.iter().map(|worth| worth.job).collect();
    for record in index.records_of(|job| jobs.contains(&job))? {
        if let Some(worth) = worth.iter_mut().find(|worth| worth.job == record.job) {
            worth.record = Some(record);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::evaluation::evaluate;
    use crate::sample;

    #[test]
    fn the_best_meet_at_each_game_and_faults_are_shown() {
        let records = sample::records();
        let run = sample::run(true, &records);
        let evaluation = evaluate(run.path(), &sample::QUICK, 20).unwrap();
        let best: Vec<&str> =
            evaluation.standings.players.iter().take(2).map(|row| row.player.as_str()).collect();
        let mut games = 0;
        for (record, reason) in evaluation.records() {
            if reason.starts_with("the best at ") {
                games += 1;
                let mut sitting = record.seats.iter().filter_map(|seat| seat.player.as_deref());
                assert!(sitting.all(|player| best.contains(&player)));
            } else {
                assert!(reason.starts_with("a fault of "), "{reason}");
            }
        }
        assert_eq!(games, evaluation.standings.games.len());
        assert_eq!(evaluation.records().count(), evaluation.worth_replaying.len());
        let none = evaluate(run.path(), &sample::QUICK, 0).unwrap();
        assert_eq!(none.records().count(), 0);
    }
}
