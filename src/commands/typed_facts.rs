//! Facts as they are typed for `--state`: the state in which exactly they are true.

use anyhow::anyhow;
use games::{Expression, Game, Symbols};

use super::typed_moves::expressions;
use crate::failure::Failure;

/// The facts of `text`, which was given for `--state`, each without `true` around it.
///
/// # Errors
/// A fact has a variable or a word that the rules do not have, or does not begin with a
/// name. (That the words are in their places is not checked: `(cell x 1)` passes where
/// the rules have `(cell 1 x)`.)
pub(super) fn facts(game: &Game, text: &str) -> Result<Vec<Expression>, Failure> {
    let facts: Vec<Expression> =
        expressions(text, "--state")?.into_iter().map(without_true).collect();
    for fact in &facts {
        check(fact, game.symbols())
            .map_err(|problem| Failure::usage(anyhow!("--state: {problem}")))?;
    }
    Ok(facts)
}

/// What is wrong with a fact; the rules name what `names` has.
fn check(fact: &Expression, names: &Symbols) -> Result<(), String> {
    match odd_word(fact, names) {
        Some(word) if word.starts_with('?') => {
            Err(format!("a fact contains no variables such as {word}"))
        }
        Some(word) => {
            Err(format!("no relation, function or constant of the rules is named `{word}`"))
        }
        None if begins_with_a_name(fact) => Ok(()),
        None => Err(format!(
            "`{fact}` is not a fact: a fact is a name, or a list that begins with \
                             a name"
        )),
    }
}

/// Whether each list in it has a name in front.
fn begins_with_a_name(fact: &Expression) -> bool {
    match fact {
        Expression::Atom(_) => true,
        Expression::List(items) => {
            matches!(items.first(), Some(Expression::Atom(_)))
                && items.iter().all(begins_with_a_name)
        }
    }
}

/// The first word that is a variable or none of the game's.
fn odd_word<'a>(fact: &'a Expression, names: &Symbols) -> Option<&'a str> {
    match fact {
        Expression::Atom(word) => {
            (word.starts_with('?') || names.find(word).is_none()).then_some(word)
        }
        Expression::List(items) => items.iter().find_map(|item| odd_word(item, names)),
    }
}

fn without_true(fact: Expression) -> Expression {
    match fact {
        Expression::List(mut items) if items.len() == 2 && items[0] == Expression::atom("true") => {
            items.swap_remove(1)
        }
        fact => fact,
    }
}
