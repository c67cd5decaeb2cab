//! Sorting the entries of an index in a fixed amount of memory: what does not fit
//! is sorted by pieces, which go to a file without a name and are merged.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::IndexEntry;

/// Maximum number of entries in memory at once, 2 MiB.
const MOST_HELD: usize = 1 << 16;
/// Fewest entries that are read at once of a piece: with a great many pieces
/// they are what memory is taken for, some 3 kB for 65,536 matches.
const LEAST_READ: usize = 64;
/// Bytes of an entry in a file.
const ENTRY_BYTES: usize = 24;

/// Takes entries in any order.
pub(in crate::journal) struct Sorter {
    held: Vec<IndexEntry>,
    most_held: usize,
    folder: PathBuf,
    scratch: Option<File>,
    pieces: Vec<Piece>,
}

/// Sorted entries.
#[derive(Debug)]
enum Piece {
    /// In memory: all there are, or what could not be written.
    Held(Vec<IndexEntry>),
    /// In a file, by their numbers there.
    Written(Range<u64>),
}

/// Entries in order, each job once.
#[derive(Debug)]
pub(in crate::journal) struct Sorted {
    /// All of them if there is no file.
    held: Vec<IndexEntry>,
    file: Option<Mutex<File>>,
    n: u64,
}

impl Sorter {
    /// Writes what does not fit into memory into a file in `folder` that has no
    /// name, so that nothing is left behind. Where none can be made, all stays in
    /// memory.
    pub(in crate::journal) fn new(folder: &Path) -> Self {
        Self::holding(MOST_HELD, folder)
    }

    fn holding(most_held: usize, folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let (held, pieces) = (vec![], vec![]);
        Self { held, most_held, folder: folder.to_owned(), scratch: None, pieces }
    }

    pub(in crate::journal) fn push(&mut self, entry: IndexEntry) {
        if self.held.len() == self.most_held {
            self.put_aside();
        }
        self.held.push(entry);
    }

    fn put_aside(&mut self) {
        let mut entries = std::mem::take(&mut self.held);
        entries.sort_unstable();
        if self.scratch.is_none() {
            self.scratch = tempfile::tempfile_in(&self.folder).ok();
        }
        match self.scratch.as_mut().map(|file| append(file, &entries)) {
            Some(Ok(place)) => {
                self.pieces.push(Piece::Written(place));
                entries.clear();
                self.held = entries;
            }
            _ => self.pieces.push(Piece::Held(entries)),
        }
    }

    /// The entries in order. Of several attempts at a job the one that counts
    /// stays: the last that is done, or else the last.
    ///
    /// # Errors
    /// If what was written cannot be read again.
    pub(in crate::journal) fn finish(mut self) -> io::Result<Sorted> {
        if self.pieces.is_empty() {
            self.held.sort_unstable();
            let mut held = vec![];
            let n = counting(self.held.into_iter().map(Ok), |entry| {
                held.push(entry);
                Ok(())
            })?;
            return Ok(Sorted { held, file: None, n });
        }
        self.put_aside();
        self.held = vec![];
        let at_once = (self.most_held / self.pieces.len()).max(LEAST_READ);
        let scratch = self.scratch.as_ref().and_then(|file| file.try_clone().ok());
        let mut merged = Merged::new(self.pieces, scratch, at_once)?;
        let mut merging = Merging {
            file: tempfile::tempfile_in(&self.folder).ok(),
            n_written: 0,
            held: vec![],
            most_held: self.most_held,
        };
        let n = counting(&mut merged, |entry| merging.push(entry))?;
        merging.put_aside()?;
        Ok(Sorted { held: merging.held, file: merging.file.map(Mutex::new), n })
    }
}

/// Entries that come in order: in a file, or all in memory if there is none or it
/// cannot be written.
struct Merging {
    file: Option<File>,
    n_written: u64,
    held: Vec<IndexEntry>,
    most_held: usize,
}

impl Merging {
    fn push(&mut self, entry: IndexEntry) -> io::Result<()> {
        self.held.push(entry);
        if self.held.len() >= self.most_held { self.put_aside() } else { Ok(()) }
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if append(file, &self.held).is_ok() {
            self.n_written += self.held.len() as u64;
            self.held.clear();
        } else {
            let mut all = read(file, 0..self.n_written)?;
            all.append(&mut self.held);
            (self.held, self.file) = (all, None);
        }
        Ok(())
    }
}

/// Hands the entries that count to `take`, of those in order; returns their number.
fn counting(
    entries: impl Iterator<Item = io::Result<IndexEntry>>,
    mut take: impl FnMut(IndexEntry) -> io::Result<()>,
) -> io::Result<u64> {
    let mut n = 0;
    let mut last: Option<IndexEntry> = None;
    for entry in entries {
        let entry = entry?;
        match last.replace(entry) {
            Some(before) if before.same_job(&entry) => {}
            Some(before) => {
                n += 1;
                take(before)?;
            }
            None => {}
        }
    }
    if let Some(entry) = last {
        n += 1;
        take(entry)?;
    }
    Ok(n)
}

impl Sorted {
    /// How many there are.
    pub(in crate::journal) fn len(&self) -> u64 {
        self.n
    }

    /// Those with these numbers.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(in crate::journal) fn range(&self, numbers: Range<u64>) -> io::Result<Vec<IndexEntry>> {
        match &self.file {
            None => Ok(self.held[numbers.start as usize..numbers.end as usize].to_vec()),
            Some(file) => read(&mut file.lock().unwrap_or_else(PoisonError::into_inner), numbers),
        }
    }
}

/// Writes entries behind those in `file`; returns their numbers there.
fn append(file: &mut File, entries: &[IndexEntry]) -> io::Result<Range<u64>> {
    let first = file.seek(SeekFrom::End(0))? / ENTRY_BYTES as u64;
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
    if let Err(error) = file.write_all(&bytes) {
        // What is half written must not shift what comes later.
        file.set_len(first * ENTRY_BYTES as u64)?;
        return Err(error);
    }
    Ok(first..first + entries.len() as u64)
}

fn read(file: &mut File, numbers: Range<u64>) -> io::Result<Vec<IndexEntry>> {
    file.seek(SeekFrom::Start(numbers.start * ENTRY_BYTES as u64))?;
    let mut bytes = vec![0; (numbers.end - numbers.start) as usize * ENTRY_BYTES];
    file.read_exact(&mut bytes)?;
    let (entries, _) = bytes.as_chunks();
    Ok(entries.iter().map(IndexEntry::from_bytes).collect())
}

impl IndexEntry {
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let words = [self.job, self.job_id, self.offset << 1 | u64::from(self.done)];
        let mut bytes = [0; ENTRY_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> Self {
        let (words, _) = bytes.as_chunks();
        let [job, job_id, last] = [words[0], words[1], words[2]].map(u64::from_le_bytes);
        Self { job, job_id, offset: last >> 1, done: last & 1 == 1 }
    }
}

/// The least entries of all pieces, one after the other.
struct Merged {
    rest: Vec<Rest>,
    scratch: Option<File>,
    /// The least of each piece that is not empty, and the piece.
    least: BinaryHeap<Reverse<(IndexEntry, usize)>>,
    at_once: usize,
}

/// What is left of a piece: in memory, then in the file.
struct Rest {
    held: VecDeque<IndexEntry>,
    written: Range<u64>,
}

impl Merged {
    fn new(pieces: Vec<Piece>, scratch: Option<File>, at_once: usize) -> io::Result<Self> {
        let rest = |piece| match piece {
            Piece::Held(entries) => Rest { held: entries.into(), written: 0..0 },
            Piece::Written(written) => Rest { held: VecDeque::new(), written },
        };
        let rest: Vec<Rest> = pieces.into_iter().map(rest).collect();
        let n = rest.len();
        let mut merged = Self { rest, scratch, least: BinaryHeap::new(), at_once };
        (0..n).try_for_each(|piece| merged.look_at(piece))?;
        Ok(merged)
    }

    /// Notes the least of what is left of a piece.
    fn look_at(&mut self, piece: usize) -> io::Result<()> {
        let Rest { held, written } = &mut self.rest[piece];
        if held.is_empty() && !written.is_empty() {
            let scratch = self.scratch.as_mut().ok_or(io::ErrorKind::NotFound)?;
            let end = written.end.min(written.start + self.at_once as u64);
            held.extend(read(scratch, written.start..end)?);
            written.start = end;
        }
        self.least.extend(held.front().map(|entry| Reverse((*entry, piece))));
        Ok(())
    }
}

impl Iterator for Merged {
    type Item = io::Result<IndexEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, piece)) = self.least.pop()?;
        let entry = self.rest[piece].held.pop_front()?;
        Some(self.look_at(piece).map(|()| entry))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(job: u64, offset: u64, done: bool) -> IndexEntry {
        IndexEntry { job, job_id: job ^ 0x5555, offset, done }
    }

    /// A disk that is full is no reason to fail: the rest stays in memory.
    #[test]
    fn what_cannot_be_written_is_held() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut merging = Merging { file: Some(full), n_written: 0, held: vec![], most_held: 3 };
        let entries: Vec<IndexEntry> = (0..10).map(|job| entry(job, job, true)).collect();
        entries.iter().for_each(|&entry| merging.push(entry).unwrap());
        merging.put_aside().unwrap();
        assert!(merging.file.is_none());
        assert_eq!(merging.held, entries);
    }

    /// The attempts that count, found by looking at all.
    fn expected(entries: &[IndexEntry]) -> Vec<IndexEntry> {
        let better = |entry: &&IndexEntry| (entry.done, entry.offset);
        let mut jobs: Vec<u64> = entries.iter().map(|entry| entry.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        let of_job = |job| entries.iter().filter(move |entry| entry.job == job).max_by_key(better);
        jobs.into_iter().map(|job| *of_job(job).unwrap()).collect()
    }

    proptest! {
        #[test]
        fn what_does_not_fit_is_sorted_as_what_does(
            jobs in prop::collection::vec((0..200u64, any::<bool>()), 0..400),
            most_held in 1..80usize,
        ) {
            let entries: Vec<IndexEntry> =
                jobs.iter().zip(0..).map(|(&(job, done), at)| entry(job, at, done)).collect();
            let folder = tempfile::tempdir().unwrap();
            // In a folder that is not there nothing can be put aside.
            for folder in [folder.path(), Path::new("/there/is/no/such/folder")] {
                let mut sorter = Sorter::holding(most_held, folder);
                for entry in &entries {
                    sorter.push(*entry);
                    prop_assert!(sorter.held.len() <= most_held);
                }
                let sorted = sorter.finish().unwrap();
                prop_assert_eq!(sorted.range(0..sorted.len()).unwrap(), expected(&entries));
                let middle = sorted.len() / 2;
                let part = sorted.range(middle..sorted.len()).unwrap();
                prop_assert_eq!(part, expected(&entries)[middle as usize..].to_vec());
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_entries() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::holding(1000, folder.path());
        for at in 0..100_000u64 {
            sorter.push(entry(at * 48_271 % 100_003, at, true));
            assert!(sorter.held.capacity() <= 2048);
        }
        assert!(sorter.pieces.iter().all(|piece| matches!(piece, Piece::Written(_))));
        let sorted = sorter.finish().unwrap();
        assert!(sorted.held.is_empty() && sorted.len() == 100_000);
        let jobs: Vec<u64> =
            sorted.range(0..100_000).unwrap().iter().map(|entry| entry.job).collect();
        assert!(jobs.is_sorted());
        // And no file is left.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
