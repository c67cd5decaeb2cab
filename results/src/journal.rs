//! The journal: JSON lines, append-only, the one source of all tables and
//! reports.
//!
//! The first line is a [`Header`], every other one a [`MatchRecord`], in the
//! order in which matches ended. A run that is killed leaves at most one
//! half-written line, the last; readers stop before it and [`JournalWriter::resume`]
//! cuts it off. A broken line anywhere else is damage, and an error.
//!
//! A job may have several lines. The last one that is [done](MatchRecord::is_done)
//! counts, or the last one if none is.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::index::{Index, IndexEntry, hash_of_id, superseded};
use crate::record::{Ending, FORMAT_VERSION, Header, MatchRecord};

/// Bytes gathered before they are handed to the system.
const WRITE_BUFFER: usize = 64 * 1024;
/// Bytes read at once.
pub(crate) const READ_BUFFER: usize = 1 << 20;

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
    /// A line that is not the last cannot be read.
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
}

/// Appends records to a journal. Nothing is sure to be on disk before [`sync`](Self::sync).
#[derive(Debug)]
pub struct JournalWriter {
    path: PathBuf,
    file: File,
    /// Whole lines not yet handed to the system.
    buffer: Vec<u8>,
    /// Length of the file; all of it whole lines.
    length: u64,
}

/// What [`JournalWriter::resume`] found.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Records, all attempts counted.
    pub n_records: u64,
    /// Bytes of a half-written last line that were cut off.
    pub dropped_bytes: u64,
    /// What is known of each job, by its id.
    pub jobs: HashMap<String, JobState>,
}

/// What a journal holds on one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobState {
    /// Number of records, at least 1.
    pub n_attempts: u32,
    /// Whether one of them is [done](MatchRecord::is_done).
    pub done: bool,
}

impl JournalWriter {
    /// Begins a journal that does not exist yet, and writes its header to disk.
    ///
    /// # Errors
    /// If the file exists, or cannot be created or written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|source| JournalError::Create { path: path.into(), source })?;
        let mut writer = Self::over(path, file, 0)?;
        writer.write_header(header)?;
        sync_folder(path);
        Ok(writer)
    }

    /// Opens an existing journal to append to it, and cuts off a half-written
    /// last line. Takes one pass over the file, about 2 microseconds a record.
    ///
    /// # Errors
    /// If the file cannot be read or written, is damaged, is being written by
    /// another process, has a newer format or belongs to another spec.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Recovered), JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|source| read_error(path, source))?;
        let mut writer = Self::over(path, file, 0)?;
        let mut recovered = Recovered::default();
        match Journal::open(path) {
            Ok(mut journal) => {
                if journal.header.spec_hash != header.spec_hash {
                    return Err(JournalError::OtherSpec {
                        path: path.into(),
                        found: journal.header.spec_hash,
                        expected: header.spec_hash.clone(),
                    });
                }
                while let Some(entry) = journal.next_head()? {
                    let job = recovered.jobs.entry(entry.job_id).or_default();
                    job.n_attempts += 1;
                    job.done |= entry.done;
                    recovered.n_records += 1;
                }
                recovered.dropped_bytes = journal.half_written();
                writer.cut_to(journal.offset)?;
            }
            // Killed before the header was written.
            Err(JournalError::NoHeader { .. }) if !has_a_whole_line(path)? => {
                recovered.dropped_bytes = writer.file_length()?;
                writer.cut_to(0)?;
                writer.write_header(header)?;
            }
            Err(error) => return Err(error),
        }
        Ok((writer, recovered))
    }

    fn over(path: &Path, file: File, length: u64) -> Result<Self, JournalError> {
        // Some network file systems have no locks; they are not worth a failure.
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
            return Err(JournalError::InUse { path: path.into() });
        }
        Ok(Self { path: path.into(), file, buffer: Vec::with_capacity(WRITE_BUFFER), length })
    }

    fn write_header(&mut self, header: &Header) -> Result<(), JournalError> {
        serde_json::to_writer(&mut self.buffer, header).expect("a header is representable");
        self.buffer.push(b'\n');
        self.sync()
    }

    fn file_length(&self) -> Result<u64, JournalError> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|source| read_error(&self.path, source))?.len())
    }

    /// Makes the first `length` bytes all there is, and goes on from there.
    fn cut_to(&mut self, length: u64) -> Result<(), JournalError> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        self.length = cut.map_err(|source| self.write_error(source))?;
        Ok(())
    }

    /// Appends a record. It is buffered: call [`sync`](Self::sync) after a batch.
    ///
    /// # Errors
    /// If the buffer was full and cannot be written. Then the file still ends
    /// with a whole line, and the same records can be written again by `sync`.
    pub fn append(&mut self, record: &MatchRecord) -> Result<(), JournalError> {
        serde_json::to_writer(&mut self.buffer, record).expect("a record is representable");
        self.buffer.push(b'\n');
        if self.buffer.len() >= WRITE_BUFFER { self.flush() } else { Ok(()) }
    }

    /// Hands all records to the system; they outlive a crash of this process.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        if let Err(source) = self.file.write_all(&self.buffer) {
            let error = self.write_error(source);
            // A full disk takes half a line: leave whole ones. Failing that, the
            // half-written line is dealt with on resuming.
            let _ = self.cut_to(self.length);
            return Err(error);
        }
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Brings all records to the disk; they outlive a crash of the machine.
    /// Costs milliseconds: call it for a batch of records, not for each.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.flush()?;
        self.file.sync_data().map_err(|source| self.write_error(source))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_error(&self, source: io::Error) -> JournalError {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                JournalError::DiskFull { path, source }
            }
            _ => JournalError::Write { path, source },
        }
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        // Nobody is left to tell of an error; who wants to know calls `sync`.
        let _ = self.flush();
    }
}

/// Writes `path` anew with another header and the records that `keep` accepts,
/// which may change them: for a spec that was extended, so that jobs have new
/// numbers. The old journal stays until the new one is complete.
///
/// # Errors
/// If the old one cannot be read or the new one cannot be written.
pub fn rewrite(
    path: &Path,
    header: &Header,
    mut keep: impl FnMut(&mut MatchRecord) -> bool,
) -> Result<(), JournalError> {
    let journal = Journal::open(path)?;
    let temporary = path.with_extension("jsonl.part");
    match std::fs::remove_file(&temporary) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(JournalError::Create { path: temporary, source });
        }
        _ => {}
    }
    let mut writer = JournalWriter::create(&temporary, header)?;
    for record in journal {
        let mut record = record?;
        if keep(&mut record) {
            writer.append(&record)?;
        }
    }
    writer.sync()?;
    std::fs::rename(&temporary, path)
        .map_err(|source| JournalError::Write { path: path.into(), source })?;
    sync_folder(path);
    Ok(())
}

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
            .take(WRITE_BUFFER as u64)
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

pub(crate) fn read_error(path: &Path, source: io::Error) -> JournalError {
    if source.kind() == io::ErrorKind::NotFound {
        JournalError::Missing { path: path.into() }
    } else {
        JournalError::Read { path: path.into(), source }
    }
}

/// Whether a file holds a line feed near its beginning.
fn has_a_whole_line(path: &Path) -> Result<bool, JournalError> {
    let mut start = vec![];
    File::open(path)
        .and_then(|file| file.take(WRITE_BUFFER as u64).read_to_end(&mut start))
        .map_err(|source| read_error(path, source))?;
    Ok(start.contains(&b'\n'))
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

/// Makes the name of a new file as durable as its contents. Not every system
/// can; then a crash may lose a run that has just begun.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn write(path: &Path, records: &[MatchRecord]) {
        let mut writer = JournalWriter::create(path, &sample::header(true)).unwrap();
        for record in records {
            writer.append(record).unwrap();
        }
        writer.sync().unwrap();
    }

    fn read(path: &Path) -> Result<Vec<MatchRecord>, JournalError> {
        Journal::open(path)?.collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let records = sample::records();
        write(&path, &records);
        assert_eq!(read(&path).unwrap(), records);
        assert_eq!(Journal::open(&path).unwrap().header(), &sample::header(true));
    }

    #[test]
    fn a_journal_killed_anywhere_in_its_last_line_is_recovered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut records = sample::records();
        records.truncate(3);
        records[2].steps.truncate(1);
        write(&path, &records);
        let whole = std::fs::read(&path).unwrap();
        let last_line = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
        for length in last_line + 1..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let dropped = (length - last_line - 1) as u64;
            let mut journal = Journal::open(&path).unwrap();
            assert_eq!(journal.by_ref().count(), 2, "{length} bytes");
            assert_eq!(journal.half_written(), dropped);

            let (mut writer, recovered) =
                JournalWriter::resume(&path, &sample::header(true)).unwrap();
            assert_eq!((recovered.n_records, recovered.dropped_bytes), (2, dropped));
            assert!(!recovered.jobs.contains_key(&records[2].job_id));
            writer.append(&records[2]).unwrap();
            drop(writer);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length} bytes");
        }
    }

    #[test]
    fn a_journal_killed_anywhere_in_its_header_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &[]);
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (_, recovered) = JournalWriter::resume(&path, &sample::header(true)).unwrap();
            assert_eq!((recovered.n_records, recovered.dropped_bytes), (0, length as u64));
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn a_last_line_of_zeros_is_half_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..2]);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([0; 100]);
        bytes.push(b'\n');
        std::fs::write(&path, &bytes).unwrap();
        let (_, recovered) = JournalWriter::resume(&path, &sample::header(true)).unwrap();
        assert_eq!((recovered.n_records, recovered.dropped_bytes), (2, 101));
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..3]);
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let third = lines[2].replace("\"seats\"", "seats\"");
        lines[2] = &third;
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let index = || Journal::open(&path).unwrap().index();
        let errors = [
            read(&path).unwrap_err(),
            JournalWriter::resume(&path, &sample::header(true)).unwrap_err(),
            index().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, JournalError::Damaged { line: 3, .. }), "{error}");
        }

        // Damage beyond the first fields is found when the record is wanted.
        let third = text.lines().nth(2).unwrap().replace("\"steps\"", "steps\"");
        lines[2] = &third;
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = index()
            .unwrap()
            .render(|records| records.collect::<Result<Vec<_>, JournalError>>(), |_| Ok(()))
            .unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 3, .. }), "{error}");
    }

    #[test]
    fn errors_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let header = sample::header(true);
        assert!(matches!(Journal::open(&path), Err(JournalError::Missing { .. })));
        let resumed = JournalWriter::resume(&path, &header);
        assert!(matches!(resumed, Err(JournalError::Missing { .. })));
        let nowhere = JournalWriter::create(&path.join("journal.jsonl"), &header);
        assert!(matches!(nowhere, Err(JournalError::Create { .. })));

        let writer = JournalWriter::create(&path, &header).unwrap();
        let again = JournalWriter::create(&path, &header);
        assert!(matches!(again, Err(JournalError::Create { .. })));
        let resumed = JournalWriter::resume(&path, &header);
        assert!(matches!(resumed, Err(JournalError::InUse { .. })));
        drop(writer);

        let other = Header { spec_hash: "other".into(), ..header.clone() };
        let resumed = JournalWriter::resume(&path, &other);
        assert!(matches!(resumed, Err(JournalError::OtherSpec { .. })));

        std::fs::write(&path, "{\"format_version\":2,\"new\":true}\n").unwrap();
        let newer = Journal::open(&path);
        assert!(matches!(newer, Err(JournalError::NewerFormat { found: 2, .. })));
        for text in ["hello\n", "{}\n", "{\"format_version\":1}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Journal::open(&path), Err(JournalError::NoHeader { .. })));
            let resumed = JournalWriter::resume(&path, &header);
            assert!(matches!(resumed, Err(JournalError::NoHeader { .. })));
        }
    }

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        // Writing to this device always fails so. Not every system has it.
        let Ok(file) = OpenOptions::new().write(true).open("/dev/full") else { return };
        let mut writer = JournalWriter::over(Path::new("/dev/full"), file, 0).unwrap();
        writer.append(&sample::records()[0]).unwrap();
        assert!(matches!(writer.flush(), Err(JournalError::DiskFull { .. })));
        assert!(!writer.buffer.is_empty(), "the record is kept");
    }

    #[test]
    fn the_last_attempt_that_is_done_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let attempt = |job, attempt, ending| MatchRecord {
            attempt,
            ending,
            ..sample::record(job, "ticTacToe", ["alpha", "beta"], [50, 50])
        };
        let aborted = || Ending::Aborted { reason: "stopped".into() };
        write(
            &path,
            &[
                attempt(1, 1, Ending::Terminal),
                attempt(0, 1, aborted()),
                attempt(0, 2, Ending::Terminal),
                attempt(2, 1, aborted()),
                attempt(2, 2, aborted()),
                attempt(1, 2, Ending::StepLimit),
                attempt(0, 3, aborted()),
            ],
        );
        let mut counted = vec![];
        let index = Journal::open(&path).unwrap().index().unwrap();
        index
            .render(
                |records| records.collect::<Result<Vec<_>, JournalError>>(),
                |records| {
                    counted.extend(records.iter().map(|record| (record.job, record.attempt)));
                    Ok(())
                },
            )
            .unwrap();
        assert_eq!(counted, [(0, 2), (1, 2), (2, 2)]);

        let (_, recovered) = JournalWriter::resume(&path, &sample::header(true)).unwrap();
        let job = |n_attempts, done| JobState { n_attempts, done };
        assert_eq!(recovered.jobs[&attempt(0, 1, aborted()).job_id], job(3, true));
        assert_eq!(recovered.jobs[&attempt(2, 1, aborted()).job_id], job(2, false));
    }

    #[test]
    fn a_journal_is_rewritten_with_other_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records());
        let header = Header { spec_hash: "more".into(), ..sample::header(true) };
        rewrite(&path, &header, |record| {
            record.job += 100;
            record.game == "ticTacToe"
        })
        .unwrap();
        let records = read(&path).unwrap();
        assert_eq!((records.len(), records[0].job), (18, 106));
        assert!(JournalWriter::resume(&path, &header).is_ok());
    }
}
