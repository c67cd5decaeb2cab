//! The predicates with a meaning of their own (GDL specification, Love et al.
//! 2008, section 3; `sees` from Thielscher 2010).

use crate::symbol::{SymbolId, Symbols};

/// A predicate of GDL itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Keyword {
    Role,
    Base,
    Input,
    Init,
    True,
    Does,
    Next,
    Legal,
    Goal,
    Terminal,
    Sees,
}

impl Keyword {
    const ALL: [Keyword; 11] = [
        Self::Role,
        Self::Base,
        Self::Input,
        Self::Init,
        Self::True,
        Self::Does,
        Self::Next,
        Self::Legal,
        Self::Goal,
        Self::Terminal,
        Self::Sees,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Base => "base",
            Self::Input => "input",
            Self::Init => "init",
            Self::True => "true",
            Self::Does => "does",
            Self::Next => "next",
            Self::Legal => "legal",
            Self::Goal => "goal",
            Self::Terminal => "terminal",
            Self::Sees => "sees",
        }
    }

    pub(crate) fn arity(self) -> usize {
        match self {
            Self::Terminal => 0,
            Self::Role | Self::Base | Self::Init | Self::True | Self::Next => 1,
            Self::Input | Self::Does | Self::Legal | Self::Goal | Self::Sees => 2,
        }
    }

    /// Whether a predicate of this name but another arity is an ordinary one:
    /// these words came into the language after rulesheets had used them.
    pub(crate) fn is_late(self) -> bool {
        matches!(self, Self::Base | Self::Input | Self::Sees)
    }

    /// Whether the first argument is a role.
    pub(crate) fn is_about_role(self) -> bool {
        matches!(self, Self::Input | Self::Does | Self::Legal | Self::Goal | Self::Sees)
    }
}

/// The logical words, which are no predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connective {
    If,
    Then,
    Not,
    And,
    Or,
    Distinct,
}

/// Which symbols of a rulesheet are words of the language.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    keywords: Vec<Option<Keyword>>,
    connectives: Vec<Option<Connective>>,
}

impl Words {
    pub(crate) fn of(symbols: &Symbols) -> Self {
        let mut words =
            Self { keywords: vec![None; symbols.len()], connectives: vec![None; symbols.len()] };
        for keyword in Keyword::ALL {
            if let Some(id) = symbols.find(keyword.name()) {
                words.keywords[id.0 as usize] = Some(keyword);
            }
        }
        let connectives = [
            ("<=", Connective::If),
            ("=>", Connective::Then),
            ("not", Connective::Not),
            ("and", Connective::And),
            ("or", Connective::Or),
            ("distinct", Connective::Distinct),
        ];
        for (name, connective) in connectives {
            if let Some(id) = symbols.find(name) {
                words.connectives[id.0 as usize] = Some(connective);
            }
        }
        words
    }

    /// The keyword of this name, whatever its arity.
    pub(crate) fn named(&self, id: SymbolId) -> Option<Keyword> {
        self.keywords.get(id.0 as usize).copied().flatten()
    }

    /// The keyword that this predicate is.
    pub(crate) fn keyword(&self, id: SymbolId, arity: usize) -> Option<Keyword> {
        self.named(id).filter(|keyword| keyword.arity() == arity)
    }

    pub(crate) fn connective(&self, id: SymbolId) -> Option<Connective> {
        self.connectives.get(id.0 as usize).copied().flatten()
    }
}
