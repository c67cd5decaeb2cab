//! How names are spelled and used: nothing here changes what a rulesheet
//! means, but it may mean something else to other systems, or to its author.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{Findings, Severity};
use crate::rulesheet::{Form, FormKind, Rulesheet};
use crate::span::Span;
use crate::symbol::{self, Case, SymbolId};
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, for_each_argument, for_each_sentence,
};
use crate::validate::keyword::Words;

/// Checks the spelling of every name.
pub(crate) fn check_spelling(rulesheet: &Rulesheet, words: &Words, findings: &mut Findings) {
    let mut spelling = Spelling {
        rulesheet,
        words,
        findings,
        constants: FxHashMap::default(),
        variables: FxHashMap::default(),
        said: FxHashSet::default(),
    };
    for form in rulesheet.forms() {
        spelling.variables.clear();
        spelling.form(form);
    }
}

struct Spelling<'a> {
    rulesheet: &'a Rulesheet,
    words: &'a Words,
    findings: &'a mut Findings,
    /// The first spelling of each constant, by its folded name.
    constants: FxHashMap<String, &'a str>,
    /// The first spelling of each variable of the current form.
    variables: FxHashMap<String, &'a str>,
    said: FxHashSet<String>,
}

impl Spelling<'_> {
    fn form(&mut self, form: &Form) {
        match &form.kind {
            FormKind::List(items) => items.iter().for_each(|item| self.form(item)),
            FormKind::Constant(id) => {
                if self.words.connective(*id).is_none() {
                    self.case(form.span, false);
                    self.characters(*id, form.span, 0);
                }
            }
            FormKind::Variable(id) => {
                self.case(form.span, true);
                self.characters(*id, form.span, 1);
            }
        }
    }

    fn case(&mut self, span: Span, is_variable: bool) {
        let spelled = &self.rulesheet.text()[span.range()];
        let folded = spelled.to_ascii_lowercase();
        if symbol::ALWAYS_FOLDED.contains(&folded.as_str()) {
            return;
        }
        let spellings = if is_variable { &mut self.variables } else { &mut self.constants };
        let first = *spellings.entry(folded.clone()).or_insert(spelled);
        if first == spelled || !self.said.insert(folded) {
            return;
        }
        self.findings.warning(
            "case-collision",
            span,
            format!("`{spelled}` was written `{first}` before"),
            match self.rulesheet.symbols().case() {
                Case::Folded => {
                    "use one spelling; they are the same name here (--case folded), but different \
                     names in systems that distinguish case"
                }
                Case::Sensitive => {
                    "use one spelling; they are different names here (--case sensitive), but the \
                     same name in systems that ignore case"
                }
            },
        );
    }

    fn characters(&mut self, id: SymbolId, span: Span, skipped: usize) {
        let spelled = &self.rulesheet.text()[span.range()][skipped..];
        let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let unusual: Vec<char> = spelled.chars().filter(|&c| !is_usual(c)).collect();
        if unusual.is_empty() || !self.findings.first("unusual-character", id, 0) {
            return;
        }
        let is_risky = |c: &char| !c.is_ascii() || c.is_ascii_control() || *c == '"';
        let (severity, why) = if unusual.iter().any(is_risky) {
            (Severity::Warning, "many systems will not read it")
        } else {
            (Severity::Note, "some systems may not read it")
        };
        self.findings.push(
            severity,
            "unusual-character",
            span,
            format!("the name `{}` has the character `{}`", spelled, unusual[0].escape_debug()),
            format!("use letters, digits, `_` and `-` only; {why}"),
        );
    }
}

/// `number` arguments, in words.
pub(crate) fn arguments(number: usize) -> String {
    match number {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{number} arguments"),
    }
}

/// Longest name for which a similar one is searched.
const MAX_COMPARED: usize = 64;

/// The candidate that is written most like `name`, ignoring case, if `name` may be a
/// misspelling of it. Two letters in the wrong order are one
/// error.
pub(crate) fn similar<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let distance = |other: &'a str| {
        let allowed = name.len().max(other.len()) / 4;
        if other.len().abs_diff(name.len()) > allowed {
            return None;
        }
        let distance = strsim::osa_distance(&name, &other.to_ascii_lowercase());
        (0 < distance && distance <= allowed).then_some((distance, other))
    };
    candidates.into_iter().filter_map(distance).min().map(|(_, other)| other)
}

/// Checks that each name has one number of arguments and one role.
pub(crate) fn check_arities(
    clauses: &[Clause],
    words: &Words,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let mut arities = Arities {
        words,
        rulesheet,
        findings,
        predicates: FxHashMap::default(),
        functions: FxHashMap::default(),
    };
    for clause in clauses {
        arities.predicate(&clause.head);
        for_each_sentence(&clause.body, &mut |sentence, _| arities.predicate(sentence));
    }
    for clause in clauses {
        clause.head.arguments.iter().for_each(|argument| arities.functions(argument));
        for_each_argument(&clause.body, &mut |argument| arities.functions(argument));
    }
}

struct Arities<'a> {
    words: &'a Words,
    rulesheet: &'a Rulesheet,
    findings: &'a mut Findings,
    /// The first arity of each name.
    predicates: FxHashMap<SymbolId, usize>,
    functions: FxHashMap<SymbolId, usize>,
}

impl Arities<'_> {
    fn predicate(&mut self, sentence: &Atomic) {
        let (name, arity) = sentence.predicate();
        if self.words.named(name).is_some() {
            return;
        }
        let first = *self.predicates.entry(name).or_insert(arity);
        if first != arity && self.findings.first("several-arities", name, 0) {
            self.several("relation", name, first, arity, sentence.span);
        }
    }

    fn functions(&mut self, argument: &Argument) {
        let ArgumentKind::Function(name, arguments) = &argument.kind else { return };
        let first = *self.functions.entry(*name).or_insert(arguments.len());
        if first != arguments.len() && self.findings.first("several-arities", *name, 1) {
            self.several("function", *name, first, arguments.len(), argument.span);
        }
        let is_predicate = self.predicates.contains_key(name);
        if is_predicate && self.findings.first("relation-as-function", *name, 0) {
            self.findings.warning(
                "relation-as-function",
                argument.span,
                format!("`{}` is both a relation and a function", self.rulesheet.spelling(*name)),
                "the two are unrelated; is `true` or `does` missing?",
            );
        }
        for argument in arguments {
            self.functions(argument);
        }
    }

    fn several(&mut self, what: &str, name: SymbolId, first: usize, arity: usize, span: Span) {
        self.findings.warning(
            "several-arities",
            span,
            format!(
                "the {what} `{}` has {} here, and {first} before",
                self.rulesheet.spelling(name),
                arguments(arity)
            ),
            format!("the two are different {what}s; check the number of arguments"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn typing_errors_are_similar() {
        let check = |name, expected| {
            assert_eq!(similar(name, ["column", "cell", "step", "diagonal"]), expected, "{name}");
        };
        check("colum", Some("column"));
        check("coulmn", Some("column"));
        check("cel", Some("cell"));
        check("clmn", None);
        check("sell", Some("cell"));
        check("cell", None);
        check("Digonall", Some("diagonal"));
        check("p", None);
    }
}
