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

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The SQL cannot be understood, or not be carried out.
    #[error("the SQL cannot be answered: {message}")]
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
        Self::Sql { message: first.trim().to_owned() }
    }
}

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
    if let Some(error) = failed.lock().expect("nobody panics with it").take() {
        return Err(error.into());
    }
    Ok(Answer::new(&answer?)?)
}

#[cfg(test)]
mod tests;
