//! Plays a comparison until it is decided.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use results::files;
use results::journal::Journal;
use results::record::MatchRecord;
use results::regress::Tracker;
use results::stats::scored::{self, ScoredMatch};

use crate::event::{Event, EventKind};
use crate::experiment::folder::RunFolder;
use crate::experiment::{ExperimentError, Session, Stopper};
use crate::runner::{Consumer, Crew};

/// Time that is spent, over all resumptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    limit: Option<Duration>,
    before: Duration,
    began: Instant,
}

impl Clock {
    /// Starts now, with what the matches in the journal took. Workers played at the same
    /// time, so that the busiest of them counts.
    pub(super) fn new(limit_s: Option<f64>, folder: &RunFolder) -> Result<Self, ExperimentError> {
        let limit = limit_s.map(Duration::from_secs_f64);
        let mut busy: BTreeMap<Option<String>, Duration> = BTreeMap::new();
        if limit.is_some() {
            for record in Journal::open(&folder.path.join(files::JOURNAL))? {
                let record = record?;
                let share = Duration::from_micros(record.duration_us) / record.concurrency.max(1);
                *busy.entry(record.worker).or_default() += share;
            }
        }
        let before = busy.into_values().max().unwrap_or_default();
        Ok(Self { limit, before, began: Instant::now() })
    }

    fn spent(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn is_up(&self) -> bool {
        self.limit.is_some_and(|limit| self.spent() >= limit)
    }
}

/// Reads what an earlier run has played.
pub(super) fn take_up(folder: &RunFolder, tracker: &mut Tracker) -> Result<(), ExperimentError> {
    if folder.done.is_empty() {
        return Ok(());
    }
    for played in scored::read(&folder.path.join(files::JOURNAL))? {
        if folder.done.binary_search(&played.job).is_ok() {
            tracker.take(played)?;
        }
    }
    Ok(())
}

/// Watches a comparison.
pub trait Watch {
    /// Takes in an event, with the comparison as it stands and the time spent so far.
    fn event(&mut self, event: &EventKind, tracker: &Tracker, spent: Duration);
}

/// Plays the missing matches, and writes the journal, until the tracker has a verdict or
/// the time is up. `None` if it was interrupted before.
pub(super) fn play(
    crew: Option<&mut dyn Crew>,
    session: &Session<'_>,
    folder: RunFolder,
    tracker: Tracker,
    clock: Clock,
    watch: &mut dyn Watch,
) -> Result<Option<Tracker>, ExperimentError> {
    let stopper = session.stopper();
    let mut decision =
        Decision { tracker, clock, stopper, time_is_up: false, has_aborted: false, watch };
    let ended = session.play_by(crew, folder, &mut decision)?;
    let Decision { tracker, stopper, time_is_up, .. } = decision;
    if tracker.ended().is_some() {
        return Ok(Some(tracker));
    }
    // Results count in order: none after a match that is missing.
    ended.check()?;
    match time_is_up {
        true => Ok(Some(tracker)),
        false if stopper.is_interrupted() => Ok(None),
        false => Err(ExperimentError::NoAnswer),
    }
}

/// Stops the run when there is nothing more to learn.
struct Decision<'a> {
    tracker: Tracker,
    clock: Clock,
    stopper: Stopper,
    time_is_up: bool,
    has_aborted: bool,
    watch: &'a mut dyn Watch,
}

impl Decision<'_> {
    /// Starts no more matches when the result is known or the time is up. Matches in play
    /// end normally.
    fn decide(&mut self) {
        if self.stopper.is_stopping() {
            return;
        }
        self.time_is_up = self.clock.is_up();
        if self.tracker.ended().is_some() || self.time_is_up || self.has_aborted {
            self.stopper.begin_no_more();
        }
    }
}

impl Consumer for Decision<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let EventKind::MatchFinished { ending, .. } = &event.kind {
            self.has_aborted |= ending.aborted_by_fault().is_some();
        }
        self.watch.event(&event.kind, &self.tracker, self.clock.spent());
        self.decide();
        ControlFlow::Continue(())
    }

    fn recorded(&mut self, record: &MatchRecord) {
        if record.is_done() {
            let taken = self.tracker.take(ScoredMatch::from(record));
            taken.expect("the runner plays each job once, and none that is done");
        }
    }

    fn pause(&mut self) -> ControlFlow<()> {
        self.decide();
        ControlFlow::Continue(())
    }
}
