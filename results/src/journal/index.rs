//! Where the records of a journal are that count: read in the order of the
//! schedule, by parts, on all cores, without holding them in memory.

mod sorted;

use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use serde::de::Error as _;

use super::checksum::check;
use super::error::line_number;
use super::plain::{read_row, text_of};
use super::row::{MatchRow, WholeRow};
use super::{JournalError, READ_BUFFER, Torn, read_error};
use crate::record::MatchRecord;
pub(super) use sorted::{Sorted, Sorter};

/// Where the records are that count, in the order of the schedule. A fixed number
/// of entries is in memory, however long the run was.
#[derive(Debug)]
pub(crate) struct Index {
    entries: Sorted,
    path: PathBuf,
    /// What is no record at the journal's end.
    pub(crate) torn: Torn,
    /// Whether every line has to have a checksum.
    has_checksums: bool,
}

/// Where a record is, and what decides whether it counts. Ordered by the schedule,
/// and attempts at a job by how much they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexEntry {
    pub(super) job: u64,
    /// [`hash_of_id`] of the job's id.
    pub(super) job_id: u64,
    pub(super) done: bool,
    pub(super) offset: u64,
}

impl IndexEntry {
    fn same_job(&self, other: &Self) -> bool {
        (self.job, self.job_id) == (other.job, other.job_id)
    }
}

/// Stands for a job's id where many are held at once.
pub(super) fn hash_of_id(job_id: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(job_id)
}

/// Matches rendered at once.
const PART: u64 = 2048;

impl Index {
    /// An index of the journal at `path`.
    pub(super) fn new(entries: Sorted, path: PathBuf, torn: Torn, has_checksums: bool) -> Self {
        Self { entries, path, torn, has_checksums }
    }

    /// All records that count, one after the other.
    pub(crate) fn records(&self) -> impl Iterator<Item = Result<MatchRecord, JournalError>> {
        (0..self.n_parts()).flat_map(|part| {
            let (records, failed) = match self.part(part) {
                Ok(records) => (Some(records), None),
                Err(error) => (None, Some(Err(error))),
            };
            failed.into_iter().chain(records.into_iter().flatten())
        })
    }

    /// Shows `visit` all rows that count, in the order of the schedule. A match that
    /// it refuses, saying why, is damage.
    pub(crate) fn each_row(
        &self,
        mut visit: impl FnMut(&MatchRow<'_>) -> Result<(), &'static str>,
    ) -> Result<(), JournalError> {
        (0..self.n_parts()).try_for_each(|part| self.part(part)?.each_row(&mut visit))
    }

    /// The records that count of jobs that are wanted, in the order of the schedule.
    pub(crate) fn records_of(
        &self,
        wanted: impl Fn(u64) -> bool,
    ) -> Result<Vec<MatchRecord>, JournalError> {
        let mut found = vec![];
        for part in 0..self.n_parts() {
            let mut entries = self.entries_of(part)?;
            entries.retain(|entry| wanted(entry.job));
            if !entries.is_empty() {
                for record in self.records_at(entries)? {
                    found.push(record?);
                }
            }
        }
        Ok(found)
    }

    fn n_parts(&self) -> u64 {
        self.entries.len().div_ceil(PART)
    }

    fn entries_of(&self, part: u64) -> Result<Vec<IndexEntry>, JournalError> {
        let end = self.entries.len().min((part + 1) * PART);
        self.entries.range(part * PART..end).map_err(|source| read_error(&self.path, source))
    }

    fn part(&self, part: u64) -> Result<Records<'_>, JournalError> {
        self.records_at(self.entries_of(part)?)
    }

    fn records_at(&self, entries: Vec<IndexEntry>) -> Result<Records<'_>, JournalError> {
        Records::new(&self.path, entries, self.has_checksums)
    }

    /// Renders all records that count, a part of them at a time and on all cores,
    /// and hands what comes of each part to `take` in the order of the schedule.
    pub(crate) fn render<T: Send, E: From<JournalError> + Send>(
        &self,
        render: impl Fn(&mut Records<'_>) -> Result<T, E> + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_threads = thread::available_parallelism().map_or(1, usize::from);
        self.render_by(n_threads, render, take)
    }

    /// [`Self::render`] on `n_threads` threads.
    pub(crate) fn render_by<T: Send, E: From<JournalError> + Send>(
        &self,
        n_threads: usize,
        render: impl Fn(&mut Records<'_>) -> Result<T, E> + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_parts = self.n_parts();
        let n_threads = (n_threads as u64).min(n_parts) as usize;
        thread::scope(|scope| {
            let mut rendered = Vec::with_capacity(n_threads);
            for first in 0..n_threads {
                // A thread is one part ahead of what was taken, so that memory is bounded.
                let (sender, receiver) = mpsc::sync_channel(1);
                let render = &render;
                scope.spawn(move || {
                    for part in (first as u64..n_parts).step_by(n_threads) {
                        let part = self
                            .part(part)
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
                let part = rendered[part as usize % n_threads].recv();
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
    entries: std::vec::IntoIter<IndexEntry>,
    position: u64,
    line: Vec<u8>,
    has_checksums: bool,
}

impl<'a> Records<'a> {
    fn new(
        path: &'a Path,
        entries: Vec<IndexEntry>,
        has_checksums: bool,
    ) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        let reader = BufReader::with_capacity(READ_BUFFER, file);
        let (entries, line) = (entries.into_iter(), vec![]);
        Ok(Self { path, reader, entries, position: 0, line, has_checksums })
    }

    /// As [`Index::each_row`], of these records.
    pub(crate) fn each_row(
        &mut self,
        mut visit: impl FnMut(&MatchRow<'_>) -> Result<(), &'static str>,
    ) -> Result<(), JournalError> {
        while let Some(read) = self.next_with(|line| {
            visit(&read_row(line, &mut String::new())?).map_err(serde_json::Error::custom)
        }) {
            read?;
        }
        Ok(())
    }

    /// What `visit` makes of the next match, with all that tables show of it. A match
    /// that it refuses, saying why, is damage.
    pub(crate) fn next_whole_row<T>(
        &mut self,
        visit: impl FnOnce(&WholeRow<'_>) -> Result<T, &'static str>,
    ) -> Option<Result<T, JournalError>> {
        self.next_with(|line| {
            visit(&read_row(line, &mut String::new())?).map_err(serde_json::Error::custom)
        })
    }

    /// What `read` makes of the next line; a record that it refuses is damage.
    fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8]) -> serde_json::Result<T>,
    ) -> Option<Result<T, JournalError>> {
        let entry = self.entries.next()?;
        Some(self.line_of(&entry).and_then(|()| {
            let checked = check(&self.line, self.has_checksums);
            checked.and_then(|()| read(&self.line)).map_err(|source| {
                let path = self.path.to_owned();
                line_number(&path, entry.offset).map_or_else(
                    |error| error,
                    |line| JournalError::Damaged { path, line, problem: source },
                )
            })
        }))
    }

    fn line_of(&mut self, entry: &IndexEntry) -> Result<(), JournalError> {
        // Records stand nearly in order, so that most of these stay in the buffer.
        let distance = entry.offset.wrapping_sub(self.position).cast_signed();
        self.line.clear();
        let n_bytes = self
            .reader
            .seek_relative(distance)
            .and_then(|()| self.reader.read_until(b'\n', &mut self.line))
            .map_err(|source| read_error(self.path, source))?;
        self.position = entry.offset + n_bytes as u64;
        Ok(())
    }
}

impl Iterator for Records<'_> {
    type Item = Result<MatchRecord, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_with(|line| serde_json::from_str(text_of(line)?))
    }
}
