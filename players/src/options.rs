//! Options of a player: names with typed values, as written in a spec.
//!
//! This module does not know files: the reader of a spec converts its values to
//! [`Value`]s, and each kind of player reads its [`Options`] by its own list of
//! [`OptionSpec`]s.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use bytesize::ByteSize;
use games::Expression;
use games::solve::ValueTable;

use crate::learning::LinearEvaluation;

/// The type and the meaning of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name as written in a spec, such as `depth`.
    pub name: &'static str,
    /// What is accepted, in words: `whole number from 0`, `true or false`, `list of moves`, ...
    pub accepts: &'static str,
    /// The default, as it would be written.
    pub default: &'static str,
    /// One sentence on what it does.
    pub help: &'static str,
}

/// The durations that options may have.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// The text of [`OptionSpec::accepts`] for the path of a table. This crate opens no files: the
/// reader of a spec replaces the path by [`Value::Table`].
pub const TABLE: &str = "the path of a file of `gamemaster solve --out`";

/// The beginning of an option that is the path of a learned evaluation: `learned:FILE`.
/// Whoever reads options replaces it by [`Value::Learned`].
pub const LEARNED: &str = "learned:";

impl OptionSpec {
    /// Whether its value may be a learned evaluation.
    #[must_use]
    pub fn takes_evaluation(&self) -> bool {
        self.accepts.contains("\"learned:FILE\"")
    }

    /// Whether its value is the path of a table.
    #[must_use]
    pub fn is_table(&self) -> bool {
        self.accepts == TABLE
    }
}

/// The option that every kind takes besides its own.
pub const SEED: OptionSpec = OptionSpec {
    name: "seed",
    accepts: "a whole number",
    default: "none",
    help: "Mix this number into the random seed of the match, so that copies of a player draw \
           different random numbers. No effect on players that draw none.",
};

/// A value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// The path and the content of the table of a solved game. Its text names the content
    /// and not the path, so that players with different tables are different players.
    Table(String, Arc<ValueTable>),
    /// A learned evaluation. Its text names the content, too.
    Learned(Arc<LinearEvaluation>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&[&str]> for Value {
    fn from(values: &[&str]) -> Self {
        Self::Texts(values.iter().map(|&value| value.to_owned()).collect())
    }
}

/// As in TOML; numbers with a fraction always show it, so that `1` and `1.0`
/// stay apart.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Table(_, table) => write!(f, "\"solved:{:016x}\"", table.checksum()),
            Self::Learned(evaluation) => {
                write!(f, "\"{LEARNED}{:016x}\"", evaluation.fingerprint())
            }
            Self::Texts(values) => write!(f, "{values:?}"),
        }
    }
}

/// The options of one player, ordered by name.
///
/// ```
/// use players::Options;
///
/// let options = Options::new().with("depth", 4).with("evaluation", "goal");
/// assert_eq!(options.to_string(), r#"depth = 4, evaluation = "goal""#);
///
/// let kind = players::find("random").expect("it is built in");
/// let error = (kind.make)(&options).err().expect("it does not search");
/// assert!(error.to_string().starts_with("`random` has no option `depth`"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    values: BTreeMap<String, Value>,
}

impl Options {
    /// No options: every default holds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These options with `name` set to `value`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets `name` to `value`, replacing an earlier value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.values.insert(name.into(), value.into());
    }

    /// The value of `name`, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// All that is set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A reader of these options for the player `kind`, which takes `specs` and
    /// [`SEED`].
    ///
    /// # Errors
    /// If an option is set that the kind does not have.
    pub fn read<'a>(
        &'a self,
        kind: &'static str,
        specs: &'static [OptionSpec],
    ) -> Result<Reader<'a>, OptionError> {
        let reader = Reader { options: self, kind, specs };
        match self.values.keys().find(|name| !reader.is_known(name)) {
            Some(name) => {
                let (option, near, valid) = (name.clone(), reader.near(name), reader.names());
                Err(OptionError::Unknown { kind, option, near, valid })
            }
            None => Ok(reader),
        }
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self {
            values: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }
}

/// The canonical form: `depth = 4, evaluation = "goal"`, by name. Two sets of
/// options print the same exactly when they are the same, so it may be hashed.
impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.values.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !name.is_empty() && name.chars().all(is_bare) {
                write!(f, "{separator}{name} = {value}")?;
            } else {
                write!(f, "{separator}{name:?} = {value}")?;
            }
        }
        Ok(())
    }
}

/// Why a player could not be made from its options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The kind has no such option.
    #[error("`{kind}` has no option `{option}`{}; expected {valid}", did_you_mean(.near))]
    Unknown {
        /// The kind of player.
        kind: &'static str,
        /// The option as written.
        option: String,
        /// The option that was probably meant.
        near: Option<&'static str>,
        /// The options of the kind, in words.
        valid: String,
    },
    /// The value has the wrong type or lies out of range.
    #[error("invalid option `{option} = {found}` of `{kind}`: expected {accepts}")]
    Refused {
        /// The kind of player.
        kind: &'static str,
        /// The option.
        option: String,
        /// The value as written.
        found: String,
        /// What would be accepted, in words.
        accepts: String,
    },
}

fn did_you_mean(near: &Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

/// Letters to insert, remove or replace to get from one word to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, &theirs) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != theirs);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// Reads typed values. An option that is not set has the default given by the caller,
/// which must be the one in its [`OptionSpec`].
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    options: &'a Options,
    kind: &'static str,
    specs: &'static [OptionSpec],
}

impl Reader<'_> {
    /// A whole number in `range`.
    ///
    /// # Errors
    /// If it is something else.
    pub fn integer(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
        default: i64,
    ) -> Result<i64, OptionError> {
        match self.value(name) {
            None => Ok(default),
            Some(Value::Integer(value)) if range.contains(value) => Ok(*value),
            Some(other) => Err(self.refuse(name, other)),
        }
    }

    /// A number in `range`; a whole number will do.
    ///
    /// # Errors
    /// If it is something else.
    pub fn float(
        &self,
        name: &str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> Result<f64, OptionError> {
        let value = match self.value(name) {
            None => return Ok(default),
            Some(Value::Integer(value)) => *value as f64,
            Some(Value::Float(value)) => *value,
            Some(other) => return Err(self.refuse(name, other)),
        };
        if range.contains(&value) { Ok(value) } else { Err(self.refuse(name, &value.into())) }
    }

    /// True or false.
    ///
    /// # Errors
    /// If it is something else.
    pub fn boolean(&self, name: &str, default: bool) -> Result<bool, OptionError> {
        match self.value(name) {
            None => Ok(default),
            Some(Value::Boolean(value)) => Ok(*value),
            Some(other) => Err(self.refuse(name, other)),
        }
    }

    /// One of the texts in `choices`, as its partner.
    ///
    /// # Errors
    /// If it is something else.
    pub fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, OptionError> {
        let Some(value) = self.value(name) else { return Ok(default) };
        let chosen = match value {
            Value::Text(text) => choices.iter().find(|(choice, _)| choice == text),
            _ => None,
        };
        chosen.map(|&(_, partner)| partner).ok_or_else(|| self.refuse(name, value))
    }

    /// What `read` makes of a text.
    ///
    /// # Errors
    /// If it is no text, or `read` makes nothing of it.
    pub fn read_text<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Option<T>,
        default: T,
    ) -> Result<T, OptionError> {
        let Some(value) = self.value(name) else { return Ok(default) };
        let meaning = match value {
            Value::Text(text) => read(text),
            _ => None,
        };
        meaning.ok_or_else(|| self.refuse(name, value))
    }

    /// An amount of memory in bytes, written as a text such as `512 MiB` or `1GB`, or as a
    /// whole number of bytes; at least `least`.
    ///
    /// # Errors
    /// If it is something else.
    pub fn bytes(&self, name: &str, least: usize, default: usize) -> Result<usize, OptionError> {
        let Some(value) = self.value(name) else { return Ok(default) };
        let bytes = match value {
            Value::Integer(value) => usize::try_from(*value).ok(),
            Value::Text(text) => text.parse().ok().and_then(|ByteSize(n)| usize::try_from(n).ok()),
            _ => None,
        };
        bytes.filter(|&bytes| bytes >= least).ok_or_else(|| self.refuse(name, value))
    }

    /// A duration of a millisecond or more, written as a text such as `30s` or `1m 30s`, if the
    /// option is set.
    ///
    /// # Errors
    /// If it is something else.
    pub fn duration(&self, name: &str) -> Result<Option<Duration>, OptionError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let duration = match value {
            Value::Text(text) => humantime::parse_duration(text).ok(),
            _ => None,
        };
        let is_meant = |duration: &Duration| (SHORTEST..=LONGEST).contains(duration);
        duration.filter(is_meant).map(Some).ok_or_else(|| self.refuse(name, value))
    }

    /// A list of moves, each a text that reads as one term; empty by default.
    ///
    /// # Errors
    /// If it is something else.
    pub fn moves(&self, name: &str) -> Result<Vec<Expression>, OptionError> {
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(value @ Value::Texts(texts)) => texts
                .iter()
                .map(|text| Expression::parse(text).map_err(|_| self.refuse(name, value)))
                .collect(),
            Some(other) => Err(self.refuse(name, other)),
        }
    }

    /// The table of a solved game, if the option is set.
    ///
    /// # Errors
    /// If it is something else, such as the path of a table that nobody read.
    pub fn table(&self, name: &str) -> Result<Option<Arc<ValueTable>>, OptionError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Table(_, table)) => Ok(Some(Arc::clone(table))),
            Some(other) => Err(self.refuse(name, other)),
        }
    }

    /// The learned evaluation, if the option is one.
    #[must_use]
    pub fn learned(&self, name: &str) -> Option<Arc<LinearEvaluation>> {
        match self.value(name) {
            Some(Value::Learned(evaluation)) => Some(Arc::clone(evaluation)),
            _ => None,
        }
    }

    /// No table, for a player whose other options have no use for one.
    ///
    /// # Errors
    /// If the option is set.
    pub fn without_table(&self, name: &str) -> Result<Option<Arc<ValueTable>>, OptionError> {
        match self.value(name) {
            None => Ok(None),
            Some(_) => Err(self.conflict(name, "no table together with the other options")),
        }
    }

    /// The error of an option that is set and does not fit the other options; `accepts` says what
    /// these allow.
    #[must_use]
    pub fn conflict(&self, name: &str, accepts: &str) -> OptionError {
        let found = match self.value(name) {
            Some(Value::Table(path, _)) => format!("{path:?}"),
            Some(found) => found.to_string(),
            None => String::new(),
        };
        let (option, accepts) = (name.to_owned(), accepts.to_owned());
        OptionError::Refused { kind: self.kind, option, found, accepts }
    }

    /// The option `seed`, if it is set.
    ///
    /// # Errors
    /// If it is no whole number.
    pub fn seed(&self) -> Result<Option<i64>, OptionError> {
        match self.options.get(SEED.name) {
            None => Ok(None),
            Some(Value::Integer(value)) => Ok(Some(*value)),
            Some(other) => Err(self.refuse(SEED.name, other)),
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.is_known(name), "`{name}` is read but not listed for `{}`", self.kind);
        self.options.get(name)
    }

    fn all(&self) -> impl Iterator<Item = &OptionSpec> {
        self.specs.iter().chain([&SEED])
    }

    fn is_known(&self, name: &str) -> bool {
        self.all().any(|spec| spec.name == name)
    }

    /// `depth, evaluation or seed`.
    fn names(&self) -> String {
        let names: Vec<&str> = self.all().map(|spec| spec.name).collect();
        match &names[..] {
            [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
            names => names.join(""),
        }
    }

    /// The option whose name differs in the fewest letters, if these are few.
    fn near(&self, name: &str) -> Option<&'static str> {
        let known = self.specs.iter().chain([&SEED]).map(|spec| spec.name);
        let (distance, near) = known.map(|known| (distance(name, known), known)).min()?;
        (distance <= near.len().div_ceil(3)).then_some(near)
    }

    fn refuse(&self, name: &str, found: &Value) -> OptionError {
        let accepts = self.all().find(|spec| spec.name == name).map_or("nothing", |s| s.accepts);
        OptionError::Refused {
            kind: self.kind,
            option: name.to_owned(),
            found: found.to_string(),
            accepts: accepts.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const SPECS: &[OptionSpec] = &[
        OptionSpec { name: "depth", accepts: "a whole number from 0", default: "0", help: "" },
        OptionSpec { name: "share", accepts: "a number from 0 to 1", default: "0.5", help: "" },
        OptionSpec { name: "table", accepts: "true or false", default: "true", help: "" },
        OptionSpec { name: "rule", accepts: "\"a\" or \"b\"", default: "\"a\"", help: "" },
        OptionSpec { name: "order", accepts: "a list of moves", default: "[]", help: "" },
    ];

    type All = (i64, f64, bool, u8, Vec<Expression>, Option<i64>);

    fn read(options: &Options) -> Result<All, OptionError> {
        let reader = options.read("tester", SPECS)?;
        Ok((
            reader.integer("depth", 0..=1000, 0)?,
            reader.float("share", 0.0..=1.0, 0.5)?,
            reader.boolean("table", true)?,
            reader.choice("rule", &[("a", 1), ("b", 2)], 1)?,
            reader.moves("order")?,
            reader.seed()?,
        ))
    }

    fn check_error(options: Options, expected: Expect) {
        expected.assert_eq(&read(&options).unwrap_err().to_string());
    }

    #[test]
    fn defaults_hold_where_nothing_is_set() {
        assert_eq!(read(&Options::new()), Ok((0, 0.5, true, 1, vec![], None)));
    }

    #[test]
    fn values_are_read_with_their_types() {
        let order: &[&str] = &["left", "(mark 1 2)"];
        let options = Options::new()
            .with("depth", 4)
            .with("share", 1)
            .with("table", false)
            .with("rule", "b")
            .with("order", order)
            .with("seed", -3);
        let terms = order.iter().map(|text| Expression::parse(text).unwrap()).collect();
        assert_eq!(read(&options), Ok((4, 1.0, false, 2, terms, Some(-3))));
    }

    #[test]
    fn what_is_refused_is_named_with_what_is_expected() {
        check_error(
            Options::new().with("dept", 4),
            expect![
                "`tester` has no option `dept` (did you mean `depth`?); expected depth, share, table, rule, order or seed"
            ],
        );
        check_error(
            Options::new().with("depth", -1),
            expect!["invalid option `depth = -1` of `tester`: expected a whole number from 0"],
        );
    }

    #[test]
    fn ill_typed_values_are_refused() {
        for (name, value) in [
            ("depth", Value::from(1.0)),
            ("depth", Value::from("4")),
            ("share", Value::from(f64::NAN)),
            ("share", Value::from(2)),
            ("table", Value::from("yes")),
            ("rule", Value::from("c")),
            ("rule", Value::from(true)),
            ("order", Value::from("left")),
            ("order", Value::from(["("].as_slice())),
            ("seed", Value::from(0.5)),
        ] {
            let error = read(&Options::new().with(name, value.clone())).unwrap_err();
            let is_refused =
                matches!(&error, OptionError::Refused { option, .. } if option == name);
            assert!(is_refused, "{name} = {value}: {error:?}");
        }
    }

    #[test]
    fn memory_is_read_with_its_unit() {
        const MEMORY: &[OptionSpec] =
            &[OptionSpec { name: "memory", accepts: "a size", default: "1MiB", help: "" }];
        let read = |value: Value| {
            let options = Options::new().with("memory", value);
            options.read("tester", MEMORY).unwrap().bytes("memory", 1000, 1 << 20).ok()
        };
        assert_eq!(read("2MiB".into()), Some(2 << 20));
        assert_eq!(read("1.5 GB".into()), Some(1_500_000_000));
        assert_eq!(read("64kib".into()), Some(1 << 16));
        assert_eq!(read(4096.into()), Some(4096));
        for wrong in ["", "GiB", "1 GiBs", "-1MB", "1e3", "nan", "10", "1.2.3MB"] {
            assert_eq!(read(wrong.into()), None, "{wrong}");
        }
        assert_eq!(read((-1).into()), None);
        assert_eq!(read(true.into()), None);
    }

    #[test]
    fn the_canonical_form_tells_options_apart() {
        let options: Options = [
            ("b", Value::from(1)),
            ("a", Value::from(1.0)),
            ("d", Value::from(["x, y", "z"].as_slice())),
            ("c c", Value::from("\"")),
            ("e", Value::from(false)),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            options.to_string(),
            r#"a = 1.0, b = 1, "c c" = "\"", d = ["x, y", "z"], e = false"#
        );
        assert_eq!(Options::new().to_string(), "");
    }
}
