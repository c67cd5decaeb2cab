//! The matches that were scored, as ratings and effects need them, in an amount of
//! memory that does not grow with their number.
//!
//! The matches of the first [`MOST_BLOCKS`] blocks of a game under a clock are kept one
//! by one. Beyond them blocks are merged into the groups of [`group_of`], as for the
//! standings, and equal matches of a group are counted.

use std::collections::BTreeMap;

use crate::record::FaultKind;
use crate::tally::{MOST_BLOCKS, Places, Seat, group_of};

/// Maximum number of matches that are noted for a fault.
pub(crate) const MOST_FAULTY: usize = 6;

/// A player in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeptSeat {
    pub(crate) role: u32,
    pub(crate) player: u32,
    pub(crate) own_clock: u32,
    pub(crate) reward: u8,
}

/// A match, or several equal ones.
#[derive(Clone, Debug)]
pub(crate) struct KeptMatch {
    /// The first place in the schedule.
    pub(crate) job: u64,
    /// Number of the block, or of what stands for a group of blocks.
    pub(crate) block: u64,
    pub(crate) game: u32,
    pub(crate) clock: u32,
    /// By role.
    pub(crate) seats: Vec<KeptSeat>,
    /// How many matches.
    pub(crate) n: u32,
}

/// What was kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptMatches {
    strata: BTreeMap<(u32, u32), Stratum>,
    /// By job: a fault of a player that no match before has.
    pub(crate) faulty: BTreeMap<u64, (u32, FaultKind)>,
    /// By game and players, ascending: the first job in which they met.
    pub(crate) first: BTreeMap<(u32, Vec<u32>), u64>,
}

/// The matches of a game under a clock.
#[derive(Clone, Debug, Default)]
struct Stratum {
    n_blocks: u64,
    last_block: Option<u64>,
    merged: bool,
    matches: BTreeMap<Key, (u64, u32)>,
}

/// What tells matches apart: their block or group, their job before blocks are merged,
/// and who won what in which role.
type Key = (u64, Option<u64>, Vec<KeptSeat>);

impl KeptMatches {
    /// Adds matches, in the order of the schedule.
    pub(crate) fn add(&mut self, seats: &[Seat]) {
        for seats in seats.chunk_by(|a, b| a.match_number == b.match_number) {
            let Seat { job, block, game, clock, .. } = seats[0];
            let kept = seats.iter().map(|&Seat { role, player, own_clock, reward, .. }| KeptSeat {
                role,
                player,
                own_clock,
                reward,
            });
            self.strata.entry((game, clock)).or_default().add(job, block, kept.collect());
            let mut players: Vec<u32> = seats.iter().map(|seat| seat.player).collect();
            players.sort_unstable();
            self.first.entry((game, players)).or_insert(job);
            for seat in seats.iter().filter(|seat| seat.faults != [0; 6]) {
                self.note_faults(job, seat);
            }
        }
    }

    fn note_faults(&mut self, job: u64, seat: &Seat) {
        for (kind, _) in FaultKind::ALL.into_iter().zip(seat.faults).filter(|(_, n)| *n > 0) {
            let fault = (seat.player, kind);
            if self.faulty.len() < MOST_FAULTY && !self.faulty.values().any(|it| *it == fault) {
                self.faulty.entry(job).or_insert(fault);
            }
        }
    }

    /// The matches in the order of the schedule.
    pub(crate) fn matches(&self) -> Vec<KeptMatch> {
        let mut matches = vec![];
        for (&(game, clock), stratum) in &self.strata {
            matches.extend(stratum.matches.iter().map(|((place, _, seats), &(job, n))| {
                // Groups of different strata are different, and none is a block.
                let group = || !(u64::from(game) << 40 | u64::from(clock) << 16 | *place);
                let block = if stratum.merged { group() } else { *place };
                KeptMatch { job, block, game, clock, seats: seats.clone(), n }
            }));
        }
        matches.sort_by_key(|kept| kept.job);
        matches
    }

    /// Gives players, games and clocks other numbers.
    pub(crate) fn renumber(&mut self, places: Places<'_>) {
        let Places { players, games, clocks, own_clocks } = places;
        let player = |number: u32| players[number as usize];
        let game = |number: u32| games[number as usize];
        let renumbered = |(place, job, mut seats): Key| {
            for seat in &mut seats {
                seat.player = player(seat.player);
                seat.own_clock = own_clocks[seat.own_clock as usize];
            }
            (place, job, seats)
        };
        let strata = std::mem::take(&mut self.strata).into_iter();
        let strata = strata.map(|((g, c), mut stratum)| {
            let matches = std::mem::take(&mut stratum.matches).into_iter();
            stratum.matches = matches.map(|(key, value)| (renumbered(key), value)).collect();
            ((game(g), clocks[c as usize]), stratum)
        });
        self.strata = strata.collect();
        self.faulty.values_mut().for_each(|(number, _)| *number = player(*number));
        let first = std::mem::take(&mut self.first).into_iter();
        let first = first.map(|((g, mut players), job)| {
            players.iter_mut().for_each(|number| *number = player(*number));
            players.sort_unstable();
            ((game(g), players), job)
        });
        self.first = first.collect();
    }
}

impl Stratum {
    fn add(&mut self, job: u64, block: u64, seats: Vec<KeptSeat>) {
        if self.last_block.replace(block) != Some(block) {
            self.n_blocks += 1;
        }
        if !self.merged && self.n_blocks > MOST_BLOCKS as u64 {
            self.merged = true;
            for ((block, _, seats), (job, n)) in std::mem::take(&mut self.matches) {
                self.put((group_of(block), None, seats), job, n);
            }
        }
        let key = if self.merged { (group_of(block), None) } else { (block, Some(job)) };
        self.put((key.0, key.1, seats), job, 1);
    }

    fn put(&mut self, key: Key, job: u64, n: u32) {
        let kept = self.matches.entry(key).or_insert((job, 0));
        *kept = (kept.0.min(job), kept.1 + n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::bootstrap::MAX_CLUSTERS;

    /// Blocks of two matches in which two players change seats; the first seat wins.
    fn seats(blocks: std::ops::Range<u64>) -> Vec<Seat> {
        let mut seats = vec![];
        for job in 2 * blocks.start..2 * blocks.end {
            for role in 0..2u32 {
                seats.push(Seat {
                    job,
                    block: job / 2,
                    match_number: job as u32,
                    game: 0,
                    clock: 0,
                    own_clock: 0,
                    player: (job as u32 + role) % 2,
                    role,
                    reward: if role == 0 { 100 } else { 0 },
                    faults: [0, u32::from(job == 7 && role == 1), 0, 0, 0, 0],
                });
            }
        }
        seats
    }

    #[test]
    fn few_matches_are_kept_one_by_one() {
        let mut kept = KeptMatches::default();
        kept.add(&seats(0..MOST_BLOCKS as u64));
        let matches = kept.matches();
        assert_eq!(matches.len(), 2 * MOST_BLOCKS);
        for (job, kept) in (0..).zip(&matches) {
            assert_eq!((kept.job, kept.block, kept.n), (job, job / 2, 1));
        }
        assert_eq!(kept.faulty, BTreeMap::from([(7, (0, FaultKind::LateMove))]));
        assert_eq!(kept.first, BTreeMap::from([((0, vec![0, 1]), 0)]));
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_matches() {
        let mut kept = KeptMatches::default();
        for part in 0..50 {
            kept.add(&seats(part * 200..(part + 1) * 200));
            assert!(kept.matches().len() <= 2 * MOST_BLOCKS);
        }
        let matches = kept.matches();
        // Each group has both seatings.
        assert_eq!(matches.len(), 2 * MAX_CLUSTERS);
        assert_eq!(matches.iter().map(|kept| kept.n).sum::<u32>(), 20_000);
        assert!(matches.iter().all(|kept| kept.block >= 1 << 63), "no group is a block");
        let of_first = |kept: &&KeptMatch| kept.seats[0].player == 0;
        assert_eq!(matches.iter().filter(of_first).map(|kept| kept.n).sum::<u32>(), 10_000);
    }
}
