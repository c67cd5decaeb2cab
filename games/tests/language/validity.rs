//! Each check of validation, with what it finds and what it lets pass.

use games::{Case, Finding, Leniency};

use super::reading::FRAME;

fn findings(text: &str, case: Case) -> Vec<Finding> {
    games::validate::read("test", text, case, Leniency::Strict).findings
}

/// The frame with `rules` gives exactly these findings, by position. That a
/// predicate is unused or undefined is left out, and what follows from that: short
/// examples do it always.
fn check(rules: &str, expected: &[&str]) {
    let noise = [
        "unused-relation",
        "undefined-relation",
        "never-holds",
        "role-without-moves",
        "role-without-goal",
    ];
    let findings = findings(&(FRAME.to_owned() + rules), Case::Folded);
    let kept = findings.iter().filter(|finding| !noise.contains(&finding.code));
    let kept: Vec<_> = kept.map(|found| format!("{} {}", found.severity, found.code)).collect();
    assert_eq!(kept, expected, "{rules}");
}

/// As `check`, but nothing is left out and there is no frame.
fn check_all(text: &str, case: Case, expected: &[&str]) {
    let found: Vec<_> = findings(text, case)
        .iter()
        .map(|found| format!("{} {}", found.severity, found.code))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn the_frame_is_good() {
    check_all(FRAME, Case::Folded, &[]);
    check_all(FRAME, Case::Sensitive, &[]);
}

#[test]
fn parentheses_match() {
    check("(p (f a))", &[]);
    check("(p (f a)", &["error unclosed-parenthesis"]);
    check("(p (f a)))", &["error unopened-parenthesis"]);
    // Reading goes on where the next form seems to start.
    check("(p (f a)\n(q)\n (r a)\n(t", &["error unclosed-parenthesis"; 2]);
    check(
        "(p a))\n)(q",
        &["error unopened-parenthesis", "error unopened-parenthesis", "error unclosed-parenthesis"],
    );
}

#[test]
fn a_list_starts_with_a_name() {
    check("((p) a)", &["error list-as-name"]);
    check("(<= p ((q) a))", &["error list-as-name"]);
    check("(p ((f) a))", &["error list-as-name"]);
    check("(<= p (?q a))", &["error variable-as-name"]);
    check("()", &["error empty-list"]);
    check("(p ())", &["error empty-list"]);
}

#[test]
fn a_form_is_a_fact_or_a_rule() {
    check("?x", &["error variable-as-sentence"]);
    check("(<= p ?x)", &["error variable-as-sentence"]);
    check("(<= ?x p)", &["error variable-as-sentence"]);
    check("(<=)", &["error rule-without-head"]);
    check("(<= p (<= q r))", &["error rule-inside-rule"]);
    check("(<= (not p) q)", &["error connective-in-head"]);
    check("(not p)", &["error connective-as-fact"]);
    check("(<= p (not q r))", &["error wrong-arity"]);
    check("(<= p (distinct 1))", &["error wrong-arity"]);
    check("(p ?)", &["error nameless-variable"]);
    check("(=> q p)", &["warning reversed-arrow"]);
}

#[test]
fn four_predicates_are_needed() {
    check_all("", Case::Folded, &["error missing-keyword"; 4]);
    check_all("(role a) (legal a b) (goal a 0)", Case::Folded, &["error missing-keyword"]);
    check_all("(role a) (legal a b) (goal a 0) terminal", Case::Folded, &[]);
    // The missing one may be the one that cannot be read.
    check_all(
        "(role a) (legal a b) (goal a 0) (<= (terminal ?) p)",
        Case::Folded,
        &["error nameless-variable"],
    );
    check_all(
        "(role a) (legal a b) (goal a 0) (<= ((terminal)) p)",
        Case::Folded,
        &["error list-as-name"],
    );
}

#[test]
fn keywords_have_their_arity() {
    check("(<= p (true a b))", &["error wrong-arity"]);
    check("(goal robot)", &["error wrong-arity"]);
    check("(<= (terminal robot) (succ 0 1))", &["error wrong-arity"]);
    check("(<= (init a b) (succ 0 1))", &["error wrong-arity"]);
    check("(base a) (input robot a) (sees robot a)", &[]);
    check(
        "(base a b) (base c d) (<= p (base a b) (sees a b c))",
        &["warning keyword-as-relation"; 2],
    );
    check("(input a)", &["warning keyword-as-relation"]);
}

#[test]
fn keywords_stand_in_heads_or_bodies() {
    check("(<= (role b) (succ 0 1))", &["error keyword-in-head"]);
    check("(<= (true b) (succ 0 1))", &["error keyword-in-head"]);
    check("(<= (does robot b) (succ 0 1))", &["error keyword-in-head"]);
    check("(true b) (does robot b)", &["error keyword-as-fact"; 2]);
    check("(<= p (init b) (base b) (input robot b))", &["error keyword-in-body"; 3]);
    check("(<= p (next b))", &["warning next-in-body"]);
    check("(<= p (role ?r) (legal ?r b) (goal ?r 0) terminal)", &[]);
    check("(init b) (next b) (legal robot b) (goal robot 0)", &[]);
    check("(<= (role b))", &["warning empty-body"]);
}

#[test]
fn the_initial_state_depends_on_no_state() {
    check("(<= (init b) (true c))", &["error keyword-dependency"]);
    check("(<= (init b) p) (<= p (does robot c))", &["error keyword-dependency"]);
    check("(<= (init b) p) (<= p (succ 0 1))", &[]);
}

#[test]
fn declarations_that_depend_on_the_state_are_noted() {
    check("(<= (base b) p) (<= p (not q)) (<= q (does robot c))", &["warning keyword-dependency"]);
    check("(<= (base b) (true c))", &["warning keyword-dependency"]);
    check("(<= (input robot b) (legal robot b))", &["warning keyword-dependency"]);
    check("(<= (input robot b) (does robot b))", &["warning keyword-dependency"]);
}

#[test]
fn what_is_legal_depends_on_no_move() {
    check("(<= (legal robot b) (does robot c))", &["error keyword-dependency"]);
    check("(<= (goal robot 0) p) (<= p (does robot c))", &["error keyword-dependency"]);
    check(
        "(<= terminal (next b)) (<= (next b) (does robot c))",
        &["error keyword-dependency", "warning next-in-body"],
    );
    check("(<= (next b) (does robot c)) (<= (sees robot b) (does robot c))", &[]);
}

#[test]
fn facts_are_ground() {
    check("(p ?x)", &["error variable-in-fact"]);
    check("(p (f ?x) ?x ?y)", &["error variable-in-fact"; 2]);
    check("(<= (p ?x))", &["warning empty-body", "error variable-in-fact"]);
    check("(role ?x)", &["error variable-in-fact"]);
}

#[test]
fn rules_are_safe() {
    check("(<= (p ?x) (q ?y))", &["error unsafe-head"]);
    check("(<= (p a) (not (q ?x)))", &["error unsafe-negation"]);
    check("(<= (p a) (distinct ?x a))", &["error unsafe-distinct"]);
    check(
        "(<= (p ?x) (not (q ?x)) (distinct ?x a))",
        &["error unsafe-head", "error unsafe-negation", "error unsafe-distinct"],
    );
    check(
        "(<= (p ?x) (not (distinct ?x a)))",
        &["error unsafe-head", "warning compound-negation", "error unsafe-distinct"],
    );
    check("(<= (p (f ?x)) (q (g ?x)))", &[]);
    check("(<= (p ?x) (q ?x ?y) (distinct ?x ?y) (not (q ?x ?y)))", &[]);
}

#[test]
fn an_or_supplies_what_all_its_branches_do() {
    check("(<= (p ?x) (or (q ?x) (r ?x)))", &[]);
    check("(<= (p ?x) (or (q ?x) r))", &["error unsafe-head"]);
    check("(<= (p ?x) (or (q ?x) (not (r ?x))))", &["error unsafe-head", "error unsafe-negation"]);
    check("(<= (p ?x) (q ?x) (or (distinct ?x a) (not (r ?x))))", &[]);
    check("(<= p (or (q ?x) r) (distinct ?x a))", &["error unsafe-distinct"]);
    check("(<= p (or (q ?x) (s ?x)) (or (distinct ?x a) r))", &[]);
    check(
        "(<= p (or r (and (distinct ?x a) (q ?x))))",
        &["warning explicit-and", "note early-distinct"],
    );
}

#[test]
fn negations_stand_behind_what_binds_them() {
    check("(<= (p ?x) (not (q ?x)) (succ ?x 1))", &["warning early-negation"]);
    check("(<= (p ?x) (distinct ?x 1) (succ ?x 1))", &["note early-distinct"]);
    check("(<= (p ?x) (succ ?x 1) (not (q ?x)) (distinct ?x 1))", &[]);
    check("(<= p (not (q a)) (succ ?x 1))", &[]);
    // Once for each rule.
    check(
        "(<= (p ?x) (not (q ?x)) (not (r ?x)) (succ ?x ?y)) (<= (s ?x) (not (q ?x)) (succ ?x 1))",
        &["warning early-negation"; 2],
    );
    check("(<= (p ?x) (not (q ?x ?y)) (succ ?x ?y))", &["warning early-negation"]);
    // What stands around an `or` counts where it stands.
    check("(<= (p ?x) (succ ?x 1) (or (not (q ?x)) (not (r ?x))))", &[]);
    check("(<= (p ?x) (or (not (q ?x)) r) (succ ?x 1))", &["warning early-negation"]);
    check("(<= (p ?x) (or (succ ?x 0) (succ ?x 1)) (not (q ?x)))", &[]);
    // What is bound nowhere is an error of its own.
    check("(<= p (not (q ?x)) (succ 0 1))", &["error unsafe-negation"]);
}

#[test]
fn rules_are_stratified() {
    check("(<= p (not p))", &["error unstratified"]);
    check("(<= p (not q)) (<= q (not p))", &["error unstratified"; 2]);
    check("(<= p q) (<= q r) (<= r (or (succ 0 1) (not p)))", &["error unstratified"]);
    check("(<= (p ?x) (succ ?x ?y) (not (p ?y)))", &["error unstratified"]);
    check("(<= (p ?x) (p ?x) (succ ?x 1)) (<= q r) (<= r q)", &[]);
    check("(<= p (not q)) (<= q (not r)) (<= r (true p))", &[]);
    // The arguments tell which rules may meet.
    check("(<= (p 1) (not (p 2))) (<= (p 2) (succ 0 1))", &["warning stratified-by-arguments"]);
    check(
        "(<= (p 1) (not (p (f 2)))) (<= (p (f ?x)) (succ ?x 1))",
        &["warning stratified-by-arguments"],
    );
    check("(<= (p 1) (not (p 2))) (<= (p 2) (p 1))", &["error unstratified"]);
    check("(<= (p ?x) (succ ?x 1) (not (p 2)))", &["error unstratified"]);
}

#[test]
fn recursion_is_restricted() {
    check("(p 0) (<= (p (f ?x)) (p ?x))", &["warning unrestricted-recursion"]);
    check("(p 0) (<= (p ?y) (p ?x) (succ ?x ?y))", &[]);
    check("(p 0 0) (<= (p ?x (f ?x)) (p ?y ?x) (succ ?y 1))", &[]);
    check("(<= (p ?x) (q ?x ?y)) (<= (q ?x ?x) (p ?x))", &["warning unrestricted-recursion"]);
    check("(<= (p ?x) (or (p 0) (and (p ?z) (succ ?z ?x))) (role ?x))", &["warning explicit-and"]);
}

#[test]
fn not_stands_before_sentences() {
    check("(<= p (not (or q r)))", &["warning compound-negation"]);
    check("(<= p (not (not q)))", &["warning compound-negation"]);
    check("(<= p (not (distinct 0 1)))", &["warning compound-negation"]);
    check("(<= p (not (and q r)))", &["warning compound-negation", "warning explicit-and"]);
    check("(<= p (not q))", &[]);
}

#[test]
fn names_have_one_arity() {
    check("(p a) (p a b)", &["warning several-arities"]);
    check("(p (f a)) (q (f a b)) (r (f a b))", &["warning several-arities"]);
    check("(p (f a)) (q f)", &[]);
    check("(p a b) (q (p a))", &["warning relation-as-function"]);
    check("(p a) (q p)", &[]);
}

#[test]
fn keywords_as_terms_are_noted() {
    check("(p true)", &["warning keyword-as-term"]);
    check("(init (does a b)) (init (does b a))", &["warning keyword-as-term"]);
    check("(p random)", &[]);
}

#[test]
fn connectives_as_terms_are_noted() {
    for word in ["<=", "=>", "distinct", "and", "or", "not", "(or a b)", "(not a)", "(and a)"] {
        check(&format!("(p {word})"), &["warning connective-as-term"]);
    }
    // Formulas of satisfiability, as published games have them.
    check(
        "(contains 1 (not 58)) (contains 2 (not 7)) (<= p (contains ?c (not ?v)) (succ ?c ?v))",
        &["warning connective-as-term"],
    );
    check("(<= p (true (not a)))", &["warning connective-as-term"]);
}

#[test]
fn names_have_one_spelling() {
    check("(cellX 1) (cellx 2) (CELLX 3)", &["warning case-collision"]);
    check("(<= (p ?X) (succ ?X ?x))", &["warning case-collision"]);
    check("(<= (p ?x) (succ ?x 0)) (<= (q ?X) (succ ?X 0))", &[]);
    check("(Init a) (<= p (TRUE a))", &[]);
    let text = FRAME.to_owned() + "(<= (next Robot) (true robot))";
    check_all(&text, Case::Sensitive, &["warning case-collision", "warning never-holds"]);
}

#[test]
fn needless_things_are_noted() {
    check("(<= (p a))", &["warning empty-body"]);
    check("(p) (<= q (p)) (r (f))", &["warning needless-parentheses"; 2]);
    check("(<= p (or))", &["warning empty-connective"]);
    check("(<= p (or (or q r) s))", &["warning nested-or"]);
    check("(<= p (or q (and r s)))", &["warning explicit-and"]);
    check("p", &["note bare-proposition"]);
    check("(<= p q)", &[]);
}

#[test]
fn predicates_are_defined_and_used() {
    let check = |rules: &str, expected: &[&str]| {
        check_all(&(FRAME.to_owned() + rules), Case::Folded, expected);
    };
    check("(<= p q)", &["warning unused-relation", "warning undefined-relation"]);
    check("(<= terminal p) (<= p (succ 0 1))", &[]);
    check(
        "(<= terminal (p 1)) (p 0 1)",
        &["warning undefined-relation", "warning several-arities", "warning unused-relation"],
    );
    check("(sees_xml robot a)", &[]);
}

#[test]
fn unusual_characters_are_noted() {
    check("(p a+ ?)", &["error nameless-variable"]);
    check("(p a+ a+ b_c-D9)", &["note unusual-character"]);
    check("(p \"a\")", &["warning unusual-character"]);
    check("(p caf\u{e9})", &["warning unusual-character"]);
    check("; caf\u{e9}\n(p cafe)", &[]);
    check("(p a) #| unfinished", &["warning unterminated-comment"]);
}

#[test]
fn goals_are_from_0_to_100() {
    for bad in ["101", "-1", "x50", "high", "(f 1)"] {
        check(&format!("(goal robot {bad})"), &["error bad-goal-value"]);
    }
    for good in ["0", "00", "100", "(50)"] {
        let noted = if good == "(50)" { &["warning needless-parentheses"][..] } else { &[] };
        check(&format!("(goal robot {good})"), noted);
    }
    check("(<= (goal robot ?v) (succ ?v 1))", &[]);
}

#[test]
fn roles_are_known() {
    check("(legal rabot a)", &["warning unknown-role"]);
    check("(<= p (does rabot a))", &["warning unknown-role"]);
    check("(goal rabot 0) (input rabot a)", &["warning unknown-role"; 2]);
    check("(legal robot a)", &[]);
    check("(role robot)", &["warning duplicate-role"]);
    check("(role ROBOT)", &["warning duplicate-role", "warning case-collision"]);
    check("(role (f a))", &["error compound-role"]);
}

#[test]
fn percepts_and_chance() {
    check("(role random)", &["note chance-in-the-open"]);
    check("(role random) (<= (sees ?r ?m) (role ?r) (does random ?m))", &[]);
    check("(sees rabot a)", &["warning unknown-role"]);
    check("(<= p (sees robot a))", &["warning sees-in-body"]);
}

#[test]
fn bytes_that_are_no_text() {
    let check = |added: &[u8], expected: &[(&str, &str)]| {
        let text = [FRAME.as_bytes(), added].concat();
        let validation = games::validate::read("test", &text, Case::Folded, Leniency::Strict);
        let text = String::from_utf8_lossy(&text);
        let found = validation.findings.iter();
        let found: Vec<_> =
            found.map(|found| (found.code, found.span.position(&text).to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|&(code, at)| (code, at.to_owned())).collect();
        assert_eq!(found, expected, "{text}");
        assert_eq!(validation.game.is_some(), expected.is_empty());
    };
    // Comments may hold anything; the frame has eight lines.
    check(b"; caf\xe9\n", &[]);
    check(b"; caf\xe9 \xff\xfe\n#| \xc3 ( |# ; \xe9", &[]);
    // What was replaced before does not move places.
    check(b"; \xe9\n(p \xe9\xe8)", &[("not-utf8", "10:4")]);
    check(
        b"(p a\xe9) (\xe9 ?\xe9)",
        &[("not-utf8", "9:4"), ("not-utf8", "9:9"), ("not-utf8", "9:11")],
    );
    check(b"(p \xe9", &[("unclosed-parenthesis", "9:1"), ("not-utf8", "9:4")]);
}

#[test]
fn places_are_counted_as_people_do() {
    let place =
        |text: &str| findings(text, Case::Folded).last().unwrap().span.position(text).to_string();
    assert_eq!(place("(p a))"), "1:6");
    assert_eq!(place("(p a)\n )"), "2:2");
    assert_eq!(place("(p a)\r\n\r\n )"), "3:2");
    assert_eq!(place("(p a)\r\r )"), "3:2");
    assert_eq!(place("\u{feff}(p \u{e9}))"), "1:6");
}

/// The findings that something is impossible, as `code message; help`, when `from`
/// is written `to` once in a shipped game.
fn impossible(game: &str, from: &str, to: &str) -> Vec<String> {
    let text = games::library::find(game).unwrap().text;
    assert!(text.contains(from), "{game} has {from}");
    let findings = findings(&text.replacen(from, to, 1), Case::Folded);
    let codes = ["never-holds", "role-without-moves", "role-without-goal", "fact-of-no-role"];
    let kept = findings.into_iter().filter(|finding| codes.contains(&finding.code));
    kept.map(|Finding { code, message, help, .. }| format!("{code} {message}; {help}")).collect()
}

#[test]
fn shipped_games_ask_for_what_can_be() {
    for shipped in games::library::all() {
        assert_eq!(impossible(shipped.name, "(", "("), [""; 0], "{}", shipped.name);
    }
}

#[test]
fn typing_errors_make_conditions_impossible() {
    let check = |from, to, expected: &[&str]| {
        assert_eq!(impossible("tic_tac_toe", from, to), expected, "{to}");
    };
    const NEVER: &str = "so the condition never holds";
    check(
        "(true (cell ?r ?c b))",
        "(true (cel ?r ?c b))",
        &[&format!("never-holds no fact is named `cel`; did you mean `cell`?; {NEVER}")],
    );
    check(
        "(true (cell ?r ?c b))",
        "(true (cell ?r ?c blank))",
        &[&format!(
            "never-holds no fact has `blank` as this argument; only `b` can stand here; {NEVER}"
        )],
    );
    check(
        "(<= open (true (cell ?r ?c b)))",
        "(<= open (true (cell ?r b)))",
        &[&format!(
            "never-holds no fact `cell` has 2 arguments; the rules give it 3 arguments; {NEVER}"
        )],
    );
    check(
        "(<= (marked ?r ?c) (does ?p (mark ?r ?c)))",
        "(<= (marked ?r ?c) (does ?p (marks ?r ?c)))",
        &[&format!("never-holds no legal move is named `marks`; did you mean `mark`?; {NEVER}")],
    );
    check(
        "(<= terminal won)",
        "(<= terminal (true over))",
        &[&format!(
            "never-holds no fact is named `over`; only `cell` and `control` can stand here; {NEVER}"
        )],
    );
    check(
        "(not (marked ?r ?c))",
        "(not (true (marked ?r ?c)))",
        &[
            "never-holds no fact is named `marked`; only `cell` and `control` can stand here; so its \
           negation always holds",
        ],
    );
    check(
        "(init (control xplayer))",
        "(init (control xplayr))",
        &[
            "role-without-moves no rule can let the role `xplayer` move; the rules for `legal` that \
             could apply to it have conditions that never hold",
            "role-without-moves no rule can let the role `oplayer` move; the rules for `legal` that \
             could apply to it have conditions that never hold",
            "fact-of-no-role `xplayr` is not a role, but rules that use this fact take it for \
             one; did you mean `xplayer`?",
        ],
    );
}

#[test]
fn of_impossible_rules_the_first_is_reported() {
    let check = |rules: &str, expected: &[&str]| {
        let findings = findings(&(FRAME.to_owned() + rules), Case::Folded);
        let kept = findings.iter().filter(|finding| finding.code == "never-holds");
        let kept: Vec<_> = kept.map(|finding| finding.message.as_str()).collect();
        assert_eq!(kept, expected, "{rules}");
    };
    // What rests on an impossible rule is impossible, but not wrong.
    check(
        "(<= (next (a ?x)) (true (b ?x))) (<= (next c) (true (a ?x))) (<= p (true c)) (<= q p)",
        &["no fact is named `b`"],
    );
    // Rules that wait for each other, and for themselves.
    check(
        "(<= (next (a 1)) (true (b 1))) (<= (next (b 1)) (true (a 1)))",
        &["no fact is named `b`"],
    );
    check("(<= (next (a ?x)) (true (a ?x)))", &["no fact is named `a`"]);
    // One alternative can hold.
    check("(<= p (or (true (step 0)) (true nothing)))", &["no fact is named `nothing`"]);
    // Steps grow by what `succ` says, terms by what rules build.
    check("(<= p (true (step 1)))", &[]);
    check("(<= p (true (step 2)))", &["no fact has `2` as this argument"]);
    check("(init (f 0)) (<= (next (f (s ?x))) (true (f ?x))) (<= p (true (f (s (s (s 0))))))", &[]);
    check(
        "(init (f 0)) (<= (next (f (s ?x))) (true (f ?x))) (<= p (true (f (s (s (s 1))))))",
        &["no fact has `1` as this argument"],
    );
    // Whatever a variable may stand for.
    check("(<= (next ?f) (does robot ?f)) (<= p (true wait))", &[]);
    check("(<= (next ?f) (does robot ?f)) (<= p (true go))", &["no fact is named `go`"]);
}
