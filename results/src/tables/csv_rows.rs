//! Rows of a CSV file.

use std::fmt::Write as _;

use super::TableError;
use super::rows::Fields;
use crate::atomic_file::FillError;

/// The result of writing a field or a row.
pub(super) type Written = Result<(), FillError<TableError>>;

/// Rows of a CSV file, written field by field. It refuses rows of unequal length.
pub(super) struct CsvRows {
    writer: csv::Writer<Vec<u8>>,
    /// The field at hand.
    text: String,
}

impl CsvRows {
    pub(super) fn new() -> Self {
        let terminator = csv::Terminator::CRLF;
        let writer = csv::WriterBuilder::new().terminator(terminator).from_writer(vec![]);
        Self { writer, text: String::new() }
    }

    pub(super) fn into_bytes(self) -> Result<Vec<u8>, FillError<TableError>> {
        Ok(self.writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
    }

    fn formatted(&mut self, value: Option<std::fmt::Arguments<'_>>) -> Written {
        self.text.clear();
        if let Some(value) = value {
            self.text.write_fmt(value).expect("a string takes all text");
        }
        Ok(self.writer.write_field(&self.text)?)
    }
}

impl Fields for CsvRows {
    type Error = FillError<TableError>;

    fn text(&mut self, text: &str) -> Written {
        Ok(self.writer.write_field(text)?)
    }

    fn optional(&mut self, number: Option<u64>) -> Written {
        match number {
            Some(number) => self.formatted(Some(format_args!("{number}"))),
            None => self.formatted(None),
        }
    }

    fn thousandths(&mut self, value: Option<u64>) -> Written {
        match value {
            Some(value) => {
                self.formatted(Some(format_args!("{}.{:03}", value / 1000, value % 1000)))
            }
            None => self.formatted(None),
        }
    }

    fn tenths(&mut self, value: Option<u64>) -> Written {
        match value {
            Some(value) => self.formatted(Some(format_args!("{}.{}", value / 10, value % 10))),
            None => self.formatted(None),
        }
    }

    fn end(&mut self) -> Written {
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }
}
