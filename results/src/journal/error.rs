//! What can go wrong with a journal.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::{MAX_LINE_BYTES, READ_BUFFER};
use crate::atomic_file::FillError;
use crate::files::JOURNAL;
use crate::partition::Partition;
use crate::record::FORMAT_VERSION;

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be made: the folder is missing or unwritable, or the
    /// file is there already.
    #[error("cannot create the journal {}", .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be opened or read.
    #[error("cannot read the journal {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no such file.
    #[error("{} is not the folder of a run (no {})", folder(.path), JOURNAL)]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write to the journal {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The disk or the quota is full. What was written before is kept.
    #[error("cannot write to the journal {}: the disk is full; make room and resume the run", .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("the journal {} is in use: another process is playing this run", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The first line is no header.
    #[error(
        "line 1 of {} is not the header of a journal; restore a copy of the journal, or start \
         another run",
        .path.display()
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// The first line was a header, and was changed since.
    #[error(
        "the header of the journal {} is damaged; restore a copy of the journal, or start \
         another run",
        .path.display()
    )]
    DamagedHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A later program wrote it.
    #[error(
        "the journal {} has format {found}; this program reads formats up to {FORMAT_VERSION}",
        .path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its format's version.
        found: u32,
    },
    /// It belongs to another spec.
    #[error(
        "the journal {} belongs to a spec with hash {found}, not {expected}; use the spec it was \
         begun with, or another folder",
        .path.display()
    )]
    OtherSpec {
        /// The file.
        path: PathBuf,
        /// Hash of the spec it was begun with.
        found: String,
        /// Hash of the spec at hand.
        expected: String,
    },
    /// It holds another part of the schedule.
    #[error(
        "the journal {} is of {}, not of {}; {}",
        .path.display(), part_words(*found), part_words(*expected), part_advice(*found)
    )]
    OtherPart {
        /// The file.
        path: PathBuf,
        /// The part it was begun for.
        found: Option<Partition>,
        /// The part at hand.
        expected: Option<Partition>,
    },
    /// A line that records follow cannot be read.
    #[error(
        "line {line} of the journal {} is damaged: {problem}; to play its match again, remove the line and \
         repeat the command that plays the run",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: serde_json::Error,
    },
    /// Matches of one game differ in their roles.
    #[error(
        "matches of {game} in the journal {} have different roles; the journal was changed",
        .path.display()
    )]
    OtherRoles {
        /// The file.
        path: PathBuf,
        /// The game.
        game: String,
    },
    /// A line that records follow is longer than any record.
    #[error(
        "line {line} of the journal {} is longer than any record ({} MiB); to play its match again, \
         remove the line and repeat the command that plays the run",
        .path.display(), MAX_LINE_BYTES >> 20
    )]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
    },
    /// The file was removed while it was being written.
    #[error("the journal {} was removed while it was being written", path.display())]
    Removed {
        /// The journal.
        path: PathBuf,
    },
    /// A record would be longer than readers take.
    #[error(
        "the record of match {job} is too long for the journal {} (over {} MiB); lower the step \
         limit",
        .path.display(), MAX_LINE_BYTES >> 20
    )]
    RecordTooLong {
        /// The file.
        path: PathBuf,
        /// The job.
        job: u64,
    },
}

/// The folder of the journal.
fn folder(journal: &Path) -> String {
    match journal.parent() {
        Some(folder) if folder != Path::new("") => folder.display().to_string(),
        _ => ".".to_owned(),
    }
}

fn part_words(part: Option<Partition>) -> String {
    part.map_or_else(|| "the whole schedule".to_owned(), |part| format!("the part {part}"))
}

fn part_advice(found: Option<Partition>) -> String {
    match found {
        Some(part) => format!("give --partition {part}, or name another folder with --out"),
        None => "leave --partition out, or name another folder with --out".to_owned(),
    }
}

/// Number of the line, from 1, that begins at `offset`.
pub(super) fn line_number(path: &Path, offset: u64) -> Result<u64, JournalError> {
    let open = File::open(path).map_err(|source| read_error(path, source))?;
    let mut number = 1;
    for byte in BufReader::with_capacity(READ_BUFFER, open.take(offset)).bytes() {
        number += u64::from(byte.map_err(|source| read_error(path, source))? == b'\n');
    }
    Ok(number)
}

pub(crate) fn read_error(path: &Path, source: io::Error) -> JournalError {
    if source.kind() == io::ErrorKind::NotFound {
        JournalError::Missing { path: path.into() }
    } else {
        JournalError::Read { path: path.into(), source }
    }
}

impl<E: From<JournalError>> From<JournalError> for FillError<E> {
    fn from(error: JournalError) -> Self {
        Self::Other(error.into())
    }
}
