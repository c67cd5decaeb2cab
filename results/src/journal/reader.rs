//! Reading a journal, one line after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use serde::Deserialize;

use super::checksum::{check, is_sealed};
use super::error::line_number;
use super::index::{Index, IndexEntry, Sorter, hash_of_id};
use super::plain::{divide, text_of};
use super::{JournalError, MAX_LINE_BYTES, READ_BUFFER, read_error};
use crate::record::{CHECKSUMS_SINCE, Ending, FORMAT_VERSION, Header, MatchRecord};

/// A header is no longer than this.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// So much of the end of a journal without checksums is read in full even where the
/// first fields of a record would do: more than is ever written between two times that all is
/// brought to the disk, so that a power failure damages nothing before it.
const CHECKED_BYTES: u64 = 32 << 20;

/// Bytes of a journal for which another thread is worth its while.
const BYTES_PER_THREAD: u64 = 4 << 20;
/// Heads of records that go from one thread to another together.
const HEADS_AT_ONCE: usize = 4096;

/// The end of a journal that holds no record: what was being written when the
/// program or the machine failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Torn {
    /// Its length.
    pub bytes: u64,
    /// Its lines, the last of which may lack its line feed.
    pub lines: u64,
}

impl Torn {
    /// Whether there is any.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.bytes > 0
    }

    /// This, and what comes after it.
    pub(crate) fn and(self, more: Self) -> Self {
        Self { bytes: self.bytes + more.bytes, lines: self.lines + more.lines }
    }
}

/// Reads a journal from its beginning, one record at a time, in the order in which
/// matches ended; attempts that do not count are among them.
///
/// ```
/// use results::journal::Journal;
/// use results::record::Ending;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run/journal.jsonl");
/// # let path = std::path::Path::new(path);
/// let mut n_steps = 0;
/// for record in Journal::open(path)? {
///     let record = record?;
///     assert_eq!(record.ending, Ending::Terminal);
///     n_steps += record.n_steps;
/// }
/// assert!(n_steps > 12 * 5);
/// # Ok::<(), results::journal::JournalError>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    header: Header,
    reader: BufReader<Take<File>>,
    /// Where the line after the last one read begins.
    offset: u64,
    /// The line at hand, with its line feed.
    line: Vec<u8>,
    torn: Torn,
    /// Length of the file when it was opened.
    end: u64,
    failed: bool,
}

/// What was read, with its length in bytes.
enum Line {
    /// With a line feed; it is in `Journal::line`.
    Whole(u64),
    /// The last, without a line feed.
    Half(u64),
    /// Too long to be kept.
    TooLong(u64),
    End,
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
        let end = file.metadata().map_err(|source| read_error(path, source))?.len();
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
            line,
            torn: Torn::default(),
            end,
            failed: false,
        })
    }

    /// What the journal is of.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What is no record at the end, known once all records are read.
    #[must_use]
    pub fn torn(&self) -> Torn {
        self.torn
    }

    /// Whether every line has to have a checksum.
    fn has_checksums(&self) -> bool {
        self.header.format_version >= CHECKSUMS_SINCE
    }

    /// Bytes set aside for a line.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.line.capacity()
    }

    /// Where the line after the last one read begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Divides the records among readers of about equally many bytes, in order,
    /// of which there are at least one and at most `n`.
    pub(crate) fn divided(self, n: u64) -> Result<Vec<Self>, JournalError> {
        let Self { path, header, offset: start, end, .. } = self;
        let failed = |source| read_error(&path, source);
        let open = || File::open(&path).map_err(failed);
        let end = end.max(start);
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
                line: vec![],
                torn: Torn::default(),
                end,
                failed: false,
            })
        };
        if bounds.len() == 1 {
            bounds.push(end);
        }
        bounds.windows(2).map(section).collect()
    }

    /// Number of the line at hand. Journals may be read from the middle on, so
    /// that counting while reading would not do.
    fn line_number(&self) -> Result<u64, JournalError> {
        line_number(&self.path, self.offset)
    }

    fn read_line(&mut self) -> Result<Line, JournalError> {
        let failed = |source| read_error(&self.path, source);
        self.line.clear();
        let mut capped = self.reader.by_ref().take(MAX_LINE_BYTES);
        let n_bytes = capped.read_until(b'\n', &mut self.line).map_err(failed)? as u64;
        if self.line.last() == Some(&b'\n') {
            return Ok(Line::Whole(n_bytes));
        }
        match n_bytes {
            0 => Ok(Line::End),
            MAX_LINE_BYTES => {
                self.line = vec![];
                let rest = self.reader.skip_until(b'\n').map_err(failed)? as u64;
                Ok(Line::TooLong(n_bytes + rest))
            }
            _ => Ok(Line::Half(n_bytes)),
        }
    }

    /// Reads the next line as `read` understands it, with its offset, once its
    /// checksum is found to be right. `read` gets the offset, and whether it has to check
    /// the whole line: a line without checksum, so near to the end that a power failure
    /// may have left only its beginning.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], u64, bool) -> serde_json::Result<T>,
    ) -> Result<Option<(u64, T)>, JournalError> {
        let (n_bytes, error) = match self.read_line()? {
            Line::End => return Ok(None),
            Line::Half(bytes) => {
                self.torn = Torn { bytes, lines: 1 };
                return Ok(None);
            }
            Line::Whole(n_bytes) => {
                let near_end = self.end.saturating_sub(self.offset) <= CHECKED_BYTES;
                let look_at_all = near_end && !is_sealed(&self.line);
                let checked = check(&self.line, self.has_checksums());
                match checked.and_then(|()| read(&self.line, self.offset, look_at_all)) {
                    Ok(value) => {
                        let offset = self.offset;
                        self.offset += n_bytes;
                        return Ok(Some((offset, value)));
                    }
                    Err(source) => {
                        let (path, line) = (self.path.clone(), self.line_number()?);
                        (n_bytes, JournalError::Damaged { path, line, problem: source })
                    }
                }
            }
            Line::TooLong(n_bytes) => {
                let (path, line) = (self.path.clone(), self.line_number()?);
                (n_bytes, JournalError::LineTooLong { path, line })
            }
        };
        self.look_beyond(Torn { bytes: n_bytes, lines: 1 }, error)?;
        Ok(None)
    }

    /// Decides what a line is that holds no record: damage, which is `error`, if
    /// there is a record after it, and else the beginning of a torn end. A crash
    /// of the machine may leave lines there without their contents.
    fn look_beyond(&mut self, mut torn: Torn, error: JournalError) -> Result<(), JournalError> {
        loop {
            let bytes = match self.read_line()? {
                Line::End => break,
                Line::Whole(_) if self.holds_a_record() => return Err(error),
                Line::Whole(bytes) | Line::Half(bytes) | Line::TooLong(bytes) => bytes,
            };
            torn = torn.and(Torn { bytes, lines: 1 });
        }
        self.torn = torn;
        Ok(())
    }

    /// Whether the line at hand is a record.
    fn holds_a_record(&self) -> bool {
        check(&self.line, self.has_checksums()).is_ok()
            && serde_json::from_slice::<MatchRecord>(&self.line).is_ok()
    }

    /// Reads which job the next record is of and passes over the rest, which
    /// is only looked at where it has to be.
    pub(crate) fn next_head(&mut self) -> Result<Option<Head>, JournalError> {
        let found = self.next_with(|line, _, look_at_all| {
            if look_at_all {
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
    pub(crate) fn index(self) -> Result<Index, JournalError> {
        let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
        let length = self.end.saturating_sub(self.offset);
        self.index_by(threads.min(length / BYTES_PER_THREAD).max(1))
    }

    /// [`Self::index`] on `threads` threads.
    fn index_by(self, threads: u64) -> Result<Index, JournalError> {
        let path = self.path.clone();
        let has_checksums = self.has_checksums();
        let mut sorter = Sorter::new(path.parent().unwrap_or(Path::new("")));
        let sections = self.divided(threads)?;
        let n_sections = sections.len();
        let read: Result<Vec<(Torn, u64)>, JournalError> = thread::scope(|scope| {
            // Few are on their way at a time, so that memory is bounded.
            let (sender, receiver) = mpsc::sync_channel(2 * n_sections);
            let spawn = |section: Self| {
                let sender = sender.clone();
                scope.spawn(move || section.send_heads(&sender))
            };
            let readers: Vec<_> = sections.into_iter().map(spawn).collect();
            drop(sender);
            receiver.into_iter().flatten().for_each(|entry| sorter.push(entry));
            let join = |reader: thread::ScopedJoinHandle<'_, _>| {
                reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            readers.into_iter().map(join).collect()
        });
        let mut torn = Torn::default();
        let mut broken = false;
        match read {
            Ok(read) => {
                for (of_section, n_records) in read {
                    // A broken line at the end of a section has records after it.
                    broken |= torn.is_some() && n_records > 0;
                    torn = torn.and(of_section);
                }
            }
            Err(JournalError::Damaged { .. } | JournalError::LineTooLong { .. })
                if n_sections > 1 =>
            {
                broken = true;
            }
            Err(error) => return Err(error),
        }
        if broken {
            // Whoever reads from the beginning knows which line is to blame.
            return Self::open(&path)?.index_by(1);
        }
        let entries = sorter.finish().map_err(|source| read_error(&path, source))?;
        Ok(Index::new(entries, path, torn, has_checksums))
    }

    /// Sends the heads of all records; returns the torn end and their number.
    fn send_heads(
        mut self,
        sender: &mpsc::SyncSender<Vec<IndexEntry>>,
    ) -> Result<(Torn, u64), JournalError> {
        let mut entries = Vec::with_capacity(HEADS_AT_ONCE);
        let mut n_records = 0;
        loop {
            let head = self.next_head()?;
            let at_end = head.is_none();
            if let Some(Head { job, job_id, done, offset }) = head {
                entries.push(IndexEntry { job, job_id: hash_of_id(&job_id), done, offset });
                n_records += 1;
            }
            if at_end || entries.len() == HEADS_AT_ONCE {
                let ready = std::mem::replace(&mut entries, Vec::with_capacity(HEADS_AT_ONCE));
                // Nobody listens any more where another section has failed.
                let _ = sender.send(ready);
            }
            if at_end {
                return Ok((self.torn, n_records));
            }
        }
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

/// Reads the first two members of a record and those from its ending to its seats, and passes
/// over the rest, which is most of the line.
fn read_head(line: &[u8]) -> serde_json::Result<HeadFields> {
    let text = text_of(line)?;
    let short = divide(text, r#","block":"#).and_then(|(begin, rest)| {
        let (_, rest) = divide(rest, r#","ending":"#)?;
        let (ending, _) = divide(rest, r#","seats":"#)?;
        serde_json::from_str(&[begin, r#","ending":"#, ending, "}"].concat()).ok()
    });
    // In a journal without checksums, members may be in any order.
    short.map_or_else(|| serde_json::from_str(text), Ok)
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
    let damaged = |source| JournalError::DamagedHeader { path: path.into(), source };
    // First of all: a version that was changed means nothing.
    check(line, false).map_err(damaged)?;
    let version: Version = serde_json::from_slice(line).map_err(|_| no_header())?;
    if version.format_version > FORMAT_VERSION {
        let found = version.format_version;
        return Err(JournalError::NewerFormat { path: path.into(), found });
    }
    check(line, version.format_version >= CHECKSUMS_SINCE).map_err(damaged)?;
    serde_json::from_slice(line).map_err(|_| no_header())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn without_checksums_damage_far_from_the_end_is_found_when_the_record_is_wanted() {
        let run = sample::run(true, &sample::records());
        let path = run.path().join(crate::files::JOURNAL);
        let text = sample::without_checksums(&std::fs::read_to_string(&path).unwrap());
        let mut lines: Vec<&str> = text.lines().collect();
        let third = lines[2].replace("\"steps\"", "steps\"");
        lines[2] = &third;
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let mut journal = Journal::open(&path).unwrap();
        journal.end = u64::MAX;
        let index = journal.index_by(1).unwrap();
        let error = index
            .render(|records| records.collect::<Result<Vec<_>, JournalError>>(), |_| Ok(()))
            .unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 3, .. }), "{error}");
    }

    #[test]
    fn heads_are_read_whatever_the_order_of_members() {
        for record in sample::records() {
            let written = serde_json::to_string(&record).unwrap();
            for line in [written, sample::sorted(&record)] {
                let head = read_head(line.as_bytes()).unwrap();
                assert_eq!((head.job, head.job_id), (record.job, record.job_id.clone()));
                assert_eq!(head.ending, record.ending);
            }
        }
    }

    #[test]
    fn any_number_of_threads_finds_the_same_records() {
        let mut records = sample::records();
        records.push(MatchRecord { attempt: 2, ..records[20].clone() });
        let found = |path: &Path, threads| {
            let index = Journal::open(path).unwrap().index_by(threads)?;
            let records: Result<Vec<MatchRecord>, _> = index.records().collect();
            Ok::<_, JournalError>((records?, index.torn))
        };
        for end in ["", "{\"job\":", "\n\n", &"\0\n".repeat(20_000), &"\0".repeat(50_000)] {
            let run = sample::run(true, &records);
            let path = run.path().join(crate::files::JOURNAL);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text + end).unwrap();
            let alone = found(&path, 1).unwrap();
            assert_eq!((alone.0.len(), alone.1.bytes), (36, end.len() as u64));
            for threads in 2..9 {
                assert!(found(&path, threads).unwrap() == alone, "{threads} threads");
            }
        }
        let run = sample::run(true, &records);
        let path = run.path().join(crate::files::JOURNAL);
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [2, 9, 17, 20, 30] {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines[line] = lines[line].replace("\"job\"", "job\"");
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            for threads in 1..40 {
                let error = found(&path, threads).unwrap_err();
                let place = format!("line {} ", line + 1);
                assert!(error.to_string().contains(&place), "{threads} {error}");
            }
        }
    }
}
