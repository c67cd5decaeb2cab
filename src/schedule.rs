//! Computes the jobs of a plan, in order.
//!
//! A round robin or a gauntlet by blocks. A *pairing* is a set of players that fills the
//! seats of a game; a *block* is one pairing at one game under one time budget,
//! played once in every seating with the same seed; a *lap* is one block of
//! each pairing, game and time budget. Laps follow each other, and within a lap
//! the blocks come in an order drawn from the seed, so that any prefix of the
//! schedule has played everything nearly equally often.
//!
//! The schedule is a pure function of its plan. Jobs are computed from their number on
//! demand: only the order of one lap is in memory. Rounds whose pairings depend on results
//! are a [staged schedule](crate::staged_schedule).

mod matches;
mod parts;

use std::time::Duration;

use results::formats::RoundRecord;
use results::record::Budget;
use serde::Deserialize;
use strum::IntoStaticStr;

use crate::fingerprint::Fingerprint;

pub(crate) use matches::{DrawnBlock, MatchPlace, millis, order_by_seed};

/// One match to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Position in the schedule, from 0.
    pub number: u64,
    /// Hash of everything that determines the match: game text, players'
    /// configurations by role, clocks, budget, seed and settings.
    pub id: String,
    /// The unit of evidence this match belongs to, numbered from 0 in the order
    /// of the schedule.
    pub block: u64,
    /// Number of earlier blocks of the same game, budget and players.
    pub lap: u32,
    /// Index of the seating within the block.
    pub rotation: u32,
    /// Index into the spec's games.
    pub game: usize,
    /// Index into the spec's players for each role, in role order; `None` where
    /// the manager moves (the role `random`).
    pub seats: Vec<Option<usize>>,
    /// Clocks of this match.
    pub clocks: Clocks,
    /// The budget: what limits thinking.
    pub budget: Budget,
    /// Seed of the match: derived from the spec's seed, the game, the lap, the
    /// players and the time budget; the same for all matches of a block, and for
    /// no others, so that blocks are independent. Blocks that are compared with
    /// each other, such as those of base and head, share it.
    pub seed: u64,
    /// The round it belongs to, where there are rounds.
    pub round: Option<RoundRecord>,
}

/// The clocks of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// Time from START to the reply `ready`.
    pub start: Duration,
    /// Time for each move.
    pub play: Duration,
    /// Time added to both before a reply counts as late.
    pub margin: Duration,
}

/// How the players of a pairing are seated in the matches of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Seating {
    /// One match for each rotation: every player sits once on every seat.
    #[default]
    Rotations,
    /// One match for each permutation of the players.
    Permutations,
}

/// Which sets of players are pairings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pairings {
    /// All sets of players that fill the roles of a game.
    #[default]
    All,
    /// Sets with exactly one of the first players, this many of them. Games of one player
    /// are played by all.
    Gauntlet(u32),
}

/// What bounds thinking in the matches of one of a spec's tournaments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBudget {
    /// The clocks.
    pub clocks: Clocks,
    /// The budget.
    pub budget: Budget,
}

/// What a schedule needs to know of a game.
#[derive(Clone, Debug)]
pub struct PlannedGame {
    /// Hash of the text and of how it is read.
    pub hash: String,
    /// For each role, in role order, whether a player sits there.
    pub seats: Vec<bool>,
    /// Blocks of each pairing in a lap.
    pub weight: u32,
    /// Whether roles see less than the state.
    pub hidden_information: bool,
    /// Players that cannot play it for another reason.
    pub unable: Vec<usize>,
    /// The sets of players that meet here; `None` for every set that fills the
    /// seats.
    pub pairings: Option<Vec<PlannedPairing>>,
}

/// A set of players that meets at a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPairing {
    /// Indices of the players, as many as there are seats.
    pub players: Vec<usize>,
    /// Blocks in a lap for each of the game's weight.
    pub weight: u32,
    /// Pairings of a game with the same number here are played next to each
    /// other.
    pub set: u32,
}

/// What a schedule needs to know of a player.
#[derive(Clone, Debug)]
pub struct PlannedPlayer {
    /// Hash of the id and the configuration.
    pub hash: String,
    /// Seeds and seats are drawn from this: two players with equal keys get equal seeds
    /// and seats among the same others. It is the hash, unless they are compared.
    pub draw_key: String,
    /// Whether it can play games of hidden information.
    pub plays_hidden_information: bool,
}

/// Everything that determines a schedule.
#[derive(Clone, Debug)]
pub struct TournamentPlan {
    /// The random seed.
    pub seed: u64,
    /// Number of laps.
    pub laps: u32,
    /// How pairings are seated.
    pub seating: Seating,
    /// Which sets of players meet.
    pub pairings: Pairings,
    /// The games.
    pub games: Vec<PlannedGame>,
    /// The players.
    pub players: Vec<PlannedPlayer>,
    /// The time budgets, each a tournament of its own.
    pub time_budgets: Vec<TimeBudget>,
    /// Hash of the settings that all matches share.
    pub settings_hash: String,
}

impl TournamentPlan {
    /// Whether a player can play a game.
    #[must_use]
    pub fn is_able(&self, game: usize, player: usize) -> bool {
        let planned = &self.games[game];
        let sees_enough =
            !planned.hidden_information || self.players[player].plays_hidden_information;
        sees_enough && !planned.unable.contains(&player)
    }
}

/// Why a game or a player is left out of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The game has no role for a player.
    NoSeats {
        /// Index of the game.
        game: usize,
    },
    /// Fewer players can play the game than it has seats.
    TooFewPlayers {
        /// Index of the game.
        game: usize,
        /// Seats to be filled.
        n_seats: usize,
        /// Players that can play it.
        n_players: usize,
    },
    /// No challenger of a gauntlet can play the game, or too few of the others.
    NoGauntlet {
        /// Index of the game.
        game: usize,
        /// Seats to be filled: one by a challenger, the rest by others.
        n_seats: usize,
        /// Challengers that can play it.
        n_challengers: usize,
        /// Others that can play it.
        n_others: usize,
    },
    /// The player cannot play the game, others can.
    SitsOut {
        /// Index of the game.
        game: usize,
        /// Index of the player.
        player: usize,
    },
}

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No game can be filled.
    #[error("no game can be played by the given players")]
    NothingToPlay {
        /// Why each game is left out.
        skips: Vec<Skip>,
    },
    /// A lap would not fit into memory.
    #[error(
        "a lap of {n_blocks} blocks is too long, at most {limit} are possible; lower the number of \
         games or players"
    )]
    TooManyPairings {
        /// Blocks of a lap.
        n_blocks: u64,
        /// The most there may be.
        limit: u64,
    },
}

/// Maximum number of blocks of a lap; their order is kept in memory, 12 bytes each.
const MAX_BLOCKS_PER_LAP: u64 = 20_000_000;

/// Blocks that differ in nothing but the pairing and the repetition.
#[derive(Clone, Debug)]
struct Group {
    game: usize,
    time_budget: usize,
    /// Players that can play the game.
    players: Vec<usize>,
    /// How many of the first of them are challengers; none if all may meet.
    n_challengers: usize,
    n_seats: usize,
    n_pairings: u64,
    weight: u32,
    matches_per_block: u64,
    /// Blocks of a lap in the groups before.
    first_block: u64,
    /// Of a listed pairing, its set.
    set: Option<u32>,
}

/// What is played of one game with one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Index of the game.
    pub game: usize,
    /// Index of the time budget.
    pub time_budget: usize,
    /// Indices of the players that take part.
    pub players: Vec<usize>,
    /// Players of a match.
    pub n_seats: usize,
    /// Sets of players.
    pub n_pairings: u64,
    /// Blocks, over all laps.
    pub n_blocks: u64,
    /// Matches, over all laps.
    pub n_matches: u64,
    /// How often each player sits in each role; in a gauntlet each but the
    /// challengers.
    pub n_times_seated: u64,
}

/// The jobs of a plan.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: TournamentPlan,
    groups: Vec<Group>,
    skips: Vec<Skip>,
    blocks_per_lap: u64,
    jobs_per_lap: u64,
    /// Parts of a lap in which each pairing of the greatest weight is played
    /// equally often: that weight where pairings are listed, and 1 otherwise.
    n_parts: u32,
}

/// The order of the blocks of one lap.
#[derive(Clone, Debug)]
pub struct Lap {
    number: u32,
    /// Blocks, numbered by group, pairing and repetition, in the order of play.
    order: Vec<u32>,
    /// For each block in that order, the jobs of the lap that come before it.
    first_jobs: Vec<u64>,
}

impl Lap {
    /// Which lap it is, from 0.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Schedule {
    /// Computes the schedule of `plan`.
    ///
    /// # Errors
    /// If there is nothing to play, or too much to be ordered.
    pub fn new(plan: TournamentPlan) -> Result<Self, ScheduleError> {
        let mut schedule = Self {
            plan,
            groups: vec![],
            skips: vec![],
            blocks_per_lap: 0,
            jobs_per_lap: 0,
            n_parts: 1,
        };
        for game in 0..schedule.plan.games.len() {
            schedule.lay_out(game);
        }
        if schedule.groups.is_empty() {
            return Err(ScheduleError::NothingToPlay { skips: schedule.skips });
        }
        if schedule.blocks_per_lap > MAX_BLOCKS_PER_LAP {
            let n_blocks = schedule.blocks_per_lap;
            return Err(ScheduleError::TooManyPairings { n_blocks, limit: MAX_BLOCKS_PER_LAP });
        }
        Ok(schedule)
    }

    fn lay_out(&mut self, game: usize) {
        let planned = &self.plan.games[game];
        let n_seats = planned.seats.iter().filter(|&&seat| seat).count();
        if n_seats == 0 {
            self.skips.push(Skip::NoSeats { game });
            return;
        }
        let (players, idle): (Vec<usize>, Vec<usize>) =
            (0..self.plan.players.len()).partition(|&player| self.plan.is_able(game, player));
        if let Some(pairings) = planned.pairings.clone() {
            self.lay_out_pairings(game, n_seats, &players, pairings);
            return;
        }
        if players.len() < n_seats {
            let n_players = players.len();
            self.skips.push(Skip::TooFewPlayers { game, n_seats, n_players });
            return;
        }
        let weight = planned.weight;
        let n_before = self.groups.len();
        self.add_groups(game, n_seats, &players, weight, self.plan.pairings);
        if self.groups.len() == n_before {
            let n_challengers = self.n_challengers(&players);
            let n_others = players.len() - n_challengers;
            self.skips.push(Skip::NoGauntlet { game, n_seats, n_challengers, n_others });
            return;
        }
        self.skips.extend(idle.into_iter().map(|player| Skip::SitsOut { game, player }));
    }

    /// How many of these players are challengers of the gauntlet.
    fn n_challengers(&self, players: &[usize]) -> usize {
        let Pairings::Gauntlet(n) = self.plan.pairings else { return 0 };
        players.iter().filter(|&&player| player < n as usize).count()
    }

    /// Schedules only the listed sets of players.
    fn lay_out_pairings(
        &mut self,
        game: usize,
        n_seats: usize,
        able: &[usize],
        pairings: Vec<PlannedPairing>,
    ) {
        let game_weight = self.plan.games[game].weight;
        let n_before = self.groups.len();
        for pairing in pairings {
            if pairing.players.len() == n_seats && pairing.players.iter().all(|p| able.contains(p))
            {
                let weight = pairing.weight.saturating_mul(game_weight);
                let first = self.groups.len();
                self.add_groups(game, n_seats, &pairing.players, weight, Pairings::All);
                self.groups[first..].iter_mut().for_each(|group| group.set = Some(pairing.set));
                self.n_parts = self.n_parts.max(pairing.weight);
            }
        }
        if self.groups.len() == n_before {
            self.skips.push(Skip::TooFewPlayers { game, n_seats, n_players: able.len() });
        }
    }

    /// The sets of `players` that meet at a game, under each time budget; nothing
    /// if there are none.
    fn add_groups(
        &mut self,
        game: usize,
        n_seats: usize,
        players: &[usize],
        weight: u32,
        pairings: Pairings,
    ) {
        let n_challengers = match pairings {
            Pairings::Gauntlet(_) if n_seats > 1 => self.n_challengers(players),
            _ => 0,
        };
        let n_others = players.len() - n_challengers;
        let n_pairings = match pairings {
            Pairings::Gauntlet(_) if n_seats > 1 => {
                (n_challengers as u64).saturating_mul(binomial(n_others as u64, n_seats as u64 - 1))
            }
            _ => binomial(players.len() as u64, n_seats as u64),
        };
        if n_pairings == 0 {
            return;
        }
        let matches_per_block = self.plan.matches_per_block(game);
        for time_budget in 0..self.plan.time_budgets.len() {
            let n_blocks = n_pairings.saturating_mul(u64::from(weight));
            self.groups.push(Group {
                game,
                time_budget,
                players: players.to_vec(),
                n_challengers,
                n_seats,
                n_pairings,
                weight,
                matches_per_block,
                first_block: self.blocks_per_lap,
                set: None,
            });
            self.blocks_per_lap = self.blocks_per_lap.saturating_add(n_blocks);
            self.jobs_per_lap =
                self.jobs_per_lap.saturating_add(n_blocks.saturating_mul(matches_per_block));
        }
    }

    /// The same schedule with another number of laps.
    #[must_use]
    pub fn with_laps(mut self, laps: u32) -> Self {
        self.plan.laps = laps;
        self
    }

    /// Number of jobs.
    #[must_use]
    pub fn n_jobs(&self) -> u64 {
        self.jobs_per_lap.saturating_mul(u64::from(self.plan.laps))
    }

    /// Number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> u64 {
        self.blocks_per_lap.saturating_mul(u64::from(self.plan.laps))
    }

    /// Jobs of each lap.
    #[must_use]
    pub fn jobs_per_lap(&self) -> u64 {
        self.jobs_per_lap
    }

    /// What is played, by game and time budget.
    pub fn rounds(&self) -> impl Iterator<Item = Round> + '_ {
        self.groups.iter().map(|group| {
            let n_blocks = group
                .n_pairings
                .saturating_mul(u64::from(group.weight))
                .saturating_mul(u64::from(self.plan.laps));
            let n_matches = n_blocks.saturating_mul(group.matches_per_block);
            Round {
                game: group.game,
                time_budget: group.time_budget,
                players: group.players.clone(),
                n_seats: group.n_seats,
                n_pairings: group.n_pairings,
                n_blocks,
                n_matches,
                n_times_seated: group.n_times_seated(n_matches),
            }
        })
    }

    /// Games and players that are left out.
    #[must_use]
    pub fn skips(&self) -> &[Skip] {
        &self.skips
    }

    /// The order of a lap, drawn from the seed.
    #[must_use]
    pub fn lap(&self, number: u32) -> Lap {
        let n_blocks = u32::try_from(self.blocks_per_lap).expect("bounded by MAX_BLOCKS_PER_LAP");
        let mut order: Vec<u32> = (0..n_blocks).collect();
        let seed = Fingerprint::of("lap").number(self.plan.seed).number(number.into()).seed();
        order_by_seed(&mut order, seed);
        self.gather(&mut order);
        let mut n_jobs = 0;
        let first_jobs = order
            .iter()
            .map(|&block| {
                let first = n_jobs;
                n_jobs += self.group_of(block).matches_per_block;
                first
            })
            .collect();
        Lap { number, order, first_jobs }
    }

    /// The lap that `job` belongs to.
    #[must_use]
    pub fn lap_of(&self, job: u64) -> u32 {
        u32::try_from(job / self.jobs_per_lap).unwrap_or(u32::MAX)
    }

    /// The job with this number. Orders the whole lap: for many jobs of one lap
    /// use [`job_in`](Self::job_in).
    #[must_use]
    pub fn job(&self, number: u64) -> Option<Job> {
        (number < self.n_jobs()).then(|| self.job_in(&self.lap(self.lap_of(number)), number))
    }

    /// The job with this number, which must belong to `lap`.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn job_in(&self, lap: &Lap, number: u64) -> Job {
        self.job_after(lap, number, &mut None)
    }

    /// As [`job_in`](Self::job_in), for jobs one after the other: `last` is the block of
    /// the last one with its number, and then that of this one.
    pub(crate) fn job_after(
        &self,
        lap: &Lap,
        number: u64,
        last: &mut Option<(u64, DrawnBlock)>,
    ) -> Job {
        assert_eq!(self.lap_of(number), lap.number, "job {number} is of another lap");
        let offset = number % self.jobs_per_lap;
        let position = lap.first_jobs.partition_point(|&first| first <= offset) - 1;
        let block = u64::from(lap.number) * self.blocks_per_lap + position as u64;
        let drawn = match last {
            Some((last, drawn)) if *last == block => drawn,
            last => &mut last.insert((block, self.plan.draw(self.block_of(lap, position)))).1,
        };
        let rotation = offset - lap.first_jobs[position];
        self.plan.job(drawn, MatchPlace { number, block, rotation, round: None })
    }

    /// The blocks of a lap, in order.
    pub(crate) fn blocks(&self, lap: &Lap) -> impl Iterator<Item = Block> {
        (0..lap.order.len()).map(move |position| self.block_of(lap, position))
    }

    fn block_of(&self, lap: &Lap, position: usize) -> Block {
        let group = self.group_of(lap.order[position]);
        let within = u64::from(lap.order[position]) - group.first_block;
        let repetition = u32::try_from(within / group.n_pairings).expect("below the weight");
        Block {
            game: group.game,
            time_budget: group.time_budget,
            players: group.pairing(within % group.n_pairings),
            lap: lap.number * group.weight + repetition,
        }
    }

    /// All jobs in order.
    pub fn jobs(&self) -> impl Iterator<Item = Job> + '_ {
        (0..self.plan.laps).flat_map(move |number| {
            let lap = self.lap(number);
            let first = u64::from(number) * self.jobs_per_lap;
            let mut last = None;
            (first..first + self.jobs_per_lap).map(move |job| self.job_after(&lap, job, &mut last))
        })
    }

    fn group_of(&self, block: u32) -> &Group {
        let after = self.groups.partition_point(|group| group.first_block <= u64::from(block));
        &self.groups[after - 1]
    }
}

/// One block to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) game: usize,
    pub(crate) time_budget: usize,
    /// The players, in the order of the plan.
    pub(crate) players: Vec<usize>,
    /// Number of earlier blocks of the same game, budget and players.
    pub(crate) lap: u32,
}

impl Group {
    /// The players of the pairing with this number.
    fn pairing(&self, number: u64) -> Vec<usize> {
        let players = |indices: Vec<usize>| indices.into_iter().map(|index| self.players[index]);
        if self.n_challengers == 0 {
            return players(combination(self.players.len(), self.n_seats, number)).collect();
        }
        let n_others = self.players.len() - self.n_challengers;
        let n_sets = binomial(n_others as u64, self.n_seats as u64 - 1);
        let challenger = usize::try_from(number / n_sets).expect("below their number");
        let others = combination(n_others, self.n_seats - 1, number % n_sets);
        let others = others.into_iter().map(|other| self.n_challengers + other);
        players([challenger].into_iter().chain(others).collect()).collect()
    }

    /// Every block seats each of its players equally often in each role.
    fn n_times_seated(&self, n_matches: u64) -> u64 {
        if self.n_challengers == 0 {
            return n_matches / self.players.len() as u64;
        }
        // All other players have the same share of the seats that challengers leave.
        let n_others = (self.players.len() - self.n_challengers) as u64;
        (u128::from(n_matches) * (self.n_seats as u128 - 1)
            / (u128::from(n_others) * self.n_seats as u128)) as u64
    }
}

/// Sets of `k` out of `n`, saturating.
pub(crate) fn binomial(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    let mut result: u128 = 1;
    for i in 0..k.min(n.saturating_sub(k)) {
        result = result * u128::from(n - i) / u128::from(i + 1);
        if result > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    u64::try_from(result).unwrap_or(u64::MAX)
}

/// The set of `k` out of `0..n` with this number, in lexicographic order.
pub(crate) fn combination(n: usize, k: usize, mut number: u64) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(k);
    let mut candidate = 0;
    while chosen.len() < k {
        let left = k - chosen.len() - 1;
        let with_candidate = binomial((n - candidate - 1) as u64, left as u64);
        if number < with_candidate {
            chosen.push(candidate);
        } else {
            number -= with_candidate;
        }
        candidate += 1;
    }
    chosen
}

#[cfg(test)]
mod tests;
