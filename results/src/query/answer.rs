//! The answer to a query, as values and as text.

use comfy_table::{CellAlignment, Table, presets};
use polars::prelude::{AnyValue, DataFrame, PolarsError};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use crate::report::push_markdown_row;

/// The rows that answer a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Whether the values of a column are numbers.
    numeric: Vec<bool>,
    /// The rows, each with a value for each column.
    pub rows: Vec<Vec<Value>>,
}

/// One value of an [`Answer`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// A number with a fraction; finite, or [`Value::Null`].
    Real(f64),
    /// Text, and everything else that is written as text: dates, durations.
    Text(String),
    /// Several values, as an aggregate without a function gives.
    List(Vec<Value>),
}

/// How an [`Answer`] is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// A table for a terminal; fractions with at most four digits.
    Table,
    /// CSV as in RFC 4180; what there is no value for is empty.
    Csv,
    /// An array with an object for each row.
    Json,
    /// A table in Markdown, numbers as in [`Self::Table`].
    Md,
}

impl Answer {
    pub(super) fn new(frame: &DataFrame) -> Result<Self, PolarsError> {
        let columns = frame.columns();
        let mut rows = Vec::with_capacity(frame.height());
        for row in 0..frame.height() {
            let values = columns.iter().map(|column| Ok(value(column.get(row)?)));
            rows.push(values.collect::<Result<_, PolarsError>>()?);
        }
        Ok(Self {
            columns: columns.iter().map(|column| column.name().to_string()).collect(),
            numeric: columns.iter().map(|column| column.dtype().is_numeric()).collect(),
            rows,
        })
    }

    /// The answer as text that ends with a line feed.
    #[must_use]
    pub fn render(&self, format: AnswerFormat) -> String {
        match format {
            AnswerFormat::Table => self.table(),
            AnswerFormat::Md => self.markdown(),
            AnswerFormat::Csv => self.csv(),
            AnswerFormat::Json => {
                serde_json::to_string_pretty(self).expect("values are representable") + "\n"
            }
        }
    }

    /// As wide as it is: what breaks its lines cannot be cut, sorted or searched.
    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(&self.columns).add_rows(self.shown());
        for (column, _) in
            table.column_iter_mut().zip(&self.numeric).filter(|(_, is_numeric)| **is_numeric)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        push_markdown_row(&mut text, &self.columns);
        let rules = self.numeric.iter().map(|numeric| if *numeric { " ---: |" } else { " --- |" });
        text.extend(["|"].into_iter().chain(rules).chain(["\n"]));
        self.shown().iter().for_each(|row| push_markdown_row(&mut text, row));
        text
    }

    /// The cells as people read them.
    fn shown(&self) -> Vec<Vec<String>> {
        let cell = |value: &Value| match value {
            Value::Null => "-".to_owned(),
            Value::Real(number) => short(*number),
            // A line of the table is a row.
            other => other.text().replace(['\n', '\r'], " "),
        };
        self.rows.iter().map(|row| row.iter().map(cell).collect()).collect()
    }

    fn csv(&self) -> String {
        let terminator = csv::Terminator::CRLF;
        let mut writer = csv::WriterBuilder::new().terminator(terminator).from_writer(vec![]);
        writer.write_record(&self.columns).expect("memory takes all rows");
        for row in &self.rows {
            let row = row.iter().map(Value::text);
            writer.write_record(row).expect("memory takes all rows");
        }
        let bytes = writer.into_inner().expect("memory takes all rows");
        String::from_utf8(bytes).expect("fields are text")
    }
}

/// At most four digits after the point, and none that are zeros at the end.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn value(value_of: AnyValue<'_>) -> Value {
    match value_of {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(truth) => Value::Boolean(truth),
        AnyValue::String(text) => Value::Text(text.to_owned()),
        AnyValue::StringOwned(text) => Value::Text(text.to_string()),
        AnyValue::Float32(number) => real(f64::from(number)),
        AnyValue::Float64(number) => real(number),
        AnyValue::List(series) => Value::List(series.iter().map(value).collect()),
        other => match other.extract::<i128>() {
            Some(number) if other.is_integer() => Value::Integer(number),
            _ => Value::Text(other.to_string()),
        },
    }
}

fn real(number: f64) -> Value {
    if number.is_finite() { Value::Real(number) } else { Value::Null }
}

impl Value {
    /// As a field of CSV: empty without a value, a list with blanks between.
    fn text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Boolean(truth) => truth.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(values) => values.iter().map(Self::text).collect::<Vec<_>>().join(" "),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Boolean(truth) => serializer.serialize_bool(*truth),
            Self::Integer(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.serialize_str(&number.to_string()),
            },
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => values.serialize(serializer),
        }
    }
}

/// A row as an object, in the order of the columns.
struct RowObject<'a>(&'a [String], &'a [Value]);

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter().zip(self.1) {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            rows.serialize_element(&RowObject(&self.columns, row))?;
        }
        rows.end()
    }
}
