//! What a run would play, without playing it.

use std::collections::BTreeMap;
use std::path::Path;

use results::partition::Partition;
use serde::Serialize;

use super::error::ExperimentError;
use super::estimate::{Estimate, NoEstimate, estimate};
use super::folder::{Played, elsewhere};
use super::jobs::Jobs;
use super::plan::{Experiment, Place};
use crate::manager::{PlayerSource, command_words};
use crate::schedule::{Round, Schedule, TimeBudget};
use crate::spec::time_budget_words;
use crate::staged_schedule::{StageOutline, StagedSchedule};

/// What would be played.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Preview {
    /// All is known.
    Schedule(SchedulePreview),
    /// It follows from results.
    Staged(StagedPreview),
}

/// How long the matches left take.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PreviewTime {
    /// Probably, in seconds.
    pub estimated_seconds: Option<f64>,
    /// If every clock is used up, in seconds.
    pub estimated_seconds_at_most: Option<f64>,
    /// Why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_estimate: Option<NoEstimate>,
}

/// What would be played of a schedule.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulePreview {
    /// Name of the experiment.
    pub name: String,
    /// Identifies the spec.
    pub spec_hash: String,
    /// Folder of the run.
    pub folder: String,
    /// Matches of the whole schedule.
    pub n_jobs: u64,
    /// Blocks of the whole schedule.
    pub n_blocks: u64,
    /// The part that is played here, if it is not all.
    pub partition: Option<Partition>,
    /// Matches of the part.
    pub n_jobs_here: u64,
    /// Matches that the folder has.
    pub n_played: u64,
    /// Matches of the part that are not played.
    pub n_left: u64,
    /// Matches at once.
    pub concurrency: u32,
    /// How long the matches left take.
    #[serde(flatten)]
    pub time: PreviewTime,
    /// Games under budgets.
    pub rounds: Vec<PreviewRow>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// What would be played of one game under one budget.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewRow {
    /// The game's name.
    pub game: String,
    /// The budget in words.
    pub budget: String,
    /// Players that can play it.
    pub n_players: usize,
    /// Players of a match.
    pub n_seats: usize,
    /// Sets of players that meet.
    pub n_pairings: u64,
    /// Blocks.
    pub n_blocks: u64,
    /// Matches.
    pub n_matches: u64,
    /// Matches that are not played.
    pub n_left: u64,
    /// Matches of each player in each role.
    pub n_times_seated: u64,
}

/// What would be played where results decide: numbers at most.
#[derive(Clone, Debug, Serialize)]
pub struct StagedPreview {
    /// Name of the experiment.
    pub name: String,
    /// Identifies the spec.
    pub spec_hash: String,
    /// Folder of the run.
    pub folder: String,
    /// Matches, at most.
    pub n_jobs_at_most: u64,
    /// Matches at once.
    pub concurrency: u32,
    /// Matches that the folder has.
    pub n_played: u64,
    /// How long the matches left take.
    #[serde(flatten)]
    pub time: PreviewTime,
    /// Stages, in their order.
    pub stages: Vec<StagePreview>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// One stage.
#[derive(Clone, Debug, Serialize)]
pub struct StagePreview {
    /// Name of its format.
    pub format: &'static str,
    /// Whether clearly weaker players are dropped on the way.
    pub is_raced: bool,
    /// Players that begin it.
    pub n_players: usize,
    /// Rounds, at most.
    pub n_rounds_at_most: u32,
    /// Matches, at least.
    pub n_matches_at_least: u64,
    /// Matches, at most.
    pub n_matches_at_most: u64,
}

impl Experiment {
    /// What would be played into `place`, and how long that would take; nothing is
    /// changed.
    ///
    /// # Errors
    /// If the folder holds another run that this one does not extend, or cannot be read.
    pub fn preview(&self, place: &Place) -> Result<Preview, ExperimentError> {
        let played = self.played(place)?;
        let folder = self.folder(place)?.display().to_string();
        Ok(match &self.jobs {
            Jobs::Schedule(schedule) => {
                Preview::Schedule(of_schedule(self, schedule, folder, &played, place.partition))
            }
            Jobs::Staged(schedule) => Preview::Staged(of_stages(self, schedule, folder, &played)),
        })
    }
}

impl From<Result<Estimate, NoEstimate>> for PreviewTime {
    fn from(estimate: Result<Estimate, NoEstimate>) -> Self {
        Self {
            estimated_seconds: estimate.ok().map(|seconds| seconds.about),
            estimated_seconds_at_most: estimate.ok().map(|seconds| seconds.at_most),
            no_estimate: estimate.err(),
        }
    }
}

fn of_schedule(
    experiment: &Experiment,
    schedule: &Schedule,
    folder: String,
    played: &Played,
    partition: Option<Partition>,
) -> SchedulePreview {
    let elsewhere = partition.map_or_else(Vec::new, |part| elsewhere(schedule, part));
    let left = n_left(experiment, schedule, played, &elsewhere);
    let left_of = |round: &Round| left.get(&(round.game, round.time_budget)).copied().unwrap_or(0);
    SchedulePreview {
        name: experiment.spec.name.clone(),
        spec_hash: experiment.spec.hash(),
        folder,
        n_jobs: schedule.n_jobs(),
        n_blocks: schedule.n_blocks(),
        partition,
        n_jobs_here: schedule.n_jobs() - elsewhere.len() as u64,
        n_played: played.n(),
        n_left: left.values().sum(),
        concurrency: experiment.concurrency,
        time: estimate(experiment, left_of).into(),
        rounds: schedule.rounds().map(|round| row(experiment, &round, left_of(&round))).collect(),
        warnings: warnings(experiment),
    }
}

/// The warnings of an experiment, and the programs that are not there.
fn warnings(experiment: &Experiment) -> Vec<String> {
    let missing = experiment.spec.players.iter().filter_map(|player| {
        let PlayerSource::Command { template, .. } = &player.config.source else { return None };
        let words = command_words(template).ok()?;
        let program = words.first().filter(|word| !is_program(word))?;
        let id = &player.config.id;
        Some(match program.contains('/') {
            true => format!("player {id}: there is no file `{program}` here"),
            false => format!("player {id}: no program `{program}` is in a folder of PATH"),
        })
    });
    experiment.warnings.iter().cloned().chain(missing).collect()
}

/// Whether the first word of a command line names a file, looked up as the system does.
fn is_program(word: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match word.contains('/') {
        true => Path::new(word).is_file(),
        false => std::env::split_paths(&path).any(|folder| folder.join(word).is_file()),
    }
}

/// The matches that are not played, by game and time budget.
fn n_left(
    experiment: &Experiment,
    schedule: &Schedule,
    played: &Played,
    elsewhere: &[u64],
) -> BTreeMap<(usize, usize), u64> {
    if played.n() == 0 && elsewhere.is_empty() {
        let all = schedule.rounds();
        return all.map(|round| ((round.game, round.time_budget), round.n_matches)).collect();
    }
    let mut left = BTreeMap::new();
    for job in schedule.jobs() {
        if played.has(&job.id) || elsewhere.binary_search(&job.number).is_ok() {
            continue;
        }
        let time = TimeBudget { clocks: job.clocks, budget: job.budget };
        let budget = experiment.spec.time_budgets.iter().position(|other| *other == time);
        *left.entry((job.game, budget.unwrap_or(0))).or_default() += 1;
    }
    left
}

fn row(experiment: &Experiment, round: &Round, n_left: u64) -> PreviewRow {
    PreviewRow {
        game: experiment.spec.games[round.game].source.name.clone(),
        budget: time_budget_words(&experiment.spec.time_budgets[round.time_budget]),
        n_players: round.players.len(),
        n_seats: round.n_seats,
        n_pairings: round.n_pairings,
        n_blocks: round.n_blocks,
        n_matches: round.n_matches,
        n_left,
        n_times_seated: round.n_times_seated,
    }
}

fn of_stages(
    experiment: &Experiment,
    schedule: &StagedSchedule,
    folder: String,
    played: &Played,
) -> StagedPreview {
    // Which of the rounds to come are played is not known: the share of those that are
    // played is taken off.
    let share = 1.0 - (played.n() as f64 / schedule.most_jobs().max(1) as f64).min(1.0);
    let time = estimate(experiment, |round| round.n_matches).map(|Estimate { about, at_most }| {
        Estimate { about: about * share, at_most: at_most * share }
    });
    StagedPreview {
        name: experiment.spec.name.clone(),
        spec_hash: experiment.spec.hash(),
        folder,
        n_jobs_at_most: schedule.most_jobs(),
        concurrency: experiment.concurrency,
        n_played: played.n(),
        time: time.into(),
        stages: schedule.outline().iter().map(stage).collect(),
        warnings: warnings(experiment),
    }
}

fn stage(outline: &StageOutline) -> StagePreview {
    StagePreview {
        format: outline.stage.format.name(),
        is_raced: outline.stage.race.is_some(),
        n_players: outline.n_players,
        n_rounds_at_most: outline.n_rounds,
        n_matches_at_least: outline.n_matches_at_least,
        n_matches_at_most: outline.n_matches,
    }
}
