//! Tables of solved games as endgame databases of searches that minimise for opponents
//! (Schaeffer and others, "Checkers is solved", Science 2007).

use games::StateMachine;
use games::solve::ValueTable;
use games::solve::best_play::check_game;

use crate::Failure;
use crate::options::{OptionSpec, TABLE};

/// The option that such a table is given by.
pub(crate) const SOLVED: OptionSpec = OptionSpec {
    name: "table",
    accepts: TABLE,
    default: "none",
    help: "Take the values of states from this table where it has them, as from an endgame \
           database; for one role, or two whose rewards sum to a constant.",
};

/// Whether a table, if there is one, is of this game, and its values are those of a search against
/// opponents.
///
/// # Errors
/// If not.
pub(crate) fn check_table(
    machine: &dyn StateMachine,
    table: Option<&ValueTable>,
) -> Result<(), Failure> {
    let Some(table) = table else { return Ok(()) };
    check_game(machine, table).map_err(|error| Failure::Unsuitable(error.to_string()))?;
    let game = machine.game();
    let n_players = game.role_ids().filter(|&role| Some(role) != game.random()).count();
    if n_players == 1 || n_players == 2 && table.is_constant_sum() {
        return Ok(());
    }
    let reason = "its table has the values of players for themselves, and the search those \
                  against all others: they are the same only for two roles whose rewards sum \
                  to a constant";
    Err(Failure::Unsuitable(reason.to_owned()))
}
