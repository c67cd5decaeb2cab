//! Rules made to take for ever: they end by a guard, or soon. No time is
//! asserted; a test that hangs has failed.

use std::sync::Arc;

use games::{
    Cancel, Case, Game, GroundingLimits, Guards, Leniency, MAX_TERM_SIZE, Network, Prover,
    ReasoningError, RoleId, State, StateMachine, ground, validate,
};

/// So many steps are made in a moment.
const MAX_STEPS: u64 = 500_000;

fn game(rules: &str) -> Arc<Game> {
    let text = format!("(role robot) (<= terminal (true done)) (goal robot 0) {rules}");
    let validation = validate::read("test", &text, Case::Folded, Leniency::Lenient);
    let Some(game) = validation.game else { panic!("{:?}", validation.findings) };
    Arc::new(game)
}

fn network(rules: &str) -> Network {
    ground(&game(rules), &GroundingLimits::default(), &Cancel::new()).unwrap()
}

fn machine(rules: &str, max_steps: u64) -> Result<Box<dyn StateMachine>, ReasoningError> {
    Prover::new(game(rules), Guards { max_steps, ..Guards::default() })
        .map(|prover| Box::new(prover) as Box<dyn StateMachine>)
}

/// The number of legal moves in the initial state.
fn n_legal(rules: &str, max_steps: u64) -> Result<usize, ReasoningError> {
    let mut machine = machine(rules, max_steps)?;
    let state = machine.initial_state()?;
    let mut moves = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut moves)?;
    Ok(moves.len())
}

fn check(rules: &str, expected: Result<usize, ReasoningError>) {
    assert_eq!(n_legal(rules, MAX_STEPS), expected);
}

fn too_many_steps() -> Result<usize, ReasoningError> {
    Err(ReasoningError::TooManySteps { limit: MAX_STEPS })
}

fn repeated(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

/// Conditions that put `n` different digits out of nine into variables.
fn different_digits(n: usize) -> String {
    let digits = repeated(n, |at| format!("(d ?x{at}) "));
    let apart = |at: usize| repeated(at, |other| format!("(distinct ?x{at} ?x{other}) "));
    digits + &repeated(n, apart)
}

fn nine_digits() -> String {
    repeated(9, |digit| format!("(d {digit}) "))
}

#[test]
fn many_small_relations_share_one_limit() {
    // Each takes more than a thousand steps, of which there are ten thousand.
    let digits = nine_digits();
    let relations = repeated(100, |at| format!("(<= (p{at} ?x ?y ?z) (d ?x) (d ?y) (d ?z)) "));
    let asked = repeated(100, |at| format!("(<= (legal robot (m ?x)) (p{at} ?x ?y ?z)) "));
    let rules = format!("{digits} {relations} {asked} (init x)");
    assert_eq!(n_legal(&rules, 10_000_000), Ok(9));
    assert_eq!(n_legal(&rules, 10_000), Err(ReasoningError::TooManySteps { limit: 10_000 }));
}

#[test]
fn growing_terms_end_by_a_guard() {
    // Each round squares the number of terms.
    let growing = "(<= (num (f ?x ?y)) (num ?x) (num ?y)) (<= (legal robot ?x) (num ?x))";
    check(&format!("(num a) (num b) (init x) {growing}"), too_many_steps());
    let of_state = "(init a) (init b) (<= (num ?x) (true ?x))";
    check(&format!("{of_state} {growing}"), too_many_steps());
}

#[test]
fn the_same_question_ends_the_same_way_twice() {
    let digits = nine_digits();
    let pigeons = different_digits(10);
    let rules = format!("{digits} (init x) (<= (legal robot m) (true x) {pigeons})");
    let mut machine = machine(&rules, MAX_STEPS).unwrap();
    let state = machine.initial_state().unwrap();
    let mut moves = Vec::new();
    for _ in 0..3 {
        let result = machine.legal_moves(&state, RoleId(0), &mut moves);
        assert_eq!(result, Err(ReasoningError::TooManySteps { limit: MAX_STEPS }));
        // Other questions about the state are answered all the same.
        assert_eq!(machine.is_terminal(&state), Ok(false));
    }
}

#[test]
fn a_rule_of_two_thousand_conditions_is_read() {
    let apart = repeated(2000, |at| format!("(true (c ?x{at})) "));
    // Planning takes twenty million steps.
    let limit = 50_000_000;
    assert_eq!(n_legal(&format!("(init (c 1)) (<= (legal robot m) {apart})"), limit), Ok(1));
    let linked = repeated(2000, |at| format!("(true (c ?x{at} ?x{})) ", at + 1));
    assert_eq!(n_legal(&format!("(init (c 1 1)) (<= (legal robot m) {linked})"), limit), Ok(1));
}

#[test]
fn a_hundred_thousand_facts_are_read() {
    let facts = repeated(100_000, |at| format!("(f {at} {}) ", at / 7));
    let rules = format!("{facts} (init x) (<= (legal robot ?x) (f ?x 3))");
    assert_eq!(n_legal(&rules, 100_000_000), Ok(7));
    let initial = repeated(100_000, |at| format!("(init (f {at} {})) ", at / 7));
    let rules = format!("{initial} (<= (legal robot ?x) (true (f ?x 3)))");
    assert_eq!(n_legal(&rules, 100_000_000), Ok(7));
}

#[test]
fn alternatives_are_not_multiplied_out() {
    let initial = repeated(40, |at| format!("(init (b{at} 1)) "));
    let choices = repeated(40, |at| format!("(or (true (a{at} ?x)) (true (b{at} ?x))) "));
    let rules = format!("{initial} (<= (legal robot m) {choices})");
    assert_eq!(n_legal(&rules, 100_000_000), Ok(1));
    let mut nested = "(true (a 1))".to_owned();
    for at in 0..100 {
        nested = format!("(or (true (b {at})) (true (c {at})) {nested})");
    }
    check(&format!("(init (a 1)) (<= (legal robot m) {nested} {nested} {nested})"), Ok(1));
}

#[test]
fn parentheses_without_end_are_refused() {
    let check = |text: &str| {
        let validation = validate::read("test", text, Case::Folded, Leniency::Lenient);
        assert!(validation.game.is_none());
        assert!(!validation.findings.is_empty());
    };
    check(&("(".repeat(100_000) + &")".repeat(100_000)));
    check(&"(".repeat(100_000));
    check(&"\n(a".repeat(100_000));
    check(&")".repeat(100_000));
}

#[test]
fn doubled_terms_are_not_written_out() {
    // Of little depth, and more symbols than memory has room for.
    let limit = MAX_TERM_SIZE;
    let too_large = ReasoningError::TermTooLarge { limit };
    let fixed = "(num a) (<= (num (f ?x ?x)) (num ?x)) (init x) (<= (legal robot ?x) (num ?x))";
    check(fixed, Err(too_large.clone()));
    let rules = "(init (a 0)) (legal robot m) (<= (next (a (f ?x ?x))) (true (a ?x)))";
    let mut machine = machine(rules, MAX_STEPS).unwrap();
    let played = machine.find_move(&"m".parse().unwrap()).unwrap();
    let (mut state, mut next) = (machine.initial_state().unwrap(), State::default());
    let mut play = || {
        for _ in 0..64 {
            machine.next_state(&state, &[played], &mut next)?;
            std::mem::swap(&mut state, &mut next);
        }
        Ok(())
    };
    assert_eq!(play(), Err(too_large));
    assert_eq!(machine.facts(&state).len(), 1);
}

#[test]
fn equations_do_not_double_terms_without_end() {
    let unsaid = |last: usize| {
        repeated(last, |at| format!("(not (distinct ?x{at} (f ?x{} ?x{}))) ", at + 1, at + 1))
    };
    let rules = |n| format!("(init 1) (<= (legal robot ?x0) {} (true ?x{n}))", unsaid(n));
    // Read leniently, `?x0` stands for what the text names, which these are not.
    check(&rules(8), Ok(0));
    let too_large = || Err(ReasoningError::TermTooLarge { limit: MAX_TERM_SIZE });
    check(&rules(40), too_large());
    let known = format!("{} (not (distinct ?x40 a)) (true ?y)", unsaid(40));
    check(&format!("(init 1) (<= (legal robot ?x0) {known})"), too_large());
}

#[test]
fn planning_is_limited_too() {
    // A plan for each of the conditions, which looks at each of the others often.
    let itself = repeated(500, |at| format!("(p ?x{at}) "));
    let rules = format!(
        "(init (c 1)) (<= (p ?x) (true (c ?x))) (<= (p ?x0) {itself}) (<= (legal robot ?x) (p ?x))"
    );
    check(&rules, too_many_steps());
    let fixed = format!("(init x) (p 1) (<= (p ?x0) {itself}) (<= (legal robot ?x) (p ?x))");
    check(&fixed, too_many_steps());
    // Tuning is left out where it would go beyond the limit.
    let relations =
        repeated(200, |at| format!("(<= (p{at} ?x) (true ?x)) (<= (legal robot ?x) (p{at} ?x)) "));
    check(&format!("(init x) {relations}"), Ok(1));
}

#[test]
fn thousands_of_relations_are_compiled() {
    let fixed = repeated(3000, |at| format!("(q{at} 1) (<= (legal robot ?x) (q{at} ?x)) "));
    assert_eq!(n_legal(&format!("(init x) {fixed}"), 100_000_000), Ok(1));
}

#[test]
fn thousands_of_relations_are_ground() {
    let copied = repeated(5000, |at| {
        format!("(<= (q{at} ?x) (n ?x)) (<= (next (at ?x)) (true (at ?x)) (q{at} ?x)) ")
    });
    let network = network(&format!("(init (at 1)) (n 1) (legal robot m) {copied}"));
    assert_eq!((network.n_facts(), network.graph.n_ands()), (1, 0));
}

#[test]
fn many_moves_with_few_gates_are_ground() {
    let constants = repeated(120, |at| format!("(d {at}) "));
    let network = network(&format!(
        "(init begin) {constants} (<= (legal robot (m ?x ?y)) (d ?x) (d ?y)) \
         (<= (next (last ?x ?y)) (does robot (m ?x ?y)))"
    ));
    assert_eq!(network.n_moves(), 120 * 120);
}
