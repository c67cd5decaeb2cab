//! What rules mean, corner by corner, on hand-written rulesheets.

use std::sync::Arc;

use games::{Case, Expression, Guards, Leniency, RoleId, State, validate};

/// A role, its move and whatever validation insists on.
const FRAME: &str = "(role robot) (<= terminal (true done)) (goal robot 0)";

/// Asks the rules, together with [`FRAME`], a question about the role `robot`:
/// `legal`, `facts`, or `after MOVE`, in the initial state. The answer is
/// sorted as text.
fn check(rules: &str, question: &str, answer: &str) {
    check_read(rules, Leniency::Strict, question, answer);
}

fn check_read(rules: &str, leniency: Leniency, question: &str, answer: &str) {
    let text = format!("{FRAME} {rules}");
    let validation = validate::read("test", &text, Case::Folded, leniency);
    let Some(game) = validation.game else { panic!("{:?}", validation.findings) };
    let mut machine = games::state_machine_for(Arc::new(game), Guards::default()).unwrap();
    let state = machine.initial_state().unwrap();
    let found = match question.split_once(' ') {
        None if question == "legal" => {
            let mut moves = Vec::new();
            machine.legal_moves(&state, RoleId(0), &mut moves).unwrap();
            moves.iter().map(|&id| machine.move_expression(id)).collect()
        }
        None if question == "facts" => machine.facts(&state),
        Some(("after", text)) => {
            let played = machine.find_move(&text.parse().unwrap()).unwrap();
            let mut next = State::default();
            machine.next_state(&state, &[played], &mut next).unwrap();
            machine.facts(&next)
        }
        Some(("seen", text)) => {
            let played = machine.find_move(&text.parse().unwrap()).unwrap();
            machine.percepts(&state, &[played], RoleId(0)).unwrap()
        }
        _ => panic!("no question: {question}"),
    };
    let mut found: Vec<_> = found.iter().map(Expression::to_string).collect();
    found.sort();
    assert_eq!(found.join(" "), answer, "{question} of {rules}");
}

#[test]
fn moves_are_a_set() {
    check("(legal robot a) (legal robot a) (<= (legal robot a) (role robot))", "legal", "a");
    check("(<= (legal robot (go)))", "legal", "go");
    check("(<= (legal ?r noop) (role ?r))", "legal", "noop");
}

#[test]
fn distinct_is_syntactic() {
    let numbers = "(n 1) (n 01) (n (s 1))";
    check(&format!("{numbers} (<= (legal robot ?x) (n ?x) (distinct ?x 1))"), "legal", "(s 1) 01");
    // Written before its variable is bound.
    check(&format!("{numbers} (<= (legal robot ?x) (distinct ?x 1) (n ?x))"), "legal", "(s 1) 01");
    check(
        &format!("{numbers} (<= (legal robot ?x) (n ?x) (distinct (s ?x) (s 1)))"),
        "legal",
        "(s 1) 01",
    );
    check(
        &format!("{numbers} (<= (legal robot ?x) (n ?x) (distinct (f ?x ?x) (f 1 01)))"),
        "legal",
        "(s 1) 01 1",
    );
}

#[test]
fn not_distinct_is_equality() {
    check("(n 1) (n 2) (<= (legal robot ?x) (n ?x) (not (distinct ?x 2)))", "legal", "2");
    check(
        "(n (f 1)) (n (f 2)) (n 3) (k 1) \
         (<= (legal robot ?y) (n ?x) (k ?y) (not (distinct ?x (f ?y))))",
        "legal",
        "1",
    );
}

#[test]
fn or_may_hold_anything() {
    let facts = "(n 1) (n 2) (n 3) (odd 1) (odd 3)";
    check(
        &format!("{facts} (<= (legal robot ?x) (n ?x) (or (not (odd ?x)) (distinct ?x 3)))"),
        "legal",
        "1 2",
    );
    check(
        &format!("{facts} (<= (legal robot ?x) (or (odd ?x) (n ?x)) (or (odd ?x) (or (n ?x))))"),
        "legal",
        "1 2 3",
    );
    check(
        &format!("{facts} (<= (legal robot ?x) (n ?x) (not (or (odd ?x) (distinct ?x 2))))"),
        "legal",
        "2",
    );
    check(
        &format!("{facts} (<= (legal robot ?x) (n ?x) (or (and (odd ?x) (distinct ?x 1))))"),
        "legal",
        "3",
    );
}

#[test]
fn many_alternatives_are_no_different() {
    // 4^4 conjunctions, beyond what is written out.
    let choice = "(or (p ?x 1) (p ?x 2) (p ?x 3) (p ?x 4))";
    check(
        &format!(
            "(n a) (n b) (p a 4) (p b 5) \
             (<= (legal robot ?x) (n ?x) {choice} {choice} {choice} {choice})"
        ),
        "legal",
        "a",
    );
    let clash = "(or (p ?x 1) (p ?x 2) (not (p ?x 5)) (distinct ?x b))";
    check(
        &format!(
            "(n a) (n b) (p a 4) (p b 5) \
             (<= (legal robot ?x) (n ?x) {clash} {clash} {clash} {clash})"
        ),
        "legal",
        "a",
    );
}

#[test]
fn functions_stand_anywhere() {
    check(
        "(init (at (pair 1 2))) (<= (legal robot (go ?y ?x)) (true (at (pair ?x ?y))))",
        "legal",
        "(go 2 1)",
    );
    check(
        "(init (f (f 0))) (<= (legal robot ?x) (true (f ?x))) (<= (next (f ?x)) (true ?x))",
        "after (f 0)",
        "(f (f (f 0)))",
    );
    check(
        "(init a) (legal robot m) (<= (next (g ?f (g ?f b))) (true ?f))",
        "after m",
        "(g a (g a b))",
    );
    // The same name as predicate and function, with several arities.
    check("(p 1) (p 1 2) (<= (legal robot (p ?x)) (p ?x) (not (p ?x ?x)))", "legal", "(p 1)");
}

#[test]
fn facts_and_moves_may_be_variables() {
    check(
        "(init a) (init (b 1)) (legal robot m) (<= (next ?f) (true ?f) (distinct ?f a))",
        "after m",
        "(b 1)",
    );
    check(
        "(legal robot m) (legal robot (n 1)) (<= (next (did ?r ?m)) (does ?r ?m))",
        "after (n 1)",
        "(did robot (n 1))",
    );
    check(
        "(legal robot m) (<= (next on) (does ?r m)) (<= (next off) (not (does robot m)))",
        "after m",
        "on",
    );
}

#[test]
fn there_are_no_frame_axioms() {
    check("(init a) (init b) (legal robot m) (<= (next a) (true a))", "after m", "a");
    check("(legal robot m)", "facts", "");
    check("(legal robot m)", "after m", "");
}

#[test]
fn init_may_have_rules() {
    check(
        "(n 1) (n 2) (<= (init (at ?x)) (n ?x) (distinct ?x 1)) (legal robot m)",
        "facts",
        "(at 2)",
    );
}

#[test]
fn recursion_means_the_least_model() {
    check(
        "(edge 1 2) (edge 2 3) (edge 3 1) (edge 4 5) \
         (<= (way ?x ?y) (edge ?x ?y)) (<= (way ?x ?z) (way ?x ?y) (way ?y ?z)) \
         (<= (legal robot ?y) (way 1 ?y))",
        "legal",
        "1 2 3",
    );
    check(
        "(q 1) (legal robot m) (<= (r ?x) (r ?x) (q ?x)) (<= (legal robot ?x) (r ?x)) \
         (<= left right) (<= right left) (<= (legal robot left) left)",
        "legal",
        "m",
    );
    // Mutual recursion over the state.
    check(
        "(init (at 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (<= (even ?x) (true (at ?x))) \
         (<= (odd ?y) (even ?x) (s ?x ?y)) (<= (even ?y) (odd ?x) (s ?x ?y)) \
         (<= (legal robot ?x) (odd ?x))",
        "legal",
        "1 3",
    );
}

#[test]
fn strata_come_in_order() {
    check(
        "(init (at 1)) (n 1) (n 2) (n 3) (<= (p ?x) (true (at ?x))) (<= (q ?x) (n ?x) (not (p ?x))) \
         (<= (r ?x) (n ?x) (not (q ?x))) (<= (legal robot ?x) (r ?x))",
        "legal",
        "1",
    );
    // The predicate depends on its own negation, its rules do not.
    check(
        "(init x) (<= (v a) (true x)) (<= (v b) (not (v a))) (<= (v c) (not (v b))) \
         (<= (legal robot ?x) (v ?x))",
        "legal",
        "a c",
    );
}

#[test]
fn a_negation_with_a_variable_of_its_own_denies_all() {
    let rules = "(init (outer a full)) (init (outer b empty)) (n a) (n b) (n c)";
    let lenient = |body: &str, answer: &str| {
        let rules = format!("{rules} (legal robot no) (<= (legal robot yes) {body})");
        check_read(&rules, Leniency::Lenient, "legal", answer);
    };
    lenient("(not (true (outer ?x empty)))", "no");
    lenient("(not (true (outer ?x other)))", "no yes");
    lenient("(not (true (outer ?x ?x)))", "no yes");
    lenient("(not (true (outer ?x ?y)))", "no");
    lenient("(n ?x) (not (true (outer ?x ?y)))", "no yes");
    lenient("(n b) (not (true (outer b ?y)))", "no");
    lenient("(not (true ?f))", "no");
    lenient("(not (legal robot (f ?x)))", "no yes");
}

#[test]
fn unsafe_heads_stand_for_any_role_or_constant() {
    check_read("(init on) (<= (legal ?p ?p) (true on))", Leniency::Lenient, "legal", "robot");
    check_read(
        "(n 1) (n 2) (<= (other ?x ?y) (distinct ?x ?y)) (<= (legal robot ?x) (n ?x) (other ?x 1))",
        Leniency::Lenient,
        "legal",
        "2",
    );
}

#[test]
fn keywords_may_stand_in_bodies() {
    check(
        "(init (at 1)) (legal robot m) (<= (next (at 2)) (does robot m)) \
         (<= (next hit) (next (at ?x)) (distinct ?x 1))",
        "after m",
        "(at 2) hit",
    );
    check(
        "(legal robot m) (legal robot (k 1)) (<= (next (may ?m)) (legal robot ?m)) \
         (<= (next won) (goal robot 0)) (<= (next (one ?x)) (legal ?r (k ?x)))",
        "after m",
        "(may (k 1)) (may m) (one 1) won",
    );
    check(
        "(legal robot m) (<= (next over) (not terminal)) (<= (next (r ?x)) (role ?x))",
        "after m",
        "(r robot) over",
    );
}

#[test]
fn what_follows_from_nothing_is_false() {
    check(
        "(legal robot m) (<= (legal robot n) (squee)) (<= (legal robot k) (not squee))",
        "legal",
        "k m",
    );
}

#[test]
fn percepts_are_of_the_state_before() {
    let rules = "(init (at 1)) (legal robot m) (legal robot n) (<= (next (at 2)) (true (at 1))) \
                 (<= (sees robot (was ?x)) (true (at ?x))) (<= (sees ?r (did ?m)) (does ?r ?m))";
    check(rules, "seen m", "(did m) (was 1)");
    check(rules, "seen n", "(did n) (was 1)");
}

#[test]
fn goals_are_read_with_care() {
    let goal = |goals: &str| {
        let text = format!("(role robot) (<= terminal (true done)) (legal robot m) {goals}");
        let game = validate::read("test", &text, Case::Folded, Leniency::Strict).game.unwrap();
        let mut machine = games::state_machine_for(Arc::new(game), Guards::default()).unwrap();
        let state = machine.initial_state().unwrap();
        let reading = machine.goal(&state, RoleId(0)).unwrap();
        let values: Vec<u8> = reading.values.iter().map(|goal| goal.value()).collect();
        (values, reading.clamped, reading.unreadable)
    };
    assert_eq!(goal("(goal robot 50)"), (vec![50], false, false));
    assert_eq!(goal("(goal robot 00) (goal robot 0)"), (vec![0], false, false));
    assert_eq!(goal("(goal robot 70) (goal robot 30)"), (vec![30, 70], false, false));
    assert_eq!(goal("(v 101) (v -3) (<= (goal robot ?x) (v ?x))"), (vec![0, 100], true, false));
    assert_eq!(goal("(v much) (v (f 1)) (<= (goal robot ?x) (v ?x))"), (vec![], false, true));
    assert_eq!(goal("(<= (goal robot 1) (true never))"), (vec![], false, false));
}

#[test]
fn moves_come_in_the_order_of_their_names() {
    let text = format!(
        "{FRAME} (first b 10 2 (f 9)) (<= (legal robot ?x) (any ?x)) \
         (any 2) (any (f 9)) (any b) (any (f 10)) (any 10) (any f) (any (f 2 b)) (any (f (f 9)))"
    );
    let game = validate::read("test", &text, Case::Folded, Leniency::Strict).game.unwrap();
    let mut machine = games::state_machine_for(Arc::new(game), Guards::default()).unwrap();
    let state = machine.initial_state().unwrap();
    let mut moves = Vec::new();
    machine.legal_moves(&state, RoleId(0), &mut moves).unwrap();
    let moves: Vec<_> = moves.iter().map(|&id| machine.move_expression(id).to_string()).collect();
    assert_eq!(moves.join(" "), "b 10 2 f (f 10) (f (f 9)) (f 9) (f 2 b)");
}

#[test]
fn states_can_be_written_down() {
    let text = format!("{FRAME} (init (at 1)) (legal robot m) (<= (next ?x) (true ?x)) (k 2)");
    let game = validate::read("test", &text, Case::Folded, Leniency::Strict).game.unwrap();
    let mut machine = games::state_machine_for(Arc::new(game), Guards::default()).unwrap();
    let parse = |texts: &[&str]| -> Vec<Expression> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    };
    let facts = parse(&["(at 2)", "done", "(at 2)"]);
    let state = machine.state_of(&facts).unwrap();
    assert_eq!(machine.facts(&state), parse(&["done", "(at 2)"]));
    assert_eq!(machine.state_of(&parse(&["done", "(at 2)"])).unwrap(), state);
    assert!(machine.is_terminal(&state).unwrap());
    let nothing = machine.state_of(&[]).unwrap();
    assert_eq!(machine.facts(&nothing), []);
    assert_eq!(machine.state_of(&parse(&["?x"])), None);
    assert_eq!(machine.state_of(&parse(&["(at unheard-of)"])), None);
    assert_eq!(machine.find_move(&"unheard-of".parse().unwrap()), None);
    let initial = machine.initial_state().unwrap();
    assert_eq!(machine.state_of(&parse(&["(AT 1)"])), Some(initial));
}
