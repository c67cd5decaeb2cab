//! Tables of solved games: the best moves by them, and their use as endgame databases of
//! searches that minimise for opponents (Schaeffer and others, "Checkers is solved", Science
//! 2007).

use games::solve::ValueTable;
use games::solve::best_play::{BestPlay, LookUpError, Values, check_game};
use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand_pcg::Pcg64;

use crate::options::{OptionSpec, TABLE};
use crate::seed;
use crate::{Candidate, Deliberation, Failure, ValueBound};

/// A reward that no other exceeds, less what is lost by rounding.
const MOST: f64 = 100.0 - 1e-6;

/// The option that such a table is given by.
pub(crate) const SOLVED: OptionSpec = OptionSpec {
    name: "table",
    accepts: TABLE,
    default: "none",
    help: "Take the values of states from this table where it has them (an endgame table, or tablebase). Only \
           for games of one role, or of two roles whose rewards sum to a constant.",
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

/// A best move by the values of a state's successors, drawn by the strategy of best play, and
/// what is known of all moves. Values say nothing of how far the end is: so that a won match is
/// not played on and on, a move that wins it immediately is preferred.
///
/// # Errors
/// If the value of a successor is not known, or the reasoner fails.
pub(crate) fn known_move(
    machine: &mut dyn StateMachine,
    role: RoleId,
    known: &dyn Values,
    state: &State,
    rng: &mut Pcg64,
) -> Result<(Option<MoveId>, Deliberation), LookUpError> {
    let found = BestPlay::of(machine, known, state)?;
    let role = usize::from(role.0);
    let mut strategy = found.best.strategies[role].clone();
    if found.best.value[role] >= MOST {
        let wins = strategy.iter().zip(found.ends_with(role));
        let wins: Vec<bool> = wins.map(|(&share, ends)| share > 0.0 && ends).collect();
        let n_wins = wins.iter().filter(|&&wins| wins).count();
        if n_wins > 0 {
            let share = 1.0 / n_wins as f64;
            strategy = wins.iter().map(|&wins| if wins { share } else { 0.0 }).collect();
        }
    }
    let values = found.move_values(role);
    let candidates = found.legal[role].iter().zip(&values).zip(&strategy);
    let n_values = found.values.len() as u64;
    let said = Deliberation {
        // The values of successors come from the table.
        nodes: 1,
        table_hits: n_values,
        next_calls: n_values,
        depth: 1,
        value: Some(found.best.value[role]),
        completed: true,
        proven: true,
        candidates: candidates
            .map(|((&action, &value), &share)| Candidate {
                action,
                value: Some(value),
                bound: ValueBound::Exact,
                visits: 0,
                probability: Some(share),
            })
            .collect(),
        ..Deliberation::default()
    };
    Ok((seed::draw(strategy.iter().copied(), rng).map(|at| found.legal[role][at]), said))
}

/// The same by the table of a search, where it has all successors of the state.
///
/// # Errors
/// If the reasoner fails.
pub(crate) fn move_of_table(
    machine: &mut dyn StateMachine,
    role: RoleId,
    table: Option<&ValueTable>,
    state: &State,
    rng: &mut Pcg64,
) -> Result<Option<(MoveId, Deliberation)>, Failure> {
    let Some(table) = table else { return Ok(None) };
    match known_move(machine, role, table, state, rng) {
        Ok((action, said)) => Ok(action.map(|action| (action, said))),
        Err(LookUpError::Reasoning(ReasoningError::Cancelled)) => Ok(None),
        Err(LookUpError::Reasoning(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
