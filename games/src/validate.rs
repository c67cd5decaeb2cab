//! From a rulesheet to a game, or to all findings that prevent it.

mod clause;
mod dependencies;
mod grammar;
mod impossible;
mod keyword;
mod names;
mod paths;
mod possible;
mod safety;
mod stratify;
mod unfold;
mod usage;

use crate::Expression;
use crate::finding::{Finding, Findings};
use crate::game::Game;
use crate::percepts::OpenMoves;
use crate::rulesheet::{Form, FormKind, Rulesheet};
use crate::symbol::Case;
use clause::Clause;
use dependencies::Dependencies;
use keyword::Words;
use usage::Usage;

/// Whether unsafe rules, which have no meaning by the specification, are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Leniency {
    /// They are errors.
    #[default]
    Strict,
    /// They are read as other systems read them, with a warning each. A negation with
    /// a variable of its own means that no instance holds; the role of a `legal` or
    /// `goal` is any role; a predicate that only tests its arguments is evaluated for
    /// given arguments; all other variables stand for any constant or ground term of
    /// the text.
    Lenient,
}

/// The findings, and the game if there was no error.
#[derive(Clone, Debug)]
pub struct Validation {
    /// Everything found, by position.
    pub findings: Vec<Finding>,
    /// The game; `None` exactly if some finding is an error.
    pub game: Option<Game>,
}

/// Checks a rulesheet against the GDL specification (Love et al. 2008; GDL-II:
/// Thielscher 2010) and normalises its rules. All findings are made at once.
#[must_use]
pub fn validate(rulesheet: &Rulesheet, leniency: Leniency) -> Validation {
    let mut findings = Findings::with(rulesheet.findings().to_vec());
    let words = Words::of(rulesheet.symbols());
    let mut clauses = grammar::clauses(rulesheet, &words, &mut findings);
    names::check_spelling(rulesheet, &words, &mut findings);
    names::check_arities(&clauses, &words, rulesheet, &mut findings);
    // A head that could not be read may be one that seems to be missing.
    let complete = clauses.len() == rulesheet.forms().len();
    let mut usage = Usage { rulesheet, words: &words, clauses: &clauses, findings: &mut findings };
    if complete {
        usage.missing();
    }
    let roles = usage.check();
    if complete {
        dependencies::check_used_and_defined(&clauses, &words, rulesheet, &mut findings);
    }
    let graph = Dependencies::of(&clauses);
    let mut strata = stratify::stratify(&clauses, &graph, rulesheet, &mut findings);
    dependencies::check_keyword_dependencies(&graph, &words, rulesheet, &mut findings);
    dependencies::check_recursion(&clauses, &graph, rulesheet, &mut findings);
    safety::check(&clauses, rulesheet, leniency, &mut findings);
    safety::check_order(&clauses, rulesheet, &mut findings);
    if findings.has_errors() {
        return Validation { findings: findings.into_sorted(), game: None };
    }
    impossible::check(&clauses, &words, &roles, rulesheet, &mut findings);
    let mut symbols = rulesheet.symbols().clone();
    let mut domain = Vec::new();
    if leniency == Leniency::Lenient {
        unfold::unfold(&mut clauses, &words);
        domain = safety::close(&mut clauses, &words, &mut symbols);
        strata = stratify::strata_of(&clauses);
    }
    let mut rules: Vec<_> = clauses.iter().map(Clause::rule).collect();
    strata[0].extend(rules.len()..rules.len() + domain.len());
    rules.extend(domain);
    let mut game = Game {
        name: rulesheet.name().to_owned(),
        symbols,
        roles,
        rules,
        strata,
        forms: rulesheet.forms().iter().map(|form| wire_form(rulesheet, form)).collect(),
        open_moves: None,
    };
    game.open_moves = OpenMoves::of(&game.rules, &game.roles, game.random(), &game.symbols);
    Validation { findings: findings.into_sorted(), game: Some(game) }
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

/// A top-level form as it is sent to other systems: `(<= head body)` for
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
