//! Rules with spans: what validation looks at. A [`Clause`] is a
//! [`rule::Rule`] that remembers where each part of it was written.

use crate::rule;
use crate::rule::VariableId;
use crate::span::Span;
use crate::symbol::SymbolId;

/// A fact or rule in negation normal form.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) span: Span,
    pub(crate) head: Atomic,
    pub(crate) body: Vec<Condition>,
    /// The names of the variables, by [`VariableId`].
    pub(crate) variables: Vec<SymbolId>,
    /// Conditions are missing, for errors that were found in them.
    pub(crate) broken: bool,
}

/// A predicate applied to terms.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) span: Span,
    pub(crate) name: SymbolId,
    pub(crate) arguments: Vec<Argument>,
}

/// A term.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) kind: ArgumentKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ArgumentKind {
    Constant(SymbolId),
    Variable(VariableId),
    Function(SymbolId, Vec<Argument>),
}

/// A literal.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) span: Span,
    pub(crate) kind: ConditionKind,
    /// It comes from a `not` whose meaning, if some of its variables are bound
    /// nowhere, cannot be told from this literal alone: of `not` over `and`, or
    /// over an `or` of more than sentences.
    pub(crate) torn: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum ConditionKind {
    Positive(Atomic),
    Negative(Atomic),
    Distinct(Argument, Argument),
    Equal(Argument, Argument),
    Or(Vec<Vec<Condition>>),
}

/// A predicate's identity: name and arity.
pub(crate) type Predicate = (SymbolId, usize);

impl Atomic {
    pub(crate) fn predicate(&self) -> Predicate {
        (self.name, self.arguments.len())
    }
}

/// Calls `visit` for each sentence of a body, in textual order, and tells
/// whether it stands under a negation.
pub(crate) fn for_each_sentence(body: &[Condition], visit: &mut impl FnMut(&Atomic, bool)) {
    for condition in body {
        match &condition.kind {
            ConditionKind::Positive(atomic) => visit(atomic, false),
            ConditionKind::Negative(atomic) => visit(atomic, true),
            ConditionKind::Distinct(..) | ConditionKind::Equal(..) => {}
            ConditionKind::Or(branches) => {
                for branch in branches {
                    for_each_sentence(branch, visit);
                }
            }
        }
    }
}

/// Calls `visit` for each argument of a sentence or comparison of a body, in
/// textual order.
pub(crate) fn for_each_argument(body: &[Condition], visit: &mut impl FnMut(&Argument)) {
    for condition in body {
        match &condition.kind {
            ConditionKind::Positive(atomic) | ConditionKind::Negative(atomic) => {
                atomic.arguments.iter().for_each(&mut *visit);
            }
            ConditionKind::Distinct(left, right) | ConditionKind::Equal(left, right) => {
                visit(left);
                visit(right);
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    for_each_argument(branch, visit);
                }
            }
        }
    }
}

impl Argument {
    /// Whether no variable occurs in it.
    pub(crate) fn is_ground(&self) -> bool {
        match &self.kind {
            ArgumentKind::Constant(_) => true,
            ArgumentKind::Variable(_) => false,
            ArgumentKind::Function(_, arguments) => arguments.iter().all(Self::is_ground),
        }
    }

    /// Calls `visit` for each variable, in textual order, repeatedly if it
    /// occurs repeatedly.
    pub(crate) fn for_each_variable(&self, visit: &mut impl FnMut(VariableId, Span)) {
        match &self.kind {
            ArgumentKind::Constant(_) => {}
            ArgumentKind::Variable(id) => visit(*id, self.span),
            ArgumentKind::Function(_, arguments) => {
                for argument in arguments {
                    argument.for_each_variable(visit);
                }
            }
        }
    }

    /// The term without spans.
    pub(crate) fn term(&self) -> rule::Term {
        match &self.kind {
            ArgumentKind::Constant(id) => rule::Term::Constant(*id),
            ArgumentKind::Variable(id) => rule::Term::Variable(*id),
            ArgumentKind::Function(id, arguments) => {
                rule::Term::Function(*id, arguments.iter().map(Self::term).collect())
            }
        }
    }
}

impl Clause {
    /// The rule without spans.
    pub(crate) fn rule(&self) -> rule::Rule {
        rule::Rule {
            head: self.head.sentence(),
            body: conjunction(&self.body),
            n_variables: u32::try_from(self.variables.len()).expect("fewer than 2^32 variables"),
        }
    }
}

impl Atomic {
    /// The sentence without spans.
    pub(crate) fn sentence(&self) -> rule::Sentence {
        let arguments = self.arguments.iter().map(Argument::term).collect();
        rule::Sentence { name: self.name, arguments }
    }
}

fn conjunction(conditions: &[Condition]) -> Vec<rule::Literal> {
    conditions.iter().map(Condition::literal).collect()
}

impl Condition {
    fn literal(&self) -> rule::Literal {
        match &self.kind {
            ConditionKind::Positive(atomic) => rule::Literal::Positive(atomic.sentence()),
            ConditionKind::Negative(atomic) => rule::Literal::Negative(atomic.sentence()),
            ConditionKind::Distinct(left, right) => {
                rule::Literal::Distinct(left.term(), right.term())
            }
            ConditionKind::Equal(left, right) => rule::Literal::Equal(left.term(), right.term()),
            ConditionKind::Or(branches) => {
                rule::Literal::Or(branches.iter().map(|branch| conjunction(branch)).collect())
            }
        }
    }
}
