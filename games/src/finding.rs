//! What reading and validation have to say about a rulesheet.

use crate::rulesheet::Span;

/// How grave a finding is. Only errors keep a rulesheet from becoming a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; common in good rulesheets.
    Info,
    /// Probably a mistake, but its meaning is clear.
    Warning,
    /// The rulesheet has no meaning as it stands.
    Error,
}

/// One finding, with the place in the text it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable kebab-case name of the kind of finding, such as `unsafe-variable`.
    pub code: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// The bytes of the source it is about.
    pub span: Span,
    /// What is wrong, a lower-case fragment naming the offender.
    pub message: String,
    /// What to do about it.
    pub help: String,
}
