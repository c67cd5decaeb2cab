//! Facts as they are typed for `--state`: the state in which exactly they are true.

use std::collections::BTreeSet;

use anyhow::anyhow;
use games::rule::{Sentence, Term};
use games::{Expression, Game, SymbolId, Symbols};

use super::typed_moves::expressions;
use crate::failure::Failure;
use crate::game_source::meant;

/// Kinds of facts that an error lists.
const MAX_LISTED: usize = 12;

/// The facts of `text`, which was given for `--state`, each without `true` around it.
///
/// # Errors
/// There is no fact (an unset variable of a shell), a fact has a variable or a word that the
/// rules do not have, or no rule makes a fact of its name and number of arguments true. (That
/// the arguments are in their places is not checked: `(cell x 1)` passes where the rules have
/// `(cell 1 x)`.)
pub(super) fn facts(game: &Game, text: &str) -> Result<Vec<Expression>, Failure> {
    let facts: Vec<Expression> =
        expressions(text, "--state")?.into_iter().map(without_true).collect();
    if facts.is_empty() {
        return Err(Failure::usage(anyhow!(
            "--state: no facts are given; without --state, the initial state is used"
        )));
    }
    let shapes = shapes(game);
    for fact in &facts {
        check(fact, game.symbols())
            .and_then(|()| check_shape(fact, shapes.as_ref(), game.symbols()))
            .map_err(|problem| Failure::usage(anyhow!("--state: {problem}")))?;
    }
    Ok(facts)
}

/// What is wrong with a state in which `role` cannot move.
pub(super) fn no_legal_move(role: &str) -> String {
    format!(
        "`{role}` has no legal move in this state, and it is not terminal; --state takes all facts \
         of a state, as `gamemaster game state` prints them"
    )
}

/// Names and numbers of arguments of the facts that some rule makes true; `None` if a rule
/// may make any fact true.
fn shapes(game: &Game) -> Option<BTreeSet<(&str, usize)>> {
    let heads = game.rules().iter().map(|rule| &rule.head);
    let made = heads.filter(|head| {
        let word = game.symbols().name(head.name);
        ["init", "next"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
    });
    let shape = |head: &Sentence| match head.arguments.first()? {
        Term::Constant(name) => Some((game.symbols().name(*name), 0)),
        Term::Function(name, arguments) => Some((game.symbols().name(*name), arguments.len())),
        Term::Variable(_) => None,
    };
    made.map(shape).collect()
}

/// Checks that some rule makes a fact of this name and number of arguments true.
fn check_shape(
    fact: &Expression,
    shapes: Option<&BTreeSet<(&str, usize)>>,
    names: &Symbols,
) -> Result<(), String> {
    let (word, arity) = match fact {
        Expression::Atom(word) => (word.as_str(), 0),
        Expression::List(items) => match items.first() {
            Some(Expression::Atom(word)) => (word.as_str(), items.len() - 1),
            _ => return Ok(()),
        },
    };
    let is_made = |shapes: &BTreeSet<(&str, usize)>| {
        shapes.iter().any(|&(name, n)| n == arity && names.find(name) == names.find(word))
    };
    let Some(shapes) = shapes.filter(|shapes| !is_made(shapes)) else { return Ok(()) };
    let listed = shapes.iter().take(MAX_LISTED).map(|&(name, n)| match n {
        0 => format!("`{name}`"),
        n => format!("`({name}{})`", " ?".repeat(n)),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let more = if shapes.len() > MAX_LISTED { ", ..." } else { "" };
    Err(format!("no rule makes `{fact}` true; facts of this game are {listed}{more}"))
}

/// What is wrong with a word that no rule has, with the name that was probably meant.
pub(super) fn unknown_name(word: &str, names: &Symbols) -> String {
    let known = (0..names.len()).map(|id| names.name(SymbolId(id as u32)));
    let known = known.filter(|name| !name.starts_with('?'));
    let meant = meant(word, known);
    format!("no relation, function or constant of the rules is named `{word}`{meant}")
}

/// What is wrong with a fact; the rules name what `names` has.
fn check(fact: &Expression, names: &Symbols) -> Result<(), String> {
    match odd_word(fact, names) {
        Some(word) if word.starts_with('?') => {
            Err(format!("a fact contains no variables such as {word}"))
        }
        Some(word) => Err(unknown_name(word, names)),
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
