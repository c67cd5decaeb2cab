//! Tables of solved games on disk.
//!
//! What is in such a file is written in [`games::solve::ValueTable::write`]; here it meets
//! the disk.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use games::solve::{TableError, ValueTable};
use results::atomic_file;

use crate::locking::lock;

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SolutionFileError {
    /// There is no such file, or it may not be opened.
    #[error("cannot open the table `{}`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no table that can be used.
    #[error("cannot use the table `{}`", .path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: TableError,
    },
    /// Writing failed.
    #[error("cannot write the table `{}`", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Writes a table as a whole or not at all: into a file beside it, which then takes its
/// place.
///
/// # Errors
/// The disk is full, or the folder may not be written to.
pub fn write(path: &Path, table: &ValueTable) -> Result<u64, SolutionFileError> {
    let written = atomic_file::replace_with(path, |mut out| table.write(&mut out));
    let n_bytes = written.and_then(|()| Ok(std::fs::metadata(path)?.len()));
    n_bytes.map_err(|source| SolutionFileError::Write { path: path.to_owned(), source })
}

/// Reads a table.
///
/// # Errors
/// There is no such file, or it is no sound table.
pub fn read(path: &Path) -> Result<ValueTable, SolutionFileError> {
    let open = |source| SolutionFileError::Open { path: path.to_owned(), source };
    let file = File::open(path).map_err(open)?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    ValueTable::read(&mut input)
        .map_err(|source| SolutionFileError::Table { path: path.to_owned(), source })
}

/// Reads a table that several players may use: while one of them has it, a file that has
/// not changed is not read again.
///
/// # Errors
/// As those of [`read`].
pub fn shared(path: &Path) -> Result<Arc<ValueTable>, SolutionFileError> {
    /// When the file was written, its length, and the table.
    type Known = (Option<SystemTime>, u64, Weak<ValueTable>);
    static TABLES: Mutex<BTreeMap<PathBuf, Known>> = Mutex::new(BTreeMap::new());
    let open = |source| SolutionFileError::Open { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(open)?;
    let (written, length) = (metadata.modified().ok(), metadata.len());
    let mut tables = lock(&TABLES);
    if let Some((then, was, table)) = tables.get(path)
        && (*then, *was) == (written, length)
        && let Some(table) = table.upgrade()
    {
        return Ok(table);
    }
    let table = Arc::new(read(path)?);
    tables.insert(path.to_owned(), (written, length, Arc::downgrade(&table)));
    Ok(table)
}
