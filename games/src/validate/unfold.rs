//! A lenient reading of predicates that only test their arguments, such as
//! `(<= (different ?x ?y) (distinct ?x ?y))`: their rules are unsafe, but have
//! a clear meaning wherever all arguments are known. The conditions on them are
//! replaced by the conditions of their rules, so that not all pairs of different
//! things must be listed.

use rustc_hash::FxHashSet;

use crate::rule::VariableId;
use crate::symbol::SymbolId;
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind, Predicate, for_each_sentence,
};
use crate::validate::dependencies::Dependencies;
use crate::validate::keyword::Words;
use crate::validate::safety::{Scope, supplied, variables_of};

/// Maximum number of rules of a predicate that is replaced.
const MAX_RULES: usize = 16;
/// Maximum number of conditions that replacing predicates may add, all together.
const MAX_CONDITIONS: usize = 10_000;
/// Maximum number of parts of an argument of a condition that is replaced: rules that wrap
/// what they are given would double it again and again.
const MAX_ARGUMENT: usize = 100;
/// Maximum number of predicates for which replacement is tried. Published rulesheets have a
/// handful; each is looked for in all rules.
const MAX_PREDICATES: usize = 200;

/// Replaces what can be replaced, and removes the rules that are then idle.
pub(crate) fn unfold(clauses: &mut Vec<Clause>, words: &Words) {
    let graph = Dependencies::of(clauses);
    let mut known = FxHashSet::default();
    let mut candidates: Vec<Predicate> = Vec::new();
    for clause in clauses.iter() {
        let predicate = clause.head.predicate();
        let is_candidate = is_open(clause)
            && words.keyword(predicate.0, predicate.1).is_none()
            && !graph.is_recursive(predicate)
            && known.insert(predicate);
        if is_candidate {
            candidates.push(predicate);
        }
    }
    // Users come before definitions, since the arguments of a user may be known only
    // where it is used itself.
    candidates.sort_by_key(|&predicate| std::cmp::Reverse(graph.component(predicate)));
    candidates.truncate(MAX_PREDICATES);
    let mut n_left = MAX_CONDITIONS;
    for predicate in candidates {
        let is_its_own = |clause: &&Clause| clause.head.predicate() == predicate;
        let rules: Vec<Clause> = clauses.iter().filter(is_its_own).cloned().collect();
        if !is_replaceable(predicate, &rules, clauses, &mut n_left) {
            continue;
        }
        clauses.retain(|clause| clause.head.predicate() != predicate);
        let unfolding = Unfolding { predicate, rules };
        for clause in clauses.iter_mut().filter(|it| is_asked(&it.body, predicate)) {
            let body = std::mem::take(&mut clause.body);
            clause.body = unfolding.conjunction(body, &mut clause.variables);
        }
    }
}

/// Whether some variable of the head has no condition that supplies it.
fn is_open(clause: &Clause) -> bool {
    !variables_of(&clause.head.arguments).is_subset(&supplied(&clause.body))
}

/// Whether the rules of a predicate may stand for it; what that adds is taken
/// off the conditions left.
fn is_replaceable(
    predicate: Predicate,
    rules: &[Clause],
    clauses: &[Clause],
    n_left: &mut usize,
) -> bool {
    let is_plain = |argument: &Argument| {
        argument.is_ground() || matches!(argument.kind, ArgumentKind::Variable(_))
    };
    let heads_are_plain = rules.iter().all(|rule| rule.head.arguments.iter().all(is_plain));
    let has_local = |rule: &Clause| variables_of(&rule.head.arguments).len() < rule.variables.len();
    let any_local = rules.iter().any(has_local);
    let mut n_calls = 0;
    let mut negations_are_plain = true;
    let mut arguments_are_small = true;
    for clause in clauses {
        if !is_asked(&clause.body, predicate) {
            continue;
        }
        calls(&clause.body, None, predicate, &mut |call, negative, bound| {
            n_calls += 1;
            // What is said of all instances cannot be said of one.
            let is_known = || variables_of(&call.arguments).iter().all(|id| bound.contains(id));
            arguments_are_small &= call.arguments.iter().all(|it| parts(it) <= MAX_ARGUMENT);
            negations_are_plain &= !negative || (!any_local && is_known());
        });
    }
    let size: usize = rules.iter().map(|rule| 1 + size(&rule.body)).sum();
    let n_added = n_calls * size;
    let is_replaceable = heads_are_plain
        && negations_are_plain
        && arguments_are_small
        && rules.len() <= MAX_RULES
        && n_added <= *n_left;
    if is_replaceable {
        *n_left -= n_added;
    }
    is_replaceable
}

fn is_asked(conditions: &[Condition], predicate: Predicate) -> bool {
    let mut found = false;
    for_each_sentence(conditions, &mut |sentence, _| found |= sentence.predicate() == predicate);
    found
}

fn parts(argument: &Argument) -> usize {
    match &argument.kind {
        ArgumentKind::Function(_, arguments) => 1 + arguments.iter().map(parts).sum::<usize>(),
        _ => 1,
    }
}

fn size(conditions: &[Condition]) -> usize {
    let size_of = |condition: &Condition| match &condition.kind {
        ConditionKind::Or(branches) => {
            1 + branches.iter().map(|branch| size(branch)).sum::<usize>()
        }
        _ => 1,
    };
    conditions.iter().map(size_of).sum()
}

/// Calls `visit` for each condition on `predicate`, with whether it
/// is negated and the variables that positive conditions around it supply.
fn calls(
    conditions: &[Condition],
    outer: Option<&Scope<'_>>,
    predicate: Predicate,
    visit: &mut impl FnMut(&Atomic, bool, &Scope<'_>),
) {
    let bound = Scope::of(conditions, outer);
    for condition in conditions {
        match &condition.kind {
            ConditionKind::Positive(atomic) if atomic.predicate() == predicate => {
                visit(atomic, false, &bound);
            }
            ConditionKind::Negative(atomic) if atomic.predicate() == predicate => {
                visit(atomic, true, &bound);
            }
            ConditionKind::Or(branches) => {
                for branch in branches {
                    calls(branch, Some(&bound), predicate, visit);
                }
            }
            _ => {}
        }
    }
}

struct Unfolding {
    predicate: Predicate,
    rules: Vec<Clause>,
}

impl Unfolding {
    fn conjunction(&self, conditions: Vec<Condition>, names: &mut Vec<SymbolId>) -> Vec<Condition> {
        let mut result = Vec::new();
        for mut condition in conditions {
            match condition.kind {
                ConditionKind::Positive(call) if call.predicate() == self.predicate => {
                    let mut branches = self.instances(&call, names);
                    if branches.len() == 1 {
                        result.append(&mut branches[0]);
                        continue;
                    }
                    condition.kind = ConditionKind::Or(branches);
                }
                ConditionKind::Negative(call) if call.predicate() == self.predicate => {
                    let branches = self.instances(&call, names);
                    result.extend(branches.into_iter().flat_map(negated));
                    continue;
                }
                ConditionKind::Or(branches) => {
                    let unfolded =
                        branches.into_iter().map(|branch| self.conjunction(branch, names));
                    condition.kind = ConditionKind::Or(unfolded.collect());
                }
                _ => {}
            }
            result.push(condition);
        }
        result
    }

    /// What each rule says of the arguments of `call`.
    fn instances(&self, call: &Atomic, names: &mut Vec<SymbolId>) -> Vec<Vec<Condition>> {
        self.rules.iter().map(|rule| instance(rule, call, names)).collect()
    }
}

fn instance(rule: &Clause, call: &Atomic, names: &mut Vec<SymbolId>) -> Vec<Condition> {
    let mut values: Vec<Option<Argument>> = vec![None; rule.variables.len()];
    let mut conditions = Vec::new();
    for (formal, actual) in rule.head.arguments.iter().zip(&call.arguments) {
        let known = match formal.kind {
            ArgumentKind::Variable(id) => {
                let value = &mut values[id.0 as usize];
                match value {
                    Some(value) => value.clone(),
                    None => {
                        *value = Some(actual.clone());
                        continue;
                    }
                }
            }
            _ => formal.clone(),
        };
        let kind = ConditionKind::Equal(known, actual.clone());
        conditions.push(Condition { span: call.span, kind, torn: true });
    }
    for (index, value) in values.iter_mut().enumerate() {
        if value.is_none() {
            let id = u32::try_from(names.len()).expect("fewer than 2^32 variables");
            names.push(rule.variables[index]);
            let kind = ArgumentKind::Variable(VariableId(id));
            *value = Some(Argument { span: call.span, kind });
        }
    }
    let values: Vec<Argument> = values.into_iter().flatten().collect();
    let mut body = rule.body.clone();
    substitute(&mut body, &values);
    conditions.append(&mut body);
    conditions
}

fn substitute(conditions: &mut [Condition], values: &[Argument]) {
    for condition in conditions {
        match &mut condition.kind {
            ConditionKind::Positive(atomic) | ConditionKind::Negative(atomic) => {
                atomic.arguments.iter_mut().for_each(|argument| replace(argument, values));
            }
            ConditionKind::Distinct(left, right) | ConditionKind::Equal(left, right) => {
                replace(left, values);
                replace(right, values);
            }
            ConditionKind::Or(branches) => {
                branches.iter_mut().for_each(|branch| substitute(branch, values));
            }
        }
    }
}

fn replace(argument: &mut Argument, values: &[Argument]) {
    match &mut argument.kind {
        ArgumentKind::Constant(_) => {}
        ArgumentKind::Variable(id) => *argument = values[id.0 as usize].clone(),
        ArgumentKind::Function(_, arguments) => {
            arguments.iter_mut().for_each(|argument| replace(argument, values));
        }
    }
}

/// The conjunction that says that not all of `conditions` hold.
fn negated(conditions: Vec<Condition>) -> Vec<Condition> {
    let Some(first) = conditions.first() else {
        return vec![Condition {
            span: Default::default(),
            kind: ConditionKind::Or(Vec::new()),
            torn: true,
        }];
    };
    let span = first.span;
    let mut branches: Vec<Vec<Condition>> = conditions.into_iter().map(not).collect();
    if branches.len() == 1 {
        return branches.remove(0);
    }
    vec![Condition { span, kind: ConditionKind::Or(branches), torn: true }]
}

fn not(condition: Condition) -> Vec<Condition> {
    let kind = match condition.kind {
        ConditionKind::Positive(atomic) => ConditionKind::Negative(atomic),
        ConditionKind::Negative(atomic) => ConditionKind::Positive(atomic),
        ConditionKind::Distinct(left, right) => ConditionKind::Equal(left, right),
        ConditionKind::Equal(left, right) => ConditionKind::Distinct(left, right),
        ConditionKind::Or(branches) => return branches.into_iter().flat_map(negated).collect(),
    };
    vec![Condition { span: condition.span, kind, torn: true }]
}
