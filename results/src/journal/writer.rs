//! Beginning a journal, appending to it, and taking one up again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::checksum::seal;
use super::{Journal, JournalError, MAX_LINE_BYTES, Torn, read_error};
use crate::atomic_file::sync_folder;
use crate::record::{Header, MatchRecord};

/// Bytes gathered before they are handed to the system.
const WRITE_BUFFER: usize = 64 * 1024;

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
    /// What was cut off because it is no record and none comes after it.
    pub torn: Torn,
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

    /// Opens an existing journal to append to it, and cuts off a torn end. Takes
    /// one pass over the file, about 2 microseconds a record.
    ///
    /// # Errors
    /// If the file cannot be read or written, is damaged, is being written by
    /// another process, has a newer format or belongs to another spec or part.
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
                if journal.header().spec_hash != header.spec_hash {
                    return Err(JournalError::OtherSpec {
                        path: path.into(),
                        found: journal.header().spec_hash.clone(),
                        expected: header.spec_hash.clone(),
                    });
                }
                if journal.header().partition != header.partition {
                    return Err(JournalError::OtherPart {
                        path: path.into(),
                        found: journal.header().partition,
                        expected: header.partition,
                    });
                }
                while let Some(entry) = journal.next_head()? {
                    let job = recovered.jobs.entry(entry.job_id).or_default();
                    job.n_attempts += 1;
                    job.done |= entry.done;
                    recovered.n_records += 1;
                }
                recovered.torn = journal.torn();
                writer.cut_to(journal.offset())?;
            }
            // Killed before the header was written.
            Err(JournalError::NoHeader { .. }) if !has_a_whole_line(path)? => {
                let bytes = writer.file_length()?;
                recovered.torn = Torn { bytes, lines: u64::from(bytes > 0) };
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
        let begin = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, header).expect("a header is representable");
        seal(&mut self.buffer, begin);
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
    /// If the record is longer than readers take; then it is not written.
    pub fn append(&mut self, record: &MatchRecord) -> Result<(), JournalError> {
        self.append_within(record, MAX_LINE_BYTES)
    }

    fn append_within(&mut self, record: &MatchRecord, limit: u64) -> Result<(), JournalError> {
        let begin = self.buffer.len();
        serde_json::to_writer(&mut self.buffer, record).expect("a record is representable");
        seal(&mut self.buffer, begin);
        if (self.buffer.len() - begin) as u64 > limit {
            self.buffer.truncate(begin);
            return Err(JournalError::RecordTooLong { path: self.path.clone(), job: record.job });
        }
        if self.buffer.len() >= WRITE_BUFFER { self.flush() } else { Ok(()) }
    }

    /// Appends a record of another journal: its [`body`](super::checksum::body).
    pub(super) fn append_body(&mut self, body: &[u8]) -> Result<(), JournalError> {
        let begin = self.buffer.len();
        self.buffer.extend_from_slice(body);
        self.buffer.push(b'}');
        seal(&mut self.buffer, begin);
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
        self.file.sync_data().map_err(|source| self.write_error(source))?;
        // A file that was removed takes all that is written, and keeps nothing.
        match self.path.try_exists() {
            Ok(false) => Err(JournalError::Removed { path: self.path.clone() }),
            _ => Ok(()),
        }
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
/// numbers. The old journal stays until the new one is complete. Returns the
/// torn end of the old one, which is left out.
///
/// # Errors
/// If the old one cannot be read or the new one cannot be written.
pub fn rewrite(
    path: &Path,
    header: &Header,
    mut keep: impl FnMut(&mut MatchRecord) -> bool,
) -> Result<Torn, JournalError> {
    let mut journal = Journal::open(path)?;
    let temporary = path.with_extension("jsonl.part");
    match std::fs::remove_file(&temporary) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            return Err(JournalError::Create { path: temporary, source });
        }
        _ => {}
    }
    let mut writer = JournalWriter::create(&temporary, header)?;
    for record in journal.by_ref() {
        let mut record = record?;
        if keep(&mut record) {
            writer.append(&record)?;
        }
    }
    writer.sync()?;
    std::fs::rename(&temporary, path)
        .map_err(|source| JournalError::Write { path: path.into(), source })?;
    sync_folder(path);
    Ok(journal.torn())
}

/// Whether a file holds a line feed near its beginning.
fn has_a_whole_line(path: &Path) -> Result<bool, JournalError> {
    let mut start = vec![];
    File::open(path)
        .and_then(|file| file.take(WRITE_BUFFER as u64).read_to_end(&mut start))
        .map_err(|source| read_error(path, source))?;
    Ok(start.contains(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn no_record_is_written_that_would_not_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let records = sample::records();
        let mut writer = JournalWriter::create(&path, &sample::header(true)).unwrap();
        let mut line = serde_json::to_vec(&records[0]).unwrap();
        seal(&mut line, 0);
        let length = line.len() as u64;
        writer.append_within(&records[0], length).unwrap();
        let error = writer.append_within(&records[0], length - 1).unwrap_err();
        assert!(matches!(error, JournalError::RecordTooLong { job: 0, .. }), "{error}");
        writer.append(&records[1]).unwrap();
        writer.sync().unwrap();
        let read: Result<Vec<MatchRecord>, _> = Journal::open(&path).unwrap().collect();
        assert_eq!(read.unwrap(), records[..2]);
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
}
