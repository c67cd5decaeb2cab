//! From a rulesheet to a game, or to all the reasons why not.

use crate::clause::{self, ArgumentKind, Clause};
use crate::finding::{Finding, Findings};
use crate::game::Game;
use crate::keyword::{Keyword, Words};
use crate::rulesheet::{FormKind, Rulesheet};
use crate::symbol::{Case, SymbolId};
use crate::{Expression, rulesheet::Form};

/// Whether rules that have no meaning by the book, but one in practice, are
/// errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Leniency {
    /// They are errors.
    #[default]
    Strict,
    /// They are read as most systems read them, with a warning each.
    Lenient,
}

/// What validation found, and the game if there was no error.
#[derive(Clone, Debug)]
pub struct Validation {
    /// Everything found, by position.
    pub findings: Vec<Finding>,
    /// The game; `None` exactly if some finding is an error.
    pub game: Option<Game>,
}

/// Checks a rulesheet against the GDL specification and normalises its rules.
#[must_use]
pub fn validate(rulesheet: &Rulesheet, leniency: Leniency) -> Validation {
    let _ = leniency;
    let mut findings = Findings::with(rulesheet.findings().to_vec());
    let words = Words::of(rulesheet.symbols());
    let clauses = clause::clauses(rulesheet, &words, &mut findings);
    let roles = roles(&clauses, &words);
    let game = (!findings.has_errors()).then(|| Game {
        name: rulesheet.name().to_owned(),
        symbols: rulesheet.symbols().clone(),
        roles,
        rules: clauses.iter().map(Clause::rule).collect(),
        forms: rulesheet.forms().iter().map(|form| wire_form(rulesheet, form)).collect(),
    });
    Validation { findings: findings.into_sorted(), game }
}

/// Reads and validates a text.
#[must_use]
pub fn read(
    name: impl Into<String>,
    text: impl AsRef<[u8]>,
    case: Case,
    leniency: Leniency,
) -> Validation {
    match Rulesheet::parse(name, text, case) {
        Ok(rulesheet) => validate(&rulesheet, leniency),
        Err(findings) => Validation { findings, game: None },
    }
}

fn roles(clauses: &[Clause], words: &Words) -> Vec<SymbolId> {
    let mut roles = Vec::new();
    for clause in clauses {
        let (name, arity) = clause.head.predicate();
        if words.keyword(name, arity) == Some(Keyword::Role)
            && let ArgumentKind::Constant(role) = clause.head.arguments[0].kind
        {
            roles.push(role);
        }
    }
    roles
}

/// A top-level form as other systems are to read it: `(<= head body)` for
/// `(=> body head)`, `p` for `(p)`.
fn wire_form(rulesheet: &Rulesheet, form: &Form) -> Expression {
    match unparenthesised(rulesheet, form) {
        Expression::List(mut items) if items[0] == Expression::atom("=>") => {
            items[0] = Expression::atom("<=");
            items[1..].rotate_right(1);
            Expression::List(items)
        }
        other => other,
    }
}

fn unparenthesised(rulesheet: &Rulesheet, form: &Form) -> Expression {
    match &form.kind {
        FormKind::List(items) => match items.as_slice() {
            [Form { kind: FormKind::Constant(_), .. }] => rulesheet.expression(&items[0]),
            _ => {
                let items = items.iter().map(|item| unparenthesised(rulesheet, item));
                Expression::List(items.collect())
            }
        },
        _ => rulesheet.expression(form),
    }
}
