//! What standings need of a journal: one pass over the records that count, in the
//! order of the schedule.
//!
//! What is kept grows with players, games and clocks, and not with matches.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::Path;

use crate::calibration::Values;
use crate::histogram::Histogram;
use crate::journal::{Decision, Index, Journal, JournalError, MatchRow, Records, Torn};
use crate::kept_matches::KeptMatches;
use crate::record::{Clock, GoalFlag, Header};
use crate::tally::{Places, Seat, Tally};

/// What was found. Names are numbered in their order.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) header: Header,
    /// What is no record at the journal's end.
    pub(crate) torn: Torn,
    /// Matches that count, scored or not.
    pub(crate) n_matches: u64,
    /// Those that were scored.
    pub(crate) n_scored: u64,
    pub(crate) games: Vec<String>,
    pub(crate) clocks: Vec<Clock>,
    /// What bounded single players: the clocks of matches and of time odds.
    pub(crate) own_clocks: Vec<Clock>,
    pub(crate) players: Vec<String>,
    /// Names of the roles, by game.
    pub(crate) roles: Vec<Vec<String>>,
    /// What was won, block by block.
    pub(crate) tally: Tally,
    /// Empty unless it was asked for.
    pub(crate) kept: KeptMatches,
    /// By player: its faults in all matches that count, scored or not, in the order of
    /// [`FaultKind::ALL`](crate::record::FaultKind::ALL).
    pub(crate) conduct: Vec<[u64; 6]>,
    /// By player: what it expected of its moves.
    pub(crate) values: Vec<Values>,
    /// By player and what bounded it, among [`Self::own_clocks`].
    paces: BTreeMap<(u32, u32), Pace>,
    /// By game: what matches took, scored or not.
    pub(crate) overhead: Vec<Overhead>,
    /// Number of unscored matches, by game, ending and reason.
    pub(crate) unscored: BTreeMap<(String, &'static str, String), u64>,
    /// Number of odd goals, by game.
    pub(crate) goal_flags: BTreeMap<(String, GoalFlag), u64>,
    /// Where the records that count are in the journal.
    pub(crate) index: Index,
}

/// How fast a player was under one clock, in all matches that count, scored or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// Think times of choices, microseconds.
    pub(crate) think_us: Histogram,
    /// Times beyond the play clock, of those moves that took longer, microseconds.
    pub(crate) overrun_us: Histogram,
}

/// What the matches of a game took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overhead {
    pub(crate) n_steps: u64,
    /// From START to the last STOP, microseconds.
    pub(crate) duration_us: Histogram,
    pub(crate) duration_us_sum: u64,
    /// What the manager itself took of that, microseconds.
    pub(crate) harness_us: Histogram,
    pub(crate) harness_us_sum: u64,
}

impl Overhead {
    fn add<D>(&mut self, record: &MatchRow<'_, D>) {
        self.n_steps += record.steps.len() as u64;
        self.duration_us.add(record.duration_us);
        self.duration_us_sum += record.duration_us;
        self.harness_us.add(record.harness_us);
        self.harness_us_sum += record.harness_us;
    }

    fn merge(&mut self, other: &Self) {
        self.n_steps += other.n_steps;
        self.duration_us.merge(&other.duration_us);
        self.duration_us_sum += other.duration_us_sum;
        self.harness_us.merge(&other.harness_us);
        self.harness_us_sum += other.harness_us_sum;
    }
}

impl Evidence {
    /// How fast a player was, by the number of what bounded it, ascending.
    pub(crate) fn paces(&self, player: usize) -> impl Iterator<Item = (u32, &Pace)> {
        let player = player as u32;
        let paces = self.paces.range((player, 0)..=(player, u32::MAX));
        paces.map(|(&(_, clock), pace)| (clock, pace))
    }

    /// Reads the journal at `path`, and keeps matches if `keep_matches`. What is
    /// whole of a half-written journal counts.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn read(path: &Path, keep_matches: bool) -> Result<Self, JournalError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::read_by(threads, path, keep_matches)
    }

    fn read_by(threads: usize, path: &Path, keep_matches: bool) -> Result<Self, JournalError> {
        Self::gather(
            threads,
            path,
            keep_matches,
            |records, part| records.each_row(|row| part.add(row)),
            |()| Ok(()),
        )
    }

    /// As [`Self::read`], without matches, by a caller that makes something of them on
    /// the way: `render` adds each match of a part of the journal to the [`Gathering`],
    /// and `take` gets what it makes of the parts, in their order. So the
    /// journal, which may be long, is read once for both.
    pub(crate) fn read_beside<T: Send, E: From<JournalError> + Send>(
        path: &Path,
        render: impl Fn(&mut Records<'_>, &mut Gathering) -> Result<T, E> + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<Self, E> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::gather(threads, path, false, render, take)
    }

    fn gather<T: Send, E: From<JournalError> + Send>(
        threads: usize,
        path: &Path,
        keep_matches: bool,
        render: impl Fn(&mut Records<'_>, &mut Gathering) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<Self, E> {
        let journal = Journal::open(path)?;
        let header = journal.header().clone();
        let index = journal.index()?;
        let mut whole = Gathering::default();
        let (mut tally, mut kept) = (Tally::default(), KeptMatches::default());
        let mut add = |seats: &[Seat]| {
            tally.add(seats);
            if keep_matches {
                kept.add(seats);
            }
        };
        index.render_by(
            threads,
            |records| {
                let mut part = Gathering::default();
                let rendered = render(records, &mut part)?;
                Ok::<_, E>((part, rendered))
            },
            |(part, rendered)| {
                whole.merge(part).map_err(|game| {
                    let path = path.to_owned();
                    JournalError::OtherRoles { path, game }
                })?;
                let begun = whole.seats.last().map(|seat| seat.block);
                // More of the block at the end may be in the next part.
                let n_whole = whole.seats.partition_point(|seat| Some(seat.block) != begun);
                add(&whole.seats[..n_whole]);
                whole.seats.drain(..n_whole);
                take(rendered)
            },
        )?;
        add(&whole.seats);
        Ok(whole.finish(header, index, tally, kept))
    }
}

/// Numbers of things in the order in which they were met.
type Codes<T> = HashMap<T, u32>;

/// The number of a thing, which is the next one if it is new.
fn code<T, Q>(codes: &mut Codes<T>, thing: &Q) -> u32
where
    T: Borrow<Q> + Hash + Eq,
    Q: ToOwned<Owned = T> + Hash + Eq + ?Sized,
{
    if let Some(&code) = codes.get(thing) {
        return code;
    }
    let code = codes.len() as u32;
    codes.insert(thing.to_owned(), code);
    code
}

/// The things in order, and for each number the thing's place.
fn sorted<T: Ord>(codes: Codes<T>) -> (Vec<T>, Vec<u32>) {
    let mut pairs: Vec<(T, u32)> = codes.into_iter().collect();
    pairs.sort_unstable();
    let mut places = vec![0; pairs.len()];
    for (place, (_, code)) in pairs.iter().enumerate() {
        places[*code as usize] = place as u32;
    }
    (pairs.into_iter().map(|(thing, _)| thing).collect(), places)
}

/// The numbers that `things` have in `into`, by the numbers they had before.
fn codes<T: Clone + Hash + Eq>(into: &mut Codes<T>, things: &[T], places: &[u32]) -> Vec<u32> {
    places.iter().map(|&place| code(into, &things[place as usize])).collect()
}

/// Evidence on its way in.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    n_matches: u64,
    n_scored: u64,
    games: Codes<String>,
    players: Codes<String>,
    clocks: Codes<Clock>,
    own_clocks: Codes<Clock>,
    /// By game's code, then role.
    roles: Vec<Vec<String>>,
    seats: Vec<Seat>,
    conduct: Vec<[u64; 6]>,
    values: Vec<Values>,
    paces: BTreeMap<(u32, u32), Pace>,
    /// By game's code.
    overhead: Vec<Overhead>,
    unscored: BTreeMap<(String, &'static str, String), u64>,
    goal_flags: BTreeMap<(String, GoalFlag), u64>,
}

impl Gathering {
    /// Adds a match. The error says why it cannot be one of this run.
    pub(crate) fn add<D: Decision>(
        &mut self,
        record: &MatchRow<'_, D>,
    ) -> Result<(), &'static str> {
        let match_number = self.n_matches as u32;
        self.n_matches += 1;
        let game = code(&mut self.games, &*record.game);
        if game as usize == self.roles.len() {
            self.roles.push(record.seats.iter().map(|seat| seat.role.clone().into()).collect());
            self.overhead.push(Overhead::default());
        }
        let roles = &self.roles[game as usize];
        if !roles.iter().eq(record.seats.iter().map(|seat| &*seat.role)) {
            return Err("the seats are not those of the matches of this game before");
        }
        self.overhead[game as usize].add(record);
        for (_, flag) in &record.goal_flags {
            *self.goal_flags.entry((record.game.clone().into(), *flag)).or_default() += 1;
        }
        self.n_scored += u64::from(record.is_scored());
        if !record.is_scored() {
            let reason = record.ending.reason();
            let key = (record.game.clone().into(), record.ending.name(), reason);
            *self.unscored.entry(key).or_default() += 1;
        }
        let clock = code(&mut self.clocks, &record.clock());
        for (role, player, seat) in record.players() {
            let player = code(&mut self.players, player);
            if player as usize == self.conduct.len() {
                self.conduct.push([0; 6]);
                self.values.push(Values::default());
            }
            let own_clock = code(&mut self.own_clocks, &seat.odds.unwrap_or(record.clock()));
            // What broke a match off may have made players seem at fault before it was
            // noticed: the match is played again, and says nothing of anybody.
            if !record.ending.is_done() {
                continue;
            }
            let faults = record.faults(role);
            add_faults(&mut self.conduct[player as usize], faults.map(u64::from));
            self.paces.entry((player, own_clock)).or_default().add(role, record);
            if let Some(reward) = record.reward(seat) {
                for decision in record.decisions(role).filter(|decision| decision.is_choice()) {
                    if let Some(value) = decision.value_tenths {
                        self.values[player as usize].add(record.block, value, reward);
                    }
                }
                self.seats.push(Seat {
                    job: record.job,
                    block: record.block,
                    match_number,
                    game,
                    clock,
                    own_clock,
                    player,
                    role: role as u32,
                    reward,
                    faults,
                });
            }
        }
        Ok(())
    }

    /// Adds what another has gathered from a later part of the journal. The error
    /// is the game whose roles differ.
    fn merge(&mut self, other: Self) -> Result<(), String> {
        let (games, game_places) = sorted(other.games);
        let roles = permuted(other.roles, &game_places);
        let overhead = permuted(other.overhead, &game_places);
        for ((name, roles), overhead) in games.iter().zip(roles).zip(overhead) {
            let game = code(&mut self.games, name) as usize;
            if game == self.roles.len() {
                self.roles.push(roles);
                self.overhead.push(overhead);
            } else if self.roles[game] == roles {
                self.overhead[game].merge(&overhead);
            } else {
                return Err(name.clone());
            }
        }
        let (players, player_places) = sorted(other.players);
        let found = permuted(other.conduct, &player_places)
            .into_iter()
            .zip(permuted(other.values, &player_places));
        for (player, (conduct, values)) in players.iter().zip(found) {
            let player = code(&mut self.players, player) as usize;
            if player == self.conduct.len() {
                self.conduct.push(conduct);
                self.values.push(values);
            } else {
                add_faults(&mut self.conduct[player], conduct);
                self.values[player].merge(values);
            }
        }
        let (clocks, clock_places) = sorted(other.clocks);
        let (own_clocks, own_clock_places) = sorted(other.own_clocks);

        let games = codes(&mut self.games, &games, &game_places);
        let players = codes(&mut self.players, &players, &player_places);
        let clocks = codes(&mut self.clocks, &clocks, &clock_places);
        let own_clocks = codes(&mut self.own_clocks, &own_clocks, &own_clock_places);
        for ((player, clock), pace) in other.paces {
            let key = (players[player as usize], own_clocks[clock as usize]);
            self.paces.entry(key).or_default().merge(&pace);
        }
        let n_matches = self.n_matches as u32;
        self.seats.extend(other.seats.into_iter().map(|seat| Seat {
            match_number: seat.match_number + n_matches,
            game: games[seat.game as usize],
            clock: clocks[seat.clock as usize],
            own_clock: own_clocks[seat.own_clock as usize],
            player: players[seat.player as usize],
            ..seat
        }));
        self.n_matches += other.n_matches;
        self.n_scored += other.n_scored;
        for (key, n) in other.unscored {
            *self.unscored.entry(key).or_default() += n;
        }
        for (key, n) in other.goal_flags {
            *self.goal_flags.entry(key).or_default() += n;
        }
        Ok(())
    }

    /// `tally` and `kept` are made of what was taken out on the way.
    fn finish(
        self,
        header: Header,
        index: Index,
        mut tally: Tally,
        mut kept: KeptMatches,
    ) -> Evidence {
        let (games, game_places) = sorted(self.games);
        let (players, player_places) = sorted(self.players);
        let (clocks, clock_places) = sorted(self.clocks);
        let (own_clocks, own_clock_places) = sorted(self.own_clocks);
        let places = Places {
            players: &player_places,
            games: &game_places,
            clocks: &clock_places,
            own_clocks: &own_clock_places,
        };
        tally.renumber(places);
        kept.renumber(places);
        let place = |(player, clock): (u32, u32)| {
            (player_places[player as usize], own_clock_places[clock as usize])
        };
        let paces = self.paces.into_iter().map(|(key, pace)| (place(key), pace)).collect();
        Evidence {
            header,
            paces,
            torn: index.torn,
            n_matches: self.n_matches,
            n_scored: self.n_scored,
            games,
            clocks,
            own_clocks,
            players,
            roles: permuted(self.roles, &game_places),
            tally,
            kept,
            conduct: permuted(self.conduct, &player_places),
            values: permuted(self.values, &player_places),
            overhead: permuted(self.overhead, &game_places),
            unscored: self.unscored,
            goal_flags: self.goal_flags,
            index,
        }
    }
}

fn permuted<T>(values: Vec<T>, places: &[u32]) -> Vec<T> {
    let mut pairs: Vec<(u32, T)> = places.iter().copied().zip(values).collect();
    pairs.sort_unstable_by_key(|(place, _)| *place);
    pairs.into_iter().map(|(_, value)| value).collect()
}

/// Adds numbers of faults by kind.
fn add_faults(sums: &mut [u64; 6], faults: [u64; 6]) {
    sums.iter_mut().zip(faults).for_each(|(sum, n)| *sum += n);
}

impl Pace {
    fn merge(&mut self, other: &Self) {
        self.think_us.merge(&other.think_us);
        self.overrun_us.merge(&other.overrun_us);
    }

    /// Adds the decisions of a role.
    fn add<D: Decision>(&mut self, role: usize, record: &MatchRow<'_, D>) {
        for decision in record.decisions(role) {
            if decision.is_choice() {
                self.think_us.add(decision.wall_us);
            }
            if decision.overrun_us > 0 {
                self.overrun_us.add(decision.overrun_us);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::record::{FaultKind, MatchRecord};
    use crate::sample;

    #[test]
    fn any_number_of_threads_gathers_the_same() {
        // Some parts of the index, with attempts that do not count.
        let few = sample::records();
        let mut records: Vec<MatchRecord> = (0..120)
            .flat_map(|copy| few.iter().map(move |record| (copy, record)))
            .map(|(copy, record)| MatchRecord {
                job: record.job + copy * few.len() as u64,
                block: record.block + copy * 100,
                job_id: format!("{copy} {}", record.job_id),
                ..record.clone()
            })
            .collect();
        records.push(sample::record_with_chance(20_000, "delta", 70));
        records.push(MatchRecord { attempt: 2, ..records[20].clone() });
        for end in ["", &"\0\n".repeat(20_000)] {
            let run = sample::run(true, &records);
            let path = run.path().join(files::JOURNAL);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text + end).unwrap();
            let alone = Evidence::read_by(1, &path, true).unwrap();
            let found = (alone.torn.bytes, alone.n_matches);
            assert_eq!(found.0, end.len() as u64);
            assert_eq!(found.1, 120 * 36 + 1);
            assert!(alone.kept.matches().is_sorted_by_key(|kept| kept.job));
            let told = format!("{alone:?}");
            for threads in [2, 3, 8] {
                let together = Evidence::read_by(threads, &path, true).unwrap();
                assert!(format!("{together:?}") == told, "{threads} threads, {} more", end.len());
            }
            let lean = Evidence::read_by(2, &path, false).unwrap();
            assert!(lean.kept.matches().is_empty());
            assert_eq!(format!("{:?}", lean.tally), format!("{:?}", alone.tally));
        }
        for records in [&records[..0], &records[..1]] {
            let run = sample::run(true, records);
            let evidence = Evidence::read_by(3, &run.path().join(files::JOURNAL), true).unwrap();
            assert_eq!(evidence.n_matches, records.len() as u64);
        }
    }

    #[test]
    fn damage_is_found_and_its_line_is_named() {
        let run = sample::run(true, &sample::records());
        let path = run.path().join(files::JOURNAL);
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [2, 9, 17, 20, 30] {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines[line] = lines[line].replace("\"job\"", "job\"");
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            let error = Evidence::read(&path, false).unwrap_err();
            assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
            assert!(error.to_string().contains(&format!("line {} ", line + 1)), "{error}");
        }
    }

    #[test]
    fn faults_are_counted_in_the_order_of_their_kinds() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
