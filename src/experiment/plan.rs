//! Prepares everything that is needed to play a spec.

use std::path::PathBuf;
use std::sync::Arc;

use games::reasoner::{self, Chosen};
use games::{Cancel, Game};
use results::partition::Partition;

use super::concurrency::concurrency;
use super::error::ExperimentError;
use super::folder::{self, Played, RunFolder};
use super::jobs::Jobs;
use super::notes;
use super::unsuitable::unsuitable;
use crate::manager::PreparedGame;
use crate::people;
use crate::schedule::Schedule;
use crate::spec::{GameEntry, Spec};
use crate::staged_schedule::StagedSchedule;

/// A spec, ready to be played.
pub struct Experiment {
    /// What was asked for.
    pub spec: Spec,
    /// The spec's games, in its order, each with the reasoner that computes it.
    pub games: Vec<Arc<PreparedGame>>,
    /// What is played.
    pub jobs: Jobs,
    /// Matches at once.
    pub concurrency: u32,
    /// What a user should know beforehand, and a reader of the report too: phrases in
    /// lower case without a full stop.
    pub warnings: Vec<String>,
}

/// Where an experiment is played, and which part of it.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Folder of the run; one that holds this run already is resumed. `None` for
    /// `results/runs/NAME-HASH`, which is the same for the same spec.
    pub folder: Option<PathBuf>,
    /// Keep the matches of a run whose spec was smaller (fewer players, games or blocks).
    pub extend: bool,
    /// Play only this part of the schedule.
    pub partition: Option<Partition>,
}

impl Experiment {
    /// Loads the games and computes the schedule.
    ///
    /// # Errors
    /// If a rulesheet is broken, or players and games do not fit each other.
    pub fn new(spec: Spec) -> Result<Self, ExperimentError> {
        Self::new_until(spec, &Cancel::new())
    }

    /// The same, unless `cancel` is raised.
    ///
    /// # Errors
    /// As those of [`new`](Self::new), or [`Interrupted`](ExperimentError::Interrupted).
    pub fn new_until(spec: Spec, cancel: &Cancel) -> Result<Self, ExperimentError> {
        refuse_people(&spec)?;
        let games = spec.games.iter().map(|entry| validated(entry, cancel));
        let games = games.collect::<Result<Vec<_>, _>>()?;
        let mut reasoner_notes = vec![];
        let prepared = spec.games.iter().zip(&games);
        let prepared =
            prepared.map(|(entry, game)| prepare(&spec, entry, game, &mut reasoner_notes, cancel));
        let prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        let unsuitable = unsuitable(&spec, &prepared, cancel)?;
        if let Some(first) = unsuitable.first().filter(|_| !spec.skip_unsuitable) {
            return Err(ExperimentError::Unplayable(notes::unsuitable(&spec, first)));
        }
        let unable: Vec<Vec<usize>> = (0..games.len())
            .map(|game| {
                let here = unsuitable.iter().filter(|it| it.game == game);
                here.map(|it| it.player).collect()
            })
            .collect();
        let plan = spec.plan(&games, &unable);
        let mut warnings = vec![];
        let jobs = if spec.follows_results() {
            let schedule = StagedSchedule::new(plan, spec.stages.clone()).map_err(|error| {
                ExperimentError::Unplayable(notes::no_stages(&spec, &error, &unsuitable))
            })?;
            Jobs::Staged(Arc::new(schedule))
        } else {
            let schedule = Schedule::new(plan).map_err(|error| {
                ExperimentError::Unplayable(notes::no_schedule(&spec, &error, &unsuitable))
            })?;
            warnings = notes::sitting_out(&spec, schedule.skips(), &unsuitable);
            Jobs::Schedule(Arc::new(schedule))
        };
        let concurrency = concurrency(&spec, &jobs, &mut warnings);
        warnings.extend(notes::no_time_to_think(&spec));
        warnings.extend(notes::fractions(&spec));
        warnings.extend(reasoner_notes);
        Ok(Self { games: prepared, jobs, concurrency, warnings, spec })
    }

    /// The folder meant by `place`.
    ///
    /// # Errors
    /// If only a part of what follows from results is to be played.
    pub fn folder(&self, place: &Place) -> Result<PathBuf, ExperimentError> {
        if let (Jobs::Staged(_), Some(part)) = (&self.jobs, place.partition) {
            return Err(ExperimentError::NoParts(part));
        }
        let default = || folder::default_folder(&self.spec, place.partition);
        Ok(place.folder.clone().unwrap_or_else(default))
    }

    /// Creates the folder of the run, or resumes the run in it.
    ///
    /// # Errors
    /// If it is not ours, not writable, in use, or damaged.
    pub fn open(&self, place: &Place) -> Result<RunFolder, ExperimentError> {
        let mut notes = notes::sentences(&self.warnings);
        notes.extend(notes::gauntlet(&self.spec, &self.jobs));
        let path = self.folder(place)?;
        Ok(folder::open(&path, &self.spec, &self.jobs, &notes, place.extend, place.partition)?)
    }

    /// What the folder has of the run that would be played into it; nothing is changed.
    ///
    /// # Errors
    /// If it holds another run that this one does not extend, or cannot be read.
    pub fn played(&self, place: &Place) -> Result<Played, ExperimentError> {
        Ok(folder::played(&self.folder(place)?, &self.spec, &self.jobs, place.extend)?)
    }
}

/// Refuses people: matches are played unseen, several at once.
fn refuse_people(spec: &Spec) -> Result<(), ExperimentError> {
    let players = spec.players.iter().map(|player| &*player.config);
    people::refusal(players).map_or(Ok(()), |why| Err(ExperimentError::Unplayable(why)))
}

fn validated(entry: &GameEntry, cancel: &Cancel) -> Result<Arc<Game>, ExperimentError> {
    if cancel.is_cancelled() {
        return Err(ExperimentError::Interrupted);
    }
    Ok(entry.source.clone().check(entry.reading).loaded()?.game)
}

fn prepare(
    spec: &Spec,
    entry: &GameEntry,
    game: &Arc<Game>,
    warnings: &mut Vec<String>,
    cancel: &Cancel,
) -> Result<Arc<PreparedGame>, ExperimentError> {
    if cancel.is_cancelled() {
        return Err(ExperimentError::Interrupted);
    }
    let name = entry.source.name.clone();
    let Chosen { machine, not_ground } =
        reasoner::choose(Arc::clone(game), spec.guards.clone(), cancel)
            .map_err(|source| ExperimentError::of_rules(&name, source))?;
    if let Some(error) = not_ground {
        warnings.push(format!("the prover plays {name}, slower than a network would: {error}"));
    }
    Ok(Arc::new(PreparedGame::new(name, entry.text_hash(), machine)))
}
