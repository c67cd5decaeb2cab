//! The journal: JSON lines, append-only, the one source of all tables and
//! reports.
//!
//! The first line is a [`Header`](crate::record::Header), every other one a
//! [`MatchRecord`], in the order in which matches
//! ended. Each ends with a checksum of its bytes, so that a line that was
//! changed by whatever kept or copied the file is damage, too. A run that is killed leaves at most one half-written line, the last; a
//! machine that fails may leave several lines without their contents. Such a
//! [torn end](Torn) holds no record: readers stop before it and
//! [`JournalWriter::resume`] cuts it off. A broken line with records after it is
//! damage, and an error that names it.
//!
//! A job may have several lines. The last one that is
//! [done](crate::record::MatchRecord::is_done) counts, or the last one if none is.
//! The module `index` decides that for everybody, and shows the attempts that count in
//! the order of the schedule, as whole records or as the shorter rows of the module `row`.

mod checksum;
mod error;
mod index;
mod merge;
mod plain;
mod reader;
mod row;
mod writer;

pub use error::JournalError;
pub use merge::{Merge, MergeError, MergedPart};
pub use reader::{Journal, Torn};
pub use writer::{JobState, JournalWriter, Recovered, rewrite};

pub(crate) use index::{Index, Records};
pub(crate) use row::{Decision, MatchRow, SeatRow, StartRow, WholeRow};

use std::ops::ControlFlow;
use std::path::Path;

use crate::files;
use crate::record::MatchRecord;
use error::read_error;

/// Bytes read at once.
const READ_BUFFER: usize = 1 << 20;

/// Longest line that is taken for a record: half a million decisions of ordinary
/// size, hundreds of times the longest match under the default step limit. More
/// is never kept in memory, whatever the file holds.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Shows `visit` the matches of the run in folder `run` in the order of the schedule,
/// of each job the attempt that counts, until it has seen enough. One record is in
/// memory at a time.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use results::journal::each_match;
///
/// # let run = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run"));
/// let mut jobs = vec![];
/// each_match(run, |record| {
///     jobs.push(record.job);
///     if jobs.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// })?;
/// assert_eq!(jobs, [0, 1, 2]);
/// # Ok::<(), results::journal::JournalError>(())
/// ```
///
/// # Errors
/// If the journal cannot be read.
pub fn each_match(
    run: &Path,
    mut visit: impl FnMut(MatchRecord) -> ControlFlow<()>,
) -> Result<(), JournalError> {
    for record in Journal::open(&run.join(files::JOURNAL))?.index()?.records() {
        if visit(record?).is_break() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Ending, Header};
    use crate::sample;

    fn write(path: &Path, records: &[MatchRecord]) {
        let mut writer = JournalWriter::create(path, &sample::header(true)).unwrap();
        for record in records {
            writer.append(record).unwrap();
        }
        writer.sync().unwrap();
    }

    /// A record's line.
    fn sealed(record: &MatchRecord) -> Vec<u8> {
        let mut line = serde_json::to_vec(record).unwrap();
        checksum::seal(&mut line, 0);
        line
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
            let torn = Torn { bytes: dropped, lines: u64::from(dropped > 0) };
            assert_eq!(journal.torn(), torn);

            let (mut writer, recovered) =
                JournalWriter::resume(&path, &sample::header(true)).unwrap();
            assert_eq!((recovered.n_records, recovered.torn), (2, torn));
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
            assert_eq!((recovered.n_records, recovered.torn.bytes), (0, length as u64));
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
    }

    /// A journal of two records that ends with `tail`: what is cut off of it.
    fn check_torn(tail: &[u8], expected: Torn) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..2]);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole, tail].concat()).unwrap();
        assert_eq!(read(&path).unwrap(), sample::records()[..2]);
        Journal::open(&path).unwrap().index().unwrap();
        let (writer, recovered) = JournalWriter::resume(&path, &sample::header(true)).unwrap();
        assert_eq!((recovered.n_records, recovered.torn), (2, expected));
        drop(writer);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn an_end_without_records_is_torn() {
        let torn = |bytes, lines| Torn { bytes, lines };
        let mut record = sealed(&sample::records()[2]);
        record.pop();
        let length = record.len() as u64;
        check_torn(b"", torn(0, 0));
        check_torn(&[0; 100], torn(100, 1));
        check_torn(&[&[0; 100][..], b"\n"].concat(), torn(101, 1));
        check_torn(b"\n\n\n", torn(3, 3));
        check_torn(b"{\"job\":2\nhello\n\xff\xfe", torn(17, 3));
        // Whole but for its line feed, after a line that is not.
        check_torn(&[b"x\n", &record[..]].concat(), torn(2 + length, 2));
        // Its first fields are whole, the rest is not; then there is more.
        let mut hollow = record.clone();
        hollow[record.len() / 2..].fill(0);
        check_torn(&[&hollow[..], b"\n{\n{"].concat(), torn(length + 4, 3));
    }

    #[test]
    fn a_line_too_long_is_never_kept_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..2]);
        let length = std::fs::metadata(&path).unwrap().len();
        // A hole: it takes no disk, and reads as zeros.
        let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.set_len(length + MAX_LINE_BYTES + 5).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!(journal.by_ref().count(), 2);
        assert_eq!(journal.torn(), Torn { bytes: MAX_LINE_BYTES + 5, lines: 1 });
        assert!(journal.capacity() as u64 <= 2 * MAX_LINE_BYTES);

        // With a record after it, it is damage.
        let third = [b"\n", &sealed(&sample::records()[2])[..]].concat();
        std::io::Write::write_all(&mut &file, &third).unwrap();
        let errors = [
            read(&path).unwrap_err(),
            JournalWriter::resume(&path, &sample::header(true)).unwrap_err(),
            Journal::open(&path).unwrap().index().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, JournalError::LineTooLong { line: 4, .. }), "{error}");
            assert!(error.to_string().contains("line 4"), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_failure_of_the_machine_loses_a_record_that_was_whole(
            n in 0..6usize,
            at in 0.0..=1.0f64,
            zeros in any::<bool>(),
            more in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal.jsonl");
            let records = sample::records();
            write(&path, &records[..n]);
            let whole = std::fs::read(&path).unwrap();
            let cut = (whole.len() as f64 * at) as usize;
            let mut bytes = whole.clone();
            if zeros {
                bytes[cut..].fill(0);
            } else {
                bytes.truncate(cut);
            }
            let n_left = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            if n_left > 0 {
                // Whatever else the disk held there.
                bytes.extend(more);
            }
            std::fs::write(&path, &bytes).unwrap();
            if n_left > 0 {
                prop_assert_eq!(read(&path).unwrap(), &records[..n_left - 1]);
            }
            let (mut writer, recovered) =
                JournalWriter::resume(&path, &sample::header(true)).unwrap();
            let n_records = n_left.saturating_sub(1);
            prop_assert_eq!(recovered.n_records, n_records as u64);
            let kept = whole[..cut].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            prop_assert_eq!(recovered.torn.bytes, (bytes.len() - kept) as u64);
            for record in &records[n_records..n] {
                writer.append(record).unwrap();
            }
            drop(writer);
            prop_assert!(std::fs::read(&path).unwrap() == whole);
        }
    }

    /// What was read of a journal, if nobody has to be told that some of it is lost.
    fn taken(path: &Path) -> Vec<Vec<MatchRecord>> {
        let mut taken = vec![];
        if let Ok(mut journal) = Journal::open(path) {
            let records: Result<Vec<MatchRecord>, _> = journal.by_ref().collect();
            taken.extend(records.ok().filter(|_| !journal.torn().is_some()));
            let index = Journal::open(path).unwrap().index();
            let index = index.ok().filter(|index| !index.torn.is_some());
            taken.extend(index.and_then(|index| index.records().collect::<Result<_, _>>().ok()));
        }
        let resumed = JournalWriter::resume(path, &sample::header(true));
        if resumed.is_ok_and(|(_, recovered)| !recovered.torn.is_some()) {
            taken.push(read(path).unwrap());
        }
        taken
    }

    /// Bits 0, 13, 26 and so on of a journal are flipped, one at a time: it is read
    /// as it was, or refused, or its end is said to be torn.
    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut records = sample::records()[..4].to_vec();
        records.iter_mut().for_each(|record| record.steps.truncate(2));
        write(&path, &records);
        let whole = std::fs::read(&path).unwrap();
        let before_end = &whole[..whole.len() - 1];
        let last_line_feed = before_end.iter().rposition(|&byte| byte == b'\n').unwrap();
        let (mut n_refused, mut n_torn) = (0, 0);
        for bit in (0..whole.len() * 8).step_by(13) {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            match read(&path) {
                Err(_) => n_refused += 1,
                Ok(found) => {
                    n_torn += 1;
                    // Without the line feed before the last line, the last two are one.
                    let is_joined = bit / 8 == last_line_feed;
                    let n_left = if is_joined { 2 } else { 3 };
                    assert_eq!(found, records[..n_left], "bit {bit}");
                }
            }
            assert!(taken(&path).iter().all(|found| *found == records), "bit {bit}");
        }
        // Only what is wrong in the last line makes a torn end.
        assert!(n_refused > 2 * n_torn && n_torn > 100, "{n_refused} {n_torn}");
    }

    #[test]
    fn a_journal_without_checksums_is_read_and_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let records = sample::records();
        write(&path, &records[..3]);
        let old = sample::without_checksums(&std::fs::read_to_string(&path).unwrap());
        assert!(!old.contains("\"crc\""));
        std::fs::write(&path, &old).unwrap();
        assert_eq!(read(&path).unwrap(), records[..3]);
        let (mut writer, recovered) = JournalWriter::resume(&path, &sample::header(true)).unwrap();
        assert_eq!((recovered.n_records, recovered.torn), (3, Torn::default()));
        records[3..6].iter().for_each(|record| writer.append(record).unwrap());
        drop(writer);
        assert_eq!(read(&path).unwrap(), records[..6]);
        // The lines that have a checksum are held to it.
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[4] = lines[4].replace("\"reward\":100", "\"reward\":10");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { line: 5, .. }), "{error}");
    }

    #[test]
    fn a_changed_header_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..1]);
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = text.replacen("\"timings\":true", "\"timings\":false", 1);
        for changed in [changed, text.replacen("\"crc\"", "\"crd\"", 1)] {
            assert_ne!(changed, text);
            std::fs::write(&path, changed).unwrap();
            let error = Journal::open(&path).unwrap_err();
            assert!(matches!(error, JournalError::DamagedHeader { .. }), "{error}");
            let resumed = JournalWriter::resume(&path, &sample::header(true));
            assert!(matches!(resumed, Err(JournalError::DamagedHeader { .. })));
        }
    }

    #[test]
    fn a_damaged_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        write(&path, &sample::records()[..3]);
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let third = lines[2].clone();
        // Also beyond the fields that say which job it is.
        for key in ["seats", "steps"] {
            lines[2] = third.replace(&format!("\"{key}\""), &format!("{key}\""));
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            let errors = [
                read(&path).unwrap_err(),
                JournalWriter::resume(&path, &sample::header(true)).unwrap_err(),
                Journal::open(&path).unwrap().index().unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, JournalError::Damaged { line: 3, .. }), "{error}");
            }
        }
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

        std::fs::write(&path, "{\"format_version\":3,\"new\":true}\n").unwrap();
        let newer = Journal::open(&path);
        assert!(matches!(newer, Err(JournalError::NewerFormat { found: 3, .. })));
        for text in ["hello\n", "{}\n", "{\"format_version\":1}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Journal::open(&path), Err(JournalError::NoHeader { .. })));
            let resumed = JournalWriter::resume(&path, &header);
            assert!(matches!(resumed, Err(JournalError::NoHeader { .. })));
        }
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
        let aborted = || Ending::interrupted();
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
