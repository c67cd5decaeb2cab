//! Terms and messages as plain trees of text: what crosses the border between
//! a game and the world (wire messages, records, percepts).

use std::fmt;

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
