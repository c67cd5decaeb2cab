//! The option `move_order`: moves that a player tries before all others.

use games::rule::Term;
use games::{Expression, Game, MoveId, StateMachine};
use rustc_hash::FxHashMap;

use super::settings::MOVE_ORDER;
use crate::Failure;

/// Checks that the game has the moves of `order`: their names, each with the number of
/// arguments of some legal move. (Whether one is legal anywhere is not known.)
pub(crate) fn check_order(
    machine: &mut dyn StateMachine,
    order: &[Expression],
) -> Result<(), Failure> {
    for expression in order {
        if machine.find_move(expression).is_none() || !has_shape(machine.game(), expression) {
            let option = MOVE_ORDER.name;
            let reason = format!("option {option}: the game has no move `{expression}`");
            return Err(Failure::Unsuitable(reason));
        }
    }
    Ok(())
}

/// Whether some rule for `legal` is of moves of this name and number of arguments.
fn has_shape(game: &Game, expression: &Expression) -> bool {
    let names = game.symbols();
    let (word, arity) = match expression {
        Expression::Atom(word) => (word, 0),
        Expression::List(items) => match &items[..] {
            // `(left)` is `left`.
            [Expression::Atom(word), arguments @ ..] => (word, arguments.len()),
            _ => return false,
        },
    };
    let heads = game.rules().iter().map(|rule| &rule.head);
    heads.filter(|head| names.name(head.name).eq_ignore_ascii_case("legal")).any(|head| match head
        .arguments
        .get(1)
    {
        Some(Term::Constant(name)) => arity == 0 && names.find(word) == Some(*name),
        Some(Term::Function(name, arguments)) => {
            arguments.len() == arity && names.find(word) == Some(*name)
        }
        Some(Term::Variable(_)) => true,
        None => false,
    })
}

/// The rank of each move of `order`.
pub(crate) fn ranks(
    machine: &mut dyn StateMachine,
    order: &[Expression],
) -> FxHashMap<MoveId, usize> {
    let known = order.iter().filter_map(|expression| machine.find_move(expression));
    let mut ranks = FxHashMap::default();
    for (rank, id) in known.enumerate() {
        ranks.entry(id).or_insert(rank);
    }
    ranks
}
