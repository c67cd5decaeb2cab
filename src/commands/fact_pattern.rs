//! Patterns of facts as they are typed: `(cell ? ? white)`.

use anyhow::anyhow;
use games::rule::Term;
use games::{Expression, Game};
use results::counted::counted;

use super::typed_facts::unknown_name;
use super::typed_moves::expressions;
use crate::failure::Failure;

/// Facts of one kind or of several.
pub(super) struct FactPattern {
    /// As typed.
    pub(super) text: String,
    /// Facts, in which a variable stands for any term.
    patterns: Vec<Expression>,
}

impl FactPattern {
    /// Reads patterns that were given for `option`, one after the other; a fact is picked if
    /// one of them matches.
    ///
    /// # Errors
    /// If there is none, or one has a word that the rules do not have, or the name of a fact
    /// with another number of arguments.
    pub(super) fn read(text: &str, game: &Game, option: &str) -> Result<Self, Failure> {
        let patterns = expressions(&named(text), option)?;
        if patterns.is_empty() {
            return Err(Failure::usage(anyhow!(
                "{option}: expected a fact such as (cell ? ? white), in which ? stands for anything"
            )));
        }
        for pattern in &patterns {
            if let Some(word) = unknown_word(pattern, game) {
                let problem = unknown_name(word, game.symbols());
                return Err(Failure::usage(anyhow!("{option}: {problem}")));
            }
            check_arguments(pattern, game, option)?;
        }
        Ok(Self { text: text.trim().to_owned(), patterns })
    }

    /// Whether it picks a fact.
    pub(super) fn picks(&self, fact: &Expression) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, fact))
    }
}

/// The text with a name behind each `?` that has none, which the reader wants.
fn named(text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        named.push(letter);
        let ends = |next: &char| next.is_whitespace() || matches!(next, '(' | ')');
        if letter == '?' && letters.peek().is_none_or(ends) {
            named.push_str("any");
        }
    }
    named
}

fn is_variable(word: &str) -> bool {
    word.starts_with('?')
}

/// The first word that is neither a variable nor one of the game's.
fn unknown_word<'a>(pattern: &'a Expression, game: &Game) -> Option<&'a str> {
    match pattern {
        Expression::Atom(word) => {
            (!is_variable(word) && game.symbols().find(word).is_none()).then_some(word)
        }
        Expression::List(items) => items.iter().find_map(|item| unknown_word(item, game)),
    }
}

/// Checks that a state can have facts of this name and number of arguments.
fn check_arguments(pattern: &Expression, game: &Game, option: &str) -> Result<(), Failure> {
    let (name, n_given) = match pattern {
        Expression::Atom(name) => (name, 0),
        Expression::List(items) => match items.split_first() {
            Some((Expression::Atom(name), arguments)) => (name, arguments.len()),
            _ => return Ok(()),
        },
    };
    if is_variable(name) {
        return Ok(());
    }
    let mut known = Vec::new();
    for rule in game.rules() {
        let is_of_states = matches!(game.symbols().name(rule.head.name), "init" | "next" | "base");
        match rule.head.arguments.first().filter(|_| is_of_states) {
            Some(Term::Constant(symbol)) => known.push((game.symbols().name(*symbol), 0)),
            Some(Term::Function(symbol, arguments)) => {
                known.push((game.symbols().name(*symbol), arguments.len()));
            }
            // The rules may derive any fact.
            Some(Term::Variable(_)) => return Ok(()),
            None => {}
        }
    }
    known.retain(|(found, _)| found == name);
    let Some(&(_, n_known)) = known.first() else {
        return Err(Failure::usage(anyhow!("{option}: states have no facts named `{name}`")));
    };
    if known.iter().any(|&(_, n)| n == n_given) {
        return Ok(());
    }
    let fact = match n_known {
        0 => name.to_string(),
        n => format!("({name}{})", " ?".repeat(n)),
    };
    let typed = pattern.to_string().replace("?any", "?");
    Err(Failure::usage(anyhow!(
        "{option}: `{typed}` has {}, and `{name}` has {n_known} in the rules: expected {fact}",
        counted(n_given, "argument", "arguments")
    )))
}

fn matches(pattern: &Expression, fact: &Expression) -> bool {
    match (pattern, fact) {
        (Expression::Atom(word), _) if is_variable(word) => true,
        (Expression::Atom(word), Expression::Atom(found)) => word == found,
        (Expression::List(items), Expression::List(found)) => {
            items.len() == found.len() && items.iter().zip(found).all(|(it, on)| matches(it, on))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_match_any_term() {
        let check = |pattern: &str, fact: &str, expected: bool| {
            let read = |text: &str| expressions(&named(text), "").map_or(None, |mut it| it.pop());
            let [pattern, fact] = [pattern, fact].map(|text| read(text).unwrap());
            assert_eq!(matches(&pattern, &fact), expected, "{pattern} {fact}");
        };
        check("(cell ? ? white)", "(cell 1 2 white)", true);
        check("(cell ?x ?y white)", "(cell 1 (f 2) white)", true);
        check("(cell ?x ?y white)", "(cell 1 2 black)", false);
        check("(cell ?x white)", "(cell 1 2 white)", false);
        check("?any", "(cell 1 2 white)", true);
        check("turn", "turn", true);
        check("turn", "(turn white)", false);
    }
}
