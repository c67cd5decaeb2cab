//! Writes the journal: the one consumer that a tournament cannot do without.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use results::journal::{JobState, JournalError, JournalWriter};
use results::record::{Ending, MatchRecord, RuleDefect};

use super::recorder::{Catalogue, Recorder};
use crate::event::Event;
use crate::runner::Consumer;

/// Records wait at most so long for the disk, unless nothing follows them.
const SYNC_TIME: Duration = Duration::from_secs(1);

/// The journal could not be written; the run stops.
pub type JournalFailure = JournalError;

/// Appends the record of each match that ends.
pub struct JournalConsumer<'a> {
    recorder: Recorder,
    writer: JournalWriter,
    attempts: HashMap<String, JobState>,
    failure: Option<JournalFailure>,
    synced: Instant,
    /// Records written since then.
    n_unsynced: u64,
    watch: &'a mut dyn FnMut(&MatchRecord),
}

impl<'a> JournalConsumer<'a> {
    /// Appends to `writer`. `attempts` is what the journal holds already of
    /// the jobs that may be played, by job id; `watch` is shown each record.
    pub fn new(
        catalogue: Arc<Catalogue>,
        writer: JournalWriter,
        attempts: HashMap<String, JobState>,
        watch: &'a mut dyn FnMut(&MatchRecord),
    ) -> Self {
        let recorder = Recorder::new(catalogue);
        let synced = Instant::now();
        Self { recorder, writer, attempts, failure: None, synced, n_unsynced: 0, watch }
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

    fn append(&mut self, mut record: MatchRecord) -> Result<(), JournalFailure> {
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
        (self.watch)(&record);
        Ok(())
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

impl Consumer for JournalConsumer<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Some(record) = self.recorder.take(&event.kind) else {
            return ControlFlow::Continue(());
        };
        let result = self.append(record);
        self.note(result)
    }

    fn pause(&mut self) -> ControlFlow<()> {
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
}
