//! A schedule of stages and rounds whose pairings depend on results.
//!
//! ```text
//! (TournamentPlan, Stages, Outcomes so far) -> rounds that are known, the last of them to be played
//! ```
//!
//! A *round* is known when all rounds before it are finished to their last match, and does
//! not change any more. So neither the order in which matches end nor an interruption can
//! change what is played. Results are looked up by job id; matches are the same as in a
//! round robin of the same players, and count their blocks of the same players from stage
//! to stage.
//!
//! [`results::formats`] computes how a stage stands and which players are dropped; this
//! module computes the next pairings.

mod error;
mod matching;
mod neighbours;
mod outline;
mod swiss;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use results::formats::ladder::LadderRow;
use results::formats::outcomes::Outcomes;
use results::formats::race::Race;
use results::formats::standing::{Standing, runners_race, standing};
use results::formats::{
    Format, PlayedBlock, RoundId, RoundRecord, Stage, encounters, knockout, ladder,
};

use crate::fingerprint::Fingerprint;
use crate::schedule::{Block, Job, MatchPlace, Pairings, Schedule, TournamentPlan, order_by_seed};

pub use error::StagedScheduleError;
pub use outline::StageOutline;

/// Stages of a tournament whose rounds follow from results.
#[derive(Clone, Debug)]
pub struct StagedSchedule {
    plan: TournamentPlan,
    stages: Vec<Stage>,
}

/// A round whose matches are known.
#[derive(Clone, Debug)]
pub struct Round {
    /// Which one.
    pub id: RoundId,
    /// The format of its stage.
    pub format: Format,
    /// Rounds of the stage, at most.
    pub n_rounds: u32,
    /// Matches.
    pub n_jobs: u64,
    first_job: u64,
    first_block: u64,
    blocks: Vec<RoundBlock>,
}

#[derive(Clone, Debug)]
struct RoundBlock {
    block: Block,
    /// Jobs of the round that come before it.
    first_job: u64,
    /// Blocks of the same game and players in the round before it.
    repetition: u32,
}

impl StagedSchedule {
    /// A schedule of these stages.
    ///
    /// # Errors
    /// If some stage cannot be played.
    pub fn new(plan: TournamentPlan, stages: Vec<Stage>) -> Result<Self, StagedScheduleError> {
        let schedule = Self { plan, stages };
        schedule.check()?;
        Ok(schedule)
    }

    /// The stages.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// All rounds that follow from what was played, in order. The last is not
    /// finished, unless the tournament is.
    #[must_use]
    pub fn rounds(self: &Arc<Self>, outcomes: &Outcomes) -> Vec<Arc<Round>> {
        let mut walk = Walk::new(Arc::clone(self));
        let mut rounds = vec![];
        while let Some(round) = walk.round() {
            rounds.push(round);
            if !walk.pass(outcomes) {
                break;
            }
        }
        rounds
    }

    /// The jobs of a round, in order.
    pub fn jobs<'a>(&'a self, round: &'a Round) -> impl Iterator<Item = Job> + 'a {
        (0..round.blocks.len()).flat_map(move |index| self.jobs_of_block(round, index))
    }

    fn jobs_of_block<'a>(
        &'a self,
        round: &'a Round,
        index: usize,
    ) -> impl Iterator<Item = Job> + 'a {
        let RoundBlock { block, first_job, .. } = &round.blocks[index];
        let record = RoundRecord { id: round.id, n_matches: round.n_jobs };
        let drawn = self.plan.draw(block.clone());
        (0..self.plan.matches_per_block(block.game)).map(move |rotation| {
            let place = MatchPlace {
                number: round.first_job + first_job + rotation,
                block: round.first_block + index as u64,
                rotation,
                round: Some(record),
            };
            self.plan.job(&drawn, place)
        })
    }

    /// The blocks of a round; `None` if a match of it is not done.
    fn played(&self, round: &Round, outcomes: &Outcomes) -> Option<Vec<PlayedBlock>> {
        let played = |index: usize| {
            let RoundBlock { block, repetition, .. } = &round.blocks[index];
            let mut players: Vec<u32> = block.players.iter().map(|&player| player as u32).collect();
            players.sort_unstable();
            let mut sums = Some(vec![0.0; players.len()]);
            let mut n_matches = 0.0;
            for job in self.jobs_of_block(round, index) {
                let outcome = outcomes.get(&job.id)?;
                n_matches += 1.0;
                let reward =
                    |role: usize| outcome.as_ref().and_then(|rewards| *rewards.get(role)?);
                for (role, seat) in job.seats.iter().enumerate() {
                    let Some(player) = *seat else { continue };
                    let at = players.iter().position(|&other| other as usize == player);
                    let at = at.expect("only the block's players sit in its matches");
                    match (reward(role), &mut sums) {
                        (Some(reward), Some(sums)) => sums[at] += f64::from(reward),
                        _ => sums = None,
                    }
                }
            }
            let rewards = sums.map(|sums| sums.iter().map(|sum| sum / n_matches).collect());
            let stratum = block.game as u32;
            Some(PlayedBlock { stratum, repetition: *repetition, players, rewards })
        };
        (0..round.blocks.len()).map(played).collect()
    }
}

/// Goes through the rounds of a staged schedule, as far as they follow from results.
pub struct Walk {
    schedule: Arc<StagedSchedule>,
    /// Index of the stage.
    stage: usize,
    /// Its players, best seed first.
    entrants: Vec<u32>,
    /// The blocks of its rounds that are finished, further laps counted.
    played: Vec<Vec<PlayedBlock>>,
    race: Option<Race>,
    /// In the order of seeds; of a ladder only.
    ladder: Vec<LadderRow>,
    /// Rounds of a ladder in which two met, by the smaller number first.
    n_rounds_met: BTreeMap<[u32; 2], u32>,
    /// Blocks by game and players: before the stage, and up to now.
    met_before: BTreeMap<(usize, Vec<usize>), u32>,
    met: BTreeMap<(usize, Vec<usize>), u32>,
    n_jobs: u64,
    n_blocks: u64,
    round: Option<Arc<Round>>,
}

impl Walk {
    /// Before the first round.
    #[must_use]
    pub fn new(schedule: Arc<StagedSchedule>) -> Self {
        let entrants = (0..schedule.plan.players.len() as u32).collect();
        let mut walk = Self {
            schedule,
            stage: 0,
            entrants,
            played: vec![],
            race: None,
            ladder: vec![],
            n_rounds_met: BTreeMap::new(),
            met_before: BTreeMap::new(),
            met: BTreeMap::new(),
            n_jobs: 0,
            n_blocks: 0,
            round: None,
        };
        walk.begin_stage();
        walk.find_round();
        walk
    }

    /// The round that is to be finished before anything else is known; `None`
    /// if the tournament is over.
    #[must_use]
    pub fn round(&self) -> Option<Arc<Round>> {
        self.round.clone()
    }

    /// Goes on to the next round if this one is finished; says whether it is.
    pub fn pass(&mut self, outcomes: &Outcomes) -> bool {
        let Some(round) = &self.round else { return false };
        let Some(blocks) = self.schedule.played(round, outcomes) else { return false };
        for RoundBlock { block, .. } in &round.blocks {
            *self.met.entry((block.game, sorted(&block.players))).or_default() += 1;
        }
        self.n_jobs += round.n_jobs;
        self.n_blocks += round.blocks.len() as u64;
        if let Some(race) = &mut self.race {
            race.add_lap(&blocks);
        }
        if let Format::Ladder { .. } = round.format {
            self.ladder = ladder::after(&self.ladder, &blocks);
            for met in encounters(&blocks) {
                if let [a, b] = met.players[..] {
                    *self.n_rounds_met.entry([a, b]).or_default() += 1;
                }
            }
        }
        self.played.push(blocks);
        self.find_round();
        true
    }

    /// Who may still have something to play.
    #[must_use]
    pub fn players_left(&self) -> BTreeSet<usize> {
        if self.round.is_none() {
            return BTreeSet::new();
        }
        let players = self.entrants.iter().map(|&player| player as usize);
        if let Some(race) = &self.race
            && self.stage + 1 == self.schedule.stages.len()
        {
            let dropped: BTreeSet<u32> = race.dropped().iter().map(|row| row.player).collect();
            return players.filter(|&player| !dropped.contains(&(player as u32))).collect();
        }
        players.collect()
    }

    fn stage(&self) -> Option<&Stage> {
        self.schedule.stages.get(self.stage)
    }

    fn standing(&self) -> Standing {
        let stage = self.stage().expect("there is a stage until the tournament is over");
        standing(stage, &self.entrants, &self.played)
    }

    fn begin_stage(&mut self) {
        let Some(stage) = self.schedule.stages.get(self.stage) else { return };
        if let Some(best) = stage.best {
            self.entrants.truncate(best as usize);
        }
        self.race = runners_race(stage, &self.entrants);
        self.met_before.clone_from(&self.met);
        self.played.clear();
        self.ladder = ladder::ladder(&self.entrants, &[]);
        self.n_rounds_met.clear();
    }

    /// Finds the next round, in this stage or the next that has one.
    fn find_round(&mut self) {
        self.round = None;
        while self.stage().is_some() {
            if let Some(round) = self.next_round() {
                self.round = Some(Arc::new(round));
                return;
            }
            self.entrants = self.standing().ranking(&self.entrants);
            self.stage += 1;
            self.begin_stage();
        }
    }

    /// The next round of this stage; `None` if it is over.
    fn next_round(&self) -> Option<Round> {
        let stage = self.stage()?;
        let n_played = self.played.len() as u32;
        let pairs = match stage.format {
            Format::RoundRobin | Format::Gauntlet { .. } => return self.laps(),
            Format::Swiss { rounds } | Format::Ladder { rounds } if n_played >= rounds => {
                return None;
            }
            Format::Knockout { .. } => {
                let Standing::Knockout(bracket) = self.standing() else { return None };
                let open = bracket.open?;
                let pairs = open.pairs.iter().map(|pair| pair.to_vec()).collect();
                return Some(self.round_of(open.round, open.extra, pairs));
            }
            Format::Swiss { .. } => {
                let Standing::Swiss(mut rows) = self.standing() else { return None };
                let seed = |player: u32| self.entrants.iter().position(|&other| other == player);
                rows.sort_by_key(|row| seed(row.player));
                swiss::pair(&rows, self.schedule.plan.n_seats(0))
            }
            Format::Ladder { .. } => {
                let mut rows = self.ladder.clone();
                // Stable: equals stay in the order of seeds.
                rows.sort_by(|a, b| b.glicko.rating.total_cmp(&a.glicko.rating));
                let n_met = |a: u32, b: u32| self.n_rounds_met.get(&[a.min(b), a.max(b)]).copied();
                neighbours::pair(&rows, |a, b| n_met(a, b).unwrap_or(0))
            }
        };
        Some(self.round_of(n_played + 1, 0, pairs))
    }

    /// A round in which each of these sets plays the stage's laps of every game.
    fn round_of(&self, round: u32, extra: u32, sets: Vec<Vec<u32>>) -> Round {
        let stage = self.stage().expect("it has a round");
        let plan = &self.schedule.plan;
        let laps = if extra > 0 { 1 } else { stage.laps };
        let mut blocks = vec![];
        let mut met = self.met.clone();
        for lap in 0..laps {
            let mut order = vec![];
            for set in &sets {
                let players: Vec<usize> = set.iter().map(|&player| player as usize).collect();
                for (game, planned) in plan.games.iter().enumerate() {
                    for _ in 0..planned.weight {
                        order.push((game, sorted(&players)));
                    }
                }
            }
            let place = [self.stage as u64, round.into(), extra.into(), lap.into()];
            let seed = Fingerprint::of("round").number(plan.seed);
            let seed = place.into_iter().fold(seed, Fingerprint::number).seed();
            order_by_seed(&mut order, seed);
            for (game, players) in order {
                let met = met.entry((game, players.clone())).or_default();
                blocks.push(Block { game, time_budget: 0, players, lap: *met });
                *met += 1;
            }
        }
        let id = RoundId { stage: self.stage as u32 + 1, round, extra };
        self.make(id, blocks)
    }

    /// The laps of a round robin or a gauntlet: all at once, or one after the
    /// other if they are raced.
    fn laps(&self) -> Option<Round> {
        let stage = self.stage()?;
        let n_played = self.played.len() as u32;
        let schedule = self.schedule.sub_schedule(stage, &self.entrants);
        let (laps, running) = match &self.race {
            None if n_played > 0 => return None,
            None => (0..stage.laps, None),
            Some(race) if n_played >= stage.laps || race.is_over() => return None,
            Some(race) => (n_played..n_played + 1, Some(race)),
        };
        let is_dropped = |player: usize| {
            let dropped =
                |race: &&Race| race.dropped().iter().any(|row| row.player as usize == player);
            running.as_ref().is_some_and(dropped)
        };
        let mut blocks = vec![];
        for lap in laps {
            for mut block in schedule.blocks(&schedule.lap(lap)) {
                let entrant = |&player: &usize| self.entrants[player] as usize;
                block.players = block.players.iter().map(entrant).collect();
                let key = (block.game, sorted(&block.players));
                block.lap += self.met_before.get(&key).copied().unwrap_or(0);
                if !block.players.iter().any(|&player| is_dropped(player)) {
                    blocks.push(block);
                }
            }
        }
        let games: BTreeSet<usize> = blocks.iter().map(|block| block.game).collect();
        if games.len() < self.schedule.plan.games.len() {
            // Too few are left to fill every game.
            return None;
        }
        let id = RoundId { stage: self.stage as u32 + 1, round: n_played + 1, extra: 0 };
        Some(self.make(id, blocks))
    }

    fn make(&self, id: RoundId, blocks: Vec<Block>) -> Round {
        let stage = self.stage().expect("it has a round");
        let mut repetitions: BTreeMap<(usize, Vec<usize>), u32> = BTreeMap::new();
        let mut n_jobs = 0;
        let with_place = |block: Block| {
            let repetition = repetitions.entry((block.game, sorted(&block.players))).or_default();
            *repetition += 1;
            let first_job = n_jobs;
            n_jobs += self.schedule.plan.matches_per_block(block.game);
            RoundBlock { repetition: *repetition - 1, block, first_job }
        };
        let blocks = blocks.into_iter().map(with_place).collect();
        Round {
            id,
            format: stage.format,
            n_rounds: n_rounds(stage, self.entrants.len()),
            n_jobs,
            first_job: self.n_jobs,
            first_block: self.n_blocks,
            blocks,
        }
    }
}

impl StagedSchedule {
    /// The round robin or gauntlet of a stage among these players, who stand in
    /// it by their seeds.
    fn sub_schedule(&self, stage: &Stage, entrants: &[u32]) -> Schedule {
        let players = entrants.iter().map(|&player| self.plan.players[player as usize].clone());
        let pairings = match stage.format {
            Format::Gauntlet { challengers } => Pairings::Gauntlet(challengers),
            _ => Pairings::All,
        };
        let plan = TournamentPlan {
            laps: stage.laps,
            pairings,
            players: players.collect(),
            ..self.plan.clone()
        };
        Schedule::new(plan).expect("the schedule was checked when it was made")
    }
}

/// Rounds of a stage, at most.
fn n_rounds(stage: &Stage, n_entrants: usize) -> u32 {
    match stage.format {
        Format::RoundRobin | Format::Gauntlet { .. } if stage.race.is_some() => stage.laps,
        Format::RoundRobin | Format::Gauntlet { .. } => 1,
        Format::Swiss { rounds } | Format::Ladder { rounds } => rounds,
        Format::Knockout { .. } => knockout::n_rounds(n_entrants as u32),
    }
}

fn sorted(players: &[usize]) -> Vec<usize> {
    let mut players = players.to_vec();
    players.sort_unstable();
    players
}
