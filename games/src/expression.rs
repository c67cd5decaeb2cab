//! Terms and messages as plain trees of text: what crosses the border between
//! a game and the world (wire messages, records, percepts).

use std::fmt;
use std::str::FromStr;

use crate::reader::{Build, Reader, SyntaxError};
use crate::span::Span;

/// An atom or a list of expressions, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expression {
    /// A name, number or variable, as spelled.
    Atom(String),
    /// A parenthesised list, possibly empty.
    List(Vec<Expression>),
}

impl Expression {
    /// An atom.
    pub fn atom(name: impl Into<String>) -> Self {
        Self::Atom(name.into())
    }

    /// Reads a text that holds exactly one expression, apart from white space
    /// and comments. Spelling is kept; `(p)` and `p` differ here.
    ///
    /// # Errors
    /// The first [`SyntaxError`] of the text.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (expression, reader) = read_first(text)?;
        match reader.peek() {
            Some(span) => Err(SyntaxError::Trailing { span }),
            None => Ok(expression),
        }
    }

    /// Reads the first expression of a text and returns it with its length in bytes.
    /// The rest of the text is ignored.
    ///
    /// # Errors
    /// The first [`SyntaxError`] up to the end of that expression.
    pub fn parse_prefix(text: &str) -> Result<(Self, usize), SyntaxError> {
        let (expression, reader) = read_first(text)?;
        Ok((expression, reader.position()))
    }
}

fn read_first(text: &str) -> Result<(Expression, Reader<'_>), SyntaxError> {
    let mut reader = Reader::new(text)?;
    let mut errors = Vec::new();
    let read = reader.read(&mut BuildExpression, &mut errors);
    match (errors.into_iter().next(), read) {
        (Some(error), _) => Err(error),
        (None, Some(expression)) => Ok((expression, reader)),
        (None, None) => Err(SyntaxError::Missing { span: Span::new(text.len(), text.len()) }),
    }
}

struct BuildExpression;

impl Build for BuildExpression {
    type Node = Expression;

    fn atom(&mut self, text: &str, _: Span) -> Expression {
        Expression::atom(text)
    }

    fn list(&mut self, items: Vec<Expression>, _: Span) -> Expression {
        Expression::List(items)
    }
}

/// See [`Expression::parse`].
impl FromStr for Expression {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse(text)
    }
}

/// KIF with single blanks and none inside parentheses: `(cell 1 (f 2))`.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(name) => f.write_str(name),
            Self::List(items) => {
                f.write_str("(")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_str(" ")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, printed: Option<&str>) {
        let read = Expression::parse(text).ok().map(|expression| expression.to_string());
        assert_eq!(read.as_deref(), printed, "{text:?}");
    }

    #[test]
    fn one_expression_is_read() {
        check("a", Some("a"));
        check(" ( mark 1 2 ) ", Some("(mark 1 2)"));
        check("()", Some("()"));
        check("((a)b)", Some("((a) b)"));
        check("(a ; comment\n b)", Some("(a b)"));
        check("(a #| block ( |# b)", Some("(a b)"));
        check("\u{feff}(a)", Some("(a)"));
        check("(a\u{a0}b\rc\x0cd)", Some("(a b c d)"));
        check("(++ +2 \"q\" |r| ?x+)", Some("(++ +2 \"q\" |r| ?x+)"));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", " ; only a comment", "(a", "a)", ")", "a b", "(a) b", "?", "(p ?)"] {
            check(text, None);
        }
    }

    #[test]
    fn a_prefix_ends_with_its_expression() {
        assert_eq!(
            Expression::parse_prefix(" (a b) ) ("),
            Ok((Expression::parse("(a b)").unwrap(), 6))
        );
        assert_eq!(Expression::parse_prefix("a b"), Ok((Expression::atom("a"), 1)));
        assert!(Expression::parse_prefix("(a").is_err());
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |depth| "(".repeat(depth) + &")".repeat(depth);
        assert!(Expression::parse(&nested(1000)).is_ok());
        let refused = Expression::parse(&nested(1001));
        assert_eq!(refused, Err(SyntaxError::TooDeep { span: Span { start: 1000, end: 1001 } }));
        assert!(Expression::parse(&"(".repeat(1_000_000)).is_err());
    }
}
