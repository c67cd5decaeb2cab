//! The reader: bytes to lists and atoms. It knows white space, comments and
//! parentheses, but not the meaning of the lists.
//!
//! It never recurses, and nesting deeper than [`MAX_DEPTH`] is an error, so that code
//! that walks, prints or drops its result may recurse.

use crate::finding::{Finding, MAX_FINDINGS, Severity};
use crate::span::Span;

/// Deepest nesting of lists that is read, for rulesheets and messages alike.
pub const MAX_DEPTH: usize = 1000;

/// Maximum number of forms that are reported as unclosed. The text after such a form is read again.
const MAX_RETURNS: usize = 20;

/// Why a text is no sequence of lists and atoms.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// An opening parenthesis without its partner.
    #[error("unclosed `(`")]
    Unclosed {
        /// The opening parenthesis.
        span: Span,
    },
    /// A closing parenthesis without its partner.
    #[error("unopened `)`")]
    Unopened {
        /// The closing parenthesis.
        span: Span,
    },
    /// A `?` that no name follows.
    #[error("`?` without a variable name")]
    NamelessVariable {
        /// The question mark.
        span: Span,
    },
    /// Lists nested more than [`MAX_DEPTH`] levels deep.
    #[error("lists are nested more than {MAX_DEPTH} levels deep")]
    TooDeep {
        /// The first parenthesis beyond the limit.
        span: Span,
    },
    /// Nothing but white space and comments where an expression was expected.
    #[error("no expression, only white space and comments")]
    Missing {
        /// The end of the text.
        span: Span,
    },
    /// Further text after the one expression that was expected.
    #[error("text after the expression")]
    Trailing {
        /// The first token of the further text.
        span: Span,
    },
    /// More text than spans can address.
    #[error("the text is longer than 4 GiB")]
    TooLong,
}

impl SyntaxError {
    /// The bytes of the text it is about.
    #[must_use]
    pub fn span(&self) -> Span {
        match *self {
            Self::Unclosed { span }
            | Self::Unopened { span }
            | Self::NamelessVariable { span }
            | Self::TooDeep { span }
            | Self::Missing { span }
            | Self::Trailing { span } => span,
            Self::TooLong => Span::default(),
        }
    }

    /// The error as a finding about a rulesheet.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let (code, help) = match self {
            Self::Unclosed { .. } => (
                "unclosed-parenthesis",
                "add the missing `)` before the next form that starts a line, or at the end of the text",
            ),
            Self::Unopened { .. } => ("unopened-parenthesis", "remove it, or add the missing `(`"),
            Self::NamelessVariable { .. } => {
                ("nameless-variable", "give the variable a name, such as `?x`")
            }
            Self::TooDeep { .. } => {
                ("nested-too-deep", "split the form, or define a part of it by a rule of its own")
            }
            Self::Missing { .. } => ("empty-text", "write at least one form"),
            Self::Trailing { .. } => ("trailing-text", "remove it"),
            Self::TooLong => ("text-too-long", "shorten it"),
        };
        Finding {
            code,
            severity: Severity::Error,
            span: self.span(),
            message: self.to_string(),
            help: help.to_owned(),
        }
    }
}

/// Turns what is read into the nodes of some tree.
pub(crate) trait Build {
    /// A node of the tree.
    type Node;
    /// An atom or variable (a variable starts with `?` and has a name).
    fn atom(&mut self, text: &str, span: Span) -> Self::Node;
    /// A list; `span` includes the parentheses.
    fn list(&mut self, items: Vec<Self::Node>, span: Span) -> Self::Node;
}

/// A position in a text that is being read.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    unterminated_comment: Option<Span>,
    /// Unclosed forms that may still be reported. Reading goes back after each of them.
    n_returns: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Atom,
}

impl<'a> Reader<'a> {
    /// At the beginning of `text`, behind a byte order mark if there is one.
    pub(crate) fn new(text: &'a str) -> Result<Self, SyntaxError> {
        if u32::try_from(text.len()).is_err() {
            return Err(SyntaxError::TooLong);
        }
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Ok(Self { text, at, unterminated_comment: None, n_returns: MAX_RETURNS })
    }

    /// The block comment that reaches to the end of the text, if one was met.
    pub(crate) fn unterminated_comment(&self) -> Option<Span> {
        self.unterminated_comment
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Reads the next expression; `None` at the end of the text. After an error the
    /// position is one where the next expression may start.
    pub(crate) fn read<B: Build>(
        &mut self,
        build: &mut B,
        errors: &mut Vec<SyntaxError>,
    ) -> Option<B::Node> {
        let mut open: Vec<(Span, Vec<B::Node>)> = Vec::new();
        loop {
            let Some((token, span)) = self.next_token() else {
                if let Some(&(outermost, _)) = open.first() {
                    errors.push(SyntaxError::Unclosed { span: outermost });
                    self.n_returns -= 1;
                    if self.n_returns == 0 {
                        return None;
                    }
                    self.at = self.next_form_after(outermost);
                    open.clear();
                    continue;
                }
                return None;
            };
            if errors.len() >= MAX_FINDINGS {
                return None;
            }
            let node = match token {
                Token::Open if open.len() == MAX_DEPTH => {
                    errors.push(SyntaxError::TooDeep { span });
                    self.skip_closing(open.len() + 1);
                    open.clear();
                    continue;
                }
                Token::Open => {
                    open.push((span, Vec::new()));
                    continue;
                }
                Token::Close => {
                    let Some((start, items)) = open.pop() else {
                        errors.push(SyntaxError::Unopened { span });
                        continue;
                    };
                    build.list(items, Span { start: start.start, end: span.end })
                }
                Token::Atom => {
                    let text = &self.text[span.range()];
                    if text == "?" {
                        errors.push(SyntaxError::NamelessVariable { span });
                    }
                    build.atom(text, span)
                }
            };
            match open.last_mut() {
                Some((_, items)) => items.push(node),
                None => return Some(node),
            }
        }
    }

    /// The span of the next token, without reading it.
    pub(crate) fn peek(&self) -> Option<Span> {
        self.clone().next_token().map(|(_, span)| span)
    }

    /// Where reading resumes after an unclosed form: at the next parenthesis that starts
    /// a line, where authors start their forms.
    fn next_form_after(&self, outermost: Span) -> usize {
        let from = outermost.end as usize;
        let rest = self.text.as_bytes()[from..].windows(2);
        let found = rest.enumerate().find(|(_, pair)| matches!(pair, [b'\n' | b'\r', b'(']));
        found.map_or(self.text.len(), |(index, _)| from + index + 1)
    }

    fn skip_closing(&mut self, mut depth: usize) {
        while depth > 0 {
            match self.next_token() {
                Some((Token::Open, _)) => depth += 1,
                Some((Token::Close, _)) => depth -= 1,
                Some((Token::Atom, _)) => {}
                None => return,
            }
        }
    }

    fn next_token(&mut self) -> Option<(Token, Span)> {
        self.skip_blanks();
        let start = self.at;
        let token = match self.text.as_bytes().get(start)? {
            b'(' => Token::Open,
            b')' => Token::Close,
            _ => Token::Atom,
        };
        self.at = match token {
            Token::Open | Token::Close => start + 1,
            Token::Atom => {
                let rest = &self.text[start..];
                start + rest.find(ends_atom).unwrap_or(rest.len())
            }
        };
        Some((token, Span::new(start, self.at)))
    }

    /// Skips white space and comments. Block comments `#| ... |#` do not nest.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = &rest[blank..];
            if rest.starts_with(';') {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("#|") {
                match comment.find("|#") {
                    Some(length) => self.at += length + 4,
                    None => {
                        self.unterminated_comment = Some(Span::new(self.at, self.at + 2));
                        self.at = self.text.len();
                    }
                }
            } else {
                return;
            }
        }
    }
}

fn ends_atom(character: char) -> bool {
    matches!(character, '(' | ')' | ';') || character.is_whitespace()
}
