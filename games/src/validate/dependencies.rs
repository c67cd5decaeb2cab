//! Which predicates depend on which, and which dependencies are errors.
//!
//! Predicates are nodes; an edge leads from the head of a rule to each
//! predicate of its body, and is negative under `not` (GDL specification,
//! Love et al. 2008, section 4: dependency graph, stratification, recursion
//! restriction).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{Findings, Severity};
use crate::rulesheet::Rulesheet;
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind, Predicate, for_each_sentence,
};
use crate::validate::keyword::{Keyword, Words};
use crate::validate::names::{arguments, similar};
use crate::validate::paths::{Edge, components, shortest_path, way};

/// The dependency graph of all predicates.
pub(crate) struct Dependencies {
    predicates: Vec<Predicate>,
    ids: FxHashMap<Predicate, usize>,
    edges: Vec<Vec<Edge>>,
    /// For each node, the number of its strongly connected component.
    components: Vec<usize>,
}

impl Dependencies {
    pub(crate) fn of(clauses: &[Clause]) -> Self {
        let mut graph = Self {
            predicates: Vec::new(),
            ids: FxHashMap::default(),
            edges: Vec::new(),
            components: Vec::new(),
        };
        for clause in clauses {
            let from = graph.node(clause.head.predicate());
            for_each_sentence(&clause.body, &mut |sentence, negative| {
                let to = graph.node(sentence.predicate());
                graph.edges[from].push(Edge { to, negative, span: sentence.span });
            });
        }
        graph.components = components(&graph.edges);
        graph
    }

    fn node(&mut self, predicate: Predicate) -> usize {
        let Self { predicates, ids, edges, .. } = self;
        *ids.entry(predicate).or_insert_with(|| {
            predicates.push(predicate);
            edges.push(Vec::new());
            predicates.len() - 1
        })
    }

    /// Whether a predicate depends on itself.
    pub(crate) fn is_recursive(&self, predicate: Predicate) -> bool {
        self.ids.get(&predicate).is_some_and(|&node| {
            self.edges[node].iter().any(|edge| self.components[edge.to] == self.components[node])
        })
    }

    /// The number of its component: no smaller than those it depends on.
    pub(crate) fn component(&self, predicate: Predicate) -> Option<usize> {
        self.ids.get(&predicate).map(|&node| self.components[node])
    }

    fn is_mutually_recursive(&self, left: Predicate, right: Predicate) -> bool {
        match (self.ids.get(&left), self.ids.get(&right)) {
            (Some(&left), Some(&right)) => self.components[left] == self.components[right],
            _ => false,
        }
    }

    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        shortest_path(&self.edges, from, to, |_| true)
    }

    /// Reports predicates that depend on their own negation; for rules that are
    /// stratified nevertheless.
    pub(crate) fn note_unstratified(&self, rulesheet: &Rulesheet, findings: &mut Findings) {
        let mut said = FxHashSet::default();
        for (from, edges) in self.edges.iter().enumerate() {
            for edge in edges.iter().filter(|edge| edge.negative) {
                let component = self.components[from];
                if self.components[edge.to] == component && said.insert(component) {
                    let name = rulesheet.spelling(self.predicates[from].0);
                    findings.warning(
                        "stratified-by-arguments",
                        edge.span,
                        format!("`{name}` depends on its own negation, for other arguments"),
                        "put the common conditions into a rule of their own; \
                         not all systems accept this",
                    );
                }
            }
        }
    }
}

/// What keywords must not depend on (GDL specification, section 4): `init`,
/// `base` and `input` on the state or the moves, `legal`, `goal` and `terminal`
/// on the moves. Nothing here is computed from `base` and `input`, which only
/// declare what may hold, so that for them it is a warning.
pub(crate) fn check_keyword_dependencies(
    graph: &Dependencies,
    words: &Words,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let node = |keyword: Keyword| {
        let is_it = |&(name, arity): &Predicate| words.keyword(name, arity) == Some(keyword);
        graph.predicates.iter().position(is_it)
    };
    let rows: [(Keyword, &[Keyword]); 6] = [
        (Keyword::Init, &[Keyword::True, Keyword::Does]),
        (Keyword::Base, &[Keyword::True, Keyword::Does]),
        (Keyword::Input, &[Keyword::True, Keyword::Does]),
        (Keyword::Legal, &[Keyword::Does]),
        (Keyword::Goal, &[Keyword::Does]),
        (Keyword::Terminal, &[Keyword::Does]),
    ];
    for (source, targets) in rows {
        let Some(from) = node(source) else { continue };
        for &target in targets {
            let Some(to) = node(target) else { continue };
            let leads = leading_to(&graph.edges, to);
            let mut said = FxHashSet::default();
            let ways = graph.edges[from].iter().filter(|edge| leads[edge.to]);
            for edge in ways.filter(|edge| said.insert(edge.to)).take(MAX_WAYS) {
                let Some(path) = graph.path(edge.to, to) else { continue };
                let name = |&node: &usize| rulesheet.spelling(graph.predicates[node].0);
                let way = way(path.iter().map(name).collect());
                let (source, target) = (source.name(), target.name());
                let kind = if target == "does" { "the moves" } else { "the state" };
                let message = format!("`{source}` depends on `{target}`: {source} -> {way}");
                let mut help = format!("`{source}` must not depend on {kind}");
                let severity = if matches!(source, "base" | "input") {
                    help += "; it is not used here, but other systems refuse the rules";
                    Severity::Warning
                } else {
                    Severity::Error
                };
                findings.push(severity, "keyword-dependency", edge.span, message, help);
            }
        }
    }
}

/// Maximum number of ways from one keyword to another that are reported.
const MAX_WAYS: usize = 20;

/// For each node, whether some path leads from it to `target`.
fn leading_to(edges: &[Vec<Edge>], target: usize) -> Vec<bool> {
    let mut sources = vec![Vec::new(); edges.len()];
    for (from, of_node) in edges.iter().enumerate() {
        of_node.iter().for_each(|edge| sources[edge.to].push(from));
    }
    let mut leads = vec![false; edges.len()];
    let mut todo = vec![target];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut leads[node], true) {
            todo.extend(&sources[node]);
        }
    }
    leads
}

/// The recursion restriction, which keeps terms from growing for ever: an
/// argument of a recursive condition must be ground, an argument of the head,
/// or an argument of a condition that is not recursive.
pub(crate) fn check_recursion(
    clauses: &[Clause],
    graph: &Dependencies,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    for clause in clauses {
        let mut context = Vec::new();
        check_recursive_conditions(clause, &clause.body, &mut context, graph, &mut |argument| {
            let name = rulesheet.spelling(clause.head.name);
            let written = &rulesheet.text()[argument.span.range()];
            findings.warning(
                "unrestricted-recursion",
                argument.span,
                format!("the recursion of `{name}` does not restrict `{written}`"),
                format!(
                    "add a condition with `{written}` as an argument that does not depend on \
                     `{name}`, so that the recursion cannot build larger and larger terms"
                ),
            );
        });
    }
}

fn check_recursive_conditions<'c>(
    clause: &Clause,
    conditions: &'c [Condition],
    context: &mut Vec<&'c Atomic>,
    graph: &Dependencies,
    report: &mut impl FnMut(&Argument),
) {
    let outer = context.len();
    let head = clause.head.predicate();
    for condition in conditions {
        if let ConditionKind::Positive(atomic) = &condition.kind
            && !graph.is_mutually_recursive(head, atomic.predicate())
        {
            context.push(atomic);
        }
    }
    for condition in conditions {
        match &condition.kind {
            ConditionKind::Positive(atomic) => {
                let guarded = |argument: &Argument| {
                    let supplied =
                        |by: &Atomic| by.arguments.iter().any(|other| same(argument, other));
                    argument.is_ground()
                        || supplied(&clause.head)
                        || context.iter().any(|atomic| supplied(atomic))
                };
                if graph.is_mutually_recursive(head, atomic.predicate())
                    && let Some(argument) = atomic.arguments.iter().find(|it| !guarded(it))
                {
                    report(argument);
                }
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    check_recursive_conditions(clause, branch, context, graph, report);
                }
            }
            _ => {}
        }
    }
    context.truncate(outer);
}

/// Syntactic identity of two terms of one clause.
fn same(left: &Argument, right: &Argument) -> bool {
    match (&left.kind, &right.kind) {
        (ArgumentKind::Constant(left), ArgumentKind::Constant(right)) => left == right,
        (ArgumentKind::Variable(left), ArgumentKind::Variable(right)) => left == right,
        (ArgumentKind::Function(name, left), ArgumentKind::Function(other, right)) => {
            name == other
                && left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        _ => false,
    }
}

/// Maximum number of undefined predicates for which a similar name is searched.
const MAX_SEARCHES: usize = 100;

/// Maximum number of names that all these searches look at.
const MAX_COMPARISONS: usize = 200_000;

/// Predicates that are used but not defined, and predicates that are defined but never
/// used.
pub(crate) fn check_used_and_defined(
    clauses: &[Clause],
    words: &Words,
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let defined: FxHashSet<_> = clauses.iter().map(|clause| clause.head.predicate()).collect();
    let arities: FxHashMap<_, _> = clauses.iter().rev().map(|it| it.head.predicate()).collect();
    let names: BTreeSet<_> = arities.keys().map(|&name| rulesheet.spelling(name)).collect();
    let mut searches = MAX_SEARCHES.min(MAX_COMPARISONS / names.len().max(1));
    let mut search = |name| {
        searches -= usize::from(searches > 0);
        if searches > 0 { similar(name, names.iter().copied()) } else { None }
    };
    let mut used = FxHashSet::default();
    for clause in clauses {
        for_each_sentence(&clause.body, &mut |sentence, _| {
            let predicate = sentence.predicate();
            if !used.insert(predicate) || defined.contains(&predicate) {
                return;
            }
            // What is missing altogether is reported as that.
            if words.named(predicate.0).is_some_and(|keyword| keyword != Keyword::Next) {
                return;
            }
            let name = rulesheet.spelling(predicate.0);
            let mut what = format!("`{name}`");
            let help = if let Some(&arity) = arities.get(&predicate.0) {
                what += &format!(" with {}", arguments(predicate.1));
                format!("it is defined with {}; check the number of arguments", arguments(arity))
            } else if let Some(other) = search(name) {
                format!("did you mean `{other}`? As it is, it never holds")
            } else {
                "check its spelling, or define it; as it is, it never holds".to_owned()
            };
            findings.warning(
                "undefined-relation",
                sentence.span,
                format!("{what} is not defined by any rule"),
                help,
            );
        });
    }
    for clause in clauses {
        let (name, arity) = clause.head.predicate();
        // With a wrong number of arguments it was reported for that.
        let is_keyword =
            words.named(name).is_some_and(|keyword| keyword.arity() == arity || !keyword.is_late());
        // Notes for other systems, which no rule uses.
        let is_note = matches!((rulesheet.spelling(name), arity), ("sees_xml", 2) | ("gdl", 1));
        if !is_keyword && !is_note && used.insert((name, arity)) {
            findings.warning(
                "unused-relation",
                clause.head.span,
                format!("`{}` with {} is never used", rulesheet.spelling(name), arguments(arity)),
                "check its spelling, or remove its rules",
            );
        }
    }
}
