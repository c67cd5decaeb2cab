//! Writes the journal: the one consumer that a tournament cannot do without.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use results::journal::{JobState, JournalError, JournalWriter};
use results::record::{Ending, MatchRecord, RuleDefect};

use super::recorder::{Catalogue, Recorder};
use crate::event::Event;

/// Records wait at most this time for the disk, unless nothing follows them.
const SYNC_TIME: Duration = Duration::from_secs(1);

/// The journal could not be written; the run stops.
pub type JournalFailure = JournalError;

/// What came of an event.
pub struct Written {
    /// The record that was written.
    pub record: Option<MatchRecord>,
    /// `Break` if anything could not be written, now or before.
    pub flow: ControlFlow<()>,
}

/// Appends the record of each match that ends.
pub struct JournalConsumer {
    recorder: Recorder,
    writer: JournalWriter,
    attempts: HashMap<String, JobState>,
    failure: Option<JournalFailure>,
    synced: Instant,
    /// Records written since then.
    n_unsynced: u64,
}

impl JournalConsumer {
    /// Appends to `writer`. `attempts` is what the journal holds already of
    /// the jobs that may be played, by job id.
    pub fn new(
        catalogue: Arc<Catalogue>,
        writer: JournalWriter,
        attempts: HashMap<String, JobState>,
    ) -> Self {
        let recorder = Recorder::new(catalogue);
        let synced = Instant::now();
        Self { recorder, writer, attempts, failure: None, synced, n_unsynced: 0 }
    }

    /// Brings all to the disk.
    ///
    /// # Errors
    /// If anything could not be written, now or before.
    pub fn finish(mut self) -> Result<(), JournalFailure> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.writer.sync(),
        }
    }

    /// Takes in one event, and writes the record of a match that ends with it.
    pub fn take(&mut self, event: &Event) -> Written {
        let Some(record) = self.recorder.take(&event.kind) else {
            return Written { record: None, flow: ControlFlow::Continue(()) };
        };
        let (record, appended) = match self.append(record) {
            Ok(record) => (Some(record), Ok(())),
            Err(failure) => (None, Err(failure)),
        };
        Written { record, flow: self.note(appended) }
    }

    /// Called when no event is waiting: the time to write what is buffered. `Break`
    /// if anything could not be written.
    pub fn pause(&mut self) -> ControlFlow<()> {
        if self.n_unsynced == 0 || self.failure.is_some() {
            return self.note(Ok(()));
        }
        // A process that is killed loses nothing that was flushed; a machine
        // that is, nothing that was synced.
        let result = if self.synced.elapsed() >= SYNC_TIME {
            self.synced = Instant::now();
            self.n_unsynced = 0;
            self.writer.sync()
        } else {
            self.writer.flush()
        };
        self.note(result)
    }

    /// Brings all to the disk. `Break` if anything could not be written.
    pub fn sync(&mut self) -> ControlFlow<()> {
        if self.n_unsynced == 0 || self.failure.is_some() {
            return self.note(Ok(()));
        }
        (self.synced, self.n_unsynced) = (Instant::now(), 0);
        let result = self.writer.sync();
        self.note(result)
    }

    fn append(&mut self, mut record: MatchRecord) -> Result<MatchRecord, JournalFailure> {
        if let Some(state) = self.attempts.get(&record.job_id) {
            record.attempt = state.n_attempts + 1;
        }
        match self.writer.append(&record) {
            Err(JournalError::RecordTooLong { .. }) => {
                // The match was played to its end, and would fill the journal so
                // again: what can be kept of it is that it cannot be kept.
                record = without_moves(record);
                self.writer.append(&record)?;
            }
            appended => appended?,
        }
        self.n_unsynced += 1;
        Ok(record)
    }

    fn note(&mut self, result: Result<(), JournalFailure>) -> ControlFlow<()> {
        match result {
            Ok(()) if self.failure.is_none() => ControlFlow::Continue(()),
            Ok(()) => ControlFlow::Break(()),
            Err(failure) => {
                // The first failure is the cause of the others.
                self.failure.get_or_insert(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// A match whose moves do not fit into a record: the rules make terms that grow
/// without end.
fn without_moves(mut record: MatchRecord) -> MatchRecord {
    record.ending = Ending::GameError { reason: RuleDefect::MovesTooLong };
    record.steps.clear();
    record.n_steps = 0;
    record.goal_flags.clear();
    record.seats.iter_mut().for_each(|seat| seat.reward = None);
    record
}
