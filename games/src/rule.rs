//! Normalised rules: terms, sentences, literals in negation normal form.

use crate::symbol::SymbolId;

/// A variable of one rule, numbered from 0 within that rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// A term of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// An object constant.
    Constant(SymbolId),
    /// A variable of the rule.
    Variable(VariableId),
    /// A function of at least one argument. Identity is name and arity.
    Function(SymbolId, Vec<Term>),
}

/// A predicate applied to terms. Identity of the predicate is name and arity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sentence {
    /// The predicate's name.
    pub name: SymbolId,
    /// Its arguments; none for a proposition.
    pub arguments: Vec<Term>,
}

/// One condition of a rule's body, in negation normal form: `not` stands before
/// sentences only, `and` is gone, `not distinct` is [`Literal::Equal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// The sentence holds.
    Positive(Sentence),
    /// The sentence does not hold (negation as failure). Variables that no
    /// positive condition of the rule binds occur only in leniently read
    /// rulesheets and are quantified inside: there is no instance that holds.
    Negative(Sentence),
    /// The two terms differ syntactically.
    Distinct(Term, Term),
    /// The two terms are the same.
    Equal(Term, Term),
    /// One of the conjunctions holds.
    Or(Vec<Vec<Literal>>),
}

/// `head` holds if all of `body` does; a fact has an empty body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// What follows.
    pub head: Sentence,
    /// The conditions, in textual order.
    pub body: Vec<Literal>,
    /// Number of distinct variables of the rule; ids are below it.
    pub n_variables: u32,
}
