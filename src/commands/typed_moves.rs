//! Moves of the command line, with the exit codes of what may be wrong with them.

use anyhow::anyhow;
use games::{Expression, State, StateMachine};

use crate::failure::Failure;
use crate::typed_moves::{self, Line, TypedMovesError};

fn failure(error: TypedMovesError) -> Failure {
    match error {
        TypedMovesError::Wrong(message) => Failure::usage(anyhow!(message)),
        TypedMovesError::Rules(error) => Failure::preflight(error),
    }
}

/// All expressions of `text`, which was given for `option`.
pub(super) fn expressions(text: &str, option: &str) -> Result<Vec<Expression>, Failure> {
    typed_moves::expressions(text, option).map_err(failure)
}

/// Makes the joint moves of `text`, given for `--moves`, each of which must be legal.
pub(super) fn follow(
    machine: &mut dyn StateMachine,
    start: State,
    text: &str,
) -> Result<Line, Failure> {
    typed_moves::follow(machine, start, text, "--moves").map_err(failure)
}
