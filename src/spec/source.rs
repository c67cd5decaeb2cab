//! The text of a spec, and where in it an error is.

use std::ops::Range;

use toml::Spanned;

use super::SpecError;
use crate::toml_text::TomlText;

/// The text of a spec, for errors that say where they are.
pub(super) struct Source<'a>(pub(super) TomlText<'a>);

impl Source<'_> {
    /// An error at a place of the spec, or of the command line if the span is empty.
    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>) -> SpecError {
        match span {
            Range { start: 0, end: 0 } => SpecError::Alone(message.into()),
            span => self.0.error(span, message).into(),
        }
    }

    /// An error of the spec as a whole.
    pub(super) fn whole(&self, message: impl Into<String>) -> SpecError {
        self.0.whole(message).into()
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
