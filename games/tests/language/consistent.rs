//! What holds for every text that is read and validated, and for what comes out.

use std::collections::BTreeSet;

use games::rule::{Literal, Rule, Sentence, Term, VariableId};
use games::{Case, Expression, Game, Leniency, Rulesheet, Severity, Validation};

/// Printing and reading again gives the same forms and numbers of names.
pub(crate) fn check_printing(rulesheet: &Rulesheet) {
    let printed = rulesheet.to_string();
    let again = Rulesheet::parse(rulesheet.name(), &printed, rulesheet.symbols().case()).unwrap();
    let forms = |rulesheet: &Rulesheet| -> Vec<Expression> {
        rulesheet.forms().iter().map(|form| rulesheet.expression(form)).collect()
    };
    assert_eq!(forms(rulesheet), forms(&again));
    assert_eq!(again.to_string(), printed);
    let names = |rulesheet: &Rulesheet| -> Vec<String> {
        let symbols = rulesheet.symbols();
        (0..symbols.len())
            .map(|id| symbols.name(games::SymbolId(u32::try_from(id).unwrap())).to_owned())
            .collect()
    };
    assert_eq!(names(rulesheet), names(&again));
}

/// A text is read and validated in all ways; what comes out is consistent.
pub(crate) fn check_consistent(text: &[u8]) {
    for case in [Case::Folded, Case::Sensitive] {
        if let Ok(rulesheet) = Rulesheet::parse("text", text, case) {
            check_printing(&rulesheet);
        }
        for leniency in [Leniency::Strict, Leniency::Lenient] {
            let Validation { findings, game } = games::validate::read("text", text, case, leniency);
            let text = String::from_utf8_lossy(text);
            for finding in &findings {
                assert!(text.get(finding.span.range()).is_some(), "{finding:?}");
                assert!(!finding.line(&text).is_empty());
            }
            let is_error = |finding: &games::Finding| finding.severity == Severity::Error;
            assert_eq!(game.is_none(), findings.iter().any(is_error));
            if let Some(game) = game {
                check_game(&game, leniency);
                // `=>` puts the head last, so that names are numbered otherwise.
                if leniency == Leniency::Strict && !text.contains("=>") {
                    check_sent(&game);
                }
            }
        }
    }
}

/// A game is safe and stratified, and what it sends can be read again.
fn check_game(game: &Game, leniency: Leniency) {
    for rule in game.rules() {
        let bound = supplied(&rule.body);
        for argument in &rule.head.arguments {
            assert!(variables(argument).is_subset(&bound), "{rule:?}");
        }
        check_safe(&rule.body, &BTreeSet::new(), leniency, rule);
    }
    let mut placed: Vec<usize> = game.strata().concat();
    placed.sort_unstable();
    assert_eq!(placed, (0..game.rules().len()).collect::<Vec<_>>());
    check_strata(game);
    for form in game.forms().iter() {
        assert_eq!(Expression::parse(&form.to_string()).as_ref(), Ok(form));
    }
}

/// A condition meets rules of its own or earlier strata only, and of earlier
/// ones only if it is negated.
fn check_strata(game: &Game) {
    let mut earlier: Vec<&Rule> = game.rules().iter().filter(|it| it.body.is_empty()).collect();
    for stratum in game.strata() {
        let rules: Vec<&Rule> = stratum.iter().map(|&rule| &game.rules()[rule]).collect();
        let with_own = [earlier.clone(), rules.clone()].concat();
        let later = |known: &[&Rule], sentence: &Sentence| {
            let mut meets = game.rules().iter().filter(|rule| meet(sentence, &rule.head));
            meets.any(|rule| !known.iter().any(|known| std::ptr::eq(*known, rule)))
        };
        for rule in &rules {
            check_order(&rule.body, &mut |sentence, negated| {
                assert!(!later(if negated { &earlier } else { &with_own }, sentence), "{rule:?}");
            });
        }
        earlier = with_own;
    }
}

fn check_order(body: &[Literal], check: &mut impl FnMut(&Sentence, bool)) {
    for literal in body {
        match literal {
            Literal::Positive(sentence) => check(sentence, false),
            Literal::Negative(sentence) => check(sentence, true),
            Literal::Distinct(..) | Literal::Equal(..) => {}
            Literal::Or(branches) => branches.iter().for_each(|it| check_order(it, check)),
        }
    }
}

fn meet(left: &Sentence, right: &Sentence) -> bool {
    fn terms_meet(left: &[Term], right: &[Term]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|pair| match pair {
                (Term::Constant(left), Term::Constant(right)) => left == right,
                (Term::Function(f, left), Term::Function(g, right)) => {
                    f == g && terms_meet(left, right)
                }
                (Term::Variable(_), _) | (_, Term::Variable(_)) => true,
                _ => false,
            })
    }
    left.name == right.name && terms_meet(&left.arguments, &right.arguments)
}

/// Who gets the rules from us has the same game, down to the numbers of names.
pub(crate) fn check_sent(game: &Game) {
    let case = game.symbols().case();
    let received = Rulesheet::from_forms(game.name(), game.forms(), case).unwrap();
    let received = games::validate(&received, Leniency::Strict).game.unwrap();
    assert_eq!(received.rules(), game.rules());
    assert_eq!(received.roles(), game.roles());
    assert_eq!(received.forms(), game.forms());
    assert_eq!(received.strata(), game.strata());
}

fn supplied(body: &[Literal]) -> BTreeSet<VariableId> {
    let mut bound = BTreeSet::new();
    for literal in body {
        match literal {
            Literal::Positive(sentence) => {
                bound.extend(sentence.arguments.iter().flat_map(variables));
            }
            Literal::Or(branches) => {
                let branches = branches.iter().map(|branch| supplied(branch));
                bound.extend(branches.reduce(|left, right| &left & &right).unwrap_or_default());
            }
            _ => {}
        }
    }
    bound
}

fn check_safe(body: &[Literal], outer: &BTreeSet<VariableId>, leniency: Leniency, rule: &Rule) {
    let bound = &supplied(body) | outer;
    for literal in body {
        match literal {
            Literal::Positive(_) => {}
            Literal::Negative(sentence) => {
                let mut needed = sentence.arguments.iter().flat_map(variables);
                let safe = needed.all(|id| bound.contains(&id));
                assert!(safe || leniency == Leniency::Lenient, "{rule:?}");
            }
            Literal::Distinct(left, right) | Literal::Equal(left, right) => {
                let needed = &variables(left) | &variables(right);
                assert!(needed.is_subset(&bound), "{rule:?}");
            }
            Literal::Or(branches) => {
                for branch in branches {
                    check_safe(branch, &bound, leniency, rule);
                }
            }
        }
    }
}

fn variables(term: &Term) -> BTreeSet<VariableId> {
    match term {
        Term::Constant(_) => BTreeSet::new(),
        Term::Variable(id) => BTreeSet::from([*id]),
        Term::Function(_, arguments) => arguments.iter().flat_map(variables).collect(),
    }
}
