//! Rules that would never come to an end, and being told to stop.

use std::sync::Arc;

use games::{
    Cancel, Case, Guards, Leniency, Prover, ReasoningError, RoleId, State, StateMachine, validate,
};

fn machine(rules: &str, guards: Guards) -> Result<Box<dyn StateMachine>, ReasoningError> {
    let text = format!("(role robot) (<= terminal (true done)) (goal robot 0) {rules}");
    let validation = validate::read("test", &text, Case::Folded, Leniency::Lenient);
    let Some(game) = validation.game else { panic!("{:?}", validation.findings) };
    Prover::new(Arc::new(game), guards).map(|prover| Box::new(prover) as Box<dyn StateMachine>)
}

fn legal(machine: &mut dyn StateMachine) -> Result<usize, ReasoningError> {
    let state = machine.initial_state()?;
    let mut moves = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut moves)?;
    Ok(moves.len())
}

#[test]
fn terms_do_not_grow_for_ever() {
    let growing = "(<= (num (s ?x)) (num ?x)) (<= (legal robot ?x) (num ?x))";
    let too_deep = ReasoningError::TermTooDeep { limit: 64 };
    let fixed = machine(&format!("(num 0) {growing}"), Guards::default());
    assert_eq!(fixed.err(), Some(too_deep.clone()));
    let rules = format!("(init 0) (<= (num ?x) (true ?x)) {growing}");
    let mut of_state = machine(&rules, Guards::default()).unwrap();
    assert_eq!(legal(&mut *of_state), Err(too_deep.clone()));
    // And again: what failed is not taken for known.
    assert_eq!(legal(&mut *of_state), Err(too_deep));
}

#[test]
fn a_state_may_grow_until_the_limit() {
    let rules = "(init (f 0)) (legal robot m) (<= (next (f ?x)) (true ?x))";
    let guards = Guards { max_term_depth: 10, ..Guards::default() };
    let mut machine = machine(rules, guards).unwrap();
    let mut state = machine.initial_state().unwrap();
    let played = machine.find_move(&"m".parse().unwrap()).unwrap();
    let mut next = State::default();
    for _ in 0..9 {
        machine.next_state(&state, &[played], &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    let result = machine.next_state(&state, &[played], &mut next);
    assert_eq!(result, Err(ReasoningError::TermTooDeep { limit: 10 }));
}

#[test]
fn facts_are_limited() {
    let digits: String = (0..10).map(|digit| format!("(d {digit}) ")).collect();
    let rules = format!(
        "{digits} (init x) (<= (legal robot (n ?a ?b ?c ?d)) (true x) (d ?a) (d ?b) (d ?c) (d ?d))"
    );
    let guards = |max_facts| Guards { max_facts, ..Guards::default() };
    assert_eq!(legal(&mut *machine(&rules, guards(10_000)).unwrap()), Ok(10_000));
    assert_eq!(
        legal(&mut *machine(&rules, guards(9_999)).unwrap()),
        Err(ReasoningError::TooManyFacts { limit: 9_999 })
    );
}

#[test]
fn steps_are_limited() {
    // Ten pigeons in nine holes: millions of ways to begin, none to end.
    let holes: String = (0..9).map(|hole| format!("(hole {hole}) ")).collect();
    let pigeons: String = (0..10).map(|pigeon| format!("(hole ?p{pigeon}) ")).collect();
    let apart: String = (0..10)
        .flat_map(|one| (0..one).map(move |other| format!("(distinct ?p{one} ?p{other}) ")))
        .collect();
    let ask = |rule: &str, max_steps| {
        let rules = format!("{holes} (init x) {rule}");
        let guards = Guards { max_steps, ..Guards::default() };
        machine(&rules, guards).and_then(|mut machine| legal(&mut *machine))
    };
    let too_many = Err(ReasoningError::TooManySteps { limit: 100_000 });
    let of_state = format!("(<= (legal robot m) (true x) {pigeons} {apart})");
    assert_eq!(ask(&of_state, 100_000), too_many);
    assert_eq!(ask(&of_state, 1_000_000_000), Ok(0));
    let fixed = format!("(<= impossible {pigeons} {apart}) (<= (legal robot m) impossible)");
    assert_eq!(ask(&fixed, 100_000), too_many);
    assert_eq!(ask(&fixed, 1_000_000_000), Ok(0));
}

/// However hostile, rules are read, refused or limited, and never hang.
#[test]
fn hostile_rulesheets_come_to_an_end() {
    let guards = || Guards { max_facts: 200_000, max_steps: 50_000_000, ..Guards::default() };
    let ask = |rules: &str| machine(rules, guards()).and_then(|mut machine| legal(&mut *machine));

    let many_conditions: String = (0..2000).map(|at| format!("(true (c ?x{at})) ")).collect();
    let rules = format!("(init (c 1)) (<= (legal robot m) {many_conditions})");
    assert_eq!(ask(&rules), Ok(1));

    let many_facts: String = (0..100_000).map(|at| format!("(f {at} {})", at / 7)).collect();
    assert_eq!(ask(&format!("{many_facts} (<= (legal robot ?x) (f ?x 3))")), Ok(7));

    // Two to the fortieth disjuncts, if it were multiplied out.
    let choices: String =
        (0..40).map(|at| format!("(or (true (a{at} ?x)) (true (b{at} ?x))) ")).collect();
    let all: String = (0..40).map(|at| format!("(init (b{at} 1)) ")).collect();
    assert_eq!(ask(&format!("{all} (<= (legal robot m) {choices})")), Ok(1));

    let product: String = (0..30).map(|at| format!("(n ?x{at}) ")).collect();
    let variables: String = (0..30).map(|at| format!("?x{at} ")).collect();
    let numbers: String = (0..10).map(|at| format!("(n {at}) ")).collect();
    let rules = format!("{numbers} (init x) (<= (legal robot (m {variables})) {product} (true x))");
    assert!(ask(&rules).is_err());
}

#[test]
fn what_is_too_large_is_asked_on_demand() {
    let digits: String = (0..40).map(|digit| format!("(d {digit}) ")).collect();
    let all = "(d ?a) (d ?b) (d ?c) (d ?e) (d ?f)";
    // Forty to the fifth of each, of which one is asked.
    let rules = format!(
        "{digits} (init x) (<= (fixed ?a ?b ?c ?e ?f) {all}) \
         (<= (varying ?a ?b ?c ?e ?f) (true x) {all}) \
         (<= (legal robot both) (fixed 1 2 3 4 5) (varying 5 4 3 2 1))"
    );
    assert_eq!(legal(&mut *machine(&rules, Guards::default()).unwrap()), Ok(1));
}

#[test]
fn deep_recursion_does_not_exhaust_the_stack() {
    // Called, it would nest as deep as there are numbers.
    let successors: String =
        (0..3000).map(|number| format!("(s {number} {}) ", number + 1)).collect();
    let rules = format!(
        "{successors} (init (at 3000)) (<= (down ?x) (true (at ?x))) \
         (<= (down ?x) (s ?x ?y) (down ?y)) (<= (legal robot m) (down 0))"
    );
    assert_eq!(legal(&mut *machine(&rules, Guards::default()).unwrap()), Ok(1));
}

#[test]
fn long_chains_of_predicates_do_not_exhaust_the_stack() {
    let chain = |from: usize, to: usize| {
        let rule = |at: usize| format!("(<= (p{at} ?x) (p{} ?x)) (<= q{at} q{}) ", at + 1, at + 1);
        (from..to).map(rule).collect::<String>()
    };
    let rules = format!(
        "(init (at 1)) (<= (legal robot ?x) (p0 ?x) q0 (not q2500)) {} \
         (<= (p2000 ?x) (true (at ?x))) (<= q2000 (true (at 1))) (<= q2500 (true (at 2)))",
        chain(0, 2000)
    );
    assert_eq!(legal(&mut *machine(&rules, Guards::default()).unwrap()), Ok(1));
}

#[test]
fn a_raised_flag_stops_the_computation() {
    let digits: String = (0..10).map(|digit| format!("(d {digit}) ")).collect();
    let rules = format!(
        "{digits} (init x) (legal robot m) \
         (<= (next (f ?a ?b ?c ?e ?g)) (true x) (d ?a) (d ?b) (d ?c) (d ?e) (d ?g))"
    );
    let mut machine = machine(&rules, Guards::default()).unwrap();
    let state = machine.initial_state().unwrap();
    let played = machine.find_move(&"m".parse().unwrap()).unwrap();
    let cancel = Cancel::new();
    machine.set_cancel(cancel.clone());
    cancel.cancel();
    let mut next = State::default();
    let result = machine.next_state(&state, &[played], &mut next);
    assert_eq!(result, Err(ReasoningError::Cancelled));
    // A fork has a flag of its own.
    let mut fork = machine.fork();
    fork.next_state(&state, &[played], &mut next).unwrap();
    assert_eq!(fork.facts(&next).len(), 100_000);
}
