//! The part of a match that statistics need: players by seat, rewards and faults.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::journal::{Journal, JournalError, MatchRow};
use crate::record::{Clock, MatchRecord};

/// A game under a clock: matches of different strata are not comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stratum {
    /// The game's name.
    pub game: String,
    /// What bounds players without time odds.
    pub clock: Clock,
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
    /// 0 to 100; `None` if the match is unscored.
    pub reward: Option<u8>,
    /// Number of faults, in the order of
    /// [`FaultKind::ALL`](crate::record::FaultKind::ALL).
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
        Names::default().scored(&record.into())
    }
}

/// Reads the matches of a journal that count, in the order of the schedule.
/// Names are shared, moves are not kept: some 300 bytes a match of two players.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn read(path: &Path) -> Result<Vec<ScoredMatch>, JournalError> {
    let (mut names, mut matches) = (Names::default(), vec![]);
    Journal::open(path)?.index()?.each_row(|row| {
        matches.push(names.scored(row));
        Ok(())
    })?;
    Ok(matches)
}

/// Each name once.
#[derive(Default)]
struct Names {
    strata: BTreeMap<Stratum, Arc<Stratum>>,
    players: BTreeMap<String, Arc<str>>,
}

impl Names {
    fn scored(&mut self, row: &MatchRow<'_>) -> ScoredMatch {
        let stratum = Stratum { game: row.game.clone().into(), clock: row.clock() };
        let key = stratum.clone();
        let stratum = self.strata.entry(key).or_insert_with(|| stratum.into()).clone();
        let seats = row.players().map(|(role, player, seat)| ScoredSeat {
            role: role as u32,
            player: self.player(player),
            reward: row.reward(seat),
            faults: row.faults(role),
        });
        let seats = seats.collect();
        ScoredMatch { job: row.job, block: row.block, lap: row.lap, stratum, seats }
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
