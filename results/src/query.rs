//! SQL queries of a run, executed by polars.
//!
//! ```text
//! SQL -> plan -> the columns it reads -> journal -> Answer
//! ```
//!
//! The tables are `matches` and `moves`, with the columns of the files of those
//! names (`results/README.md`), and are computed from the journal. Of each only
//! the columns that the plan asks for are ever in memory. The dialect is that of
//! polars' SQL context; nothing in it reads or writes a file.

mod answer;
mod columns;
mod questions;
mod scan;

use std::path::Path;
use std::sync::Arc;

use polars::prelude::{LazyFrame, PolarsError};
use polars::sql::SQLContext;

use crate::files;
use crate::journal::{Journal, JournalError};
use scan::{Failed, JournalScan, Rows};

pub use answer::{Answer, AnswerFormat, Value};
pub use questions::{QUESTIONS, Question};
pub use scan::{TABLES, TableSchema};

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A statement that is not a query.
    #[error("a query must begin with SELECT or WITH, not `{statement}`")]
    NotSelect {
        /// Its first word.
        statement: String,
    },
    /// A table that is not there.
    #[error("unknown table `{table}`; expected {}", TABLES.map(|table| table.name).join(" or "))]
    UnknownTable {
        /// Its name.
        table: String,
    },
    /// A column that is not there.
    #[error("unknown column `{column}`")]
    UnknownColumn {
        /// Its name.
        column: String,
    },
    /// The SQL cannot be understood, or not be carried out.
    #[error("invalid SQL: {message}")]
    Sql {
        /// What is wrong with it.
        message: String,
    },
}

impl From<PolarsError> for QueryError {
    fn from(error: PolarsError) -> Self {
        // Polars adds the plan so far after an empty line.
        let message = error.to_string();
        let first = message.split("\n\n").next().unwrap_or_default();
        in_our_words(first.trim())
    }
}

/// What polars says; only its text says what is unknown.
fn in_our_words(message: &str) -> QueryError {
    let between = |before: &str, after: &str| {
        let rest = message.split_once(before)?.1;
        Some(rest.split_once(after)?.0.to_owned())
    };
    if let Some(table) = between("relation '", "' was not found") {
        return QueryError::UnknownTable { table };
    }
    if let Some(column) = between("unable to find column \"", "\"") {
        return QueryError::UnknownColumn { column };
    }
    let words = [("sql parser error: ", ""), ("Expected: ", "expected "), ("Line: ", "line ")];
    let words = words.iter().fold(message.to_owned(), |text, (old, new)| text.replace(old, new));
    QueryError::Sql { message: words.replace("Column: ", "column ") }
}

/// The first word of a statement that is not a query.
fn refused(sql: &str) -> Option<String> {
    let words = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
    let mut words = words.flat_map(str::split_whitespace);
    let word: String = words.next()?.chars().take_while(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_uppercase();
    REFUSED.contains(&word.as_str()).then_some(word)
}

/// Statements of the dialect that do not read a table.
const REFUSED: [&str; 10] = [
    "ALTER", "CREATE", "DELETE", "DROP", "EXPLAIN", "INSERT", "MERGE", "REPLACE", "TRUNCATE",
    "UPDATE",
];

/// Answers `sql` from the journal of the run in folder `run`.
///
/// # Errors
/// If the journal cannot be read, or the SQL cannot be answered.
///
/// # Examples
/// ```
/// use results::query::{AnswerFormat, query};
///
/// # let run = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/run"));
/// let sql = "SELECT player, SUM(reward) AS sum FROM matches GROUP BY player ORDER BY player";
/// let answer = query(run, sql)?;
/// let csv = answer.render(AnswerFormat::Csv);
/// assert_eq!(csv.lines().collect::<Vec<_>>(), ["player,sum", "careful,1150", "random,50"]);
/// # Ok::<(), results::query::QueryError>(())
/// ```
pub fn query(run: &Path, sql: &str) -> Result<Answer, QueryError> {
    if let Some(statement) = refused(sql) {
        return Err(QueryError::NotSelect { statement });
    }
    let journal = Journal::open(&run.join(files::JOURNAL))?;
    let timings = journal.header().timings;
    let index = Arc::new(journal.index()?);
    let failed = Failed::default();
    let mut context = SQLContext::new();
    for rows in [Rows::Matches, Rows::Moves] {
        let scan = JournalScan::new(Arc::clone(&index), timings, rows, Arc::clone(&failed));
        context.register(rows.table().name, scan.into_lazy()?);
    }
    let answer = context.execute(sql).and_then(LazyFrame::collect);
    if let Some(error) = failed.lock().expect("no thread panics with it").take() {
        return Err(error.into());
    }
    Ok(Answer::new(&answer?)?)
}

#[cfg(test)]
mod tests;
