//! Reading a journal, one line after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{JournalError, read_error};
use crate::index::{Index, IndexEntry, hash_of_id, superseded};
use crate::record::{Ending, FORMAT_VERSION, Header, MatchRecord};

/// Bytes read at once.
pub(crate) const READ_BUFFER: usize = 1 << 20;
/// A header is no longer than this.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// Reads a journal from its beginning, one record at a time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    header: Header,
    reader: BufReader<Take<File>>,
    /// Where the line after the last one read begins.
    offset: u64,
    /// Lines read.
    n_lines: u64,
    /// The line at hand, with its line feed.
    line: Vec<u8>,
    half_written: u64,
    failed: bool,
}

/// The parts of a record that say which job it is of, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) job: u64,
    pub(crate) job_id: String,
    pub(crate) done: bool,
    /// Offset of the line in the file, bytes.
    pub(crate) offset: u64,
}

impl Journal {
    /// Opens a journal and reads its header.
    ///
    /// # Errors
    /// If the file is missing, cannot be read, has no header or a newer format.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|source| read_error(path, source))?;
        let mut reader = BufReader::with_capacity(READ_BUFFER, file.take(u64::MAX));
        let mut line = vec![];
        // A header is short; a file without line feeds must not fill the memory.
        reader
            .by_ref()
            .take(MAX_HEADER_BYTES)
            .read_until(b'\n', &mut line)
            .map_err(|source| read_error(path, source))?;
        let header = read_header(path, &line)?;
        Ok(Self {
            path: path.into(),
            header,
            reader,
            offset: line.len() as u64,
            n_lines: 1,
            line,
            half_written: 0,
            failed: false,
        })
    }

    /// What the journal is of.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of the half-written last line, known once all records are read;
    /// 0 if there is none.
    #[must_use]
    pub fn half_written(&self) -> u64 {
        self.half_written
    }

    /// Where the line after the last one read begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Divides the records among readers of about equally many bytes, in order,
    /// of which there are at least one and at most `n`.
    pub(crate) fn divided(self, n: u64) -> Result<Vec<Self>, JournalError> {
        let Self { path, header, offset: start, .. } = self;
        let failed = |source| read_error(&path, source);
        let open = || File::open(&path).map_err(failed);
        let end = open()?.metadata().map_err(failed)?.len().max(start);
        let mut bounds = vec![start];
        for part in 1..n {
            let guess = start + (end - start) / n * part;
            let mut reader = BufReader::new(open()?);
            reader.seek(SeekFrom::Start(guess)).map_err(failed)?;
            let rest_of_line = reader.skip_until(b'\n').map_err(failed)? as u64;
            bounds.push(guess + rest_of_line);
        }
        bounds.push(end);
        bounds.dedup();
        let section = |bounds: &[u64]| {
            let mut file = open()?;
            file.seek(SeekFrom::Start(bounds[0])).map_err(failed)?;
            Ok(Self {
                path: path.clone(),
                header: header.clone(),
                reader: BufReader::with_capacity(READ_BUFFER, file.take(bounds[1] - bounds[0])),
                offset: bounds[0],
                n_lines: 0,
                line: vec![],
                half_written: 0,
                failed: false,
            })
        };
        if bounds.len() == 1 {
            bounds.push(end);
        }
        bounds.windows(2).map(section).collect()
    }

    /// Reads the next line into `self.line`; false at the end.
    fn read_line(&mut self) -> Result<bool, JournalError> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let n_bytes = read.map_err(|source| read_error(&self.path, source))? as u64;
        if self.line.last() != Some(&b'\n') {
            self.half_written = n_bytes;
            return Ok(false);
        }
        self.n_lines += 1;
        Ok(true)
    }

    fn at_end(&mut self) -> Result<bool, JournalError> {
        let rest = self.reader.fill_buf();
        Ok(rest.map_err(|source| read_error(&self.path, source))?.is_empty())
    }

    /// Reads the next line as `read` understands it, with its offset. `read` is
    /// told the offset and whether the line is the last.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], u64, bool) -> serde_json::Result<T>,
    ) -> Result<Option<(u64, T)>, JournalError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let last = self.at_end()?;
        match read(&self.line, self.offset, last) {
            Ok(value) => {
                let offset = self.offset;
                self.offset += self.line.len() as u64;
                Ok(Some((offset, value)))
            }
            // A crash of the machine may leave a last line of the right length
            // without its contents.
            Err(_) if last => {
                self.half_written = self.line.len() as u64;
                Ok(None)
            }
            Err(source) => {
                Err(JournalError::Damaged { path: self.path.clone(), line: self.n_lines, source })
            }
        }
    }

    /// Reads which job the next record is of and passes over the rest, which
    /// is only looked at in the last line.
    pub(crate) fn next_head(&mut self) -> Result<Option<Head>, JournalError> {
        let found = self.next_with(|line, _, last| {
            if last {
                serde_json::from_slice::<MatchRecord>(line)?;
            }
            read_head(line)
        })?;
        Ok(found.map(|(offset, head)| {
            let done = head.ending.is_done();
            Head { job: head.job, job_id: head.job_id, done, offset }
        }))
    }

    /// Where the records are that count, in the order of the schedule.
    pub(crate) fn index(mut self) -> Result<Index, JournalError> {
        let mut entries = vec![];
        while let Some(head) = self.next_head()? {
            let Head { job, job_id, done, offset } = head;
            entries.push(IndexEntry { job, job_id: hash_of_id(&job_id), offset, done });
        }
        superseded(&mut entries);
        Ok(Index::new(entries, self.path))
    }
}

impl Iterator for Journal {
    type Item = Result<MatchRecord, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_with(|line, _, _| serde_json::from_slice(line));
        self.failed = next.is_err();
        next.map(|found| found.map(|(_, record)| record)).transpose()
    }
}

/// The first fields of a record.
#[derive(Deserialize)]
struct HeadFields {
    job: u64,
    job_id: String,
    ending: Ending,
}

/// Reads the fields of a record that come before its seats, and passes over the
/// rest, which is most of the line.
fn read_head(line: &[u8]) -> serde_json::Result<HeadFields> {
    const SEATS: &[u8] = br#","seats":["#;
    // Within a string the quotes would be escaped, so that this is the key.
    match line.windows(SEATS.len()).position(|window| window == SEATS) {
        Some(end) => serde_json::from_slice(&[&line[..end], b"}"].concat()),
        None => serde_json::from_slice(line),
    }
}

/// Reads the version first: a later format may have another header altogether.
fn read_header(path: &Path, line: &[u8]) -> Result<Header, JournalError> {
    #[derive(Deserialize)]
    struct Version {
        format_version: u32,
    }
    let no_header = || JournalError::NoHeader { path: path.into() };
    if line.last() != Some(&b'\n') {
        return Err(no_header());
    }
    let version: Version = serde_json::from_slice(line).map_err(|_| no_header())?;
    if version.format_version > FORMAT_VERSION {
        let found = version.format_version;
        return Err(JournalError::NewerFormat { path: path.into(), found });
    }
    serde_json::from_slice(line).map_err(|_| no_header())
}

/// Number of the line, from 1, that begins at `offset`.
pub(crate) fn line_number(path: &Path, offset: u64) -> Result<u64, JournalError> {
    let open = File::open(path).map_err(|source| read_error(path, source))?;
    let mut number = 1;
    for byte in BufReader::with_capacity(READ_BUFFER, open.take(offset)).bytes() {
        number += u64::from(byte.map_err(|source| read_error(path, source))? == b'\n');
    }
    Ok(number)
}
