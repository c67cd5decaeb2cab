//! The text of a TOML file that a person wrote, and where in it an error is.

use std::ops::Range;

use toml::de::DeTable;

use crate::game_source::meant;

/// The text of a file, for errors that say where they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TomlText<'a> {
    pub(crate) text: &'a str,
    /// Its file, as typed.
    pub(crate) origin: &'a str,
}

/// What is wrong with the text.
#[derive(Debug, thiserror::Error)]
pub enum TomlError {
    /// It is wrong in one place.
    #[error("{origin}:{line}: {message}")]
    At {
        /// The file's path.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// It is wrong as a whole.
    #[error("{origin}: {message}")]
    Whole {
        /// The file's path.
        origin: String,
        /// What is wrong.
        message: String,
    },
}

impl TomlText<'_> {
    /// The line of a span, from 1.
    pub(crate) fn line(&self, span: &Range<usize>) -> usize {
        self.text[..span.start.min(self.text.len())].matches('\n').count() + 1
    }

    /// An error in one place.
    pub(crate) fn error(&self, span: Range<usize>, message: impl Into<String>) -> TomlError {
        let line = self.line(&span);
        TomlError::At { origin: self.origin.to_owned(), line, message: message.into() }
    }

    /// The place of a key in an item of a list of tables; `clocks.play` is a key of a table in
    /// the item. Of a path whose end is not there, the place of what is.
    pub(crate) fn key_span(&self, list: &str, index: usize, path: &str) -> Option<Range<usize>> {
        let root = DeTable::parse(self.text).ok()?;
        let mut table = root.get_ref().get(list)?.get_ref().get(index)?.get_ref();
        let mut found = None;
        for part in path.split('.') {
            let entry = table.as_table().and_then(|table| table.get_key_value(part));
            let Some((key, value)) = entry else { break };
            found = Some(key.span());
            table = value.get_ref();
        }
        found
    }

    /// An error of the text as a whole.
    pub(crate) fn whole(&self, message: impl Into<String>) -> TomlError {
        TomlError::Whole { origin: self.origin.to_owned(), message: message.into() }
    }

    /// The deserializer's error, in its place.
    pub(crate) fn parse_error(&self, error: &toml::de::Error) -> TomlError {
        let message = in_our_words(error.message());
        let Some(span) = error.span() else { return self.whole(message) };
        if message == "duplicate key" {
            return self.error(span.clone(), twice(&self.text[span]));
        }
        let given = self.text[..span.end].lines().next_back().unwrap_or_default().trim();
        let given = item(given, &self.text[span.clone()]).unwrap_or_else(|| key_and_value(given));
        match message.split_once(", expected ") {
            Some((before, expected))
                if before.starts_with("invalid ") || before.starts_with("unknown value ") =>
            {
                self.error(span, format!("{given}: expected {expected}"))
            }
            _ => self.error(span, message),
        }
    }
}

/// What is wrong with a key that is there already.
fn twice(key: &str) -> String {
    let advice = match key {
        "players" | "games" => {
            format!("; list all of them in one `{key} = [...]`, or in [[{key}]] tables")
        }
        _ => String::new(),
    };
    format!("`{key}` is given twice{advice}")
}

/// `players: 3` of the beginning `players = ["legal", 3` of a list, which ends with `value`;
/// `weight = 0` of the beginning `games = [{ game = "nim", weight = 0` of a list of tables.
fn item(given: &str, value: &str) -> Option<String> {
    let (key, list) = given.split_once('=')?;
    if !list.trim_start().starts_with('[') || list.contains(']') {
        return None;
    }
    Some(match list.rsplit_once('{') {
        Some((_, entries)) if !entries.contains('}') => {
            entries.rsplit(',').next().unwrap_or(entries).trim().to_owned()
        }
        _ => format!("{}: {value}", key.trim_end()),
    })
}

/// `faults.substitute = "none"` of the beginning `faults = {substitute = "none"` of an inline
/// table.
fn key_and_value(given: &str) -> String {
    let inner = given.split_once('{').and_then(|(table, entries)| {
        let table = table.trim_end().strip_suffix('=')?.trim_end();
        let (key, value) = entries.rsplit(',').next()?.split_once('=')?;
        Some(format!("{table}.{} = {}", key.trim(), value.trim()))
    });
    inner.unwrap_or_else(|| given.to_owned())
}

/// Adds the key that was probably meant: ``unknown key `a` (did you mean `b`?), expected one of
/// `b`, `c` ``.
fn with_meant(message: String) -> String {
    let (Some(rest), Some((start, expected))) =
        (message.strip_prefix("unknown key `"), message.split_once(", expected "))
    else {
        return message;
    };
    let given = rest.split('`').next().unwrap_or_default();
    let meant = meant(given, expected.split('`').skip(1).step_by(2));
    format!("{start}{meant}, expected {expected}")
}

/// The deserializer's message in the words of our documentation, on one line.
pub(crate) fn in_our_words(message: &str) -> String {
    let mut words = message.lines().collect::<Vec<_>>().join("; ");
    if words.contains(": integer `") {
        // An integer that is refused is out of bounds.
        words = words.replace("expected u32", "expected a whole number up to 4294967295");
        words = words.replace("` as i128", "`");
    }
    for (theirs, ours) in [
        ("unknown field ", "unknown key "),
        ("unknown variant ", "unknown value "),
        ("missing field ", "missing key "),
        ("expected u32", "expected a whole number"),
        ("expected i64", "expected a whole number"),
        ("expected usize", "expected a whole number"),
        ("expected a sequence", "expected a list"),
        ("expected a boolean", "expected true or false"),
    ] {
        words = words.replace(theirs, ours);
    }
    with_meant(words)
}
