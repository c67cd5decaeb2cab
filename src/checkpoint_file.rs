//! The checkpoint of a solver of all states on disk: it grows while the game is solved, and a
//! killed process is continued from it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use games::solve::{ResumeError, Solver};

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be opened, read or written.
    #[error("cannot use the checkpoint `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another process writes to it.
    #[error("the checkpoint `{}` is in use by another process; name another file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is no checkpoint of this game.
    #[error("cannot continue from the checkpoint `{}`", .path.display())]
    Resume {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: ResumeError,
    },
    /// The solver cannot write its states down.
    #[error(
        "--checkpoint: the states of this game are computed one by one, and such progress cannot be kept; leave the option out"
    )]
    Impossible,
}

/// The file of a checkpoint, open and locked.
#[derive(Debug)]
pub struct CheckpointFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl CheckpointFile {
    /// Opens the file, creates it if it is missing, and continues the solver from it.
    ///
    /// # Errors
    /// If the file cannot be used, or is no checkpoint of this game.
    pub fn open(path: &Path, solver: &mut Solver) -> Result<Self, CheckpointError> {
        if !solver.can_save() {
            return Err(CheckpointError::Impossible);
        }
        let failed = |source| CheckpointError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(failed)?;
        lock(&file, path)?;
        let had_bytes = file.metadata().map_err(failed)?.len() > 0;
        let mut input = BufReader::with_capacity(1 << 20, &file);
        let resumed = solver.resume(&mut input);
        let n_bytes =
            resumed.map_err(|source| CheckpointError::Resume { path: path.to_owned(), source })?;
        if n_bytes == 0 && had_bytes {
            let source = ResumeError::Damaged;
            return Err(CheckpointError::Resume { path: path.to_owned(), source });
        }
        // A killed process may have left half a segment.
        file.set_len(n_bytes).map_err(failed)?;
        file.seek(SeekFrom::Start(n_bytes)).map_err(failed)?;
        Ok(Self { path: path.to_owned(), out: BufWriter::with_capacity(1 << 20, file) })
    }

    /// Appends what the solver has completed; nothing if it can no longer be written down.
    ///
    /// # Errors
    /// If the disk is full, for example.
    pub fn save(&mut self, solver: &mut Solver) -> Result<(), CheckpointError> {
        if !solver.can_save() {
            return Ok(());
        }
        let saved = solver.save(&mut self.out).and_then(|()| self.out.flush());
        saved.map_err(|source| CheckpointError::Io { path: self.path.clone(), source })
    }

    /// Removes the file: the game is solved.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> Result<(), CheckpointError> {
        let Self { path, out } = self;
        drop(out);
        std::fs::remove_file(&path).map_err(|source| CheckpointError::Io { path, source })
    }
}

/// Locks a checkpoint for this process.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), CheckpointError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => CheckpointError::InUse { path: path.to_owned() },
        TryLockError::Error(source) => CheckpointError::Io { path: path.to_owned(), source },
    })
}
