//! One journal of several: parts of one schedule, played apart.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::checksum::{body, check};
use super::{Journal, JournalError, JournalWriter, Torn, read_error};
use crate::atomic_file::sync_folder;
use crate::partition::Partition;
use crate::record::{Ending, FORMAT_VERSION, Header, MatchRecord};

/// Journals that can be made one, read and compared.
#[derive(Debug)]
pub struct Merge {
    header: Header,
    paths: Vec<PathBuf>,
    parts: Vec<MergedPart>,
    /// Lines to be kept, in the order of the schedule.
    lines: Vec<Line>,
    done: Vec<u64>,
}

/// What one of the journals held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedPart {
    /// The part of the schedule; `None` if all of it was to be played.
    pub partition: Option<Partition>,
    /// Its records.
    pub n_records: u64,
    /// Of those, the ones that a journal before it has too.
    pub n_duplicates: u64,
    /// What is half-written at its end and is left out.
    pub torn: Torn,
}

/// Why journals cannot be made one.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// They are of different specs.
    #[error("cannot merge {} with {}: they are of different specs", first.display(), other.display())]
    OtherSpec {
        /// The first journal.
        first: PathBuf,
        /// The one that does not fit.
        other: PathBuf,
    },
    /// Its pairings depend on results, so it has no parts.
    #[error(
        "cannot merge {}: runs whose pairings depend on results (swiss, knockout, ladder, --race) cannot be merged",
        path.display()
    )]
    FollowsResults {
        /// The journal.
        path: PathBuf,
    },
    /// Two journals have different results of one job.
    #[error(
        "cannot merge {} with {}: their records of match {job} differ; leave one journal out, or \
         remove the lines of that match from one",
        first.display(), other.display()
    )]
    Conflict {
        /// The job.
        job: u64,
        /// A journal that has it.
        first: PathBuf,
        /// Another one.
        other: PathBuf,
    },
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    job: u64,
    /// Index of the journal.
    source: u32,
    offset: u64,
    /// Length of its [`body`].
    n_bytes: u64,
    /// Hash of its [`body`].
    hash: u64,
    done: bool,
}

/// What is wanted of a record.
#[derive(Deserialize)]
struct LeanRecord {
    job: u64,
    ending: Ending,
}

impl Merge {
    /// Reads journals of one spec. Nothing is written. Holds 48 bytes a record.
    ///
    /// # Errors
    /// If a journal cannot be read, they are of different specs, or two have
    /// different results of the same job.
    ///
    /// # Panics
    /// Without any journal.
    pub fn read(paths: &[PathBuf]) -> Result<Self, MergeError> {
        let mut header = Journal::open(&paths[0])?.header().clone();
        header.partition = None;
        header.format_version = FORMAT_VERSION;
        let mut versions = BTreeSet::new();
        let mut lines = Vec::new();
        let mut parts = Vec::new();
        for (path, source) in paths.iter().zip(0..) {
            let mut journal = Journal::open(path)?;
            let found = journal.header();
            if found.formats.is_some() {
                return Err(MergeError::FollowsResults { path: path.clone() });
            }
            if found.spec_hash != header.spec_hash {
                let (first, other) = (paths[0].clone(), path.clone());
                return Err(MergeError::OtherSpec { first, other });
            }
            versions.insert(found.gamemaster_version.clone());
            let fresh = found.notes.iter().filter(|note| !header.notes.contains(note));
            let fresh: Vec<String> = fresh.cloned().collect();
            header.notes.extend(fresh);
            let partition = found.partition;
            let before = lines.len();
            while let Some((_, line)) = journal.next_with(|bytes, offset, look_at_all| {
                if look_at_all {
                    // What resuming would cut off does not count here either.
                    serde_json::from_slice::<MatchRecord>(bytes)?;
                }
                let LeanRecord { job, ending } = serde_json::from_slice(bytes)?;
                let body = body(bytes);
                let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(body);
                let n_bytes = body.len() as u64;
                Ok(Line { job, source, offset, n_bytes, hash, done: ending.is_done() })
            })? {
                lines.push(line);
            }
            let n_records = (lines.len() - before) as u64;
            let torn = journal.torn();
            parts.push(MergedPart { partition, n_records, n_duplicates: 0, torn });
        }
        if versions.len() > 1 {
            let versions = versions.into_iter().collect::<Vec<_>>().join(" and ");
            header.notes.push(format!("Parts were played by gamemaster {versions}."));
        }
        let mut merge = Self { header, paths: paths.to_vec(), parts, lines, done: Vec::new() };
        merge.settle()?;
        Ok(merge)
    }

    /// Takes out what is there twice, and finds what contradicts.
    fn settle(&mut self) -> Result<(), MergeError> {
        self.lines.sort_unstable();
        let mut kept: Vec<Line> = Vec::with_capacity(self.lines.len());
        for job in self.lines.chunk_by(|line, next| line.job == next.job) {
            let begin = kept.len();
            for line in job {
                let others = kept[begin..].iter().filter(|other| other.source != line.source);
                let same = |other: &&Line| (other.hash, other.n_bytes) == (line.hash, line.n_bytes);
                if others.clone().any(|other| same(&other)) {
                    self.parts[line.source as usize].n_duplicates += 1;
                    continue;
                }
                if let Some(other) = others.clone().find(|other| other.done && line.done) {
                    if !self.header.timings && self.played_the_same(other, line)? {
                        self.parts[line.source as usize].n_duplicates += 1;
                        continue;
                    }
                    let path = |line: &Line| self.paths[line.source as usize].clone();
                    let (first, other) = (path(other), path(line));
                    return Err(MergeError::Conflict { job: line.job, first, other });
                }
                kept.push(*line);
            }
            // What was aborted in one part may have been played in another:
            // the line that counts is the last.
            kept[begin..].sort_by_key(|line| line.done);
            if kept.last().is_some_and(|line| line.done) {
                self.done.push(job[0].job);
            }
        }
        self.lines = kept;
        Ok(())
    }

    /// Whether two records of a job differ in nothing but when and how fast it was
    /// played, which is no part of the results.
    fn played_the_same(&self, one: &Line, other: &Line) -> Result<bool, MergeError> {
        let read = |line: &Line| {
            let path = &self.paths[line.source as usize];
            let failed = |source| read_error(path, source);
            let mut bytes = vec![0; usize::try_from(line.n_bytes).expect("lines fit memory")];
            let file = File::open(path).map_err(failed)?;
            file.read_exact_at(&mut bytes, line.offset).map_err(failed)?;
            bytes.push(b'}');
            let record: MatchRecord =
                serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))?;
            Ok::<_, MergeError>(record.without_times())
        };
        Ok(read(one)? == read(other)?)
    }

    /// Hash of the spec they are all of.
    #[must_use]
    pub fn spec_hash(&self) -> &str {
        &self.header.spec_hash
    }

    /// What each journal held, in the order given.
    #[must_use]
    pub fn parts(&self) -> &[MergedPart] {
        &self.parts
    }

    /// Numbers of the jobs that are done, ascending.
    #[must_use]
    pub fn done(&self) -> &[u64] {
        &self.done
    }

    /// Writes the journal at `path`, of a run called `run`, which is of no part
    /// but of the whole schedule. It is there whole or not at all.
    ///
    /// # Errors
    /// If it is there already, or cannot be written, or a source cannot be read
    /// any more.
    pub fn write(&self, path: &Path, run: &str) -> Result<(), MergeError> {
        let header = Header { run: run.to_owned(), ..self.header.clone() };
        if path.exists() {
            let source = std::io::ErrorKind::AlreadyExists.into();
            return Err(JournalError::Create { path: path.to_owned(), source }.into());
        }
        let part = path.with_extension("jsonl.part");
        let written = self.write_part(&part, &header).and_then(|()| {
            let renamed = std::fs::rename(&part, path);
            Ok(renamed.map_err(|source| JournalError::Write { path: path.to_owned(), source })?)
        });
        if written.is_err() {
            // It may not have been made at all.
            let _ = std::fs::remove_file(&part);
        }
        sync_folder(path);
        written
    }

    fn write_part(&self, part: &Path, header: &Header) -> Result<(), MergeError> {
        let mut sources = Vec::new();
        for path in &self.paths {
            let file = File::open(path).map_err(|source| read_error(path, source))?;
            sources.push((path, BufReader::new(file), 0));
        }
        let mut writer = JournalWriter::create(part, header)?;
        let mut bytes = Vec::new();
        for line in &self.lines {
            let (path, reader, position) = &mut sources[line.source as usize];
            let failed = |source| read_error(path, source);
            bytes.clear();
            // Records stand nearly in order, so that most of these stay in the buffer.
            let distance = line.offset.wrapping_sub(*position).cast_signed();
            reader.seek_relative(distance).map_err(failed)?;
            reader.read_until(b'\n', &mut bytes).map_err(failed)?;
            *position = line.offset + bytes.len() as u64;
            if check(&bytes, false).is_err() || body(&bytes).len() as u64 != line.n_bytes {
                let source = std::io::Error::other("it has changed while it was read");
                return Err(read_error(path, source).into());
            }
            writer.append_body(body(&bytes))?;
        }
        Ok(writer.sync()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::sample;

    fn aborted(record: &MatchRecord) -> MatchRecord {
        MatchRecord { ending: Ending::interrupted(), ..record.clone() }
    }

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn journal(&self, name: &str, part: &str, records: &[MatchRecord]) -> PathBuf {
            let header = Header { partition: Some(part.parse().unwrap()), ..sample::header(true) };
            let path = self.0.path().join(name);
            let mut writer = JournalWriter::create(&path, &header).unwrap();
            records.iter().for_each(|record| writer.append(record).unwrap());
            writer.sync().unwrap();
            path
        }

        fn merged(&self, merge: &Merge) -> Vec<MatchRecord> {
            let path = self.0.path().join(files::JOURNAL);
            merge.write(&path, "whole").unwrap();
            let journal = Journal::open(&path).unwrap();
            assert_eq!((&*journal.header().run, journal.header().partition), ("whole", None));
            let records: Result<Vec<MatchRecord>, _> = journal.collect();
            std::fs::remove_file(&path).unwrap();
            records.unwrap()
        }
    }

    #[test]
    fn parts_make_the_whole_in_the_order_of_the_schedule() {
        let folder = Folder::new();
        let records = sample::records();
        let (mut odd, even): (Vec<_>, Vec<_>) =
            records.iter().cloned().partition(|record| record.block % 2 == 1);
        odd.reverse();
        let paths =
            [folder.journal("a", "slice:2/2", &odd), folder.journal("b", "slice:1/2", &even)];
        let merge = Merge::read(&paths).unwrap();
        let n_done = records.iter().filter(|record| record.is_done()).count();
        assert_eq!(merge.done().len(), n_done);
        let mut expected = records;
        expected.sort_by_key(|record| record.job);
        assert_eq!(folder.merged(&merge), expected);
    }

    #[test]
    fn what_is_there_twice_is_kept_once() {
        let folder = Folder::new();
        let records = &sample::records()[..6];
        let paths = [
            folder.journal("a", "slice:1/2", &records[..4]),
            folder.journal("b", "slice:2/2", &records[2..]),
        ];
        let merge = Merge::read(&paths).unwrap();
        assert_eq!(merge.parts().iter().map(|part| part.n_duplicates).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(folder.merged(&merge), records);
        let twice = Merge::read(&[paths[0].clone(), paths[0].clone()]).unwrap();
        assert_eq!(folder.merged(&twice), records[..4]);
    }

    #[test]
    fn journals_with_and_without_checksums_are_made_one() {
        let folder = Folder::new();
        let records = &sample::records()[..6];
        let paths = [
            folder.journal("a", "slice:1/2", &records[..4]),
            folder.journal("b", "slice:2/2", &records[2..]),
        ];
        let text = std::fs::read_to_string(&paths[1]).unwrap();
        std::fs::write(&paths[1], sample::without_checksums(&text)).unwrap();
        let merge = Merge::read(&paths).unwrap();
        assert_eq!(merge.parts()[1].n_duplicates, 2);
        // Reading it demands a checksum of each line.
        assert_eq!(folder.merged(&merge), records);
    }

    #[test]
    fn what_contradicts_is_refused() {
        let folder = Folder::new();
        let records = &sample::records()[..3];
        let mut other = records[1].clone();
        other.duration_us += 1;
        let paths =
            [folder.journal("a", "slice:1/2", records), folder.journal("b", "slice:2/2", &[other])];
        let told = Merge::read(&paths).unwrap_err();
        assert!(matches!(told, MergeError::Conflict { job: 1, .. }), "{told}");
        let text = sample::without_checksums(&std::fs::read_to_string(&paths[1]).unwrap());
        std::fs::write(&paths[1], text.replacen("5eed", "feed", 1)).unwrap();
        let told = Merge::read(&paths).unwrap_err();
        assert!(matches!(told, MergeError::OtherSpec { .. }), "{told}");
    }

    #[test]
    fn what_was_broken_off_counts_only_if_nobody_played_it() {
        let folder = Folder::new();
        let records = &sample::records()[..2];
        let paths = [
            folder.journal("a", "slice:1/2", &[records[0].clone(), records[1].clone()]),
            folder.journal("b", "slice:2/2", &[aborted(&records[0])]),
        ];
        for paths in [paths.clone(), [paths[1].clone(), paths[0].clone()]] {
            let merge = Merge::read(&paths).unwrap();
            assert_eq!(merge.done(), [0, 1]);
            // The attempt that counts is the last of its job.
            let merged = folder.merged(&merge);
            assert_eq!(merged, [aborted(&records[0]), records[0].clone(), records[1].clone()]);
        }
        let merge = Merge::read(&paths[1..]).unwrap();
        assert_eq!((merge.done(), folder.merged(&merge).len()), (&[][..], 1));
    }

    #[test]
    fn a_half_written_end_is_left_out_and_told() {
        let folder = Folder::new();
        let records = &sample::records()[..3];
        let path = folder.journal("a", "slice:1/1", records);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let merge = Merge::read(&[path]).unwrap();
        assert!(merge.parts()[0].torn.is_some());
        assert_eq!(folder.merged(&merge), records[..2]);
    }
}
