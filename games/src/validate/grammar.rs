//! From forms to clauses: which lists are facts, rules, conditions and terms
//! (GDL specification, Love et al. 2008, section 3), and the negation normal
//! form of bodies.

use rustc_hash::FxHashMap;

use crate::finding::Findings;
use crate::rule::VariableId;
use crate::rulesheet::{Form, FormKind, Rulesheet};
use crate::span::Span;
use crate::symbol::SymbolId;
use crate::validate::clause::{Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind};
use crate::validate::keyword::{Connective, Words};

/// Maximum number of conditions of a rule, and of variables. What follows compares the
/// parts of one rule with each other; published rules have fewer than fifty.
const MAX_PARTS: usize = 2048;

/// Maximum number of arguments of a sentence or term; published ones have fewer than twenty.
const MAX_ARGUMENTS: usize = 1024;

/// The clauses of a rulesheet, in textual order; forms whose head is none and
/// such as are too large are left out, with an error each.
pub(crate) fn clauses(
    rulesheet: &Rulesheet,
    words: &Words,
    findings: &mut Findings,
) -> Vec<Clause> {
    let read = |form| {
        let mut grammar = Grammar {
            rulesheet,
            words,
            findings,
            variables: Vec::new(),
            ids: FxHashMap::default(),
            n_conditions: 0,
        };
        grammar.clause(form)
    };
    rulesheet.forms().iter().filter_map(read).collect()
}

/// Reads one top-level form.
struct Grammar<'a> {
    rulesheet: &'a Rulesheet,
    words: &'a Words,
    findings: &'a mut Findings,
    variables: Vec<SymbolId>,
    ids: FxHashMap<SymbolId, VariableId>,
    n_conditions: usize,
}

/// A form whose head is known to be a name.
struct Applied<'a> {
    name: SymbolId,
    name_span: Span,
    arguments: &'a [Form],
}

impl Grammar<'_> {
    fn clause(&mut self, form: &Form) -> Option<Clause> {
        let applied = self.applied(form)?;
        let (head, body) = match self.words.connective(applied.name) {
            Some(Connective::If) => {
                let Some((head, body)) = applied.arguments.split_first() else {
                    return self.rule_without_head(form);
                };
                (head, Some(body))
            }
            Some(Connective::Then) => {
                let Some((head, body)) = applied.arguments.split_last() else {
                    return self.rule_without_head(form);
                };
                self.findings.warning(
                    "reversed-arrow",
                    applied.name_span,
                    "this rule is written with `=>`, its head last",
                    "write `<=` and put the head first; other systems do not read `=>`",
                );
                (head, Some(body))
            }
            Some(_) => {
                self.findings.error(
                    "connective-as-fact",
                    form.span,
                    format!("`{}` cannot be a fact", self.name(applied.name)),
                    "put it into the body of a rule `(<= head condition ...)`",
                );
                return None;
            }
            None => {
                self.note_bare_fact(form, applied.name);
                (form, None)
            }
        };
        let head = self.head(head);
        let (body, sound) = body.map_or((Vec::new(), true), |body| self.body(form, body));
        let variables = std::mem::take(&mut self.variables);
        let parts = [(self.n_conditions, "conditions"), (variables.len(), "variables")];
        if let Some((n, what)) = parts.into_iter().find(|&(n, _)| n > MAX_PARTS) {
            self.findings.error(
                "rule-too-large",
                form.span,
                format!("this rule has {n} {what}"),
                format!("at most {MAX_PARTS} are supported; move some of them into another rule"),
            );
            return None;
        }
        Some(Clause { span: form.span, head: head?, body, variables, broken: !sound })
    }

    fn note_bare_fact(&mut self, form: &Form, name: SymbolId) {
        if matches!(form.kind, FormKind::Constant(_)) && self.words.named(name).is_none() {
            self.findings.info(
                "bare-proposition",
                form.span,
                format!("the bare word `{}` is read as a fact", self.name(name)),
                "if it is meant as a comment, put `;` before it",
            );
        }
    }

    fn rule_without_head(&mut self, form: &Form) -> Option<Clause> {
        self.findings.error(
            "rule-without-head",
            form.span,
            "this rule has no head",
            "write `(<= head condition ...)`",
        );
        None
    }

    fn head(&mut self, form: &Form) -> Option<Atomic> {
        let applied = self.applied(form)?;
        if self.words.connective(applied.name).is_some() {
            self.findings.error(
                "connective-in-head",
                form.span,
                format!("`{}` cannot be the head of a rule", self.name(applied.name)),
                "a head is one sentence; negations and alternatives belong in bodies",
            );
            return None;
        }
        self.sentence(form, &applied)
    }

    /// The sound conditions of a rule, and whether that is all of them.
    fn body(&mut self, rule: &Form, forms: &[Form]) -> (Vec<Condition>, bool) {
        if forms.is_empty() {
            self.findings.warning(
                "empty-body",
                rule.span,
                "this rule has no conditions and is read as a fact",
                "write the head alone",
            );
        }
        let mut conditions = Vec::new();
        let mut sound = true;
        for form in forms {
            sound &= self.condition(form, Polarity::Positive, false, &mut conditions).is_some();
        }
        (conditions, sound)
    }

    /// Adds the literals that `form`, or its negation, amounts to.
    fn condition(
        &mut self,
        form: &Form,
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        let applied = self.applied(form)?;
        let kind = match self.words.connective(applied.name) {
            Some(Connective::If | Connective::Then) => {
                self.findings.error(
                    "rule-inside-rule",
                    form.span,
                    "a rule cannot be a condition",
                    "close the rule before this one with the `)` that it lacks",
                );
                return None;
            }
            Some(Connective::Not) => {
                return self.negation(form, &applied, polarity, torn, conditions);
            }
            Some(Connective::And) => return self.and(form, &applied, polarity, torn, conditions),
            Some(Connective::Or) => return self.or(form, &applied, polarity, torn, conditions),
            Some(Connective::Distinct) => {
                let [left, right] = applied.arguments else {
                    return self.wrong_number(form, &applied, "two terms");
                };
                let (left, right) = (self.term(left), self.term(right));
                match polarity {
                    Polarity::Positive => ConditionKind::Distinct(left?, right?),
                    Polarity::Negative => ConditionKind::Equal(left?, right?),
                }
            }
            None => {
                let atomic = self.sentence(form, &applied)?;
                match polarity {
                    Polarity::Positive => ConditionKind::Positive(atomic),
                    Polarity::Negative => ConditionKind::Negative(atomic),
                }
            }
        };
        conditions.push(Condition { span: form.span, kind, torn });
        self.n_conditions += 1;
        Some(())
    }

    fn negation(
        &mut self,
        form: &Form,
        applied: &Applied<'_>,
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        let [inner] = applied.arguments else {
            return self.wrong_number(form, applied, "one condition");
        };
        if let Some(name) = self.connective_of(inner) {
            self.findings.warning(
                "compound-negation",
                form.span,
                format!("`not` is applied to `{}`", self.name(name)),
                "GDL has `not` before sentences only; other systems may read this otherwise",
            );
        }
        self.condition(inner, polarity.reversed(), torn, conditions)
    }

    fn and(
        &mut self,
        form: &Form,
        applied: &Applied<'_>,
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        self.findings.warning(
            "explicit-and",
            form.span,
            "`and` is not part of GDL",
            "list the conditions without it, or put them into a rule of their own; \
             other systems read `and` as a relation",
        );
        if applied.arguments.is_empty() {
            self.empty_connective(form, "and", "always true");
        }
        match polarity {
            Polarity::Positive => self.each(applied.arguments, polarity, torn, conditions),
            Polarity::Negative => self.branches(form, applied, polarity, true, conditions),
        }
    }

    fn or(
        &mut self,
        form: &Form,
        applied: &Applied<'_>,
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        if applied.arguments.is_empty() {
            self.empty_connective(form, "or", "never true");
        }
        for branch in applied.arguments {
            let inner = self.connective_of(branch).and_then(|name| self.words.connective(name));
            if inner == Some(Connective::Or) {
                self.findings.warning(
                    "nested-or",
                    branch.span,
                    "an `or` directly inside an `or`",
                    "list its alternatives in the outer one",
                );
            }
        }
        match polarity {
            Polarity::Positive => self.branches(form, applied, polarity, torn, conditions),
            Polarity::Negative => {
                let simple =
                    applied.arguments.iter().all(|form| self.connective_of(form).is_none());
                self.each(applied.arguments, polarity, torn || !simple, conditions)
            }
        }
    }

    fn each(
        &mut self,
        forms: &[Form],
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        let mut sound = true;
        for form in forms {
            sound &= self.condition(form, polarity, torn, conditions).is_some();
        }
        sound.then_some(())
    }

    /// Adds a disjunction, without needless levels: one alternative stands for
    /// itself, and the alternatives of an alternative are alternatives.
    fn branches(
        &mut self,
        form: &Form,
        applied: &Applied<'_>,
        polarity: Polarity,
        torn: bool,
        conditions: &mut Vec<Condition>,
    ) -> Option<()> {
        let mut branches = Vec::new();
        let mut sound = true;
        for argument in applied.arguments {
            let mut branch = Vec::new();
            sound &= self.condition(argument, polarity, torn, &mut branch).is_some();
            match branch.as_mut_slice() {
                [Condition { kind: ConditionKind::Or(inner), .. }] => branches.append(inner),
                _ => branches.push(branch),
            }
        }
        if !sound {
            return None;
        }
        if branches.len() == 1 {
            conditions.append(&mut branches[0]);
        } else {
            conditions.push(Condition { span: form.span, kind: ConditionKind::Or(branches), torn });
        }
        Some(())
    }

    fn empty_connective(&mut self, form: &Form, name: &str, meaning: &str) {
        self.findings.warning(
            "empty-connective",
            form.span,
            format!("an empty `{name}` is {meaning}"),
            "remove it, or write the condition that is meant",
        );
    }

    fn wrong_number<T>(&mut self, form: &Form, applied: &Applied<'_>, expected: &str) -> Option<T> {
        let name = self.name(applied.name);
        let found = applied.arguments.len();
        self.findings.error(
            "wrong-arity",
            form.span,
            format!("`{name}` takes {expected}, not {found}"),
            format!("give it {expected}"),
        );
        None
    }

    fn sentence(&mut self, form: &Form, applied: &Applied<'_>) -> Option<Atomic> {
        self.note_needless_parentheses(form, applied);
        self.few_arguments(form, applied)?;
        let arguments: Vec<_> = applied.arguments.iter().map(|form| self.term(form)).collect();
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        Some(Atomic { span: form.span, name: applied.name, arguments })
    }

    fn term(&mut self, form: &Form) -> Option<Argument> {
        if let FormKind::Variable(name) = form.kind {
            let variables = &mut self.variables;
            let id = *self.ids.entry(name).or_insert_with(|| {
                let id = u32::try_from(variables.len()).expect("fewer than 2^32 variables");
                variables.push(name);
                VariableId(id)
            });
            return Some(Argument { span: form.span, kind: ArgumentKind::Variable(id) });
        }
        let applied = self.applied(form)?;
        self.note_needless_parentheses(form, &applied);
        self.note_keyword(form, &applied);
        self.note_connective(form, &applied);
        if applied.arguments.is_empty() {
            return Some(Argument { span: form.span, kind: ArgumentKind::Constant(applied.name) });
        }
        self.few_arguments(form, &applied)?;
        let arguments: Vec<_> = applied.arguments.iter().map(|form| self.term(form)).collect();
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        let kind = ArgumentKind::Function(applied.name, arguments);
        Some(Argument { span: form.span, kind })
    }

    fn few_arguments(&mut self, form: &Form, applied: &Applied<'_>) -> Option<()> {
        let n = applied.arguments.len();
        if n > MAX_ARGUMENTS {
            self.findings.error(
                "too-many-arguments",
                form.span,
                format!("`{}` has {n} arguments", self.name(applied.name)),
                format!("at most {MAX_ARGUMENTS} are supported"),
            );
            return None;
        }
        Some(())
    }

    /// The name and arguments of a name or of a list that starts with a name.
    fn applied<'f>(&mut self, form: &'f Form) -> Option<Applied<'f>> {
        match &form.kind {
            FormKind::Constant(name) => {
                Some(Applied { name: *name, name_span: form.span, arguments: &[] })
            }
            FormKind::Variable(name) => {
                self.findings.error(
                    "variable-as-sentence",
                    form.span,
                    format!("the variable `{}` is used where a sentence belongs", self.name(*name)),
                    "put it into a sentence, such as `(true ...)`",
                );
                None
            }
            FormKind::List(items) => {
                let Some((head, arguments)) = items.split_first() else {
                    self.findings.error(
                        "empty-list",
                        form.span,
                        "an empty pair of parentheses",
                        "remove it",
                    );
                    return None;
                };
                match head.kind {
                    FormKind::Constant(name) => {
                        Some(Applied { name, name_span: head.span, arguments })
                    }
                    FormKind::Variable(name) => {
                        self.findings.error(
                            "variable-as-name",
                            head.span,
                            format!(
                                "the variable `{}` cannot stand first in a list",
                                self.name(name)
                            ),
                            "a list starts with the name of a relation or function",
                        );
                        None
                    }
                    FormKind::List(_) => {
                        self.findings.error(
                            "list-as-name",
                            head.span,
                            "a list cannot start with another list",
                            "a list starts with the name of a relation or function; \
                             remove a `(` or add the name",
                        );
                        None
                    }
                }
            }
        }
    }

    /// The connective that `form` applies, if it does.
    fn connective_of(&self, form: &Form) -> Option<SymbolId> {
        let name = match &form.kind {
            FormKind::Constant(name) => *name,
            FormKind::List(items) => match items.first()?.kind {
                FormKind::Constant(name) => name,
                _ => return None,
            },
            FormKind::Variable(_) => return None,
        };
        self.words.connective(name).map(|_| name)
    }

    /// `(p)` is `p`, for sentences and terms alike. Some systems hold them to
    /// be different, and games that mix them then never end.
    fn note_needless_parentheses(&mut self, form: &Form, applied: &Applied<'_>) {
        let needless = matches!(form.kind, FormKind::List(_)) && applied.arguments.is_empty();
        if needless && self.findings.first("needless-parentheses", applied.name, 0) {
            let name = self.name(applied.name);
            self.findings.warning(
                "needless-parentheses",
                form.span,
                format!("`({name})` is read as `{name}`"),
                "remove the parentheses; other systems treat the two as different",
            );
        }
    }

    fn note_keyword(&mut self, form: &Form, applied: &Applied<'_>) {
        let Some(keyword) = self.words.named(applied.name) else { return };
        let (case, used) =
            if applied.arguments.is_empty() { (0, "an object") } else { (1, "a function") };
        if self.findings.first("keyword-as-term", applied.name, case) {
            self.findings.warning(
                "keyword-as-term",
                form.span,
                format!("the keyword `{}` is used as {used}", keyword.name()),
                "it has no special meaning there; ignore this if that is intended",
            );
        }
    }

    /// Published games of satisfiability write their formulas with `not` and `or`.
    fn note_connective(&mut self, form: &Form, applied: &Applied<'_>) {
        if self.words.connective(applied.name).is_none() {
            return;
        }
        let (case, used) =
            if applied.arguments.is_empty() { (0, "an object") } else { (1, "a function") };
        if self.findings.first("connective-as-term", applied.name, case) {
            self.findings.warning(
                "connective-as-term",
                form.span,
                format!("the word `{}` is used as {used}", self.name(applied.name)),
                "it has no effect inside a term: for a condition, move it outside; for a name, use \
                 another word, because some systems refuse this one",
            );
        }
    }

    fn name(&self, id: SymbolId) -> &str {
        self.rulesheet.spelling(id)
    }
}

/// Whether a condition or its negation is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Polarity {
    Positive,
    Negative,
}

impl Polarity {
    fn reversed(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
        }
    }
}
