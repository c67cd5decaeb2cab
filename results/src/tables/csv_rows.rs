//! Rows of a CSV file.

use std::convert::Infallible;

use super::rows::Fields;

/// The result of writing a field or a row into memory.
type Written = Result<(), Infallible>;

/// Rows of a CSV file, written field by field. It panics at rows of unequal length.
pub(super) struct CsvRows {
    writer: csv::Writer<Vec<u8>>,
    /// The number at hand.
    text: Vec<u8>,
}

impl Default for CsvRows {
    fn default() -> Self {
        let terminator = csv::Terminator::CRLF;
        let writer = csv::WriterBuilder::new().terminator(terminator).from_writer(vec![]);
        Self { writer, text: vec![] }
    }
}

impl CsvRows {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.writer.into_inner().expect("memory takes all bytes")
    }

    #[inline]
    fn field(&mut self, field: &[u8]) -> Written {
        self.writer.write_field(field).expect("memory takes all fields");
        Ok(())
    }

    /// A number of units, each divided into `10^digits` parts.
    fn fraction(&mut self, parts: Option<u64>, digits: u32) -> Written {
        self.text.clear();
        if let Some(parts) = parts {
            let whole = parts / 10_u64.pow(digits);
            self.text.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
            self.text.push(b'.');
            let digit = |at| b'0' + (parts / 10_u64.pow(at) % 10) as u8;
            self.text.extend((0..digits).rev().map(digit));
        }
        self.writer.write_field(&self.text).expect("memory takes all fields");
        Ok(())
    }
}

impl Fields for CsvRows {
    type Error = Infallible;

    #[inline]
    fn text(&mut self, text: &str) -> Written {
        self.field(text.as_bytes())
    }

    #[inline]
    fn optional(&mut self, number: Option<u64>) -> Written {
        match number {
            Some(number) => self.field(itoa::Buffer::new().format(number).as_bytes()),
            None => self.field(b""),
        }
    }

    fn thousandths(&mut self, value: Option<u64>) -> Written {
        self.fraction(value, 3)
    }

    fn tenths(&mut self, value: Option<u64>) -> Written {
        self.fraction(value, 1)
    }

    fn end(&mut self) -> Written {
        self.writer.write_record(None::<&[u8]>).expect("rows have equal lengths");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_are_written_as_the_crate_csv_writes_them(
            rows in proptest::collection::vec(("[a-c\",;\r\n ']{0,4}", any::<Option<u64>>()), 0..5)
        ) {
            let mut rows_here = CsvRows::default();
            let terminator = csv::Terminator::CRLF;
            let mut writer = csv::WriterBuilder::new().terminator(terminator).from_writer(vec![]);
            for (text, number) in &rows {
                rows_here.text(text).unwrap();
                rows_here.optional(*number).unwrap();
                rows_here.thousandths(*number).unwrap();
                rows_here.tenths(*number).unwrap();
                rows_here.end().unwrap();
                let number = |unit: u64, digits: usize| number.map_or_else(String::new, |number| {
                    match digits {
                        0 => number.to_string(),
                        _ => format!("{}.{:0digits$}", number / unit, number % unit),
                    }
                });
                writer
                    .write_record([text.clone(), number(1, 0), number(1000, 3), number(10, 1)])
                    .unwrap();
            }
            prop_assert_eq!(rows_here.into_bytes(), writer.into_inner().unwrap());
        }
    }
}
