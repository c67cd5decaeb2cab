//! The findings of reading and validation about a rulesheet.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::span::Span;
use crate::symbol::SymbolId;

/// How grave a finding is. Only errors keep a rulesheet from becoming a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; common in good rulesheets.
    Note,
    /// Probably a mistake, but its meaning is clear.
    Warning,
    /// The rulesheet has no meaning as it is.
    Error,
}

/// `note`, `warning` or `error`.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One finding, with the place in the text it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable kebab-case name of the kind of finding, such as `unsafe-variable`.
    pub code: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// The bytes of the source it is about; none (0..0) if it is about the
    /// whole.
    pub span: Span,
    /// What is wrong, a lower-case fragment naming the offender.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Finding {
    /// One line of text: `severity code line:column message; help`.
    #[must_use]
    pub fn line(&self, text: &str) -> String {
        let Self { code, severity, message, help, .. } = self;
        format!("{severity} {code} {} {message}; {help}", self.span.position(text))
    }
}

/// Maximum number of findings of each severity that are kept. Nobody reads more, and a megabyte of
/// errors must not become gigabytes of messages.
pub(crate) const MAX_FINDINGS: usize = 1000;

/// The findings made so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    made: Vec<Finding>,
    n_made: [usize; 3],
    said: FxHashSet<(&'static str, SymbolId, usize)>,
}

impl Findings {
    pub(crate) fn with(made: Vec<Finding>) -> Self {
        let mut n_made = [0; 3];
        made.iter().for_each(|finding| n_made[finding.severity as usize] += 1);
        Self { made, n_made, said: FxHashSet::default() }
    }

    pub(crate) fn push(
        &mut self,
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let n_made = &mut self.n_made[severity as usize];
        *n_made += 1;
        if *n_made > MAX_FINDINGS {
            return;
        }
        let (message, help) = (message.into(), help.into());
        self.made.push(Finding { code, severity, span, message, help });
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Severity::Error, code, span, message, help);
    }

    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Severity::Warning, code, span, message, help);
    }

    pub(crate) fn info(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Severity::Note, code, span, message, help);
    }

    /// Whether `code` was not yet reported for this symbol and case (an arity or another
    /// number). Records that it is reported now.
    pub(crate) fn first(&mut self, code: &'static str, symbol: SymbolId, case: usize) -> bool {
        self.said.insert((code, symbol, case))
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.made.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// All findings by position; graver ones first at the same position.
    pub(crate) fn into_sorted(mut self) -> Vec<Finding> {
        self.made.sort_by_key(|finding| (finding.span.start, std::cmp::Reverse(finding.severity)));
        self.made
    }
}
