//! Questions to small runs, and what their answers are compared with.

use super::*;
use crate::record::MatchRecord;
use crate::sample;
use crate::tables::{MATCH_COLUMNS, write_tables};

fn ask(records: &[MatchRecord], sql: &str) -> Result<Answer, QueryError> {
    query(sample::run(true, records).path(), sql)
}

fn rows(records: &[MatchRecord], sql: &str) -> Vec<Vec<Value>> {
    ask(records, sql).unwrap().rows
}

/// The mean of each player over the records themselves.
#[test]
fn means_are_those_of_the_records() {
    let records = sample::records();
    let found = rows(
        &records,
        "SELECT player, AVG(reward) AS mean, COUNT(reward) AS n FROM matches GROUP BY player ORDER BY player",
    );
    assert_eq!(found.len(), 3);
    for row in found {
        let Value::Text(player) = &row[0] else { panic!("{row:?}") };
        let seats = records.iter().flat_map(|record| &record.seats);
        let rewards: Vec<f64> = seats
            .filter(|seat| seat.player.as_deref() == Some(player))
            .filter_map(|seat| seat.reward.map(f64::from))
            .collect();
        let Value::Real(mean) = row[1] else { panic!("{row:?}") };
        assert!((mean - rewards.iter().sum::<f64>() / rewards.len() as f64).abs() < 1e-9);
        assert_eq!(row[2], Value::Integer(rewards.len() as i128));
    }
}

/// Every column of both tables, cell by cell.
#[test]
fn tables_hold_what_the_files_hold() {
    let mut records = sample::records();
    records.push(sample::record_with_chance(36, "alpha", 70));
    for timings in [true, false] {
        let run = sample::run(timings, &records);
        write_tables(run.path()).unwrap();
        for (table, file) in [("matches", files::MATCHES), ("moves", files::MOVES)] {
            let answer = query(run.path(), &format!("SELECT * FROM {table}")).unwrap();
            let mut reader = csv::Reader::from_path(run.path().join(file)).unwrap();
            assert_eq!(answer.columns, reader.headers().unwrap().iter().collect::<Vec<_>>());
            let expected: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert_eq!(answer.rows.len(), expected.len());
            for (row, expected) in answer.rows.iter().zip(&expected) {
                for (value, field) in row.iter().zip(expected) {
                    let same = match value {
                        Value::Null => field.is_empty(),
                        Value::Real(number) => field.parse() == Ok(*number),
                        Value::Integer(number) => field.parse() == Ok(*number),
                        Value::Text(text) => field == text,
                        _ => false,
                    };
                    assert!(same, "{value:?} is not {field:?}");
                }
            }
        }
    }
}

#[test]
fn every_question_has_an_answer() {
    let mut records = sample::records();
    records.push(sample::record_with_chance(36, "alpha", 70));
    records[0].seats[0].start.fault = Some(crate::record::FaultKind::LateStart);
    for question in QUESTIONS {
        let answer = ask(&records, question.sql).unwrap();
        assert!(!answer.rows.is_empty(), "{}", question.name);
        insta::assert_snapshot!(
            format!("question_{}", question.name),
            answer.render(AnswerFormat::Table)
        );
    }
}

#[test]
fn only_as_many_rows_are_read_as_are_asked_for() {
    let records = sample::records();
    let first = rows(&records, "SELECT job FROM matches LIMIT 3");
    assert_eq!(first, [[Value::Integer(0)], [Value::Integer(0)], [Value::Integer(1)]]);
    let later = rows(&records, "SELECT job FROM matches LIMIT 2 OFFSET 3");
    assert_eq!(later, [[Value::Integer(1)], [Value::Integer(2)]]);
    assert_eq!(rows(&records, "SELECT COUNT(*) FROM matches WHERE job < 0"), [[Value::Integer(0)]]);
}

#[test]
fn an_empty_run_has_empty_tables() {
    let answer = ask(&[], "SELECT * FROM matches").unwrap();
    assert_eq!((answer.columns.len(), answer.rows.len()), (MATCH_COLUMNS.len(), 0));
}

#[test]
fn differences_may_be_negative() {
    let records = [sample::record(0, "game", ["a", "b"], [0, 100])];
    assert_eq!(
        rows(&records, "SELECT reward - 50 AS x FROM matches ORDER BY role_index"),
        [[Value::Integer(-50)], [Value::Integer(50)]]
    );
}

#[test]
fn an_answer_is_written_in_four_forms() {
    let records = [sample::record(0, "a|b", ["al,pha", "be\nta"], [0, 100])];
    let sql = "SELECT game, player, reward / 3.0 AS third, CASE WHEN reward > 0 THEN reward END AS won FROM matches ORDER BY reward";
    let answer = ask(&records, sql).unwrap();
    let written = [AnswerFormat::Table, AnswerFormat::Csv, AnswerFormat::Json, AnswerFormat::Md]
        .map(|format| answer.render(format));
    insta::assert_snapshot!("four_forms", written.join("----\n"));
}

#[test]
fn bad_sql_is_one_clear_error() {
    let records = sample::records();
    for (sql, expected) in [
        ("SELECT rewrd FROM matches", "unknown column `rewrd`"),
        ("SELEC 1", "SELEC"),
        ("", "one"),
        ("SELECT 1; SELECT 2", "one"),
        ("SELECT * FROM games", "unknown table `games`; expected matches or moves"),
        ("EXPLAIN SELECT 1", "a query must begin with SELECT or WITH, not `EXPLAIN`"),
        ("drop table matches", "a query must begin with SELECT or WITH, not `DROP`"),
        ("SELECT * FROM read_csv('/etc/passwd')", "read_csv"),
    ] {
        let error = ask(&records, sql).unwrap_err();
        let message = error.to_string();
        assert!(!matches!(error, QueryError::Journal(_)), "{message}");
        assert!(message.contains(expected) && !message.contains("\n\n"), "{message}");
    }
}

#[test]
fn a_damaged_journal_is_an_error_of_the_journal() {
    let run = sample::run(true, &sample::records());
    let path = run.path().join(files::JOURNAL);
    let journal = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, journal.replacen("\"steps\"", "steps\"", 1)).unwrap();
    let error = query(run.path(), "SELECT COUNT(game) FROM matches").unwrap_err();
    assert!(matches!(error, QueryError::Journal(_)), "{error}");
}

#[test]
fn names_of_questions_are_unique() {
    let names: std::collections::BTreeSet<_> =
        QUESTIONS.iter().map(|question| question.name).collect();
    assert_eq!(names.len(), QUESTIONS.len());
}
