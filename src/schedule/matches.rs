//! From a block to its matches: their seats, seeds and ids.

use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use results::formats::RoundRecord;
use results::record::Clock;

use super::{Block, Job, Seating, TimeBudget, TournamentPlan};
use crate::fingerprint::Fingerprint;

/// Where a match of a block stands in a schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchPlace {
    pub(crate) number: u64,
    pub(crate) block: u64,
    pub(crate) rotation: u64,
    pub(crate) round: Option<RoundRecord>,
}

/// A block with what its matches share.
#[derive(Clone)]
pub(crate) struct DrawnBlock {
    block: Block,
    /// The players in the order that is rotated or permuted.
    order: Vec<usize>,
    seed: u64,
    /// The ids of its matches, before the players' hashes.
    id: Fingerprint,
}

/// Puts things in an order drawn from a seed.
pub(crate) fn order_by_seed<T>(things: &mut [T], seed: u64) {
    things.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
}

impl TournamentPlan {
    /// Players of a match of a game.
    pub(crate) fn n_seats(&self, game: usize) -> usize {
        self.games[game].seats.iter().filter(|&&seat| seat).count()
    }

    /// Matches of a block of a game.
    pub(crate) fn matches_per_block(&self, game: usize) -> u64 {
        let n_seats = self.n_seats(game) as u64;
        match self.seating {
            Seating::Rotations => n_seats,
            Seating::Permutations => {
                (1..=n_seats).fold(1u64, |product, factor| product.saturating_mul(factor))
            }
        }
    }

    /// Draws what the matches of a block share.
    pub(crate) fn draw(&self, block: Block) -> DrawnBlock {
        let clocks = self.time_budgets[block.time_budget].clocks;
        let budget = self.time_budgets[block.time_budget].budget;
        let seed = self.match_seed(&block);
        let id = Fingerprint::of("job")
            .text(&self.settings_hash)
            .text(&self.games[block.game].hash)
            .number(millis(clocks.start))
            .number(millis(clocks.play))
            .number(millis(clocks.margin))
            .number(budget.nodes().unwrap_or(0))
            .number(seed);
        DrawnBlock { order: self.order(&block), seed, id, block }
    }

    /// A match of a block. It does not depend on its place in the schedule.
    pub(crate) fn job(&self, drawn: &DrawnBlock, place: MatchPlace) -> Job {
        let block = &drawn.block;
        let time = &self.time_budgets[block.time_budget];
        let mut players = self.seated(&drawn.order, place.rotation).into_iter();
        let seats = &self.games[block.game].seats;
        let mut job = Job {
            number: place.number,
            id: String::new(),
            block: place.block,
            lap: block.lap,
            rotation: u32::try_from(place.rotation).expect("no game has that many roles"),
            game: block.game,
            seats: seats.iter().map(|&seat| if seat { players.next() } else { None }).collect(),
            clocks: time.clocks,
            budget: time.budget,
            seed: drawn.seed,
            round: place.round,
        };
        let id = job.seats.iter().fold(drawn.id.clone(), |id, seat| {
            id.text(seat.map_or("", |player| &self.players[player].hash))
        });
        job.id = id.hex(20);
        job
    }

    /// The order of a block's players that is rotated or permuted.
    ///
    /// It is drawn for each block, so that over the laps no player always sits behind the
    /// same opponent. It is drawn from hashes, and not by shuffling, so that it stays the
    /// same when other players join.
    fn order(&self, block: &Block) -> Vec<usize> {
        let mut players = block.players.clone();
        players.sort_by_cached_key(|&player| {
            Fingerprint::of("seating")
                .number(self.seed)
                .text(&self.games[block.game].hash)
                .number(block.lap.into())
                .text(&self.players[player].draw_key)
                .seed()
        });
        players
    }

    /// The players of a match in the order of the seats.
    fn seated(&self, order: &[usize], rotation: u64) -> Vec<usize> {
        let mut players = order.to_vec();
        match self.seating {
            Seating::Rotations => {
                players.rotate_left(usize::try_from(rotation).expect("below the number of seats"));
                players
            }
            Seating::Permutations => permutation(players, rotation),
        }
    }

    /// Blocks share no randomness: intervals take them for independent.
    fn match_seed(&self, block: &Block) -> u64 {
        let time = &self.time_budgets[block.time_budget];
        let mut keys: Vec<&str> =
            block.players.iter().map(|&player| self.players[player].draw_key.as_str()).collect();
        keys.sort_unstable();
        let seed = Fingerprint::of("match seed")
            .number(self.seed)
            .text(&self.games[block.game].hash)
            .number(block.lap.into())
            .number(millis(time.clocks.start))
            .number(millis(time.clocks.play))
            .number(time.budget.nodes().unwrap_or(0));
        keys.into_iter().fold(seed, Fingerprint::text).seed()
    }
}

impl TimeBudget {
    /// As it is recorded.
    pub(crate) fn recorded(&self) -> Clock {
        Clock {
            start_clock_ms: millis(self.clocks.start),
            play_clock_ms: millis(self.clocks.play),
            budget: self.budget,
        }
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The permutation of `items` with this number, in lexicographic order.
fn permutation(mut items: Vec<usize>, mut number: u64) -> Vec<usize> {
    let mut permuted = Vec::with_capacity(items.len());
    while !items.is_empty() {
        let choices_behind = (1..items.len() as u64).product::<u64>();
        let index = usize::try_from(number / choices_behind).expect("below the number of items");
        permuted.push(items.remove(index));
        number %= choices_behind;
    }
    permuted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_numbered() {
        let orders: Vec<_> = (0..6).map(|number| permutation(vec![1, 2, 3], number)).collect();
        assert_eq!(orders, [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]);
    }
}
