//! Places in a text: in bytes, and as people count them.

use std::fmt;
use std::ops::Range;

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A place in a text as people count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1; LF, CR and CRLF each end one line.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Span {
    /// The bytes `start..end`.
    ///
    /// # Panics
    /// If they lie beyond 4 GiB.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let fit = |at| u32::try_from(at).expect("the reader refuses longer texts");
        Self { start: fit(start), end: fit(end) }
    }

    /// The span as a range of indices.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Line and column of the first byte. Takes time linear in the text.
    #[must_use]
    pub fn position(self, text: &str) -> Position {
        let before = text.get(..self.start as usize).unwrap_or(text);
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let mut position = Position { line: 1, column: 1 };
        let mut previous = '\0';
        for character in before.chars() {
            match character {
                '\n' if previous == '\r' => {}
                '\n' | '\r' => position = Position { line: position.line + 1, column: 1 },
                _ => position.column += 1,
            }
            previous = character;
        }
        position
    }
}

/// `line:column`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
