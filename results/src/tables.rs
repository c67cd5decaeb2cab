//! `matches.csv` and `moves.csv`: the journal as tables, in the order of the
//! schedule. `results/README.md` says what each column holds.
//!
//! Both are pure functions of the journal. Where its header says that times are
//! no part of the tables, all that depends on the clock or on how the run was
//! carried out is left empty, so that equal runs give equal bytes.

mod csv_rows;
pub(crate) mod rows;

use std::path::Path;

use crate::atomic_file::{FillError, WriteError, write_whole};
use crate::evidence::Evidence;
use crate::files;
use crate::journal::{Journal, JournalError};
use csv_rows::CsvRows;
use rows::{Fields as _, Scratch, write_match, write_moves};

use ColumnKind::{Integer, Real, Text};

/// What the fields of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text; an empty one stands for no value.
    Text,
    /// Whole numbers from 0.
    Integer,
    /// Numbers with a fraction.
    Real,
}

/// Columns of `matches.csv`, in their order.
pub const MATCH_COLUMNS: [(&str, ColumnKind); 55] = [
    ("job", Integer),
    ("job_id", Text),
    ("block", Integer),
    ("lap", Integer),
    ("stage", Integer),
    ("round", Integer),
    ("extra_lap", Integer),
    ("rotation", Integer),
    ("game", Text),
    ("game_hash", Text),
    ("seed", Text),
    ("match_id", Text),
    ("role_index", Integer),
    ("role", Text),
    ("player", Text),
    ("player_hash", Text),
    ("start_clock_ms", Integer),
    ("play_clock_ms", Integer),
    ("budget_kind", Text),
    ("budget_nodes", Integer),
    ("player_start_clock_ms", Integer),
    ("player_play_clock_ms", Integer),
    ("player_budget_nodes", Integer),
    ("reward", Integer),
    ("rank_in_match", Integer),
    ("ending", Text),
    ("ending_reason", Text),
    ("goal_flag", Text),
    ("n_steps", Integer),
    ("n_decisions", Integer),
    ("n_choices", Integer),
    ("n_late_start", Integer),
    ("n_late_move", Integer),
    ("n_illegal_move", Integer),
    ("n_unreadable", Integer),
    ("n_crashed", Integer),
    ("n_unreachable", Integer),
    ("n_substituted", Integer),
    ("nodes", Integer),
    ("start_nodes", Integer),
    ("start_value", Real),
    ("start_depth", Integer),
    ("start_line", Text),
    ("attempt", Integer),
    ("concurrency", Integer),
    ("started_at", Text),
    ("duration_ms", Real),
    ("ready_ms", Real),
    ("think_ms_total", Real),
    ("think_ms_p50", Real),
    ("think_ms_p95", Real),
    ("think_ms_max", Real),
    ("cpu_ms", Real),
    ("overrun_ms_max", Real),
    ("harness_us_per_step", Real),
];

/// Columns of `moves.csv`, in their order.
pub const MOVE_COLUMNS: [(&str, ColumnKind); 20] = [
    ("job", Integer),
    ("job_id", Text),
    ("match_id", Text),
    ("game", Text),
    ("step", Integer),
    ("role_index", Integer),
    ("role", Text),
    ("player", Text),
    ("n_legal", Integer),
    ("move", Text),
    ("fault", Text),
    ("submitted", Text),
    ("nodes", Integer),
    ("value", Real),
    ("depth", Integer),
    ("line", Text),
    ("think_us", Integer),
    ("cpu_us", Integer),
    ("connect_us", Integer),
    ("overrun_us", Integer),
];

/// Why tables cannot be written. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A table cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes `matches.csv` and `moves.csv` of the run in folder `run`. A job with
/// several attempts has the rows of the one that counts.
///
/// # Errors
/// If the journal cannot be read or a table cannot be written. Tables that were
/// there before are then left as they were.
pub fn write_tables(run: &Path) -> Result<(), TableError> {
    write_gathering(run, true).map(drop)
}

/// As [`write_tables`], or `matches.csv` alone if not `with_moves`: a row for each
/// decision is most of the bytes. Gathers on the way what the standings need.
pub(crate) fn write_gathering(run: &Path, with_moves: bool) -> Result<Evidence, TableError> {
    write_whole(&run.join(files::MATCHES), |matches| {
        matches.write_all(&heading(&MATCH_COLUMNS))?;
        if !with_moves {
            return gather(run, false, |rows| Ok(matches.write_all(&rows.matches)?));
        }
        write_whole(&run.join(files::MOVES), |moves| {
            moves.write_all(&heading(&MOVE_COLUMNS))?;
            gather(run, true, |rows| {
                matches.write_all(&rows.matches)?;
                Ok(moves.write_all(&rows.moves)?)
            })
        })
        .map_err(FillError::Other)
    })
}

/// The rows of a part of the journal.
struct PartRows {
    matches: Vec<u8>,
    moves: Vec<u8>,
}

/// Room for the rows of a part, of matches and of moves: enough for short matches, so that
/// they are not copied while they grow. What is not used takes no memory.
const ROOM: [usize; 2] = [2 << 20, 4 << 20];

/// Reads the journal once, and hands the rows of its parts to `take`.
fn gather(
    run: &Path,
    with_moves: bool,
    take: impl FnMut(PartRows) -> Result<(), FillError<TableError>>,
) -> Result<Evidence, FillError<TableError>> {
    let journal = run.join(files::JOURNAL);
    let timings = Journal::open(&journal)?.header().timings;
    Evidence::read_beside(
        &journal,
        |records, evidence| {
            let [mut matches, mut moves] = ROOM.map(CsvRows::with_capacity);
            let mut scratch = Scratch::new(timings);
            while let Some(read) = records.next_whole_row(|row| {
                evidence.add(row)?;
                let Ok(()) = write_match(&mut matches, &mut scratch, row);
                if with_moves {
                    let Ok(()) = write_moves(&mut moves, timings, row);
                }
                Ok(())
            }) {
                read?;
            }
            Ok(PartRows { matches: matches.into_bytes(), moves: moves.into_bytes() })
        },
        take,
    )
}

/// The line of headings.
fn heading(columns: &[(&str, ColumnKind)]) -> Vec<u8> {
    let mut table = CsvRows::default();
    for (column, _) in columns {
        let Ok(()) = table.text(column);
    }
    let Ok(()) = table.end();
    table.into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::journal::JournalWriter;
    use crate::record::{Ending, MatchRecord};
    use crate::sample;

    fn tables(timings: bool, records: &[MatchRecord]) -> [String; 2] {
        let run = sample::run(timings, records);
        write_tables(run.path()).unwrap();
        let read = |name| std::fs::read_to_string(run.path().join(name)).unwrap();
        [read(files::MATCHES), read(files::MOVES)]
    }

    fn few() -> Vec<MatchRecord> {
        let mut records: Vec<_> =
            sample::records().into_iter().filter(|record| record.job % 7 > 4).collect();
        records.push(sample::record_with_chance(36, "alpha", 70));
        records
    }

    #[test]
    fn tables_are_as_before() {
        let [matches, moves] = tables(true, &few());
        insta::assert_snapshot!("matches.csv", matches);
        insta::assert_snapshot!("moves.csv", moves.lines().take(60).collect::<Vec<_>>().join("\n"));
        let [matches, moves] = tables(false, &few());
        insta::assert_snapshot!("matches_without_times.csv", matches);
        let moves = moves.lines().take(60).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!("moves_without_times.csv", moves);
    }

    #[test]
    fn the_order_of_records_does_not_matter() {
        let mut records = few();
        let expected = tables(true, &records);
        records.reverse();
        assert_eq!(tables(true, &records), expected);
        records.swap(0, 3);
        assert_eq!(tables(true, &records), expected);
    }

    #[test]
    fn without_times_nothing_depends_on_how_a_run_was_carried_out() {
        let records = few();
        let expected = tables(false, &records);
        let mut others = vec![];
        for record in &records {
            // Each match was begun before, and broken off.
            let ending = Ending::interrupted();
            others.push(MatchRecord { ending, ..record.clone() });
        }
        for record in &records {
            let mut record = sample::at_other_times(record);
            record.attempt = 2;
            others.push(record);
        }
        assert_eq!(tables(false, &others), expected);
        assert_ne!(tables(true, &others), tables(true, &records));
    }

    #[test]
    fn what_the_start_clock_was_used_for_is_a_part_of_the_match() {
        let mut record = sample::record(0, "game", ["alpha", "beta"], [100, 0]);
        let start = &mut record.seats[0].start;
        (start.nodes, start.value_tenths, start.depth) = (Some(85), Some(505), Some(3));
        start.line = vec!["(take 1)".into(), "(take 2)".into()];
        let [matches, _] = tables(false, &[record]);
        let rows: Vec<&str> = matches.lines().collect();
        assert!(rows[0].contains(",nodes,start_nodes,start_value,start_depth,start_line,"));
        assert!(rows[1].contains(",885,85,50.5,3,(take 1); (take 2),"), "{}", rows[1]);
        assert!(rows[2].contains(",800,,,,,"), "{}", rows[2]);
    }

    #[test]
    fn fields_with_quotes_and_line_feeds_survive() {
        let mut record = sample::record(0, "a \"game\"", ["al,pha", "be\nta"], [100, 0]);
        record.steps.truncate(1);
        record.steps[0][0].executed = "(say \"x,\ny\")".into();
        let [matches, moves] = tables(true, &[record]);
        let column = |text: &str, name: &str| -> Vec<String> {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let index = reader.headers().unwrap().iter().position(|column| column == name);
            let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            records.iter().map(|record| record[index.unwrap()].to_owned()).collect()
        };
        assert_eq!(column(&matches, "game"), ["a \"game\""; 2]);
        assert_eq!(column(&matches, "player"), ["al,pha", "be\nta"]);
        assert_eq!(column(&moves, "move"), ["(say \"x,\ny\")", "noop"]);
    }

    #[test]
    fn tables_of_an_empty_run_have_their_headings() {
        let [matches, moves] = tables(true, &[]);
        let names = |columns: &[(&str, ColumnKind)]| {
            columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\r\n"
        };
        assert_eq!(matches, names(&MATCH_COLUMNS));
        assert_eq!(moves, names(&MOVE_COLUMNS));
    }

    #[test]
    fn a_half_written_journal_has_tables_of_what_is_whole() {
        let records = few();
        let run = sample::run(true, &records);
        let journal = run.path().join(files::JOURNAL);
        let text = std::fs::read(&journal).unwrap();
        std::fs::write(&journal, &text[..text.len() - 9]).unwrap();
        write_tables(run.path()).unwrap();
        let matches = std::fs::read_to_string(run.path().join(files::MATCHES)).unwrap();
        assert_eq!(matches, tables(true, &records[..records.len() - 1])[0]);
    }

    #[test]
    fn failing_leaves_no_file_behind() {
        let run = sample::run(true, &few());
        let journal = run.path().join(files::JOURNAL);
        let text = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, text.replacen("\"steps\"", "steps\"", 1)).unwrap();
        assert!(matches!(write_tables(run.path()), Err(TableError::Journal(_))));
        assert_eq!(std::fs::read_dir(run.path()).unwrap().count(), 1);

        let folder = tempfile::tempdir().unwrap();
        drop(JournalWriter::create(&folder.path().join(files::JOURNAL), &sample::header(true)));
        std::fs::create_dir(folder.path().join(files::MATCHES)).unwrap();
        assert!(matches!(write_tables(folder.path()), Err(TableError::Write(_))));
    }

    #[test]
    fn every_column_is_documented() {
        let text = include_str!("../README.md");
        let documented: BTreeSet<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name)
            .collect();
        for (column, _) in MATCH_COLUMNS.iter().chain(&MOVE_COLUMNS) {
            assert!(documented.contains(column), "{column} is missing in README.md");
        }
    }
}
