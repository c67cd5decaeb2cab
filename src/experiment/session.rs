//! Plays the missing matches of a run, and writes the journal as matches end.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use results::record::{AbortReason, MatchRecord};

use super::error::ExperimentError;
use super::folder::RunFolder;
use super::jobs::Jobs;
use super::plan::Experiment;
use crate::consumers::{Catalogue, JournalConsumer};
use crate::event::{Event, EventKind, StopReason};
use crate::locking::lock;
use crate::manager::{Manager, ManagerSettings, PlayerStderr};
use crate::runner::{self, Consumer, Crew, StagedTournament, StopFlag, Tournament};
use crate::staged_schedule::Walk;

/// Stops a session, from any thread.
#[derive(Clone)]
pub struct Stopper {
    interrupted: StopFlag,
    no_more: StopFlag,
    manager: Arc<Manager>,
}

impl Stopper {
    /// Aborts the matches in play, and starts no others; the run can be resumed.
    pub fn interrupt(&self) {
        self.interrupted.raise();
        self.no_more.raise();
        self.manager.interrupt();
    }

    /// Starts no more matches; those in play end normally.
    pub fn begin_no_more(&self) {
        self.no_more.raise();
    }

    /// Whether the session was interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.is_raised()
    }

    /// Whether no more matches start.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.no_more.is_raised()
    }
}

/// A run with its players at hand. Launched players end when it is dropped.
pub struct Session<'a> {
    experiment: &'a Experiment,
    stopper: Stopper,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.stopper.manager.shutdown();
    }
}

/// How a session ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why the run ended.
    pub stop: StopReason,
    /// Matches that were aborted by faults that are no player's.
    pub n_aborted: u64,
    /// Why the first of them was.
    pub first_abort: Option<AbortReason>,
    /// The player that was missing until the run stopped, and why.
    pub gone: Option<(String, AbortReason)>,
}

impl Ended {
    /// Whether all started matches could be played.
    ///
    /// # Errors
    /// If matches were aborted by faults that are no player's; the next run of
    /// the same experiment plays them again.
    pub fn check(&self) -> Result<(), ExperimentError> {
        let n = self.n_aborted;
        match (&self.gone, &self.first_abort) {
            (Some((player, reason)), _) => Err(ExperimentError::PlayerGone {
                player: player.clone(),
                reason: reason.clone(),
                n,
            }),
            (None, Some(first)) => Err(ExperimentError::Aborted { n, first: first.clone() }),
            (None, None) => Ok(()),
        }
    }
}

impl<'a> Session<'a> {
    /// Makes ready to play into `folder`, where launched players write their logs.
    /// `supervisor` is an executable of `gamemaster` that looks after launched players
    /// ([`ManagerSettings::supervisor`]).
    #[must_use]
    pub fn new(experiment: &'a Experiment, folder: &Path, supervisor: Option<PathBuf>) -> Self {
        let manager = Manager::new(ManagerSettings {
            stderr: PlayerStderr::Log(folder.join("logs")),
            supervisor,
            ..ManagerSettings::default()
        });
        let stopper =
            Stopper { interrupted: StopFlag::default(), no_more: StopFlag::default(), manager };
        Self { experiment, stopper }
    }

    /// What is played.
    #[must_use]
    pub fn experiment(&self) -> &Experiment {
        self.experiment
    }

    /// What stops this session.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Checks that the players that have matches left are ready.
    ///
    /// # Errors
    /// [`Interrupted`](ExperimentError::Interrupted), or what is wrong with a player that is not
    /// ready.
    pub fn preflight(&self, folder: &RunFolder) -> Result<(), ExperimentError> {
        let players = players_left(&self.experiment.jobs, folder);
        let config = |player: usize| &*self.experiment.spec.players[player].config;
        let players: Vec<_> = players.into_iter().map(config).collect();
        let checked = self.stopper.manager.preflight_all(&players);
        if self.stopper.is_interrupted() { Err(ExperimentError::Interrupted) } else { Ok(checked?) }
    }

    /// Plays the missing matches, and writes the journal. The observer gets each event
    /// after the journal.
    ///
    /// # Errors
    /// If the journal cannot be written. What it holds stays, and can be resumed.
    pub fn play(
        &self,
        folder: RunFolder,
        observer: &mut dyn Consumer,
    ) -> Result<Ended, ExperimentError> {
        self.play_by(None, folder, observer)
    }

    /// As [`play`](Self::play); a crew, if there is one, plays the matches instead of
    /// this process.
    ///
    /// # Errors
    /// If the journal cannot be written. What it holds stays, and can be resumed.
    pub fn play_by(
        &self,
        crew: Option<&mut dyn Crew>,
        folder: RunFolder,
        observer: &mut dyn Consumer,
    ) -> Result<Ended, ExperimentError> {
        let Experiment { spec, games, jobs, concurrency, .. } = self.experiment;
        let players: Vec<_> =
            spec.players.iter().map(|player| Arc::clone(&player.config)).collect();
        let ids: Vec<String> = players.iter().map(|player| player.id.clone()).collect();
        let (games, concurrency) = (games.clone(), *concurrency);
        let rules = Arc::new(spec.rules.clone());
        let catalogue = Arc::new(Catalogue::new(&games, &players, concurrency));
        let outcomes = Mutex::new(folder.outcomes);
        // Later rounds follow from what is written down.
        let mut recorded = |record: &MatchRecord| {
            if record.round.is_some() {
                lock(&outcomes).add(record);
            }
        };
        let mut consumers = Consumers {
            journal: JournalConsumer::new(catalogue, folder.writer, folder.attempts),
            recorded: &mut recorded,
            observer,
            ids,
            ended: Ended {
                stop: StopReason::Completed,
                n_aborted: 0,
                first_abort: None,
                gone: None,
            },
        };
        let Stopper { no_more, manager, .. } = &self.stopper;
        let stop = match jobs {
            Jobs::Schedule(schedule) => {
                let schedule = Arc::clone(schedule);
                let (done, elsewhere) = (folder.done, folder.elsewhere);
                let tournament =
                    Tournament { schedule, games, players, rules, concurrency, done, elsewhere };
                match crew {
                    None => runner::run(&tournament, manager, no_more, &mut consumers),
                    Some(crew) => {
                        runner::run_by(crew, &tournament, manager, no_more, &mut consumers)
                    }
                }
            }
            Jobs::Staged(schedule) => {
                let schedule = Arc::clone(schedule);
                let tournament = StagedTournament { schedule, games, players, rules, concurrency };
                let consumers = &mut consumers;
                match crew {
                    None => runner::run_staged(&tournament, &outcomes, manager, no_more, consumers),
                    Some(crew) => {
                        let schedule = &tournament.schedule;
                        runner::run_staged_by(
                            crew, schedule, &outcomes, manager, no_more, consumers,
                        )
                    }
                }
            }
        };
        let Consumers { journal, ended, .. } = consumers;
        journal.finish()?;
        Ok(Ended { stop, ..ended })
    }
}

/// The players of the jobs that are not done. A player with nothing left to play need not
/// be running.
fn players_left(jobs: &Jobs, folder: &RunFolder) -> BTreeSet<usize> {
    let mut left = BTreeSet::new();
    let schedule = match jobs {
        Jobs::Schedule(schedule) => schedule,
        Jobs::Staged(schedule) => {
            let mut walk = Walk::new(Arc::clone(schedule));
            while walk.pass(&folder.outcomes) {}
            return walk.players_left();
        }
    };
    if (folder.done.len() + folder.elsewhere.len()) as u64 == schedule.n_jobs() {
        return left;
    }
    let all: BTreeSet<usize> = schedule.rounds().flat_map(|round| round.players).collect();
    let has = |jobs: &[u64], number: u64| jobs.binary_search(&number).is_ok();
    let is_left = |number| !has(&folder.done, number) && !has(&folder.elsewhere, number);
    for job in schedule.jobs().filter(|job| is_left(job.number)) {
        left.extend(job.seats.iter().flatten());
        // Mostly known from the first few: there is no need to look at all.
        if left.len() == all.len() {
            break;
        }
    }
    left
}

/// The journal and the observer.
struct Consumers<'a> {
    journal: JournalConsumer,
    recorded: &'a mut dyn FnMut(&MatchRecord),
    observer: &'a mut dyn Consumer,
    ids: Vec<String>,
    ended: Ended,
}

impl Consumer for Consumers<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let written = self.journal.take(event);
        if let Some(record) = written.record {
            (self.recorded)(&record);
            self.observer.recorded(&record);
        }
        match &event.kind {
            EventKind::MatchFinished { ending, .. } => {
                if let Some(reason) = ending.aborted_by_fault() {
                    self.ended.n_aborted += 1;
                    self.ended.first_abort.get_or_insert_with(|| reason.clone());
                }
            }
            EventKind::PlayerGivenUp { player, reason } => {
                self.ended.gone = Some((self.ids[*player].clone(), reason.clone()));
            }
            _ => {}
        }
        let observed = self.observer.event(event);
        if written.flow.is_break() { written.flow } else { observed }
    }

    fn pause(&mut self) -> ControlFlow<()> {
        let (journal, observer) = (self.journal.pause(), self.observer.pause());
        if journal.is_break() { journal } else { observer }
    }

    fn sync(&mut self) -> ControlFlow<()> {
        let (journal, observer) = (self.journal.sync(), self.observer.sync());
        if journal.is_break() { journal } else { observer }
    }
}
