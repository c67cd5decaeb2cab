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

pub(crate) use matches::{MatchPlace, millis, order_by_seed};

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
    /// no others, so that blocks are independent.
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
    /// All players that can play the game are challengers of a gauntlet, or none is.
    NoGauntlet {
        /// Index of the game.
        game: usize,
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
            self.skips.push(Skip::NoGauntlet { game });
            return;
        }
        self.skips.extend(idle.into_iter().map(|player| Skip::SitsOut { game, player }));
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
            Pairings::Gauntlet(n) if n_seats > 1 => {
                players.iter().filter(|&&player| player < n as usize).count()
            }
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
        assert_eq!(self.lap_of(number), lap.number, "job {number} is of another lap");
        let offset = number % self.jobs_per_lap;
        let position = lap.first_jobs.partition_point(|&first| first <= offset) - 1;
        let block = self.block_of(lap, position);
        self.plan.job(
            &block,
            MatchPlace {
                number,
                block: u64::from(lap.number) * self.blocks_per_lap + position as u64,
                rotation: offset - lap.first_jobs[position],
                round: None,
            },
        )
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
            (first..first + self.jobs_per_lap).map(move |job| self.job_in(&lap, job))
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
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn time_budget(play_ms: u64) -> TimeBudget {
        let clocks = Clocks {
            start: Duration::from_secs(1),
            play: Duration::from_millis(play_ms),
            margin: Duration::ZERO,
        };
        TimeBudget { clocks, budget: Budget::Clock }
    }

    fn game(index: usize, n_seats: usize, weight: u32) -> PlannedGame {
        // A role `random` in the middle where there is room for it.
        let mut seats = vec![true; n_seats];
        if n_seats > 1 {
            seats.insert(1, false);
        }
        PlannedGame {
            hash: format!("game {index}"),
            seats,
            weight,
            hidden_information: false,
            unable: vec![],
            pairings: None,
        }
    }

    fn player(index: usize) -> PlannedPlayer {
        let hash = format!("player {index}");
        PlannedPlayer { draw_key: hash.clone(), hash, plays_hidden_information: true }
    }

    pub(super) fn plan(
        games: &[(usize, u32)],
        n_players: usize,
        n_budgets: u64,
        laps: u32,
    ) -> TournamentPlan {
        TournamentPlan {
            seed: 7,
            laps,
            seating: Seating::Rotations,
            pairings: Pairings::All,
            games: games.iter().enumerate().map(|(i, &(k, weight))| game(i, k, weight)).collect(),
            players: (0..n_players).map(player).collect(),
            time_budgets: (1..=n_budgets).map(time_budget).collect(),
            settings_hash: "settings".into(),
        }
    }

    prop_compose! {
        fn plans()(
            games in prop::collection::vec((1usize..4, 1u32..3), 1..4),
            n_players in 3usize..6,
            n_budgets in 1u64..3,
            laps in 1u32..4,
            permutations: bool,
            seed: u64,
        ) -> TournamentPlan {
            let seating = if permutations { Seating::Permutations } else { Seating::Rotations };
            TournamentPlan { seed, seating, ..plan(&games, n_players, n_budgets, laps) }
        }
    }

    /// What is played, without who sits where.
    fn pairing(job: &Job) -> (usize, Duration, BTreeSet<usize>) {
        (job.game, job.clocks.play, job.seats.iter().flatten().copied().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn ids_are_unique_and_jobs_are_what_their_numbers_say(plan in plans()) {
            let schedule = Schedule::new(plan).unwrap();
            let jobs: Vec<Job> = schedule.jobs().collect();
            prop_assert_eq!(jobs.len() as u64, schedule.n_jobs());
            let ids: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
            prop_assert_eq!(ids.len(), jobs.len());
            for (index, job) in jobs.iter().enumerate() {
                prop_assert_eq!(job.number, index as u64);
                let computed = schedule.job(job.number);
                prop_assert_eq!(Some(job), computed.as_ref());
            }
            prop_assert_eq!(schedule.job(schedule.n_jobs()), None);
        }

        #[test]
        fn blocks_are_complete_and_share_their_seed(plan in plans()) {
            let schedule = Schedule::new(plan.clone()).unwrap();
            let mut blocks: BTreeMap<u64, Vec<Job>> = BTreeMap::new();
            for job in schedule.jobs() {
                blocks.entry(job.block).or_default().push(job);
            }
            prop_assert_eq!(blocks.len() as u64, schedule.n_blocks());
            for jobs in blocks.values() {
                let n_seats = jobs[0].seats.iter().flatten().count();
                prop_assert!(jobs.iter().all(|job| pairing(job) == pairing(&jobs[0])));
                prop_assert!(jobs.iter().all(|job| job.seed == jobs[0].seed));
                prop_assert!(jobs.iter().all(|job| job.lap == jobs[0].lap));
                prop_assert_eq!(pairing(&jobs[0]).2.len(), n_seats);
                let seatings: BTreeSet<_> = jobs.iter().map(|job| &job.seats).collect();
                prop_assert_eq!(seatings.len(), jobs.len());
                // Everybody sits equally often on every seat.
                let mut sits: BTreeMap<(usize, usize), usize> = BTreeMap::new();
                for job in jobs {
                    for (role, player) in job.seats.iter().enumerate() {
                        if let Some(player) = player {
                            *sits.entry((role, *player)).or_default() += 1;
                        }
                    }
                }
                prop_assert_eq!(sits.len(), n_seats * n_seats);
                prop_assert!(sits.values().all(|&count| count == jobs.len() / n_seats));
            }
        }

        #[test]
        fn every_prefix_is_balanced(plan in plans()) {
            let schedule = Schedule::new(plan.clone()).unwrap();
            let mut begun: BTreeMap<_, u32> = BTreeMap::new();
            for job in schedule.jobs() {
                begun.entry(pairing(&job)).or_default();
            }
            for job in schedule.jobs() {
                if job.rotation == 0 {
                    *begun.get_mut(&pairing(&job)).unwrap() += 1;
                }
                // Blocks begun, in laps: nowhere more than one apart.
                let weight = |game: usize| plan.games[game].weight;
                let most = begun.iter().map(|((game, ..), n)| n.div_ceil(weight(*game))).max();
                let least = begun.iter().map(|((game, ..), n)| n / weight(*game)).min();
                prop_assert!(most.unwrap() <= least.unwrap() + 1);
            }
        }

        #[test]
        fn a_player_more_keeps_the_old_jobs(plan in plans()) {
            let before = Schedule::new(plan.clone()).unwrap();
            let mut more = plan;
            more.players.insert(0, player(100));
            more.laps += 1;
            more.games.insert(0, game(100, 2, 1));
            let after: BTreeSet<String> =
                Schedule::new(more).unwrap().jobs().map(|job| job.id).collect();
            prop_assert!(before.jobs().all(|job| after.contains(&job.id)));
        }
    }

    #[test]
    fn in_a_gauntlet_exactly_one_challenger_plays_in_each_match() {
        let all = plan(&[(1, 1), (2, 1), (3, 2)], 5, 1, 2);
        let gauntlet = TournamentPlan { pairings: Pairings::Gauntlet(2), ..all.clone() };
        let schedule = Schedule::new(gauntlet).unwrap();
        let jobs: Vec<Job> = schedule.jobs().collect();
        assert_eq!(jobs.len() as u64, schedule.n_jobs());
        let ids: BTreeSet<String> =
            Schedule::new(all.clone()).unwrap().jobs().map(|job| job.id).collect();
        assert!(jobs.iter().all(|job| ids.contains(&job.id)), "jobs of the round robin");
        for game in 1..3 {
            let pairings: BTreeSet<_> =
                jobs.iter().filter(|job| job.game == game).map(pairing).collect();
            // 2 challengers, 3 others of whom 1 or 2 are chosen.
            assert_eq!(pairings.len(), 6);
            let n_challengers = |players: &BTreeSet<usize>| players.range(..2).count();
            assert!(pairings.iter().all(|(_, _, players)| n_challengers(players) == 1));
        }
        for round in schedule.rounds() {
            for role in 0..all.games[round.game].seats.len() {
                let seated = |player: usize| {
                    let own =
                        |job: &&Job| job.game == round.game && job.seats[role] == Some(player);
                    jobs.iter().filter(own).count() as u64
                };
                if all.games[round.game].seats[role] {
                    assert!((2..5).all(|player| seated(player) == round.n_times_seated));
                }
            }
        }
        let all_challengers =
            TournamentPlan { pairings: Pairings::Gauntlet(5), ..plan(&[(2, 1)], 5, 1, 1) };
        let Err(ScheduleError::NothingToPlay { skips }) = Schedule::new(all_challengers) else {
            panic!()
        };
        assert_eq!(skips, [Skip::NoGauntlet { game: 0 }]);
    }

    #[test]
    fn who_cannot_play_sits_out() {
        let mut plan = plan(&[(2, 1), (2, 1), (4, 1)], 3, 1, 1);
        plan.games[1].hidden_information = true;
        plan.players[2].plays_hidden_information = false;
        let schedule = Schedule::new(plan.clone()).unwrap();
        assert_eq!(
            schedule.skips(),
            [
                Skip::SitsOut { game: 1, player: 2 },
                Skip::TooFewPlayers { game: 2, n_seats: 4, n_players: 3 },
            ]
        );
        assert_eq!(schedule.n_jobs(), 3 * 2 + 2);
        plan.games.drain(..2);
        assert!(matches!(Schedule::new(plan), Err(ScheduleError::NothingToPlay { .. })));
    }

    /// Journals refer to jobs by these ids: with others no run could be resumed.
    #[test]
    fn ids_of_jobs_do_not_change_between_versions() {
        let schedule = Schedule::new(plan(&[(2, 1), (3, 2)], 4, 1, 2)).unwrap();
        let ids: Vec<String> =
            [0, 1, 30].iter().map(|&number| schedule.job(number).unwrap().id).collect();
        assert_eq!(ids, ["583bf192592d69718de3", "fe88d6cfd30eb6b5c5b9", "9cdfc7013d1de1f5fc5e"]);
    }

    #[test]
    fn listed_pairings_meet_alone_and_equal_lots_meet_equal_chances() {
        let mut plan = plan(&[(2, 1), (1, 2)], 3, 1, 3);
        for player in &mut plan.players[..2] {
            player.draw_key = "same".into();
        }
        let pairing = |players: &[usize], weight| PlannedPairing {
            players: players.to_vec(),
            weight,
            set: 0,
        };
        plan.games[0].pairings = Some(vec![pairing(&[0, 2], 2), pairing(&[1, 2], 2)]);
        plan.games[1].pairings = Some(vec![pairing(&[0], 1), pairing(&[0, 1], 1)]);
        let schedule = Schedule::new(plan).unwrap();
        // In a lap 2 blocks of 2 matches for each of two pairings, and 2 of 1.
        assert_eq!(schedule.n_jobs(), 3 * (8 + 2));
        let mut chances = BTreeMap::<(u32, u32), Vec<(u64, Vec<_>)>>::new();
        for job in schedule.jobs().filter(|job| job.game == 0) {
            let seats = job.seats.iter().map(|seat| seat.map(|player| player.max(1))).collect();
            chances.entry((job.lap, job.rotation)).or_default().push((job.seed, seats));
        }
        assert_eq!(chances.len(), 6 * 2);
        for chances in chances.values() {
            assert_eq!(chances.len(), 2);
            assert_eq!(chances[0], chances[1], "seed, and seats but for who is compared");
        }
        let ids: BTreeSet<String> = schedule.jobs().map(|job| job.id).collect();
        assert_eq!(ids.len() as u64, schedule.n_jobs());
        let longer = schedule.clone().with_laps(4);
        assert!(longer.jobs().zip(schedule.jobs()).all(|(one, other)| one == other));
        assert_eq!(longer.n_jobs(), 40);
    }

    #[test]
    fn a_huge_schedule_is_not_laid_out_in_memory() {
        let schedule = Schedule::new(plan(&[(2, 1)], 2, 1, u32::MAX)).unwrap();
        let last = schedule.job(schedule.n_jobs() - 1).unwrap();
        assert_eq!((last.number, last.rotation), (2 * u64::from(u32::MAX) - 1, 1));
    }

    #[test]
    fn sets_are_numbered() {
        let sets: Vec<_> = (0..binomial(4, 2)).map(|number| combination(4, 2, number)).collect();
        assert_eq!(sets, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!((binomial(200, 100), binomial(1, 2), binomial(2, 2)), (u64::MAX, 0, 1));
    }
}
