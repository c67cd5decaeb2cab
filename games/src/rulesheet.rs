//! A rulesheet as read: forms with spans. May be wrong in every way but syntax.

/// A range of bytes of the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A parsed rulesheet.
#[derive(Clone, Debug)]
pub struct Rulesheet {}
