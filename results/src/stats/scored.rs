//! What statistics need of a match: who sat where, with what reward and faults.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::index::{IndexEntry, hash_of_id, superseded};
use crate::journal::{Journal, JournalError};
use crate::lean::{LeanFault, LeanSeat};
use crate::record::{Budget, Ending, FaultKind, MatchRecord};

/// A game under a clock: matches of different strata are not comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stratum {
    /// The game's name.
    pub game: String,
    /// Start clock, milliseconds.
    pub start_clock_ms: u64,
    /// Play clock, milliseconds.
    pub play_clock_ms: u64,
    /// States for each move, if they are what is counted.
    pub nodes: Option<u64>,
}

/// One match that counts, without its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredMatch {
    /// Position in the schedule, from 0.
    pub job: u64,
    /// The block it belongs to, numbered in the order of the schedule.
    pub block: u64,
    /// How many blocks of the same game and players came before.
    pub lap: u32,
    /// Game and clock.
    pub stratum: Arc<Stratum>,
    /// Seats of players, by role; roles that the manager moves are left out.
    pub seats: Vec<ScoredSeat>,
}

/// One player in one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredSeat {
    /// Index of the role in the rules.
    pub role: u32,
    /// The player.
    pub player: Arc<str>,
    /// 0 to 100; `None` if the match scored nobody.
    pub reward: Option<u8>,
    /// Number of faults, in the order of [`FaultKind::ALL`].
    pub faults: [u32; 6],
}

impl ScoredMatch {
    /// The seat of `player`, if it plays here.
    #[must_use]
    pub fn seat_of(&self, player: &str) -> Option<&ScoredSeat> {
        self.seats.iter().find(|seat| &*seat.player == player)
    }
}

impl From<&MatchRecord> for ScoredMatch {
    fn from(record: &MatchRecord) -> Self {
        let faults = |role: usize| {
            let start = record.seats[role].start.fault;
            let steps = record.steps.iter().filter_map(|step| step.get(role)?.fault);
            count(start.into_iter().chain(steps))
        };
        let scored = record.ending == Ending::Terminal;
        let seats = record.seats.iter().enumerate();
        let seats = seats.filter_map(|(role, seat)| {
            Some(ScoredSeat {
                role: role as u32,
                player: seat.player.as_deref()?.into(),
                reward: seat.reward.filter(|_| scored),
                faults: faults(role),
            })
        });
        let stratum = Stratum {
            game: record.game.clone(),
            start_clock_ms: record.start_clock_ms,
            play_clock_ms: record.play_clock_ms,
            nodes: nodes(record.budget),
        };
        Self {
            job: record.job,
            block: record.block,
            lap: record.lap,
            stratum: stratum.into(),
            seats: seats.collect(),
        }
    }
}

fn nodes(budget: Budget) -> Option<u64> {
    match budget {
        Budget::Clock => None,
        Budget::Nodes(nodes) => Some(nodes),
    }
}

fn count(faults: impl Iterator<Item = FaultKind>) -> [u32; 6] {
    let mut counts = [0; 6];
    faults.for_each(|fault| counts[fault as usize] += 1);
    counts
}

/// Reads the matches of a journal that count, in the order of the schedule.
/// Names are shared, moves are not kept: some 300 bytes a match of two players.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn read(path: &Path) -> Result<Vec<ScoredMatch>, JournalError> {
    let mut journal = Journal::open(path)?;
    let mut names = Names::default();
    let mut matches: Vec<(u64, ScoredMatch)> = vec![];
    let mut entries = vec![];
    while let Some((offset, (entry, scored))) = journal.next_with(|line, offset, _| {
        let lean: LeanMatch<'_> = serde_json::from_slice(line)?;
        let job_id = hash_of_id(&lean.job_id);
        let done = lean.ending.is_done();
        Ok((IndexEntry { job: lean.job, job_id, offset, done }, names.scored(&lean)))
    })? {
        entries.push(entry);
        matches.push((offset, scored));
    }
    let skipped: HashSet<u64> = superseded(&mut entries).into_iter().collect();
    let counted = matches.into_iter().filter(|(offset, _)| !skipped.contains(offset));
    let mut counted: Vec<ScoredMatch> = counted.map(|(_, scored)| scored).collect();
    counted.sort_by_key(|scored| scored.job);
    Ok(counted)
}

#[derive(Deserialize)]
struct LeanMatch<'a> {
    job: u64,
    #[serde(borrow)]
    job_id: Cow<'a, str>,
    block: u64,
    lap: u32,
    game: String,
    start_clock_ms: u64,
    play_clock_ms: u64,
    budget: Budget,
    ending: Ending,
    #[serde(borrow)]
    seats: Vec<LeanSeat<'a>>,
    steps: Vec<Vec<LeanFault>>,
}

/// Each name once.
#[derive(Default)]
struct Names {
    strata: BTreeMap<Stratum, Arc<Stratum>>,
    players: BTreeMap<String, Arc<str>>,
}

impl Names {
    fn scored(&mut self, lean: &LeanMatch<'_>) -> ScoredMatch {
        let stratum = Stratum {
            game: lean.game.clone(),
            start_clock_ms: lean.start_clock_ms,
            play_clock_ms: lean.play_clock_ms,
            nodes: nodes(lean.budget),
        };
        let key = stratum.clone();
        let stratum = self.strata.entry(key).or_insert_with(|| stratum.into()).clone();
        let scored = lean.ending == Ending::Terminal;
        let seats = lean.seats.iter().enumerate();
        let seats = seats.filter_map(|(role, seat)| {
            Some(ScoredSeat {
                role: role as u32,
                player: self.player(seat.player()?),
                reward: seat.reward.filter(|_| scored),
                faults: count(
                    (seat.start.fault.into_iter())
                        .chain(lean.steps.iter().filter_map(|step| step.get(role)?.fault)),
                ),
            })
        });
        let seats = seats.collect();
        ScoredMatch { job: lean.job, block: lean.block, lap: lean.lap, stratum, seats }
    }

    fn player(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.players.get(name) {
            return known.clone();
        }
        self.players.entry(name.to_owned()).or_insert_with(|| name.into()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::sample;

    #[test]
    fn a_journal_gives_what_its_records_give() {
        let mut records = sample::records();
        records.push(sample::record_with_chance(36, "delta", 70));
        let expected: Vec<ScoredMatch> = records.iter().map(ScoredMatch::from).collect();
        let run = sample::run(true, &records);
        assert_eq!(read(&run.path().join(files::JOURNAL)).unwrap(), expected);
        let faults: u32 = expected.iter().flat_map(|m| &m.seats).flat_map(|s| s.faults).sum();
        assert!(faults > 0, "the sample has faults");
    }

    #[test]
    fn only_the_last_finished_attempt_counts() {
        let mut records = sample::records();
        let mut again = records[4].clone();
        again.attempt = 2;
        again.seats[0].reward = Some(77);
        records.push(again);
        let run = sample::run(true, &records);
        let read = read(&run.path().join(files::JOURNAL)).unwrap();
        assert_eq!(read.len(), records.len() - 1);
        assert_eq!(read[4].seats[0].reward, Some(77));
    }
}
