//! Rows of a CSV file.

use std::convert::Infallible;
use std::ops::Range;

use super::rows::Fields;

/// The result of writing a field or a row into memory.
type Written = Result<(), Infallible>;

/// Rows of a CSV file, written field by field. It panics at rows of unequal length.
///
/// They are most of the bytes of a run, and most of their fields are short, empty, or those
/// of the row before: the crate `csv`, which writes all of them byte by byte, takes several
/// times as long. Fields are quoted as it quotes them, which the tests compare.
#[derive(Default)]
pub(super) struct CsvRows {
    bytes: Vec<u8>,
    /// Fields of the row at hand, each of them with a comma after it.
    n_fields: usize,
    /// Fields of each row before it; 0 if there is none.
    width: usize,
}

/// Fields that were written: where they are, and how many.
type Place = (Range<usize>, usize);

impl CsvRows {
    /// With room for this number of bytes.
    pub(super) fn with_capacity(n_bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(n_bytes), ..Self::default() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    #[inline]
    fn end_field(&mut self) -> Written {
        self.bytes.push(b',');
        self.n_fields += 1;
        Ok(())
    }

    #[inline]
    fn digits(&mut self, number: u64) {
        match u8::try_from(number) {
            Ok(number @ 0..10) => self.bytes.push(b'0' + number),
            _ => self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        }
    }

    /// A number of units, each divided into `10^digits` parts.
    fn fraction(&mut self, parts: Option<u64>, digits: u32) -> Written {
        if let Some(parts) = parts {
            self.digits(parts / 10_u64.pow(digits));
            self.bytes.push(b'.');
            let digit = |at| b'0' + (parts / 10_u64.pow(at) % 10) as u8;
            self.bytes.extend((0..digits).rev().map(digit));
        }
        self.end_field()
    }
}

impl Fields for CsvRows {
    type Error = Infallible;
    type Place = Place;

    #[inline]
    fn text(&mut self, text: &str) -> Written {
        // All bytes are looked at together, which is faster than to stop at the first.
        let special = |byte: &u8| matches!(byte, b'"' | b',' | b'\r' | b'\n');
        if text.as_bytes().iter().fold(false, |found, byte| found | special(byte)) {
            self.bytes.push(b'"');
            self.bytes.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
        self.end_field()
    }

    #[inline]
    fn optional(&mut self, number: Option<u64>) -> Written {
        if let Some(number) = number {
            self.digits(number);
        }
        self.end_field()
    }

    fn thousandths(&mut self, value: Option<u64>) -> Written {
        self.fraction(value, 3)
    }

    fn tenths(&mut self, value: Option<u64>) -> Written {
        self.fraction(value, 1)
    }

    #[inline]
    fn repeated(
        &mut self,
        place: &mut Option<Place>,
        write: impl FnOnce(&mut Self) -> Written,
    ) -> Written {
        match place {
            Some((bytes, n_fields)) => {
                self.bytes.extend_from_within(bytes.clone());
                self.n_fields += *n_fields;
            }
            None => {
                let (begin, n_before) = (self.bytes.len(), self.n_fields);
                let Ok(()) = write(self);
                *place = Some((begin..self.bytes.len(), self.n_fields - n_before));
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Written {
        assert!(self.width == 0 || self.n_fields == self.width, "rows have equal lengths");
        (self.width, self.n_fields) = (self.n_fields, 0);
        self.bytes.pop();
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
                let mut place = None;
                for _ in 0..2 {
                    let again = |rows: &mut CsvRows| {
                        rows.text(text)?;
                        rows.optional(*number)
                    };
                    rows_here.repeated(&mut place, again).unwrap();
                }
                rows_here.thousandths(*number).unwrap();
                rows_here.tenths(*number).unwrap();
                rows_here.end().unwrap();
                let number = |unit: u64, digits: usize| number.map_or_else(String::new, |number| {
                    match digits {
                        0 => number.to_string(),
                        _ => format!("{}.{:0digits$}", number / unit, number % unit),
                    }
                });
                let [text, number, thousandths, tenths] =
                    [text.clone(), number(1, 0), number(1000, 3), number(10, 1)];
                writer
                    .write_record([&text, &number, &text, &number, &thousandths, &tenths])
                    .unwrap();
            }
            prop_assert_eq!(rows_here.into_bytes(), writer.into_inner().unwrap());
        }
    }
}
