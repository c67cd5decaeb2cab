//! What was won, block by block, in an amount of memory that does not grow with
//! the number of blocks.
//!
//! The first [`MOST_BLOCKS`] blocks of a player at a game under a clock are kept
//! one by one. Beyond them all are merged into [`MAX_CLUSTERS`] groups, which are
//! what the intervals of [`bootstrap`](crate::stats::bootstrap) would merge them into
//! anyway. The group follows from the block's number alone, so that two players of
//! a block fall into the same group, and as if by chance, so that groups are as
//! independent as blocks are.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::stats::bootstrap::{MAX_CLUSTERS, Total};
use crate::stats::fault_policy::FaultPolicy;

/// Maximum number of blocks that are kept one by one.
pub(crate) const MOST_BLOCKS: usize = 2 * MAX_CLUSTERS;

/// The group of a block where blocks are merged.
pub(crate) fn group_of(block: u64) -> u64 {
    Pcg64Mcg::seed_from_u64(block).random_range(0..MAX_CLUSTERS as u64)
}

/// Sums by role or by player, ascending.
type Totals = Vec<(u32, Total)>;

fn add(totals: &mut Totals, key: u32, total: Total) {
    match totals.binary_search_by_key(&key, |(other, _)| *other) {
        Ok(place) => totals[place].1.add(total),
        Err(place) => totals.insert(place, (key, total)),
    }
}

/// Sums of all blocks. Players, games and clocks are numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// By player, game and clock.
    pub(crate) strata: BTreeMap<(u32, u32, u32), Stratum>,
    /// By player and opponent: what the player won in matches with the other.
    pub(crate) encounters: BTreeMap<(u32, u32), Total>,
    /// By two players in order, game and clock: blocks in which both played.
    pub(crate) both: BTreeMap<(u32, u32, u32, u32), u64>,
    /// By game and number of scored seats of a block: blocks.
    pub(crate) sizes: BTreeMap<(u32, u64), u64>,
    as_played: UnderPolicy,
    /// Under the other policies; until there is a fault they say the same.
    others: Option<[UnderPolicy; 2]>,
}

/// The blocks of one player at one game under one clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stratum {
    /// By role.
    pub(crate) blocks: Blocks,
    /// By role: blocks in which the player had it.
    pub(crate) n_blocks_by_role: Vec<(u32, u64)>,
}

/// What was won under a fault policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnderPolicy {
    /// Matches that count.
    pub(crate) n_matches: u64,
    /// By game and clock: blocks, by player.
    pub(crate) strata: BTreeMap<(u32, u32), Blocks>,
}

/// Blocks one by one, or merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    /// How many there are.
    pub(crate) n: u64,
    /// Whether they are merged into groups.
    pub(crate) merged: bool,
    /// By number of the block, or of the group.
    pub(crate) totals: BTreeMap<u64, Totals>,
}

impl Blocks {
    fn add(&mut self, block: u64, totals: Totals) {
        self.n += 1;
        if !self.merged && self.n > MOST_BLOCKS as u64 {
            self.merged = true;
            for (block, totals) in std::mem::take(&mut self.totals) {
                self.put(group_of(block), totals);
            }
        }
        let place = if self.merged { group_of(block) } else { block };
        self.put(place, totals);
    }

    fn put(&mut self, place: u64, totals: Totals) {
        let sums = self.totals.entry(place).or_default();
        if sums.is_empty() {
            *sums = totals;
        } else {
            totals.into_iter().for_each(|(key, total)| add(sums, key, total));
        }
    }
}

/// One player in one match that was scored. Games, clocks and players are numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    /// The match's place in the schedule.
    pub(crate) job: u64,
    pub(crate) block: u64,
    /// Numbers the matches in the order of the schedule.
    pub(crate) match_number: u32,
    pub(crate) game: u32,
    pub(crate) clock: u32,
    /// What bounded this player, which may have time odds.
    pub(crate) own_clock: u32,
    pub(crate) player: u32,
    pub(crate) role: u32,
    pub(crate) reward: u8,
    /// In the order of [`FaultKind::ALL`](crate::record::FaultKind::ALL).
    pub(crate) faults: [u32; 6],
}

impl Seat {
    fn is_faulty(&self) -> bool {
        self.faults != [0; 6]
    }
}

impl Tally {
    /// Adds whole blocks, in the order of the schedule.
    pub(crate) fn add(&mut self, seats: &[Seat]) {
        for of_block in seats.chunk_by(|a, b| a.block == b.block) {
            let void = of_block.iter().any(Seat::is_faulty);
            let mut by_stratum: BTreeMap<(u32, u32), Vec<Seat>> = BTreeMap::new();
            for seat in of_block {
                by_stratum.entry((seat.game, seat.clock)).or_default().push(*seat);
            }
            for ((game, clock), seats) in by_stratum {
                self.add_to_strata(of_block[0].block, game, clock, &seats);
                self.add_to_policies(of_block[0].block, game, clock, &seats, void);
            }
        }
    }

    fn add_to_strata(&mut self, block: u64, game: u32, clock: u32, seats: &[Seat]) {
        let mut players: BTreeMap<u32, Totals> = BTreeMap::new();
        for of_match in seats.chunk_by(|a, b| a.match_number == b.match_number) {
            for seat in of_match {
                let total = Total { sum: f64::from(seat.reward), n: 1.0 };
                add(players.entry(seat.player).or_default(), seat.role, total);
                for other in of_match.iter().filter(|other| other.player != seat.player) {
                    self.encounters.entry((seat.player, other.player)).or_default().add(total);
                }
            }
        }
        *self.sizes.entry((game, seats.len() as u64)).or_default() += 1;
        let names: Vec<u32> = players.keys().copied().collect();
        for (at, &first) in names.iter().enumerate() {
            for &second in &names[at + 1..] {
                *self.both.entry((first, second, game, clock)).or_default() += 1;
            }
        }
        for (player, totals) in players {
            let stratum = self.strata.entry((player, game, clock)).or_default();
            for &(role, _) in &totals {
                let counts = &mut stratum.n_blocks_by_role;
                match counts.binary_search_by_key(&role, |(other, _)| *other) {
                    Ok(place) => counts[place].1 += 1,
                    Err(place) => counts.insert(place, (role, 1)),
                }
            }
            stratum.blocks.add(block, totals);
        }
    }

    fn add_to_policies(&mut self, block: u64, game: u32, clock: u32, seats: &[Seat], void: bool) {
        if void && self.others.is_none() {
            self.others = Some([self.as_played.clone(), self.as_played.clone()]);
        }
        self.as_played.add(FaultPolicy::AsPlayed, block, (game, clock), seats);
        if let Some([offender_zero, voided]) = &mut self.others {
            offender_zero.add(FaultPolicy::OffenderZero, block, (game, clock), seats);
            if !void {
                voided.add(FaultPolicy::Void, block, (game, clock), seats);
            }
        }
    }

    /// What was won under each policy; nothing if there was no fault.
    pub(crate) fn policies(&self) -> Vec<(FaultPolicy, &UnderPolicy)> {
        let others = self.others.iter().flatten();
        match self.others {
            None => vec![],
            Some(_) => FaultPolicy::ALL
                .into_iter()
                .zip(std::iter::once(&self.as_played).chain(others))
                .collect(),
        }
    }

    /// Gives players, games and clocks other numbers.
    pub(crate) fn renumber(&mut self, places: Places<'_>) {
        let Places { players, games, clocks, .. } = places;
        let player = |player: u32| players[player as usize];
        let stratum = |game: u32, clock: u32| (games[game as usize], clocks[clock as usize]);
        let strata = std::mem::take(&mut self.strata).into_iter();
        let strata = strata.map(|((p, g, c), value)| {
            let (g, c) = stratum(g, c);
            ((player(p), g, c), value)
        });
        self.strata = strata.collect();
        let encounters = std::mem::take(&mut self.encounters).into_iter();
        self.encounters =
            encounters.map(|((a, b), total)| ((player(a), player(b)), total)).collect();
        let both = std::mem::take(&mut self.both).into_iter();
        let both = both.map(|((a, b, g, c), n)| {
            let ((a, b), (g, c)) = ((player(a), player(b)), stratum(g, c));
            ((a.min(b), a.max(b), g, c), n)
        });
        self.both = both.collect();
        let sizes = std::mem::take(&mut self.sizes).into_iter();
        self.sizes = sizes.map(|((game, size), n)| ((games[game as usize], size), n)).collect();
        let others = self.others.iter_mut().flatten();
        for policy in std::iter::once(&mut self.as_played).chain(others) {
            let strata = std::mem::take(&mut policy.strata).into_iter();
            policy.strata = strata.map(|((g, c), blocks)| (stratum(g, c), blocks)).collect();
            for totals in policy.strata.values_mut().flat_map(|blocks| blocks.totals.values_mut()) {
                totals.iter_mut().for_each(|(name, _)| *name = player(*name));
                totals.sort_unstable_by_key(|(name, _)| *name);
            }
        }
    }
}

/// By number that was given on the way, the number in the order of names.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) players: &'a [u32],
    pub(crate) games: &'a [u32],
    pub(crate) clocks: &'a [u32],
    pub(crate) own_clocks: &'a [u32],
}

impl UnderPolicy {
    fn add(&mut self, policy: FaultPolicy, block: u64, stratum: (u32, u32), seats: &[Seat]) {
        let mut players = Totals::new();
        for of_match in seats.chunk_by(|a, b| a.match_number == b.match_number) {
            self.n_matches += 1;
            let void = of_match.iter().any(Seat::is_faulty);
            for seat in of_match {
                if let Some(reward) = policy.reward(seat.reward.into(), seat.is_faulty(), void) {
                    add(&mut players, seat.player, Total { sum: f64::from(reward), n: 1.0 });
                }
            }
        }
        self.strata.entry(stratum).or_default().add(block, players);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of two matches of two players who take turns to win.
    fn seats(blocks: std::ops::Range<u64>) -> Vec<Seat> {
        let mut seats = vec![];
        for block in blocks {
            for rotation in 0..2u32 {
                for role in 0..2u32 {
                    seats.push(Seat {
                        job: 2 * block + u64::from(rotation),
                        block,
                        match_number: 2 * block as u32 + rotation,
                        game: 0,
                        clock: 0,
                        own_clock: 0,
                        player: (rotation + role) % 2,
                        role,
                        reward: if (u64::from(role) + block).is_multiple_of(2) { 100 } else { 0 },
                        faults: [0; 6],
                    });
                }
            }
        }
        seats
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_blocks() {
        let mut tally = Tally::default();
        for part in 0..100 {
            let mut seats = seats(part * 500..(part + 1) * 500);
            if part == 0 {
                // A fault at the beginning, so that all policies are kept.
                seats[0].faults[0] = 1;
            }
            tally.add(&seats);
            let blocks = tally.strata.values().map(|stratum| &stratum.blocks);
            let policies = tally.policies();
            let of_policies = policies.iter().flat_map(|(_, under)| under.strata.values());
            for blocks in blocks.chain(of_policies) {
                assert!(blocks.totals.len() <= MOST_BLOCKS);
                assert!(blocks.totals.values().all(|totals| totals.len() == 2));
            }
        }
        let stratum = &tally.strata[&(0, 0, 0)];
        assert!(stratum.blocks.merged);
        assert_eq!((stratum.blocks.n, stratum.blocks.totals.len()), (50_000, MAX_CLUSTERS));
        assert_eq!(stratum.n_blocks_by_role, [(0, 50_000), (1, 50_000)]);
        assert_eq!(tally.both, BTreeMap::from([((0, 1, 0, 0), 50_000)]));
        assert_eq!(tally.sizes, BTreeMap::from([((0, 4), 50_000)]));
        let n: Vec<u64> = tally.policies().iter().map(|(_, under)| under.n_matches).collect();
        assert_eq!(n, [100_000, 100_000, 99_998]);
    }

    #[test]
    fn merging_loses_nothing_and_groups_are_of_like_size() {
        let mut blocks = Blocks::default();
        for block in 0..20_000 {
            blocks.add(block, vec![(0, Total { sum: block as f64, n: 1.0 })]);
        }
        let totals = || blocks.totals.values().map(|totals| totals[0].1);
        assert_eq!(totals().map(|total| total.n).sum::<f64>(), 20_000.0);
        assert_eq!(totals().map(|total| total.sum).sum::<f64>(), 20_000.0 * 19_999.0 / 2.0);
        // Forty are expected; the chi-square of 499 degrees has deviation 31.6.
        let chi_square: f64 = totals().map(|total| (total.n - 40.0).powi(2) / 40.0).sum();
        assert!((chi_square - 499.0).abs() < 4.0 * 31.6, "{chi_square}");
    }
}
