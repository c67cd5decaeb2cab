//! Safety: every variable of a head, of a negated sentence or of a comparison
//! also occurs in a positive condition, wherever in the body that stands (GDL
//! specification, Love et al. 2008, section 4). An `or` supplies the variables
//! that all its alternatives supply.
//!
//! Read [leniently](Leniency::Lenient), unsafe rules get a meaning, with a
//! warning each:
//!
//! | a variable without a positive condition | is read as |
//! | --- | --- |
//! | first argument of a head `legal` or `goal` | any role: `(role ?p)` is added |
//! | in the head of a predicate that tests what it is given | what it is given: it is [unfolded](super::unfold) |
//! | elsewhere in a head, or in a comparison | any constant or ground term of the text |
//! | only in a negated sentence | there is no such thing: `not` around "for some" |
//! | as before, under `not` over `and` or over an `or` of more than sentences | still an error |
//! | in a fact | still an error |

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::finding::{Findings, Severity};
use crate::rule::{Rule, Sentence, Term, VariableId};
use crate::rulesheet::Rulesheet;
use crate::span::Span;
use crate::symbol::{SymbolId, Symbols};
use crate::validate::Leniency;
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind, for_each_argument,
};
use crate::validate::keyword::{Keyword, Words};

/// A set of variables of one clause.
pub(crate) type Variables = BTreeSet<VariableId>;

/// The variables that a conjunction supplies, and those around it. A chain and
/// no union: an `or` may have many branches, and much may stand around it.
pub(crate) struct Scope<'a> {
    own: Variables,
    outer: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn of(conditions: &[Condition], outer: Option<&'a Scope<'a>>) -> Self {
        Self { own: supplied(conditions), outer }
    }

    pub(crate) fn contains(&self, id: &VariableId) -> bool {
        self.own.contains(id) || self.outer.is_some_and(|outer| outer.contains(id))
    }
}

/// Why a variable needs a positive condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Head,
    Comparison,
    Negation,
}

/// Reports unsafe variables.
pub(crate) fn check(
    clauses: &[Clause],
    rulesheet: &Rulesheet,
    leniency: Leniency,
    findings: &mut Findings,
) {
    for clause in clauses.iter().filter(|clause| !clause.broken) {
        let mut said = FxHashSet::default();
        let mut report = |place: Place, id: VariableId, span: Span, torn: bool| {
            if said.insert((place, id, torn)) {
                let name = rulesheet.spelling(clause.variables[id.0 as usize]);
                let is_fact = clause.body.is_empty();
                report(findings, name, span, place, is_fact, torn, leniency);
            }
        };
        let bound = supplied(&clause.body);
        for argument in &clause.head.arguments {
            argument.for_each_variable(&mut |id, span| {
                if !bound.contains(&id) {
                    report(Place::Head, id, span, false);
                }
            });
        }
        each_unbound(&clause.body, None, &mut report);
    }
}

fn report(
    findings: &mut Findings,
    name: &str,
    span: Span,
    place: Place,
    is_fact: bool,
    torn: bool,
    leniency: Leniency,
) {
    if is_fact {
        findings.error(
            "variable-in-fact",
            span,
            format!("the variable `{name}` occurs in a fact"),
            "make it a rule whose conditions bind the variable",
        );
        return;
    }
    let (code, place, reading) = match place {
        Place::Head => (
            "unsafe-head",
            "the head",
            "it matches any term in queries, any role in role arguments, and otherwise any constant",
        ),
        Place::Comparison => ("unsafe-distinct", "a comparison", "it matches any constant"),
        Place::Negation => {
            ("unsafe-negation", "a negation", "the negation holds if no instance holds")
        }
    };
    let readable = leniency == Leniency::Lenient && !torn;
    let severity = if readable { Severity::Warning } else { Severity::Error };
    let mut help = format!("add a positive condition that binds `{name}`");
    if readable {
        help = format!("{help}; with --lenient, {reading}");
    }
    findings.push(
        severity,
        code,
        span,
        format!("the variable `{name}` of {place} occurs in no positive condition"),
        help,
    );
}

/// Notes negations and comparisons that stand before the conditions which bind
/// their variables. Order means nothing in GDL, but systems that go through a
/// body from left to right read such a rule differently: they find no instance of
/// a negation, or hold an unbound variable to differ from everything. Comparisons
/// are moved behind their variables by most of them.
pub(crate) fn check_order(clauses: &[Clause], rulesheet: &Rulesheet, findings: &mut Findings) {
    for clause in clauses.iter().filter(|clause| !clause.broken) {
        let mut said = FxHashSet::default();
        each_early(&clause.body, &Variables::new(), None, &mut |place, id, span| {
            if !said.insert(place) {
                return;
            }
            let name = rulesheet.spelling(clause.variables[id.0 as usize]);
            let (severity, code, what) = match place {
                Place::Comparison => (Severity::Note, "early-distinct", "comparison"),
                _ => (Severity::Warning, "early-negation", "negation"),
            };
            findings.push(
                severity,
                code,
                span,
                format!("this {what} stands before the condition that binds `{name}`"),
                format!(
                    "write the {what} last; the order does not matter here, but systems that \
                     read from left to right find another meaning"
                ),
            );
        });
    }
}

/// Calls `report` for each variable of a negation or comparison that the
/// conjunction or `outer` supplies, but neither `before` nor what stands before it.
fn each_early(
    conditions: &[Condition],
    before: &Variables,
    outer: Option<&Scope<'_>>,
    report: &mut impl FnMut(Place, VariableId, Span),
) {
    let bound = Scope::of(conditions, outer);
    let mut before = before.clone();
    for condition in conditions {
        let mut early = |place: Place, argument: &Argument| {
            argument.for_each_variable(&mut |id, span| {
                if bound.contains(&id) && !before.contains(&id) {
                    report(place, id, span);
                }
            });
        };
        match &condition.kind {
            ConditionKind::Positive(_) => {}
            ConditionKind::Negative(atomic) => {
                atomic.arguments.iter().for_each(|argument| early(Place::Negation, argument));
            }
            ConditionKind::Distinct(left, right) | ConditionKind::Equal(left, right) => {
                early(Place::Comparison, left);
                early(Place::Comparison, right);
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    each_early(branch, &before, Some(&bound), report);
                }
            }
        }
        before.append(&mut supplied(std::slice::from_ref(condition)));
    }
}

/// The variables that the positive conditions of a conjunction supply.
pub(crate) fn supplied(conditions: &[Condition]) -> Variables {
    let mut variables = Variables::new();
    for condition in conditions {
        match &condition.kind {
            ConditionKind::Positive(atomic) => {
                variables.append(&mut variables_of(&atomic.arguments))
            }
            ConditionKind::Or(branches) => {
                let common = branches
                    .iter()
                    .map(|branch| supplied(branch))
                    .reduce(|left, right| left.intersection(&right).copied().collect());
                variables.append(&mut common.unwrap_or_default());
            }
            _ => {}
        }
    }
    variables
}

pub(crate) fn variables_of(arguments: &[Argument]) -> Variables {
    let mut variables = Variables::new();
    for argument in arguments {
        argument.for_each_variable(&mut |id, _| {
            variables.insert(id);
        });
    }
    variables
}

/// Calls `report` for each variable of a negation or comparison that neither
/// `outer` nor the conjunction itself supplies.
fn each_unbound(
    conditions: &[Condition],
    outer: Option<&Scope<'_>>,
    report: &mut impl FnMut(Place, VariableId, Span, bool),
) {
    let bound = Scope::of(conditions, outer);
    for condition in conditions {
        let mut unbound = |place: Place, argument: &Argument| {
            argument.for_each_variable(&mut |id, span| {
                if !bound.contains(&id) {
                    report(place, id, span, condition.torn);
                }
            });
        };
        match &condition.kind {
            ConditionKind::Positive(_) => {}
            ConditionKind::Negative(atomic) => {
                for argument in &atomic.arguments {
                    unbound(Place::Negation, argument);
                }
            }
            ConditionKind::Distinct(left, right) | ConditionKind::Equal(left, right) => {
                unbound(Place::Comparison, left);
                unbound(Place::Comparison, right);
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    each_unbound(branch, Some(&bound), report);
                }
            }
        }
    }
}

/// Rewrites unsafe clauses as the table above says, so that only variables of
/// negations remain without a positive condition, each in one negation alone.
/// Returns the rules that define the domain, if one was needed. Symbols are
/// added only then.
pub(crate) fn close(clauses: &mut [Clause], words: &Words, symbols: &mut Symbols) -> Vec<Rule> {
    let original = clauses.to_vec();
    let mut closing = Closing { words, role: symbols.find("role"), symbols, domain: None };
    for clause in clauses {
        closing.clause(clause);
    }
    match closing.domain {
        Some(domain) => domain_facts(domain, &original),
        None => Vec::new(),
    }
}

struct Closing<'a> {
    words: &'a Words,
    role: Option<SymbolId>,
    symbols: &'a mut Symbols,
    /// The predicate of the domain, once it was needed.
    domain: Option<SymbolId>,
}

impl Closing<'_> {
    fn clause(&mut self, clause: &mut Clause) {
        let keyword = self.words.keyword(clause.head.name, clause.head.arguments.len());
        if let (Some(Keyword::Legal | Keyword::Goal), Some(role)) = (keyword, self.role)
            && let ArgumentKind::Variable(id) = clause.head.arguments[0].kind
            && !supplied(&clause.body).contains(&id)
        {
            supply(&mut clause.body, id, clause.span, role);
        }
        let in_head = variables_of(&clause.head.arguments);
        self.conjunction(&mut clause.body, None, &in_head, clause.span);
        let mut taken = positive(&clause.body);
        rename_local(&mut clause.body, None, &mut taken, &mut clause.variables);
    }

    /// Supplies the variables `needed` and those of comparisons.
    fn conjunction(
        &mut self,
        conditions: &mut Vec<Condition>,
        outer: Option<&Scope<'_>>,
        needed: &Variables,
        span: Span,
    ) {
        let mut missing = needed.clone();
        for condition in conditions.iter() {
            if let ConditionKind::Distinct(left, right) | ConditionKind::Equal(left, right) =
                &condition.kind
            {
                missing.append(&mut variables_of(std::slice::from_ref(left)));
                missing.append(&mut variables_of(std::slice::from_ref(right)));
            }
        }
        let mut bound = Scope::of(conditions, outer);
        for &id in missing.iter().filter(|id| !bound.contains(id)) {
            let domain = self.domain();
            supply(conditions, id, span, domain);
        }
        bound.own.append(&mut missing);
        for condition in conditions {
            if let ConditionKind::Or(branches) = &mut condition.kind {
                for branch in branches {
                    self.conjunction(branch, Some(&bound), &Variables::new(), condition.span);
                }
            }
        }
    }

    fn domain(&mut self) -> SymbolId {
        *self.domain.get_or_insert_with(|| {
            let mut name = "active-domain".to_owned();
            while self.symbols.find(&name).is_some() {
                name.push('-');
            }
            self.symbols.intern(&name)
        })
    }
}

/// Adds the condition `(predicate variable)`: to those alternatives of an `or`
/// that lack the variable if the others have it, or else in front.
fn supply(conditions: &mut Vec<Condition>, id: VariableId, span: Span, predicate: SymbolId) {
    let in_part = |condition: &&mut Condition| match &condition.kind {
        ConditionKind::Or(branches) => branches.iter().any(|branch| supplied(branch).contains(&id)),
        _ => false,
    };
    if let Some(Condition { kind: ConditionKind::Or(branches), .. }) =
        conditions.iter_mut().find(in_part)
    {
        for branch in branches.iter_mut().filter(|branch| !supplied(branch).contains(&id)) {
            supply(branch, id, span, predicate);
        }
        return;
    }
    let argument = Argument { span, kind: ArgumentKind::Variable(id) };
    let atomic = Atomic { span, name: predicate, arguments: vec![argument] };
    conditions.insert(0, Condition { span, kind: ConditionKind::Positive(atomic), torn: false });
}

/// Gives the variables that only negations have a number of their own in each
/// negation. `taken` are those in use elsewhere in the clause.
fn rename_local(
    conditions: &mut [Condition],
    outer: Option<&Scope<'_>>,
    taken: &mut Variables,
    names: &mut Vec<SymbolId>,
) {
    let bound = Scope::of(conditions, outer);
    for condition in conditions {
        match &mut condition.kind {
            ConditionKind::Negative(atomic) => {
                let variables = variables_of(&atomic.arguments);
                for &id in variables.iter().filter(|id| !bound.contains(id)) {
                    if taken.insert(id) {
                        continue;
                    }
                    let new = u32::try_from(names.len()).expect("fewer than 2^32 variables");
                    names.push(names[id.0 as usize]);
                    for argument in &mut atomic.arguments {
                        rename(argument, id, VariableId(new));
                    }
                }
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    rename_local(branch, Some(&bound), taken, names);
                }
            }
            _ => {}
        }
    }
}

/// The variables of positive conditions, wherever they stand. After closing,
/// these are all but those that only negations have.
fn positive(conditions: &[Condition]) -> Variables {
    let mut variables = Variables::new();
    for condition in conditions {
        match &condition.kind {
            ConditionKind::Positive(atomic) => {
                variables.append(&mut variables_of(&atomic.arguments))
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    variables.append(&mut positive(branch));
                }
            }
            _ => {}
        }
    }
    variables
}

fn rename(argument: &mut Argument, from: VariableId, to: VariableId) {
    match &mut argument.kind {
        ArgumentKind::Variable(id) if *id == from => *id = to,
        ArgumentKind::Function(_, arguments) => {
            for argument in arguments {
                rename(argument, from, to);
            }
        }
        _ => {}
    }
}

/// A fact for each ground term of the rules, parts of terms included.
fn domain_facts(domain: SymbolId, clauses: &[Clause]) -> Vec<Rule> {
    let mut terms = Vec::new();
    let mut known = FxHashSet::default();
    for clause in clauses {
        let mut add = |argument: &Argument| ground_terms(argument, &mut known, &mut terms);
        clause.head.arguments.iter().for_each(&mut add);
        for_each_argument(&clause.body, &mut add);
    }
    let fact = |term| Rule {
        head: Sentence { name: domain, arguments: vec![term] },
        body: Vec::new(),
        n_variables: 0,
    };
    terms.into_iter().map(fact).collect()
}

fn ground_terms(argument: &Argument, known: &mut FxHashSet<Term>, terms: &mut Vec<Term>) {
    if let ArgumentKind::Function(_, arguments) = &argument.kind {
        for argument in arguments {
            ground_terms(argument, known, terms);
        }
    }
    if argument.is_ground() {
        let term = argument.term();
        if known.insert(term.clone()) {
            terms.push(term);
        }
    }
}
