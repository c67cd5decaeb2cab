//! Where the records of a journal are that count: read in the order of the
//! schedule, by parts, on all cores, without holding them in memory.

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use crate::journal::{JournalError, READ_BUFFER, line_number, read_error};
use crate::record::MatchRecord;

/// Where the records are that count, in the order of the schedule: 32 bytes a
/// match, so that the journal of a long run need not fit into memory.
#[derive(Debug)]
pub(crate) struct Index {
    entries: Vec<IndexEntry>,
    path: PathBuf,
}

/// Where a record is, and what decides whether it counts.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    pub(crate) job: u64,
    /// [`hash_of_id`] of the job's id.
    pub(crate) job_id: u64,
    pub(crate) offset: u64,
    pub(crate) done: bool,
}

/// Stands for a job's id where many are held at once.
pub(crate) fn hash_of_id(job_id: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(job_id)
}

/// Sorts records by the schedule, takes out those that do not count because
/// there is a better attempt at the same job, and returns their offsets.
pub(crate) fn superseded(entries: &mut Vec<IndexEntry>) -> Vec<u64> {
    let mut offsets = vec![];
    entries.sort_unstable_by_key(|entry| (entry.job, entry.job_id, entry.done, entry.offset));
    // Of equal jobs the last stays: `dedup_by` keeps the first, hence the swap.
    entries.dedup_by(|later, kept| {
        let same = later.job == kept.job && later.job_id == kept.job_id;
        if same {
            std::mem::swap(later, kept);
            offsets.push(later.offset);
        }
        same
    });
    offsets
}

/// Matches rendered at once.
const PART: usize = 2048;

impl Index {
    /// An index of the journal at `path`.
    pub(crate) fn new(entries: Vec<IndexEntry>, path: PathBuf) -> Self {
        Self { entries, path }
    }

    /// All records that count, one after the other.
    pub(crate) fn records(&self) -> Result<Records<'_>, JournalError> {
        Records::new(&self.path, &self.entries)
    }

    /// Renders all records that count, a part of them at a time and on all cores,
    /// and hands what comes of each part to `take` in the order of the schedule.
    pub(crate) fn render<T: Send, E: From<JournalError> + Send>(
        &self,
        render: impl Fn(&mut Records<'_>) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_parts = self.entries.len().div_ceil(PART);
        let n_threads = thread::available_parallelism().map_or(1, usize::from).min(n_parts);
        thread::scope(|scope| {
            let mut rendered = Vec::with_capacity(n_threads);
            for first in 0..n_threads {
                // A thread is one part ahead of what was taken, so that memory is bounded.
                let (sender, receiver) = mpsc::sync_channel(1);
                let render = &render;
                scope.spawn(move || {
                    for entries in self.entries.chunks(PART).skip(first).step_by(n_threads) {
                        let part = Records::new(&self.path, entries)
                            .map_err(E::from)
                            .and_then(|mut records| render(&mut records));
                        let failed = part.is_err();
                        if sender.send(part).is_err() || failed {
                            break;
                        }
                    }
                });
                rendered.push(receiver);
            }
            for part in 0..n_parts {
                let part = rendered[part % n_threads].recv();
                take(part.expect("a thread sends all its parts, or the error that ends it")?)?;
            }
            Ok(())
        })
    }
}

/// The records of some entries of an [`Index`], read one after the other.
pub(crate) struct Records<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    entries: std::slice::Iter<'a, IndexEntry>,
    position: u64,
    line: Vec<u8>,
}

impl<'a> Records<'a> {
    fn new(path: &'a Path, entries: &'a [IndexEntry]) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        let reader = BufReader::with_capacity(READ_BUFFER, file);
        Ok(Self { path, reader, entries: entries.iter(), position: 0, line: vec![] })
    }

    fn read(&mut self, entry: &IndexEntry) -> Result<MatchRecord, JournalError> {
        // Records stand nearly in order, so that most of these stay in the buffer.
        let distance = entry.offset.wrapping_sub(self.position).cast_signed();
        self.line.clear();
        let n_bytes = self
            .reader
            .seek_relative(distance)
            .and_then(|()| self.reader.read_until(b'\n', &mut self.line))
            .map_err(|source| read_error(self.path, source))?;
        self.position = entry.offset + n_bytes as u64;
        serde_json::from_slice(&self.line).map_err(|source| {
            let path = self.path.to_owned();
            line_number(&path, entry.offset)
                .map_or_else(|error| error, |line| JournalError::Damaged { path, line, source })
        })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<MatchRecord, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some(self.read(entry))
    }
}
