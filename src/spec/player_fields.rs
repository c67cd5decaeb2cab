//! A player's table: its keys and values, and what can be wrong with them.

use std::collections::BTreeMap;

use toml::Value;

/// Keys and values of a player's table.
pub(super) type PlayerFields = BTreeMap<String, Value>;

/// What is wrong with a player's table.
pub(super) struct Wrong {
    /// The key at fault, if it is one.
    pub(super) key: Option<String>,
    pub(super) message: String,
}

impl Wrong {
    pub(super) fn at(key: &str, message: impl Into<String>) -> Self {
        Self { key: Some(key.to_owned()), message: message.into() }
    }

    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into() }
    }
}

/// What [`is_plain`] accepts, in words.
pub(super) const PLAIN: &str = "letters, digits, `_`, `-`, `.`, `+`, not `-`, `.` or `+` first";

/// Whether `text` may name a file on any system.
pub(super) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+".contains(c);
    text.chars().all(plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// The type of a value, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a float",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}
