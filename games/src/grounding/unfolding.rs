//! Unfolds relations that are too large to be written down.
//!
//! Rules may define a relation of millions of rows of which play needs a few, such as
//! the directions between any two places on a board without an edge. A relation with
//! one rule need not be written down: the conditions of its rule can replace it wherever
//! it is a condition (unfolding: Tamaki and Sato, "Unfold/fold transformation of logic
//! programs", 1984). Joins then start from smaller relations, and rows that are not
//! needed are never made. Small relations stay, since they are computed once for all
//! uses.

use crate::relational::rules::{
    Clause, Component, Condition, Pattern, PredicateId, Rules, Source, each_variable,
};

use super::join_order;

/// By relation: the clauses that ask for it.
pub(super) struct Askers(Vec<Vec<usize>>);

impl Askers {
    /// Those of all rules.
    pub(super) fn new(rules: &Rules) -> Self {
        let mut askers = vec![Vec::new(); rules.predicates.len()];
        for &at in rules.predicates.iter().flat_map(|predicate| &predicate.clauses) {
            for (atom, _) in rules.clauses[at].body.iter().filter_map(Condition::atom) {
                let askers: &mut Vec<usize> = &mut askers[atom.predicate];
                if askers.last() != Some(&at) {
                    askers.push(at);
                }
            }
        }
        Self(askers)
    }
}

/// The relation of a component, if it can be unfolded: it has one rule, whose head has
/// distinct variables only; it is static and does not depend on itself; it is never
/// negated; and the rules that use it stay short.
pub(super) fn candidate(
    rules: &Rules,
    askers: &Askers,
    component: &Component,
) -> Option<PredicateId> {
    let &[id] = &component.predicates[..] else { return None };
    let predicate = &rules.predicates[id];
    let &[clause] = &predicate.clauses[..] else { return None };
    if component.recursive
        || predicate.source != Source::Clauses
        || rules.is_needed_in_full(predicate.component)
    {
        return None;
    }
    let definition = &rules.clauses[clause];
    let mut seen = Vec::new();
    for argument in &definition.head.arguments {
        match argument {
            Pattern::Variable(variable) if !seen.contains(variable) => seen.push(*variable),
            _ => return None,
        }
    }
    let is_possible = askers.0[id].iter().all(|&asker| {
        let is_absent =
            |condition: &Condition| matches!(condition.atom(), Some((atom, true)) if atom.predicate == id);
        let clause = &rules.clauses[asker];
        !clause.body.iter().any(is_absent) && join_order::is_short(&unfolded(clause, definition))
    });
    (is_possible && definition.body.iter().any(|condition| condition.atom().is_some()))
        .then_some(id)
}

/// Puts the conditions of its rule wherever a candidate is a condition.
pub(super) fn unfold(rules: &mut Rules, askers: &Askers, id: PredicateId) {
    let definition = rules.clauses[rules.predicates[id].clauses[0]].clone();
    for &asker in &askers.0[id] {
        rules.clauses[asker] = unfolded(&rules.clauses[asker], &definition);
    }
}

/// A clause with a definition in place of the conditions that it defines.
fn unfolded(clause: &Clause, definition: &Clause) -> Clause {
    let mut n_variables = clause.n_variables;
    let mut body = Vec::new();
    for condition in &clause.body {
        let Condition::Positive(atom) = condition else {
            body.push(condition.clone());
            continue;
        };
        if atom.predicate != definition.head.predicate {
            body.push(condition.clone());
            continue;
        }
        // What the definition has beside its head's variables is new each time.
        let mut terms: Vec<Option<Pattern>> = vec![None; definition.n_variables as usize];
        for (variable, argument) in definition.head.arguments.iter().zip(&atom.arguments) {
            each_variable(variable, &mut |id| terms[id as usize] = Some(argument.clone()));
        }
        let mut term = |id: u32| {
            let known = &mut terms[id as usize];
            let new = known.get_or_insert_with(|| {
                n_variables += 1;
                Pattern::Variable(n_variables - 1)
            });
            new.clone()
        };
        body.extend(definition.body.iter().map(|condition| substituted(condition, &mut term)));
    }
    Clause { body, n_variables, ..clause.clone() }
}

fn substituted(condition: &Condition, term: &mut impl FnMut(u32) -> Pattern) -> Condition {
    let mut condition = condition.clone();
    match &mut condition {
        Condition::Positive(atom) | Condition::Negative(atom) => {
            atom.arguments.iter_mut().for_each(|argument| substitute(argument, term));
        }
        Condition::Distinct(left, right) => {
            substitute(left, term);
            substitute(right, term);
        }
    }
    condition
}

fn substitute(pattern: &mut Pattern, term: &mut impl FnMut(u32) -> Pattern) {
    match pattern {
        Pattern::Constant(_) => {}
        Pattern::Variable(id) => *pattern = term(*id),
        Pattern::Compound(_, arguments) => {
            arguments.iter_mut().for_each(|argument| substitute(argument, term));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::relational::rules::rules;
    use crate::relational::terms::Terms;
    use crate::{Case, Leniency, validate};

    /// The rules of a game of which `far` is a part.
    fn read(text: &str) -> (Rules, PredicateId) {
        let text = format!(
            "(role robot) (init (at 1)) (legal robot stay) (goal robot 0) (n 1) (n 2) (n 3) \
             (<= terminal (true (at 3))) (near 1 2) (near 2 3) {text}"
        );
        let game = validate::read("test", &text, Case::Folded, Leniency::Lenient).game;
        let game = game.expect("the rules are valid");
        let rules = rules(&game, &mut Terms::default()).expect("they are small");
        let far = game.symbols().find("far").expect("the rules name it");
        let id = rules.predicates.iter().position(|predicate| predicate.name == far);
        (rules, id.expect("it is a relation"))
    }

    fn is_candidate(text: &str) -> bool {
        let (rules, far) = read(text);
        let component = &rules.components[rules.predicates[far].component];
        candidate(&rules, &Askers::new(&rules), component) == Some(far)
    }

    #[test]
    fn what_could_be_put_in_terms_of_others() {
        let asked = "(<= (next (at ?y)) (true (at ?x)) (far ?x ?y))";
        let far = "(<= (far ?x ?y) (n ?x) (n ?y) (not (near ?x ?y)))";
        assert!(is_candidate(&format!("{far} {asked}")));
        let refused = [
            ("two rules", format!("{far} (<= (far ?x ?y) (near ?y ?x)) {asked}")),
            ("some terms only", format!("(<= (far ?x 3) (n ?x)) {asked}")),
            ("equal terms only", format!("(<= (far ?x ?x) (n ?x)) {asked}")),
            ("no conditions", format!("(far 1 3) {asked}")),
            ("rests on itself", format!("(<= (far ?x ?y) (near ?x ?y) (far ?y ?x)) {asked}")),
            ("asked to be absent", format!("{far} {asked} (<= (goal robot 1) (not (far 1 3)))")),
        ];
        for (why, text) in refused {
            assert!(!is_candidate(&text), "{why}");
        }
        // Each of these uses it and has one more variable.
        let mut long = String::from("(<= (next (at ?y)) (true (at ?y))");
        (0..130).for_each(|at| write!(long, " (far ?y ?x{})", at % 60).expect("memory suffices"));
        assert!(!is_candidate(&format!("{far} {long})")), "too long");
    }

    #[test]
    fn the_conditions_stand_for_the_relation_each_time() {
        let (mut rules, far) = read(
            "(<= (far ?x ?y) (near ?x ?z) (near ?z ?y)) \
             (<= (next (at ?y)) (true (at ?x)) (far ?x ?y) (far 1 ?y) (n ?z))",
        );
        let askers = Askers::new(&rules);
        unfold(&mut rules, &askers, far);
        assert_eq!(Askers::new(&rules).0[far], [] as [usize; 0]);
        let next = &rules.clauses[rules.predicates[rules.roots.next].clauses[0]];
        // Of its own, each time it is put in, beside three and one for the whole fact.
        assert_eq!(next.n_variables, 6);
        // `(near ?x ?z) (near ?z ?y)` twice, the first time after where one is.
        let arguments: Vec<&[Pattern]> = next
            .body
            .iter()
            .filter_map(|condition| Some(&condition.atom()?.0.arguments[..]))
            .collect();
        let [_, [x, z], [same_z, y], [one, w], [same_w, same_y], [_]] = arguments[..] else {
            panic!("{arguments:?}")
        };
        assert_eq!((z, w, y), (same_z, same_w, same_y));
        assert!(matches!(one, Pattern::Constant(_)));
        assert!(x != y && z != w && z != x && z != y && w != x && w != y);
    }
}
