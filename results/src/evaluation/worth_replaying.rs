//! Which few matches of many to look at first.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::Evidence;
use crate::journal::{Index, JournalError};
use crate::record::MatchRecord;

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
/// `order` lists the players as the standings do.
pub(super) fn worth_replaying(
    evidence: &Evidence,
    order: &[usize],
    n: usize,
) -> Vec<WorthReplaying> {
    let faulty = evidence.kept.faulty.iter().take(n / 2).map(|(&job, &(player, kind))| {
        let (player, kind) = (&evidence.players[player as usize], kind.name().replace('_', " "));
        (job, format!("a fault of {player}: {kind}"))
    });
    let mut worth: BTreeMap<u64, String> = faulty.collect();
    let place = |player: u32| order.iter().position(|&other| other == player as usize);
    let mut best: BTreeMap<u32, (Option<usize>, u64)> = BTreeMap::new();
    for ((game, players), &job) in &evidence.kept.first {
        let places = players.iter().map(|&player| place(player));
        let candidate = (places.sum(), job);
        let kept = best.entry(*game).or_insert(candidate);
        *kept = candidate.min(*kept);
    }
    for (game, (_, job)) in best {
        let reason = format!("the best at {}", evidence.games[game as usize]);
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
pub(super) fn read(worth: &mut [WorthReplaying], index: &Index) -> Result<(), JournalError> {
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
