//! What holds for every text.

use games::{Case, Expression, Leniency};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::consistent::check_consistent;

/// What rulesheets are made of, and what breaks them.
const TOKENS: [&str; 40] = [
    "(",
    ")",
    "(",
    ")",
    "(<= ",
    "=>",
    " p ",
    " q ",
    " r",
    "?x",
    "?y",
    "?X",
    " not ",
    "(not ",
    "(or ",
    "(and ",
    "(distinct ",
    "(true ",
    "(does ",
    "(role ",
    "(legal ",
    "(goal ",
    "terminal",
    "(init ",
    "(next ",
    "(sees ",
    "base",
    "100",
    " 1",
    "robot",
    "Robot",
    "\n",
    "\r\n",
    ";",
    "#|",
    "|#",
    "?",
    "(p ?x)",
    "(q ?x ?y)",
    "\u{e9}",
];

/// Conditions nested in each other, with few names, so that they meet.
fn condition() -> impl Strategy<Value = String> {
    let simple = vec![
        "(p ?x)",
        "(p b)",
        "(u ?x b)",
        "(q ?x ?y)",
        "(q ?y (f ?z))",
        "r",
        "(distinct ?x ?y)",
        "(s ?z)",
    ];
    select(simple).prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let list = |name: &'static str, inner: &BoxedStrategy<String>| {
            vec(inner.clone(), 0..4).prop_map(move |inner| format!("({name} {})", inner.join(" ")))
        };
        let inner = inner.boxed();
        let negated = inner.clone().prop_map(|inner| format!("(not {inner})"));
        prop_oneof![list("or", &inner), list("and", &inner), negated]
    })
}

fn rule() -> impl Strategy<Value = String> {
    let heads = vec![
        "(p ?x)",
        "(p a)",
        "(u ?x ?y)",
        "(q ?x ?y)",
        "r",
        "(legal ?x ?y)",
        "(goal ?x 10)",
        "(s (f ?z))",
    ];
    (select(heads), vec(condition(), 0..4))
        .prop_map(|(head, body)| format!("(<= {head} {})\n", body.join(" ")))
}

fn expression() -> impl Strategy<Value = Expression> {
    let atom = "[a-zA-Z0-9+?<=\u{e9}_-]{1,5}"
        .prop_filter("a variable has a name", |name| name != "?")
        .prop_map(Expression::Atom);
    atom.prop_recursive(5, 40, 5, |inner| vec(inner, 0..5).prop_map(Expression::List))
}

proptest! {
    #[test]
    fn bytes_do_no_harm(bytes in vec(any::<u8>(), 0..200)) {
        check_consistent(&bytes);
    }

    #[test]
    fn tokens_do_no_harm(tokens in vec(select(TOKENS.to_vec()), 0..60)) {
        check_consistent(tokens.concat().as_bytes());
    }

    #[test]
    fn rules_do_no_harm(rules in vec(rule(), 0..6)) {
        let frame = "(role a) (role b) (legal a b) (goal b 0) terminal\n(p a) (q a b) (s (f c))\n";
        check_consistent((frame.to_owned() + &rules.concat()).as_bytes());
    }

    #[test]
    fn expressions_are_printed_as_read(expression in expression()) {
        let printed = expression.to_string();
        prop_assert_eq!(Expression::parse(&printed), Ok(expression.clone()));
        let followed = format!("{printed} ) (");
        prop_assert_eq!(Expression::parse_prefix(&followed), Ok((expression, printed.len())));
    }
}

#[test]
fn deep_nesting_is_refused_and_no_overflow() {
    for token in ["(", "(p ", "(not ", "(or ", "(<= p (not "] {
        for depth in [990, 1_000, 1_001, 200_000] {
            check_consistent(token.repeat(depth).as_bytes());
            let closed = token.repeat(depth) + "x" + &")".repeat(depth);
            check_consistent(closed.as_bytes());
            check_consistent(format!("(<= q {closed})").as_bytes());
        }
    }
}

#[test]
fn many_alike_rules_are_no_burden() {
    // Each of these took minutes when every pair of rules was compared.
    let rules =
        ["(<= (p 1) (p 1))", "(<= (p ?x) (p ?x) (not (q ?x)))", "(<= p (or q r) (not s))", "p "];
    for rule in rules {
        let frame = "(role a) (legal a b) (goal a 0) terminal\n";
        let text = frame.to_owned() + &rule.repeat(20_000);
        let validation = games::validate::read("test", text, Case::Folded, Leniency::Strict);
        assert_eq!(validation.game.unwrap().rules().len(), 20_004);
    }
}
