//! The fuzz targets' checks on texts that are known: shipped rulesheets, those
//! rulesheets with a part cut, repeated or replaced, and what fuzzing once found.

use games::library;
use proptest::prelude::*;

use super::any_text::{Reached, check};

#[test]
fn shipped_rulesheets_come_to_something() {
    // Small limits: the large ones only show that they are limits.
    let reached = library::all().iter().map(|shipped| check(shipped.text.as_bytes()));
    let n_networks = reached.filter(|&reached| reached == Reached::Network).count();
    assert!(n_networks * 2 > library::all().len(), "{n_networks} networks");
}

/// No fact can ever hold, so all states are the same.
#[test]
fn a_game_without_facts_is_played() {
    let mut text = String::from(
        "(role you) (legal you go) (legal you stay) (goal you 0) (<= terminal (true (at end))) \
         (<= (next (at end)) (true (at end)))",
    );
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    assert_eq!(check(text.as_bytes()), Reached::Network);
}

/// The words of a rulesheet: parentheses are words.
fn words(text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let code: Vec<&str> = code.collect();
    let spaced = code.join("\n").replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// The forms of a rulesheet.
fn forms(text: &str) -> Vec<String> {
    let (mut forms, mut depth) = (vec![String::new()], 0_usize);
    for word in words(text) {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let form = forms.last_mut().expect("there is always one");
        form.push_str(&word);
        form.push(' ');
        if depth == 0 {
            forms.push(String::new());
        }
    }
    forms
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rulesheets_with_words_replaced(
        at in 0..library::all().len(),
        changes in prop::collection::vec((any::<u32>(), any::<u32>()), 1..4),
    ) {
        let mut words = words(library::all()[at].text);
        // Atoms among themselves, so that most of it can still be read.
        let atoms: Vec<usize> =
            (0..words.len()).filter(|&at| !["(", ")", "<="].contains(&words[at].as_str())).collect();
        for (from, to) in changes {
            let [from, to] = [from, to].map(|at| atoms[at as usize % atoms.len()]);
            words[to] = words[from].clone();
        }
        check(words.join(" ").as_bytes());
    }

    #[test]
    fn rulesheets_with_rules_missing_or_exchanged(
        at in 0..library::all().len(),
        missing: u32,
        at_end: bool,
    ) {
        let mut forms = forms(library::all()[at].text);
        let one = forms.remove(missing as usize % forms.len());
        if at_end {
            forms.push(one);
        }
        check(forms.join("\n").as_bytes());
    }
}
