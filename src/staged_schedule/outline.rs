//! What is known of a staged schedule before anything is played.

use results::formats::{Format, Stage};

use super::{StagedSchedule, n_rounds};
use crate::schedule::{Pairings, Round, Schedule, TournamentPlan};

/// What is known of a stage beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct StageOutline {
    /// The stage.
    pub stage: Stage,
    /// Players that take part.
    pub n_players: usize,
    /// Rounds, at most.
    pub n_rounds: u32,
    /// Matches, at most.
    pub n_matches: u64,
    /// Matches that are played in any case.
    pub n_matches_at_least: u64,
}

impl StagedSchedule {
    /// Each stage as far as it is known.
    #[must_use]
    pub fn outline(&self) -> Vec<StageOutline> {
        let mut n_players = self.plan.players.len();
        let outline = |stage: &Stage| {
            n_players = stage.best.map_or(n_players, |best| best as usize);
            let (at_least, n_matches) = self.n_matches(stage, n_players, &|game| {
                self.plan.matches_per_block(game) * u64::from(self.plan.games[game].weight)
            });
            StageOutline {
                stage: *stage,
                n_players,
                n_rounds: n_rounds(stage, n_players),
                n_matches,
                n_matches_at_least: at_least,
            }
        };
        self.stages.iter().map(outline).collect()
    }

    /// Matches of the whole schedule, at most.
    #[must_use]
    pub fn most_jobs(&self) -> u64 {
        self.outline().iter().map(|stage| stage.n_matches).fold(0, u64::saturating_add)
    }

    /// The maximum that is played of each game, over all stages.
    #[must_use]
    pub fn most_rounds(&self) -> Vec<Round> {
        let of_game = |game: usize| {
            let weight = u64::from(self.plan.games[game].weight);
            let only = |other: usize| if other == game { weight } else { 0 };
            let mut n_players = self.plan.players.len();
            let mut n_blocks: u64 = 0;
            for stage in &self.stages {
                n_players = stage.best.map_or(n_players, |best| best as usize);
                n_blocks = n_blocks.saturating_add(self.n_matches(stage, n_players, &only).1);
            }
            let per_block = self.plan.matches_per_block(game);
            Round {
                game,
                time_budget: 0,
                players: (0..self.plan.players.len()).collect(),
                n_seats: self.plan.n_seats(game),
                n_pairings: 0,
                n_blocks,
                n_matches: n_blocks.saturating_mul(per_block),
                n_times_seated: 0,
            }
        };
        (0..self.plan.games.len()).map(of_game).collect()
    }

    /// What a stage adds up to if a block of a game, times its weight, counts
    /// as `counted` says: at least and at most.
    fn n_matches(
        &self,
        stage: &Stage,
        n_players: usize,
        counted: &dyn Fn(usize) -> u64,
    ) -> (u64, u64) {
        let games = 0..self.plan.games.len();
        let lap: u64 = games.map(counted).fold(0, u64::saturating_add);
        let laps = u64::from(stage.laps);
        match stage.format {
            Format::RoundRobin | Format::Gauntlet { .. } => {
                let lap = self.table_lap(stage, n_players, counted);
                let at_least = if stage.race.is_some() { 1 } else { laps };
                (lap.saturating_mul(at_least), lap.saturating_mul(laps))
            }
            Format::Swiss { rounds } | Format::Ladder { rounds } => {
                let n_seats = self.plan.n_seats(0).max(1);
                let met = (n_players / n_seats) as u64 * u64::from(rounds);
                let all = met.saturating_mul(laps).saturating_mul(lap);
                (all, all)
            }
            Format::Knockout { extra_laps } => {
                let ties = n_players.saturating_sub(1) as u64;
                let at_least = ties.saturating_mul(laps).saturating_mul(lap);
                (at_least, ties.saturating_mul(laps + u64::from(extra_laps)).saturating_mul(lap))
            }
        }
    }

    /// A lap of a round robin or a gauntlet.
    fn table_lap(&self, stage: &Stage, n_players: usize, counted: &dyn Fn(usize) -> u64) -> u64 {
        let Ok(schedule) = self.of_first(stage, n_players) else { return 0 };
        let of_game = |round: Round| round.n_pairings.saturating_mul(counted(round.game));
        schedule.rounds().map(of_game).fold(0, u64::saturating_add)
    }

    /// The stage's schedule if the first players took part.
    fn of_first(
        &self,
        stage: &Stage,
        n_players: usize,
    ) -> Result<Schedule, crate::schedule::ScheduleError> {
        let pairings = match stage.format {
            Format::Gauntlet { challengers } => Pairings::Gauntlet(challengers),
            _ => Pairings::All,
        };
        let players = self.plan.players[..n_players].to_vec();
        Schedule::new(TournamentPlan { laps: stage.laps, pairings, players, ..self.plan.clone() })
    }

    /// Blocks of the largest round of a stage.
    pub(super) fn most_blocks_at_once(&self, stage: &Stage, n_players: usize) -> u64 {
        let weight = |game: usize| u64::from(self.plan.games[game].weight);
        let (_, all) = self.n_matches(stage, n_players, &weight);
        let n_rounds = match stage.format {
            Format::Knockout { .. } => {
                let first = (n_players / 2) as u64;
                return first.saturating_mul(stage.laps.into()).saturating_mul(
                    (0..self.plan.games.len()).map(weight).fold(0, u64::saturating_add),
                );
            }
            _ => n_rounds(stage, n_players),
        };
        all / u64::from(n_rounds.max(1))
    }
}
