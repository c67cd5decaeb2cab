//! The text of a spec, and where in it an error is.

use std::ops::Range;

use toml::Spanned;

use super::SpecError;

/// The text of a spec, for errors that say where they are.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// Its file, as typed.
    pub(super) origin: &'a str,
}

impl Source<'_> {
    /// An error at a place of the spec.
    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> SpecError {
        if span == (0..0) {
            // Of the command line.
            return SpecError::Alone(message.into());
        }
        let line = self.text[..span.start.min(self.text.len())].matches('\n').count() + 1;
        SpecError::At { origin: self.origin.to_owned(), line, message: message.into() }
    }

    /// An error of the spec as a whole.
    pub(super) fn whole(&self, message: impl Into<String>) -> SpecError {
        SpecError::Whole { origin: self.origin.to_owned(), message: message.into() }
    }

    /// What the deserializer says, at its place.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> SpecError {
        let message = in_our_words(error.message());
        let Some(span) = error.span() else { return self.whole(message) };
        let given = self.text[..span.end].lines().next_back().unwrap_or_default().trim();
        match message.split_once(", expected ") {
            Some((before, expected))
                if before.starts_with("invalid ") || before.starts_with("unknown value ") =>
            {
                self.error(span, format!("{given}: expected {expected}"))
            }
            _ => self.error(span, message),
        }
    }

    /// A number that must not be 0.
    pub(super) fn positive(&self, number: &Spanned<u32>, key: &str) -> Result<u32, SpecError> {
        match *number.get_ref() {
            0 => {
                Err(self.error(number.span(), format!("{key} = 0: expected a whole number from 1")))
            }
            number => Ok(number),
        }
    }
}

/// What the deserializer says, in the words of specs and on one line.
pub(crate) fn in_our_words(message: &str) -> String {
    let mut words = message.lines().collect::<Vec<_>>().join("; ");
    if words.contains(": integer `") {
        // An integer that does not do is out of bounds.
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
    words
}
