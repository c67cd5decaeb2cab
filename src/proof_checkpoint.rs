//! The checkpoint of a proof on disk: its table, written anew from time to time, so that a
//! killed process is continued from it.

use std::fs::{File, OpenOptions};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use games::solve::proof::{ProofSolver, Resumed};
use results::atomic_file;

use crate::checkpoint_file::{CheckpointError, lock};

/// The least time between two writes.
const INTERVAL: Duration = Duration::from_mins(5);

/// Writing takes at most 1 / `SHARE` of the time.
const SHARE: u32 = 20;

/// The file of a proof's checkpoint, locked. It is empty before the first write.
#[derive(Debug)]
pub struct ProofCheckpoint {
    path: PathBuf,
    locked: File,
    /// What it had at first.
    before: Resumed,
    begun: Instant,
    due: Duration,
}

impl ProofCheckpoint {
    /// Opens the file, creates it if it is missing, and continues the proof from it.
    ///
    /// # Errors
    /// If the file cannot be used, is in use by another process, or is no checkpoint of this
    /// proof.
    pub fn open(path: &Path, proof: &mut ProofSolver) -> Result<Self, CheckpointError> {
        let failed = |source| CheckpointError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let locked = options.read(true).write(true).create(true).truncate(false).open(path);
        let locked = locked.map_err(failed)?;
        lock(&locked, path)?;
        atomic_file::check(path).map_err(failed)?;
        let before = match locked.metadata().map_err(failed)?.len() {
            0 => Ok(Resumed { spent: Duration::ZERO, n_entries: 0 }),
            _ => proof.resume(&mut BufReader::with_capacity(1 << 20, &locked)),
        };
        let before =
            before.map_err(|source| CheckpointError::Resume { path: path.to_owned(), source })?;
        let begun = Instant::now();
        Ok(Self { path: path.to_owned(), locked, before, begun, due: INTERVAL })
    }

    /// What it had when it was opened.
    #[must_use]
    pub fn before(&self) -> Resumed {
        self.before
    }

    /// The time spent in all processes.
    #[must_use]
    pub fn spent(&self) -> Duration {
        self.before.spent + self.begun.elapsed()
    }

    /// Writes the table if the last write is long enough ago.
    ///
    /// # Errors
    /// If the disk is full, for example.
    pub fn save_if_due(&mut self, proof: &ProofSolver) -> Result<(), CheckpointError> {
        if self.begun.elapsed() < self.due {
            return Ok(());
        }
        self.save(proof)
    }

    /// Writes the table, whole or not at all.
    ///
    /// # Errors
    /// If the disk is full, for example.
    pub fn save(&mut self, proof: &ProofSolver) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::Io { path: self.path.clone(), source };
        let since = self.begun.elapsed();
        let spent = self.spent();
        let written = atomic_file::replace_with(&self.path, |mut out| proof.save(spent, &mut out));
        let file = written.and_then(|()| File::open(&self.path)).map_err(failed)?;
        lock(&file, &self.path)?;
        self.locked = file;
        let until = self.begun.elapsed();
        self.due = until + INTERVAL.max((until - since) * SHARE);
        Ok(())
    }

    /// Removes the file: the game is solved.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> Result<(), CheckpointError> {
        let Self { path, locked, .. } = self;
        drop(locked);
        std::fs::remove_file(&path).map_err(|source| CheckpointError::Io { path, source })
    }
}
