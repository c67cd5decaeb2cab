//! How rules are read: what a text means, as normalised rules.

use games::rule::{Literal, Rule, Sentence, Term};
use games::{Case, Game, Leniency, SymbolId};

/// A game without findings, to which the tests add.
pub(super) const FRAME: &str = "
(role robot)
(init (step 0))
(succ 0 1)
(<= (legal robot wait) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(goal robot 100)
(<= terminal (true (step 1)))
";

const N_FRAME_RULES: usize = 7;

fn game(rules: &str, case: Case, leniency: Leniency) -> Game {
    let text = FRAME.to_owned() + rules;
    let validation = games::validate::read("test", &text, case, leniency);
    let findings = validation.findings.iter().map(|finding| finding.line(&text));
    let findings: Vec<_> = findings.collect();
    validation.game.unwrap_or_else(|| panic!("{rules}: {findings:#?}"))
}

/// The rules that the text amounts to, beside those of the frame.
fn check(rules: &str, expected: &str) {
    check_read(rules, Case::Folded, Leniency::Strict, expected);
}

fn check_lenient(rules: &str, expected: &str) {
    let text = FRAME.to_owned() + rules;
    let strict = games::validate::read("test", &text, Case::Folded, Leniency::Strict);
    assert!(strict.game.is_none(), "{rules} is strictly wrong");
    check_read(rules, Case::Folded, Leniency::Lenient, expected);
}

fn check_read(rules: &str, case: Case, leniency: Leniency, expected: &str) {
    let game = game(rules, case, leniency);
    let read: Vec<_> =
        game.rules()[N_FRAME_RULES..].iter().map(|rule| print(&game, rule)).collect();
    assert_eq!(read.join("\n"), expected, "{rules}");
}

fn print(game: &Game, rule: &Rule) -> String {
    let mut text = sentence(game, &rule.head);
    if !rule.body.is_empty() {
        text += &format!(" <= {}", conjunction(game, &rule.body));
    }
    text
}

fn conjunction(game: &Game, body: &[Literal]) -> String {
    body.iter().map(|literal| self::literal(game, literal)).collect::<Vec<_>>().join(" & ")
}

fn literal(game: &Game, literal: &Literal) -> String {
    let comparison =
        |left, sign, right| format!("{} {sign} {}", term(game, left), term(game, right));
    match literal {
        Literal::Positive(inner) => sentence(game, inner),
        Literal::Negative(inner) => format!("~{}", sentence(game, inner)),
        Literal::Distinct(left, right) => comparison(left, "!=", right),
        Literal::Equal(left, right) => comparison(left, "=", right),
        Literal::Or(branches) => {
            let branches: Vec<_> =
                branches.iter().map(|branch| conjunction(game, branch)).collect();
            format!("[{}]", branches.join(" | "))
        }
    }
}

fn sentence(game: &Game, sentence: &Sentence) -> String {
    applied(game, sentence.name, &sentence.arguments)
}

fn term(game: &Game, term: &Term) -> String {
    match term {
        Term::Constant(id) => game.symbols().name(*id).to_owned(),
        Term::Variable(id) => format!("?{}", id.0),
        Term::Function(id, arguments) => applied(game, *id, arguments),
    }
}

fn applied(game: &Game, name: SymbolId, arguments: &[Term]) -> String {
    let name = game.symbols().name(name);
    if arguments.is_empty() {
        return name.to_owned();
    }
    let arguments: Vec<_> = arguments.iter().map(|argument| term(game, argument)).collect();
    format!("{name}({})", arguments.join(","))
}

#[test]
fn plain_rules() {
    check("(p a)", "p(a)");
    check(
        "(<= (p ?x) (succ ?x ?y) (succ ?y (f ?x 01)))",
        "p(?0) <= succ(?0,?1) & succ(?1,f(?0,01))",
    );
    check("(<= (p ?x) (distinct ?x 0) (succ ?x ?y))", "p(?0) <= ?0 != 0 & succ(?0,?1)");
    check("(<=(p ?x)(succ ?x ?y);comment\r(not(q ?x)))", "p(?0) <= succ(?0,?1) & ~q(?0)");
}

#[test]
fn parentheses_around_a_name_mean_nothing() {
    check("(<= (fin) (succ 0 1)) (<= p fin)", "fin <= succ(0,1)\np <= fin");
    check("(p (go))", "p(go)");
    check("(<= p (not (q)))", "p <= ~q");
}

#[test]
fn a_rule_without_conditions_is_a_fact() {
    check("(<= (p a))", "p(a)");
    check("(<= p)", "p");
    check("p", "p");
}

#[test]
fn the_reversed_arrow_puts_the_head_last() {
    check("(=> (succ ?x ?y) (succ ?y ?z) (p ?z))", "p(?0) <= succ(?1,?2) & succ(?2,?0)");
}

#[test]
fn not_moves_inward() {
    check("(<= p (not (distinct 0 1)))", "p <= 0 = 1");
    check("(<= p (not (not (q a))))", "p <= q(a)");
    check("(<= p (not (or q r)))", "p <= ~q & ~r");
    check("(<= p (not (and q r)))", "p <= [~q | ~r]");
    check("(<= p (not (or q (not r) (distinct 0 1))))", "p <= ~q & r & 0 = 1");
    check("(<= p (not (and q (or r s))))", "p <= [~q | ~r & ~s]");
    check("(<= p (not (and q)))", "p <= ~q");
}

#[test]
fn conjunctions_and_alternatives_are_flat() {
    check("(<= p (and q (and r s)))", "p <= q & r & s");
    check("(<= p (or q (and r s)))", "p <= [q | r & s]");
    check("(<= p (or q (or r s) t))", "p <= [q | r | s | t]");
    check("(<= p (or q (and r (or s t))))", "p <= [q | r & [s | t]]");
    check("(<= p (or q))", "p <= q");
    check("(<= p (or))", "p <= []");
    check("(<= p q (and))", "p <= q");
    check("(<= p (not (or)) (not (and)))", "p <= []");
    check(
        "(<= (p ?x) (or (succ ?x 1) (and (succ 0 ?x) (not (q ?x)))))",
        "p(?0) <= [succ(?0,1) | succ(0,?0) & ~q(?0)]",
    );
}

#[test]
fn case_is_folded_or_not() {
    let rules = "(P Aa) (<= (p aA) (Q ?X) (q ?x)) (q 1)";
    let text = "(<= (P Aa) (SUCC ?X ?y) (Succ ?x ?y))";
    check_read(text, Case::Folded, Leniency::Strict, "P(Aa) <= succ(?0,?1) & succ(?0,?1)");
    check_read(text, Case::Sensitive, Leniency::Strict, "P(Aa) <= SUCC(?0,?1) & Succ(?2,?1)");
    check_read(rules, Case::Sensitive, Leniency::Strict, "P(Aa)\np(aA) <= Q(?0) & q(?1)\nq(1)");
    // The words of the language are the same in both.
    let keywords = "(INIT b) (<= (Next b) (TRUE b) (NOT (Distinct b b)) (OR (Does robot b)))";
    for case in [Case::Folded, Case::Sensitive] {
        let expected = "init(b)\nnext(b) <= true(b) & b = b & does(robot,b)";
        check_read(keywords, case, Leniency::Strict, &expected.replace("does", "Does"));
    }
}

#[test]
fn keywords_of_another_arity_are_ordinary_predicates() {
    check("(base a b) (<= p (base a b)) (input c)", "base(a,b)\np <= base(a,b)\ninput(c)");
}

#[test]
fn keywords_may_be_terms() {
    check(
        "(<= (sees ?r (does ?r ?m)) (does ?r ?m)) (init (true goal))",
        "sees(?0,does(?0,?1)) <= does(?0,?1)\ninit(true(goal))",
    );
}

#[test]
fn next_may_be_a_condition() {
    check("(<= (sees robot ?f) (next ?f))", "sees(robot,?0) <= next(?0)");
}

#[test]
fn unusual_names_are_names() {
    check("(p ++ +2 map+ \"q\" |a| 1.5 -3)", "p(++,+2,map+,\"q\",|a|,1.5,-3)");
    check("(<= (p ?x+) (succ ?x+ ?x))", "p(?0) <= succ(?0,?1)");
}

#[test]
fn unsafe_negation_leniently_means_no_instance() {
    check_lenient("(<= (p a) (not (true (outer ?x empty))))", "p(a) <= ~true(outer(?0,empty))");
    check_lenient("(<= p (not (or (q ?x) (r ?y))))", "p <= ~q(?0) & ~r(?1)");
    // Each negation speaks for itself.
    check_lenient("(<= p (not (q ?x)) (not (r ?x)))", "p <= ~q(?0) & ~r(?1)");
    check_lenient("(<= p (not (q ?x)) (or (r ?x) s))", "p <= ~q(?1) & [r(?0) | s]");
}

#[test]
fn unsafe_comparisons_leniently_range_over_the_text() {
    let domain = "\nactive-domain(robot)\nactive-domain(0)\nactive-domain(step(0))\nactive-domain(1)\
                  \nactive-domain(wait)\nactive-domain(100)\nactive-domain(step(1))";
    check_lenient(
        "(<= (next (p ?x ?y)) (distinct ?x 0) (succ ?y ?z))",
        &format!("next(p(?0,?1)) <= active-domain(?0) & ?0 != 0 & succ(?1,?2){domain}"),
    );
    check_lenient(
        "(<= (next ?x) (or (succ ?x 1) q))",
        &format!("next(?0) <= [succ(?0,1) | active-domain(?0) & q]{domain}"),
    );
    check_lenient(
        "(<= p (or q (and r (distinct ?x 0))))",
        &format!("p <= [q | active-domain(?0) & r & ?0 != 0]{domain}"),
    );
    check_lenient(
        "(<= (next ?x) (not (q ?x)))",
        &format!("next(?0) <= active-domain(?0) & ~q(?0){domain}"),
    );
}

#[test]
fn tests_of_given_arguments_are_leniently_unfolded() {
    let different = "(<= (different ?x ?y ?u ?v) (distinct ?x ?u)) \
                     (<= (different ?x ?y ?u ?v) (distinct ?y ?v))";
    check_lenient(
        &format!("{different} (<= (p ?a) (succ ?a ?b) (different ?a ?b 1 2))"),
        "p(?0) <= succ(?0,?1) & [?0 != 1 | ?1 != 2]",
    );
    check_lenient(
        &format!("{different} (<= (p ?a) (succ ?a ?b) (not (different ?a ?b 1 2)))"),
        "p(?0) <= succ(?0,?1) & ?0 = 1 & ?1 = 2",
    );
    check_lenient(
        "(<= (same ?x ?x ?y) (succ ?z 1)) (<= p (succ ?a ?b) (same ?a ?b 0))",
        "p <= succ(?0,?1) & ?0 = ?1 & succ(?2,1)",
    );
    check_lenient(
        "(<= (same ?x 1) q r) (<= (t ?x) (not (same ?x 1))) (<= p (succ ?a ?b) (t ?b))",
        "p <= succ(?0,?1) & [1 != 1 | ~q | ~r]",
    );
}

#[test]
fn unsafe_roles_leniently_are_any_role() {
    check_lenient("(<= (goal ?p 50) (succ 0 1))", "goal(?0,50) <= role(?0) & succ(0,1)");
    check_lenient("(<= (legal ?p ?p) (succ 0 1))", "legal(?0,?0) <= role(?0) & succ(0,1)");
    check_lenient("(<= (legal ?p go) (not (q ?p)))", "legal(?0,go) <= role(?0) & ~q(?0)");
}

#[test]
fn names_are_numbered_in_textual_order() {
    let game = game("(p b a)", Case::Folded, Leniency::Strict);
    let id = |name| game.symbols().find(name).unwrap();
    assert!(id("role") < id("robot") && id("robot") < id("b") && id("b") < id("a"));
}

#[test]
fn strata_come_in_order_of_evaluation() {
    let game = game(
        "(<= a (not b)) (<= b (not c)) (<= c d) (<= d c) (<= (e 1) (not (e 2))) (<= (e 2) d)",
        Case::Folded,
        Leniency::Strict,
    );
    let strata: Vec<Vec<String>> = game
        .strata()
        .iter()
        .map(|rules| {
            let added = rules.iter().filter(|&&rule| rule >= N_FRAME_RULES);
            added.map(|&rule| sentence(&game, &game.rules()[rule].head)).collect()
        })
        .collect();
    assert_eq!(strata, [vec!["c", "d", "e(2)"], vec!["b", "e(1)"], vec!["a"]]);
}

#[test]
fn the_kind_of_a_game() {
    let kind = |rules| {
        let game = game(rules, Case::Folded, Leniency::Strict);
        let kind = game.kind();
        assert!(kind.percepts || !kind.hidden_information);
        (kind.n_roles, kind.chance, kind.hidden_information, game.random().map(|role| role.0))
    };
    assert_eq!(kind(""), (1, false, false, None));
    assert_eq!(kind("(role Random)"), (2, true, false, Some(1)));
    // Who is alone knows all moves.
    assert_eq!(kind("(sees robot a)"), (1, false, false, None));
    assert_eq!(kind("(role b) (sees robot a)"), (2, false, true, None));
    assert_eq!(kind("(sees robot a b)"), (1, false, false, None));
    assert_eq!(kind("(role random) (role b) (sees b a)"), (3, true, true, Some(1)));
}

/// Two players and chance, with these rules for `sees`: whether information is
/// hidden.
fn hides(sees: &str) -> bool {
    let rules = format!(
        "(role other) (role random) (legal other stop) (legal random toss) (goal other 0) {sees}"
    );
    let kind = game(&rules, Case::Folded, Leniency::Strict).kind();
    assert_eq!((kind.n_roles, kind.percepts), (3, true));
    kind.hidden_information
}

#[test]
fn percepts_that_tell_all_moves_hide_nothing() {
    for open in [
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))",
        "(<= (sees ?who (did ?q ?m)) (does ?q ?m) (role ?q) (role ?who))",
        "(<= (SEES ?p (does ?m ?q)) (role ?p) (does ?q ?m))",
        // One's own move is known.
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (distinct ?p ?q))",
        "(<= (sees robot (of ?q ?m)) (does ?q ?m)) (<= (sees other (of ?q ?m)) (does ?q ?m))",
        "(<= (sees ?p (all ?a ?b ?c)) (role ?p) (does robot ?a) (does other ?b) (does random ?c))",
        "(<= (sees robot (he ?m)) (does other ?m)) (<= (sees robot (luck (was ?m))) (does random ?m)) \
         (<= (sees other (he ?m)) (does robot ?m)) (<= (sees other (luck (was ?m))) (does random ?m))",
        // More percepts do no harm, nor does the same twice.
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m)) (<= (sees ?p bell) (role ?p) (true (step 1)))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m)) (<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (role ?r) (does ?q ?m))",
    ] {
        assert!(!hides(open), "{open}");
    }
    for hiding in [
        "(sees robot a)",
        "(<= (sees ?p ?m) (role ?p) (does ?q ?m))",
        "(<= (sees ?p (did ?m)) (role ?p) (does ?q ?m))",
        "(<= (sees ?p (did ?q)) (role ?p) (does ?q ?m))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (true (step 0)))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (not (true (step 1))))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (legal ?p ?m))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (distinct ?m toss))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (distinct ?q random))",
        "(<= (sees ?p (did ?p ?m)) (role ?p) (does ?p ?m))",
        "(<= (sees robot (did ?q ?m)) (does ?q ?m))",
        "(<= (sees ?p (all ?m)) (role ?p) (does robot ?m) (does other ?m) (does random ?m))",
        "(<= (sees ?p (did ?q toss)) (role ?p) (does ?q toss))",
        "(<= (sees ?p ?m) (role ?p) (does ?p ?m)) (<= (sees ?m x) (does robot ?m) (role ?m))",
        // What looks like a move need not be one.
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m)) (<= (sees ?p (did other ?x)) (role ?p) (succ ?x 1))",
        "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m)) (<= (sees ?p ?x) (role ?p) (true ?x))",
    ] {
        assert!(hides(hiding), "{hiding}");
    }
}

#[test]
fn moves_are_read_from_percepts() {
    let expressions = |text: &str| match games::Expression::parse(text).unwrap() {
        games::Expression::List(items) => items,
        other => vec![other],
    };
    let check = |sees: &str, own: Option<&str>, percepts: &str, expected: Option<&str>| {
        let rules = format!("(role other) (legal other stop) (goal other 0) {sees}");
        let game = game(&rules, Case::Folded, Leniency::Strict);
        let robot = game.find_role("robot").unwrap();
        let own = own.map(|own| games::Expression::parse(own).unwrap());
        let read = game.moves_perceived(robot, own.as_ref(), &expressions(percepts));
        assert_eq!(read, expected.map(expressions), "{sees} {percepts}");
    };
    let all = "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))";
    let seen = "((did other stop) (did robot (go 1)))";
    check(all, None, seen, Some("((go 1) stop)"));
    check(all, None, "(bell (did robot wait) (DID OTHER (stop now)))", Some("(wait (stop now))"));
    check(all, None, "((did robot wait))", None);
    check(all, Some("wait"), "((did other stop))", Some("(wait stop)"));
    let others = "(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m) (distinct ?p ?q))";
    check(others, Some("wait"), "((did other stop))", Some("(wait stop)"));
    check(others, None, "((did other stop))", None);
    let joint = "(<= (sees ?p (all ?b ?a)) (role ?p) (does robot ?a) (does other ?b))";
    check(joint, None, "((all stop wait))", Some("(wait stop)"));
    check("(sees robot a)", Some("wait"), "(a)", None);
}

#[test]
fn forms_are_sent_as_others_read_them() {
    let game = game("(=> (Q) (R ?x) (p ?X)) (q) (R A) (r a)", Case::Folded, Leniency::Strict);
    let forms = game.forms().iter().skip(N_FRAME_RULES).map(ToString::to_string);
    assert_eq!(forms.collect::<Vec<_>>(), ["(<= (p ?x) Q (R ?x))", "Q", "(R A)", "(R A)"]);
}
