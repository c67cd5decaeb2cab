//! Moves as they are typed: expressions one after the other, and joint moves.

use anyhow::anyhow;
use games::{Expression, Game};
use results::counted::counted;

use crate::failure::Failure;

/// All expressions of `text`, which was given for `option`.
pub(super) fn expressions(text: &str, option: &str) -> Result<Vec<Expression>, Failure> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let (expression, length) = Expression::parse_prefix(rest).map_err(|error| {
            let position = text.len() - rest.len() + error.span().range().start;
            let column = text[..position].chars().count() + 1;
            Failure::usage(anyhow!("{option}: {error} (character {column})"))
        })?;
        found.push(expression);
        rest = &rest[length..];
    }
    Ok(found)
}

/// The moves of the roles in the joint move of this number. For one role, a list of one
/// item is a joint move, and all else the move itself; `(left)` is `left` either way.
pub(super) fn split<'a>(
    game: &Game,
    joint_move: &'a Expression,
    number: usize,
) -> Result<&'a [Expression], Failure> {
    let n_roles = game.roles().len();
    match joint_move {
        Expression::List(items) if items.len() == n_roles => Ok(items),
        other if n_roles == 1 => Ok(std::slice::from_ref(other)),
        other => {
            let n_moves = match other {
                Expression::List(items) => items.len(),
                Expression::Atom(_) => 1,
            };
            let names: Vec<&str> = game.role_ids().map(|role| game.role_name(role)).collect();
            let roles = names.join(" ");
            let moves = counted(n_moves, "move", "moves");
            Err(Failure::usage(anyhow!(
                "joint move {number}, `{other}`, has {moves} for the {n_roles} roles ({roles})"
            )))
        }
    }
}
