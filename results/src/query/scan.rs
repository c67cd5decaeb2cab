//! The journal as tables that polars reads when a plan asks for them.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use polars::prelude::{
    AnonymousScan, AnonymousScanArgs, DataFrame, Field, LazyFrame, PolarsError, PolarsResult,
    ScanArgsAnonymous, Schema, SchemaRef,
};

use super::columns::{Columns, data_type};
use crate::journal::{Index, JournalError};
use crate::tables::rows::{Scratch, write_match, write_moves};
use crate::tables::{ColumnKind, MATCH_COLUMNS, MOVE_COLUMNS};

/// A table that can be asked.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// Its name in SQL.
    pub name: &'static str,
    /// What a row stands for; fits after "a row for each".
    pub row: &'static str,
    /// Its columns.
    pub columns: &'static [(&'static str, ColumnKind)],
}

/// All tables.
pub const TABLES: [TableSchema; 2] = [
    TableSchema { name: "matches", row: "role of each match", columns: &MATCH_COLUMNS },
    TableSchema { name: "moves", row: "decision of each role", columns: &MOVE_COLUMNS },
];

/// Which rows a record has in a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows {
    Matches,
    Moves,
}

impl Rows {
    pub(super) fn table(self) -> TableSchema {
        TABLES[self as usize]
    }
}

/// Where a journal's error waits while polars carries its own.
pub(super) type Failed = Arc<Mutex<Option<JournalError>>>;

/// One table of a run.
pub(super) struct JournalScan {
    index: Arc<Index>,
    timings: bool,
    rows: Rows,
    failed: Failed,
}

impl JournalScan {
    pub(super) fn new(index: Arc<Index>, timings: bool, rows: Rows, failed: Failed) -> Self {
        Self { index, timings, rows, failed }
    }

    pub(super) fn into_lazy(self) -> PolarsResult<LazyFrame> {
        let name = self.rows.table().name;
        LazyFrame::anonymous_scan(Arc::new(self), ScanArgsAnonymous { name, ..Default::default() })
    }

    /// The columns of these names, and no more rows than are needed.
    fn read(&self, wanted: &BTreeSet<&str>, n_rows: usize) -> Result<DataFrame, ReadError> {
        let columns = || Columns::new(self.rows.table().columns, |name| wanted.contains(name));
        let mut whole = columns().into_frame()?;
        let read = self.index.render(
            |records| {
                let (mut columns, mut scratch) = (columns(), Scratch::new(self.timings));
                while columns.n_rows() < n_rows
                    && let Some(read) = records.next_whole_row(|row| {
                        Ok(match self.rows {
                            Rows::Matches => write_match(&mut columns, &mut scratch, row),
                            Rows::Moves => write_moves(&mut columns, self.timings, row),
                        })
                    })
                {
                    read??;
                }
                Ok(columns.into_frame()?)
            },
            |part| {
                whole.vstack_mut_owned(part)?;
                if whole.height() >= n_rows { Err(ReadError::Enough) } else { Ok(()) }
            },
        );
        match read {
            Ok(()) | Err(ReadError::Enough) => Ok(whole.head(Some(n_rows))),
            Err(error) => Err(error),
        }
    }
}

/// Why reading ended.
enum ReadError {
    /// There are as many rows as are needed.
    Enough,
    Journal(JournalError),
    Polars(PolarsError),
}

impl From<JournalError> for ReadError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<PolarsError> for ReadError {
    fn from(error: PolarsError) -> Self {
        Self::Polars(error)
    }
}

impl AnonymousScan for JournalScan {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self, _: Option<usize>) -> PolarsResult<SchemaRef> {
        let field =
            |&(name, kind): &(&'static str, ColumnKind)| Field::new(name.into(), data_type(kind));
        Ok(Arc::new(self.rows.table().columns.iter().map(field).collect::<Schema>()))
    }

    fn allows_projection_pushdown(&self) -> bool {
        true
    }

    fn scan(&self, asked: AnonymousScanArgs) -> PolarsResult<DataFrame> {
        let all = self.rows.table().columns.iter().map(|(name, _)| *name);
        let wanted: BTreeSet<&str> = match &asked.with_columns {
            Some(names) => names.iter().map(|name| name.as_str()).collect(),
            None => all.collect(),
        };
        match self.read(&wanted, asked.n_rows.unwrap_or(usize::MAX)) {
            // The order of the columns is that of the question.
            Ok(frame) => match &asked.with_columns {
                Some(names) => frame.select(names.iter().cloned()),
                None => Ok(frame),
            },
            Err(ReadError::Polars(error)) => Err(error),
            Err(ReadError::Enough) => unreachable!("reading takes it for success"),
            Err(ReadError::Journal(error)) => {
                let text = error.to_string();
                *self.failed.lock().expect("no thread panics with it") = Some(error);
                Err(PolarsError::ComputeError(text.into()))
            }
        }
    }
}
