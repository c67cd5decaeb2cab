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

mod error;
mod reader;
mod writer;

pub use error::JournalError;
pub use reader::Journal;
pub use writer::{JobState, JournalWriter, Recovered, rewrite};

pub(crate) use error::read_error;
pub(crate) use reader::{READ_BUFFER, line_number};
pub(crate) use writer::sync_folder;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::record::{Ending, Header, MatchRecord};
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
