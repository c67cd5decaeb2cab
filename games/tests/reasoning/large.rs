//! Rulesheets as large as a hostile sender may make them, half a megabyte of the
//! same thing: they are read, refused or limited after work that grows with their
//! length. No time is asserted; a test that hangs has failed.

use std::sync::Arc;

use games::{
    Case, Guards, Leniency, Prover, ReasoningError, RoleId, State, StateMachine, Validation,
    validate,
};

/// More than any of these rules need that come to an end by themselves.
const MAX_STEPS: u64 = 200_000_000;

fn read(rules: &str) -> Validation {
    let text = format!("(role robot) (<= terminal (true done)) (goal robot 0) {rules}");
    validate::read("test", &text, Case::Folded, Leniency::Lenient)
}

/// Checks that the rules are refused, for these reasons among others.
fn check_refused(rules: &str, codes: &[&str]) {
    let validation = read(rules);
    assert!(validation.game.is_none());
    for code in codes {
        assert!(validation.findings.iter().any(|finding| finding.code == *code), "{code}");
    }
}

fn machine(rules: &str, guards: Guards) -> Result<Box<dyn StateMachine>, ReasoningError> {
    let validation = read(rules);
    let Some(game) = validation.game else { panic!("{:?}", validation.findings.first()) };
    Prover::new(Arc::new(game), guards).map(|prover| Box::new(prover) as Box<dyn StateMachine>)
}

/// Checks the number of legal moves in the initial state.
fn check(rules: &str, expected: Result<usize, ReasoningError>) {
    let guards = Guards { max_steps: MAX_STEPS, ..Guards::default() };
    let n_legal = || {
        let mut machine = machine(rules, guards)?;
        let state = machine.initial_state()?;
        let mut moves = Vec::new();
        machine.legal_moves(&state, RoleId(0), &mut moves)?;
        Ok(moves.len())
    };
    assert_eq!(n_legal(), expected);
}

fn too_large() -> Result<usize, ReasoningError> {
    Err(ReasoningError::RulesTooLarge { limit: 200_000 })
}

fn repeated(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

#[test]
fn facts_of_many_names() {
    let facts = repeated(4_000, |at| format!("(f{at} a) "));
    let asked = repeated(4_000, |at| format!("(<= (legal robot ?x) (f{at} ?x)) "));
    check(&format!("{facts} {asked} (init x)"), Ok(1));
}

#[test]
fn rules_of_many_names() {
    let asked = repeated(2_000, |at| format!("(<= (legal robot ?x) (r{at} ?x)) "));
    let rule = |at| format!("(<= (p{at} ?x) (q ?x)) (<= (r{at} ?x) (p{at} ?x)) ");
    check(&format!("(q a) {} {asked}", repeated(2_000, rule)), Ok(1));
    let rule = |at| format!("(<= (p{at} ?x) (true (q ?x ?y))) (<= (r{at} ?x) (p{at} ?x)) ");
    let next = "(<= (next (q ?x c)) (true (q ?x ?y)))";
    check(&format!("(init (q a b)) {next} {} {asked}", repeated(2_000, rule)), Ok(1));
}

#[test]
fn rules_of_many_conditions() {
    let conditions = |n| repeated(n, |at| format!("(q ?x{at} ?x{}) ", at + 1));
    let rule = format!("(<= (legal robot ?x1) {})", conditions(2000));
    check(&format!("(q a a) {}", rule.repeat(3)), Ok(1));
    check_refused(
        &format!("(q a a) (<= (legal robot m) {})", conditions(4000)),
        &["rule-too-large"],
    );
    let variables = repeated(1000, |at| format!("?x{at} "));
    let others = variables.replace('x', "y");
    let more = variables.replace('x', "z");
    check_refused(
        &format!("(<= (legal robot m) (q {variables}) (q {others}) (q {more}))"),
        &["rule-too-large"],
    );
    check_refused(
        &format!("(<= (legal robot (m {variables} {others})) (true (f {variables} {others})))"),
        &["too-many-arguments"],
    );
}

#[test]
fn recursive_rules_of_many_conditions() {
    let all = |n| repeated(n, |at| format!("(q ?x{at}) "));
    let rules = |n| format!("(q a) (<= (q ?x) (true (f ?x)) {}) (init (f b))", all(n));
    let legal = "(<= (legal robot ?x) (q ?x))";
    check(&format!("{} {legal}", rules(100)), Ok(2));
    let too_many_steps = Err(ReasoningError::TooManySteps { limit: MAX_STEPS });
    check(&format!("{} {legal}", rules(2000)), too_many_steps);
}

#[test]
fn long_alternatives_beside_many_conditions() {
    let alternative = |n| format!("(or {})", repeated(n, |at| format!("(true (f {at})) ")));
    let all = |n| repeated(n, |at| format!("(q ?x{at}) "));
    let rule = |n, or: &str| format!("(q a) (init (f 1)) (<= (legal robot ?x1) {or} {})", all(n));
    check(&rule(60, &alternative(60)), Ok(1));
    check(&rule(1000, &alternative(1000)), too_large());
    let two = format!("{} {}", alternative(150), alternative(150));
    check(&rule(20, &two), Ok(1));
    check(&rule(1000, &two), too_large());
}

#[test]
fn alternatives_around_many_variables() {
    let mut nested = "(not (q ?x1))".to_owned();
    for at in 0..200 {
        nested = format!("(or (true (b {at})) (true (c {at})) {nested})");
    }
    let all = repeated(300, |at| format!("(q ?x{at}) "));
    let rule = format!("(<= (legal robot ?x1) {nested} {all})");
    check(&format!("(q a) (init (b 1)) {rule}"), Ok(1));
    check(&format!("(q a) (init (b 1)) {}", rule.repeat(20)), too_large());
    let branches = "(or (not (q ?x1)) (not (q ?x2)) (q ?x7)) ".repeat(300);
    let rule = format!("(<= (legal robot ?x1) {branches} {all})");
    assert!(read(&format!("(q a) (init (b 1)) {}", rule.repeat(20))).game.is_some());
}

#[test]
fn many_unsafe_variables() {
    let apart = repeated(2000, |at| format!("(distinct ?x{at} a) "));
    let rule = format!("(<= (legal robot ?x1) {apart})");
    let too_many_steps = Err(ReasoningError::TooManySteps { limit: MAX_STEPS });
    check(&format!("(q b) {}", rule.repeat(2)), too_many_steps);
    let negated = repeated(1000, |at| format!("(not (q ?x{at})) (not (q ?x{at})) "));
    let rule = format!("(<= (legal robot m) {negated})");
    check(&format!("(q a) {}", rule.repeat(2)), Ok(0));
    let parts = repeated(500, |at| format!("(or (q ?x{at}) (distinct ?x{at} ?y)) "));
    let rule = format!("(<= (legal robot m) {parts})");
    assert!(read(&format!("(q a) {}", rule.repeat(20))).game.is_some());
}

#[test]
fn many_predicates_that_test() {
    let rules = repeated(5_000, |at| format!("(<= (p{at} ?x ?y) (distinct ?x ?y)) "));
    let asked = repeated(5_000, |at| format!("(<= (legal robot ?x) (q ?x) (p{at} ?x b)) "));
    assert!(read(&format!("(q a) {rules} {asked}")).game.is_some());
}

#[test]
fn tests_within_tests() {
    // Each test asks the next one twice, or about twice as large a term.
    let twice = |at| format!("(<= (p{at} ?x) (p{} ?x) (p{} ?x) (distinct ?x b)) ", at + 1, at + 1);
    let wraps = |at| format!("(<= (p{at} ?x) (p{} (f ?x ?x)) (distinct ?x b)) ", at + 1);
    let legal = "(<= (legal robot ?x) (q ?x) (p0 ?x))";
    assert!(read(&format!("(q a) {} {legal}", repeated(100, twice))).game.is_some());
    assert!(read(&format!("(q a) {} {legal}", repeated(100, wraps))).game.is_some());
}

#[test]
fn equations_that_double() {
    let equations =
        |n| repeated(n, |at| format!("(not (distinct ?x{at} (f ?x{} ?x{}))) ", at + 1, at + 1));
    let rule = |n| format!("(q a) (<= (legal robot ?x{n}) {} (q ?x{n}))", equations(n));
    // Nothing in the text has the shape that is asked for.
    check(&rule(10), Ok(0));
    check(&rule(60), Err(ReasoningError::TermTooLarge { limit: 100_000 }));
}

#[test]
fn many_undefined_names() {
    let asked = repeated(10_000, |at| format!("(<= (legal robot ?x) (q ?x) (predicate{at} ?x)) "));
    let defined = repeated(10_000, |at| format!("(predicote{at} a) "));
    let findings = read(&format!("(q a) {asked} {defined}")).findings;
    assert_eq!(findings.len(), 1000);
    assert!(findings.iter().any(|finding| finding.help.contains("did you mean `predicote")));
    let (left, right) = ("a".repeat(200_000), "a".repeat(200_001));
    assert!(read(&format!("(q a) ({left} a) (<= (legal robot ?x) ({right} ?x))")).game.is_some());
}

#[test]
fn many_roles() {
    let roles = repeated(10_000, |at| format!("(role role{at}) (<= (legal wrong{at} m) (q a)) "));
    check_refused(&format!("(q a) {roles}"), &["too-many-roles", "unknown-role"]);
}

#[test]
fn many_forbidden_ways_to_the_moves() {
    let rules = repeated(10_000, |at| format!("(<= (p{at} ?x) (p{} ?x)) ", at + 1));
    let asked = repeated(10_000, |at| format!("(<= (legal robot ?x) (p{at} ?x)) "));
    let last = "(<= (p10000 ?x) (does robot ?x))";
    check_refused(&format!("{rules} {last} {asked}"), &["keyword-dependency"]);
}

#[test]
fn forms_that_are_never_closed() {
    let forms = repeated(900, |_| "\n(".to_owned()) + &"(f a) ".repeat(50_000);
    check_refused(&forms, &["unclosed-parenthesis"]);
    check_refused(&"\n(a (b)".repeat(50_000), &["nested-too-deep"]);
    check_refused(&")".repeat(500_000), &["unopened-parenthesis"]);
    check_refused(&"()".repeat(250_000), &["empty-list"]);
}

#[test]
fn errors_are_not_lost_among_warnings() {
    let warnings = repeated(3000, |at| format!("(unused{at} a) "));
    check_refused(&format!("{warnings} (<= (legal robot m) (distinct a))"), &["wrong-arity"]);
}

#[test]
fn terms_that_are_no_facts() {
    // Millions of terms are built, and none of them is part of the state.
    let digits = repeated(60, |digit| format!("(d {digit}) "));
    let rules = format!(
        "{digits} (init x) (<= (legal robot m) (true ?x) \
         (d ?a) (d ?b) (d ?c) (d ?e) (d ?g) (distinct ?x (f ?a ?b ?c ?e ?g)) \
         (true (f ?e ?b ?c ?a ?g)))"
    );
    check(&rules, Ok(0));
}

#[test]
fn any_number_of_joint_moves_may_be_tried_in_a_state() {
    // A thousand facts follow from each move; the limit is that of one of them.
    let numbers = repeated(1000, |number| format!("(n {number}) "));
    let rules = format!(
        "{numbers} (init x) (<= (legal robot (m ?a)) (true x) (n ?a)) \
         (<= (next (f ?a ?b)) (true x) (does robot (m ?a)) (n ?b))"
    );
    let guards = Guards { max_facts: 5_000, ..Guards::default() };
    let mut machine = machine(&rules, guards).unwrap();
    let state = machine.initial_state().unwrap();
    let mut moves = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut moves).unwrap();
    let mut next = State::default();
    for &played in moves.iter().take(20) {
        machine.next_state(&state, &[played], &mut next).unwrap();
        assert_eq!(machine.facts(&next).len(), 1000);
    }
}
