//! What can go wrong with a journal.

use std::io;
use std::path::{Path, PathBuf};

use super::reader::MAX_LINE_BYTES;
use crate::atomic_file::FillError;
use crate::partition::Partition;
use crate::record::FORMAT_VERSION;

/// Why a journal cannot be written or read. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be made: the folder is missing or unwritable, or the
    /// file is there already.
    #[error("create the journal {}", .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be opened or read.
    #[error("read the journal {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no such file.
    #[error("find the journal {}: the folder holds no run", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("write to the journal {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The disk or the quota is full. What was written before is kept.
    #[error("write to the journal {}: the disk is full; make room and resume the run", .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process writes to it.
    #[error("write to the journal {}: another process is playing this run", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The first line is no header.
    #[error("read the journal {}: its first line is no header of a journal", .path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// The first line was a header, and was changed since.
    #[error(
        "read the journal {}: its first line, the header, is damaged; put back a copy of the \
         journal, or begin another run",
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
        "read the journal {}: it has format {found}, this program reads up to {FORMAT_VERSION}",
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
        "resume the journal {}: it is of a spec with hash {found}, not {expected}; \
         use the spec it was begun with, or another folder",
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
        "resume the journal {}: it is of {}, not of {}; {}",
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
        "read line {line} of the journal {}: it is damaged; remove that line and run again \
         to have its match played again",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Matches of one game differ in their roles.
    #[error(
        "read the journal {}: not all matches of {game} are among the same roles; somebody \
         changed it",
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
        "read line {line} of the journal {}: it is longer than any record ({} MiB); remove that \
         line and run again to have its match played again",
        .path.display(), MAX_LINE_BYTES >> 20
    )]
    LineTooLong {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
    },
    /// The file was removed while it was being written.
    #[error("keep the journal {}: somebody removed it", path.display())]
    Removed {
        /// The journal.
        path: PathBuf,
    },
    /// A record would be longer than readers take.
    #[error(
        "write to the journal {}: the record of job {job} is longer than {} MiB; lower the step \
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

fn part_words(part: Option<Partition>) -> String {
    part.map_or_else(|| "the whole schedule".to_owned(), |part| format!("the part {part}"))
}

fn part_advice(found: Option<Partition>) -> String {
    match found {
        Some(part) => format!("give --partition {part}, or another folder by --out"),
        None => "leave --partition out, or name another folder by --out".to_owned(),
    }
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
