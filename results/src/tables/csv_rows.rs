//! Rows of a CSV file.

use std::convert::Infallible;

use super::rows::Fields;

/// The result of writing a field or a row into memory.
type Written = Result<(), Infallible>;

/// Rows of a CSV file, written field by field. It refuses rows of unequal length.
///
/// These are most of the bytes of a run, and nearly all fields are numbers and short
/// names: each is written where it stands, in a third of the time that the crate `csv`
/// takes. Fields are quoted as it quotes them, which the tests compare.
#[derive(Default)]
pub(super) struct CsvRows {
    bytes: Vec<u8>,
    /// Fields of the row at hand.
    n_fields: usize,
    /// Fields of each row before it; 0 if there is none.
    width: usize,
}

impl CsvRows {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Begins a field.
    #[inline]
    fn separate(&mut self) {
        if self.n_fields > 0 {
            self.bytes.push(b',');
        }
        self.n_fields += 1;
    }

    #[inline]
    fn digits(&mut self, number: u64) {
        self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

impl Fields for CsvRows {
    type Error = Infallible;

    #[inline]
    fn text(&mut self, text: &str) -> Written {
        self.separate();
        // All bytes are looked at together, which takes fewer instructions than to
        // stop at the first.
        let special = |byte: &u8| matches!(byte, b'"' | b',' | b'\r' | b'\n');
        if text.as_bytes().iter().fold(false, |found, byte| found | special(byte)) {
            self.bytes.push(b'"');
            self.bytes.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
        Ok(())
    }

    #[inline]
    fn optional(&mut self, number: Option<u64>) -> Written {
        self.separate();
        if let Some(number) = number {
            self.digits(number);
        }
        Ok(())
    }

    fn thousandths(&mut self, value: Option<u64>) -> Written {
        self.separate();
        if let Some(value) = value {
            self.digits(value / 1000);
            let rest = value % 1000;
            let digit = |unit: u64| b'0' + (rest / unit % 10) as u8;
            self.bytes.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
        }
        Ok(())
    }

    fn tenths(&mut self, value: Option<u64>) -> Written {
        self.separate();
        if let Some(value) = value {
            self.digits(value / 10);
            self.bytes.extend_from_slice(&[b'.', b'0' + (value % 10) as u8]);
        }
        Ok(())
    }

    fn end(&mut self) -> Written {
        assert!(self.width == 0 || self.n_fields == self.width, "rows have equal lengths");
        (self.width, self.n_fields) = (self.n_fields, 0);
        self.bytes.extend_from_slice(b"\r\n");
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
