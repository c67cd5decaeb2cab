//! Moves as they are typed, on the command line or in a suite of positions: expressions
//! one after the other, and lines of joint moves.

use std::sync::Arc;

use games::{Expression, Game, MoveId, ReasoningError, RoleId, State, StateMachine};
use results::counted::counted;

/// Legal moves that are listed where an illegal one was given.
const MAX_LISTED: usize = 30;

/// Why typed moves cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TypedMovesError {
    /// What was typed is wrong; the message says where, and what was expected.
    #[error("{0}")]
    Wrong(String),
    /// The rules cannot be computed.
    #[error(transparent)]
    Rules(#[from] ReasoningError),
}

fn wrong(message: String) -> TypedMovesError {
    TypedMovesError::Wrong(message)
}

/// All expressions of `text`, which was given for `option`.
///
/// # Errors
/// If it is no sequence of expressions.
pub(crate) fn expressions(text: &str, option: &str) -> Result<Vec<Expression>, TypedMovesError> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let (expression, length) = Expression::parse_prefix(rest).map_err(|error| {
            let position = text.len() - rest.len() + error.span().range().start;
            let column = text[..position].chars().count() + 1;
            wrong(format!("{option}: {error} (character {column})"))
        })?;
        found.push(expression);
        rest = &rest[length..];
    }
    Ok(found)
}

/// The moves of the roles in the joint move of this number. For one role, a list of one
/// item is a joint move, and all else the move itself; `(left)` is `left` either way.
fn split<'a>(
    game: &Game,
    joint_move: &'a Expression,
    number: usize,
    option: &str,
) -> Result<&'a [Expression], TypedMovesError> {
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
            let is_one_move = match other {
                Expression::List(items) => matches!(items.first(), Some(Expression::Atom(_))),
                Expression::Atom(_) => true,
            };
            let hint = match is_one_move {
                true => {
                    let others = " MOVE".repeat(n_roles - 1);
                    format!("; if it is the move of one role, write `({other}{others})`")
                }
                false => String::new(),
            };
            Err(wrong(format!(
                "{option}: joint move {number}, `{other}`, has {moves}; expected a list of {n_roles}, one \
                 for each role ({roles}){hint}"
            )))
        }
    }
}

/// A line of play.
pub(crate) struct Line {
    /// The joint moves, in order.
    pub(crate) joint_moves: Vec<Vec<MoveId>>,
    /// The state before each of them, and the last state.
    pub(crate) states: Vec<State>,
}

impl Line {
    /// The state after all joint moves.
    pub(crate) fn last(&self) -> &State {
        self.states.last().expect("a line has its first state")
    }
}

/// Makes the joint moves of `text`, given for `option`, each of which must be legal.
///
/// # Errors
/// If a joint move is none, or not legal, or the match ends before it; or if the rules
/// cannot be computed.
pub(crate) fn follow(
    machine: &mut dyn StateMachine,
    start: State,
    text: &str,
    option: &str,
) -> Result<Line, TypedMovesError> {
    let game = Arc::clone(machine.game());
    let typed = expressions(text, option)?;
    let mut line = Line { joint_moves: vec![], states: vec![start] };
    for (step, joint_move) in typed.iter().enumerate() {
        if machine.is_terminal(line.last())? {
            let given = counted(typed.len(), "joint move is", "joint moves are");
            return Err(wrong(match step {
                0 => format!("{option}: the first state is terminal, but {given} given"),
                _ => format!("{option}: the match ends after joint move {step}, but {given} given"),
            }));
        }
        let parts = split(&game, joint_move, step + 1, option)?;
        let ids = game.role_ids().zip(parts);
        let ids = ids.map(|(role, part)| {
            let which = format!("{option}: joint move {}", step + 1);
            legal_move(machine, line.last(), role, part, &which)
        });
        let ids: Vec<MoveId> = ids.collect::<Result<_, _>>()?;
        let mut next = State::default();
        machine.next_state(line.last(), &ids, &mut next)?;
        line.states.push(next);
        line.joint_moves.push(ids);
    }
    Ok(line)
}

/// The move of `role` that `text` means; `which` says in errors where it stands.
///
/// # Errors
/// If it is not legal in this state, or the rules cannot be computed.
pub(crate) fn legal_move(
    machine: &mut dyn StateMachine,
    state: &State,
    role: RoleId,
    text: &Expression,
    which: &str,
) -> Result<MoveId, TypedMovesError> {
    let mut legal = Vec::new();
    machine.legal_moves(state, role, &mut legal)?;
    if let Some(id) = machine.find_move(text).filter(|id| legal.contains(id)) {
        return Ok(id);
    }
    let mut texts: Vec<String> =
        legal.iter().map(|&id| machine.move_expression(id).to_string()).collect();
    texts.sort_unstable();
    let more = texts.len().saturating_sub(MAX_LISTED);
    texts.truncate(MAX_LISTED);
    let listed = match (texts.join(" "), more) {
        (none, _) if none.is_empty() => "it has none".to_owned(),
        (only, 0) if texts.len() == 1 => format!("only {only} is legal"),
        (listed, 0) => format!("legal are {listed}"),
        (listed, more) => format!("legal are {listed} and {more} more"),
    };
    let role = machine.game().role_name(role);
    Err(wrong(format!("{which}: `{text}` is not legal for {role}; {listed}")))
}
