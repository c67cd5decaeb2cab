//! Plays a comparison until it is decided.

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
use crate::runner::Consumer;

/// Time that is spent, over all resumptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    limit: Option<Duration>,
    before: Duration,
    began: Instant,
}

impl Clock {
    /// Starts now, with what the matches in the journal took.
    pub(super) fn new(
        limit_s: Option<f64>,
        folder: &RunFolder,
        concurrency: u32,
    ) -> Result<Self, ExperimentError> {
        let limit = limit_s.map(Duration::from_secs_f64);
        let mut before = Duration::ZERO;
        if limit.is_some() {
            for record in Journal::open(&folder.path.join(files::JOURNAL))? {
                before += Duration::from_micros(record?.duration_us);
            }
        }
        Ok(Self { limit, before: before / concurrency.max(1), began: Instant::now() })
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

/// How a comparison goes: called after each match, with the time spent so far.
pub type Watch<'a> = &'a mut dyn FnMut(&Tracker, Duration);

/// Plays the missing matches, and writes the journal, until the tracker has a verdict or
/// the time is up. `None` if it was interrupted before.
pub(super) fn play(
    session: &Session<'_>,
    folder: RunFolder,
    tracker: Tracker,
    clock: Clock,
    watch: Watch<'_>,
) -> Result<Option<Tracker>, ExperimentError> {
    let stopper = session.stopper();
    let mut decision =
        Decision { tracker, clock, stopper, time_is_up: false, has_aborted: false, watch };
    let ended = session.play(folder, &mut decision)?;
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
    watch: Watch<'a>,
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
            (self.watch)(&self.tracker, self.clock.spent());
        }
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
