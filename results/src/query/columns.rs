//! Rows as columns in memory, of which only those are kept that are wanted.

use polars::prelude::{
    ChunkedBuilder as _, Column, DataFrame, DataType, Float64Type, Int64Type, IntoColumn as _,
    PolarsError, PrimitiveChunkedBuilder, StringChunkedBuilder,
};

use crate::tables::ColumnKind;
use crate::tables::rows::Fields;

/// How a column is held: signed, so that differences may be negative.
pub(super) fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Text => DataType::String,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Real => DataType::Float64,
    }
}

enum Builder {
    Text(StringChunkedBuilder),
    Integer(PrimitiveChunkedBuilder<Int64Type>),
    Real(PrimitiveChunkedBuilder<Float64Type>),
}

/// Takes the rows of one table.
pub(super) struct Columns {
    /// A builder for each column that is wanted, in the table's order.
    builders: Vec<Option<Builder>>,
    /// The next column.
    at: usize,
    n_rows: usize,
}

impl Columns {
    pub(super) fn new(
        columns: &[(&'static str, ColumnKind)],
        wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let builder = |&(name, kind): &(&'static str, ColumnKind)| {
            wanted(name).then(|| match kind {
                ColumnKind::Text => Builder::Text(StringChunkedBuilder::new(name.into(), 0)),
                ColumnKind::Integer => {
                    Builder::Integer(PrimitiveChunkedBuilder::new(name.into(), 0))
                }
                ColumnKind::Real => Builder::Real(PrimitiveChunkedBuilder::new(name.into(), 0)),
            })
        };
        Self { builders: columns.iter().map(builder).collect(), at: 0, n_rows: 0 }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn into_frame(self) -> Result<DataFrame, PolarsError> {
        let column = |builder| match builder {
            Builder::Text(builder) => builder.finish().into_column(),
            Builder::Integer(builder) => builder.finish().into_column(),
            Builder::Real(builder) => builder.finish().into_column(),
        };
        let columns: Vec<Column> = self.builders.into_iter().flatten().map(column).collect();
        DataFrame::new(self.n_rows, columns)
    }

    fn next(&mut self) -> Option<&mut Builder> {
        let at = self.at;
        self.at += 1;
        self.builders[at].as_mut()
    }

    fn take(&mut self, number: Option<u64>, per_unit: u32) {
        match self.next() {
            None => {}
            Some(Builder::Integer(builder)) => {
                builder
                    .append_option(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)));
            }
            Some(Builder::Real(builder)) => {
                builder.append_option(number.map(|number| number as f64 / f64::from(per_unit)));
            }
            Some(Builder::Text(_)) => unreachable!("a column of text takes text"),
        }
    }
}

impl Fields for Columns {
    type Error = PolarsError;
    type Place = ();

    fn text(&mut self, text: &str) -> Result<(), PolarsError> {
        match self.next() {
            None => {}
            Some(Builder::Text(builder)) if text.is_empty() => builder.append_null(),
            Some(Builder::Text(builder)) => builder.append_value(text),
            Some(_) => unreachable!("a column of numbers takes numbers"),
        }
        Ok(())
    }

    fn optional(&mut self, number: Option<u64>) -> Result<(), PolarsError> {
        self.take(number, 1);
        Ok(())
    }

    fn thousandths(&mut self, value: Option<u64>) -> Result<(), PolarsError> {
        self.take(value, 1000);
        Ok(())
    }

    fn tenths(&mut self, value: Option<u64>) -> Result<(), PolarsError> {
        self.take(value, 10);
        Ok(())
    }

    fn repeated(
        &mut self,
        _: &mut Option<()>,
        write: impl FnOnce(&mut Self) -> Result<(), PolarsError>,
    ) -> Result<(), PolarsError> {
        write(self)
    }

    fn end(&mut self) -> Result<(), PolarsError> {
        assert_eq!(self.at, self.builders.len(), "a row has all columns");
        self.at = 0;
        self.n_rows += 1;
        Ok(())
    }
}
