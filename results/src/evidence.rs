//! What standings need of a journal: one pass over it, into columns.
//!
//! Moves are not kept, and not even copied out of the line: a run of a million
//! matches takes some 60 megabytes.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use crate::histogram::Histogram;
use crate::journal::{IndexEntry, Journal, JournalError, hash_of_id, superseded};
use crate::record::{Budget, Ending, FaultKind, GoalFlag, Header, MANAGER};

/// The columns. Names are numbered in their order, so that nothing depends on
/// the order of the journal.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) header: Header,
    /// Bytes of a half-written last line.
    pub(crate) half_written: u64,
    /// Matches that count, scored or not.
    pub(crate) n_matches: u64,
    pub(crate) games: Vec<String>,
    pub(crate) clocks: Vec<Clock>,
    pub(crate) players: Vec<String>,
    /// Names of the roles, by game.
    pub(crate) roles: Vec<Vec<String>>,
    pub(crate) seats: Seats,
    /// By player.
    pub(crate) conduct: Vec<Conduct>,
    /// Number of matches that scored nobody, by game, ending and reason.
    pub(crate) unscored: BTreeMap<(String, &'static str, String), u64>,
    /// Number of odd goals, by game.
    pub(crate) goal_flags: BTreeMap<(String, GoalFlag), u64>,
}

/// A row for each player in each match that was scored.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    pub(crate) game: Vec<u32>,
    pub(crate) clock: Vec<u32>,
    pub(crate) player: Vec<u32>,
    pub(crate) block: Vec<u64>,
    pub(crate) role: Vec<u32>,
    pub(crate) reward: Vec<u32>,
    /// Numbers the matches.
    pub(crate) match_number: Vec<u32>,
}

/// What bounds thinking in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Clock {
    pub(crate) start_clock_ms: u64,
    pub(crate) play_clock_ms: u64,
    /// States for each move, if they are what is counted.
    pub(crate) nodes: Option<u64>,
}

/// How a player behaved in all matches that count, scored or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conduct {
    /// Faults, in the order of [`FaultKind::ALL`].
    pub(crate) faults: [u64; 6],
    /// Think times of choices, microseconds.
    pub(crate) think_us: Histogram,
    pub(crate) n_decisions: u64,
    pub(crate) n_overruns: u64,
    pub(crate) max_overrun_us: u64,
}

impl Evidence {
    /// Reads the journal at `path`. What is whole of a half-written journal
    /// counts.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn read(path: &Path) -> Result<Self, JournalError> {
        let (evidence, mut entries) = Gathering::run(path, &HashSet::new())?;
        let superseded = superseded(&mut entries);
        if superseded.is_empty() {
            return Ok(evidence);
        }
        // Few runs have attempts that do not count; those are read again
        // without them.
        Ok(Gathering::run(path, &superseded.into_iter().collect())?.0)
    }
}

/// The parts of a [`MatchRecord`](crate::record::MatchRecord) that are wanted.
#[derive(Deserialize)]
struct LeanMatch<'a> {
    job: u64,
    #[serde(borrow)]
    job_id: Cow<'a, str>,
    block: u64,
    #[serde(borrow)]
    game: Cow<'a, str>,
    start_clock_ms: u64,
    play_clock_ms: u64,
    budget: Budget,
    ending: Ending,
    #[serde(default)]
    goal_flags: Vec<(u32, GoalFlag)>,
    #[serde(borrow)]
    seats: Vec<LeanSeat<'a>>,
    steps: Vec<Vec<LeanDecision>>,
}

#[derive(Deserialize)]
struct LeanSeat<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    player: Cow<'a, str>,
    reward: Option<u8>,
    start: LeanStart,
}

#[derive(Deserialize)]
struct LeanStart {
    #[serde(default)]
    fault: Option<FaultKind>,
}

#[derive(Deserialize)]
struct LeanDecision {
    n_legal: u32,
    #[serde(default)]
    fault: Option<FaultKind>,
    wall_us: u64,
    #[serde(default)]
    overrun_us: u64,
}

/// Names in the order in which they were met.
#[derive(Debug, Default)]
struct Names {
    codes: HashMap<String, u32>,
}

impl Names {
    fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.codes.get(name) {
            return code;
        }
        let code = self.codes.len() as u32;
        self.codes.insert(name.to_owned(), code);
        code
    }

    /// The names in order, and for each code the name's place.
    fn sorted(self) -> (Vec<String>, Vec<u32>) {
        sort_codes(self.codes)
    }
}

fn sort_codes<T: Ord>(codes: HashMap<T, u32>) -> (Vec<T>, Vec<u32>) {
    let mut pairs: Vec<(T, u32)> = codes.into_iter().collect();
    pairs.sort_unstable();
    let mut places = vec![0; pairs.len()];
    for (place, (_, code)) in pairs.iter().enumerate() {
        places[*code as usize] = place as u32;
    }
    (pairs.into_iter().map(|(name, _)| name).collect(), places)
}

/// Evidence on its way in.
#[derive(Debug, Default)]
struct Gathering {
    n_matches: u64,
    games: Names,
    players: Names,
    clocks: HashMap<Clock, u32>,
    /// By game's code, then role.
    roles: Vec<Vec<String>>,
    seats: Seats,
    conduct: Vec<Conduct>,
    unscored: BTreeMap<(String, &'static str, String), u64>,
    goal_flags: BTreeMap<(String, GoalFlag), u64>,
}

impl Gathering {
    fn run(path: &Path, skip: &HashSet<u64>) -> Result<(Evidence, Vec<IndexEntry>), JournalError> {
        let mut journal = Journal::open(path)?;
        let mut gathering = Self::default();
        let mut entries = vec![];
        // The line is read and forgotten at once, hence the work within.
        while let Some((offset, (job, job_id, done))) = journal.next_with(|line, offset, _| {
            let record: LeanMatch<'_> = serde_json::from_slice(line)?;
            if !skip.contains(&offset) {
                gathering.add(&record);
            }
            Ok((record.job, hash_of_id(&record.job_id), record.ending.is_done()))
        })? {
            entries.push(IndexEntry { job, job_id, offset, done });
        }
        let header = journal.header().clone();
        Ok((gathering.finish(header, journal.half_written()), entries))
    }

    fn add(&mut self, record: &LeanMatch<'_>) {
        let match_number = self.n_matches as u32;
        self.n_matches += 1;
        let game = self.games.code(&record.game);
        if game as usize == self.roles.len() {
            self.roles.push(record.seats.iter().map(|seat| seat.role.clone().into()).collect());
        }
        for (_, flag) in &record.goal_flags {
            *self.goal_flags.entry((record.game.clone().into(), *flag)).or_default() += 1;
        }
        let scored = record.ending == Ending::Terminal;
        if !scored {
            let reason = record.ending.reason().to_owned();
            let key = (record.game.clone().into(), record.ending.name(), reason);
            *self.unscored.entry(key).or_default() += 1;
        }
        let clock = self.clock(record);
        for (role, seat) in record.seats.iter().enumerate() {
            if seat.role == MANAGER && seat.player == MANAGER {
                continue;
            }
            let player = self.players.code(&seat.player);
            if player as usize == self.conduct.len() {
                self.conduct.push(Conduct::default());
            }
            self.conduct[player as usize].add(seat, role, &record.steps);
            if let Some(reward) = seat.reward.filter(|_| scored) {
                let seats = &mut self.seats;
                seats.game.push(game);
                seats.clock.push(clock);
                seats.player.push(player);
                seats.block.push(record.block);
                seats.role.push(role as u32);
                seats.reward.push(reward.into());
                seats.match_number.push(match_number);
            }
        }
    }

    fn clock(&mut self, record: &LeanMatch<'_>) -> u32 {
        let nodes = match record.budget {
            Budget::Clock => None,
            Budget::Nodes(nodes) => Some(nodes),
        };
        let LeanMatch { start_clock_ms, play_clock_ms, .. } = *record;
        let next = self.clocks.len() as u32;
        *self.clocks.entry(Clock { start_clock_ms, play_clock_ms, nodes }).or_insert(next)
    }

    fn finish(self, header: Header, half_written: u64) -> Evidence {
        let (games, game_places) = self.games.sorted();
        let (players, player_places) = self.players.sorted();
        let (clocks, clock_places) = sort_codes(self.clocks);
        let mut seats = self.seats;
        renumber(&mut seats.game, &game_places);
        renumber(&mut seats.player, &player_places);
        renumber(&mut seats.clock, &clock_places);
        Evidence {
            header,
            half_written,
            n_matches: self.n_matches,
            games,
            clocks,
            players,
            roles: permuted(self.roles, &game_places),
            seats,
            conduct: permuted(self.conduct, &player_places),
            unscored: self.unscored,
            goal_flags: self.goal_flags,
        }
    }
}

fn renumber(codes: &mut [u32], places: &[u32]) {
    for code in codes {
        *code = places[*code as usize];
    }
}

fn permuted<T>(values: Vec<T>, places: &[u32]) -> Vec<T> {
    let mut pairs: Vec<(u32, T)> = places.iter().copied().zip(values).collect();
    pairs.sort_unstable_by_key(|(place, _)| *place);
    pairs.into_iter().map(|(_, value)| value).collect()
}

impl Conduct {
    fn add(&mut self, seat: &LeanSeat<'_>, role: usize, steps: &[Vec<LeanDecision>]) {
        if let Some(fault) = seat.start.fault {
            self.faults[fault as usize] += 1;
        }
        for decision in steps.iter().filter_map(|step| step.get(role)) {
            self.n_decisions += 1;
            if let Some(fault) = decision.fault {
                self.faults[fault as usize] += 1;
            }
            if decision.n_legal > 1 {
                self.think_us.add(decision.wall_us);
            }
            self.n_overruns += u64::from(decision.overrun_us > 0);
            self.max_overrun_us = self.max_overrun_us.max(decision.overrun_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_in_the_order_of_their_kinds() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
