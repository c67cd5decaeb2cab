//! Different beginnings of a game, so that players that always move alike do not repeat one
//! match.

use std::collections::BTreeSet;
use std::sync::Arc;

use games::{Cancel, Expression, Game, Guards, MoveId, ReasoningError, State, state_machine_for};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use crate::game_source::{self, GameSource};

/// Random steps of an opening.
const STEPS: usize = 4;
/// Matches that are begun for each opening that is wanted.
const ATTEMPTS: usize = 20;

/// Rulesheets of the game that begin in different states, each reached by four random steps;
/// at most `n`, and fewer if the game has fewer. They follow from the seed. Where every match
/// is shorter, the only one is the game from its beginning.
///
/// # Errors
/// If the reasoner fails, or `cancel` is raised.
pub(super) fn openings(
    game: &Arc<Game>,
    n: usize,
    seed: u64,
    cancel: &Cancel,
) -> Result<Vec<GameSource>, ReasoningError> {
    let mut machine = state_machine_for(Arc::clone(game), Guards::default())?;
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut known: BTreeSet<Vec<Expression>> = BTreeSet::new();
    let mut openings = Vec::new();
    for _ in 0..ATTEMPTS * n {
        if openings.len() == n {
            break;
        }
        if cancel.is_cancelled() {
            return Err(ReasoningError::Cancelled);
        }
        let mut state = machine.initial_state()?;
        for _ in 0..STEPS {
            if machine.is_terminal(&state)? {
                break;
            }
            let mut joint_move: Vec<MoveId> = Vec::new();
            for role in game.role_ids() {
                let mut moves = Vec::new();
                machine.legal_moves(&state, role, &mut moves)?;
                if let Some(last) = moves.len().checked_sub(1) {
                    joint_move.push(moves[rng.random_range(0..=last)]);
                }
            }
            if joint_move.len() < game.roles().len() {
                break;
            }
            let mut next = State::default();
            machine.next_state(&state, &joint_move, &mut next)?;
            state = next;
        }
        let facts = machine.facts(&state);
        if !machine.is_terminal(&state)? && known.insert(facts.clone()) {
            openings.push(game_source::source_beginning_in(game, &facts));
        }
    }
    if openings.is_empty() {
        let start = machine.initial_state()?;
        openings.push(game_source::source_beginning_in(game, &machine.facts(&start)));
    }
    let name = |(number, source): (usize, GameSource)| {
        let name = format!("{}-{number}", source.name);
        GameSource { file: name.clone(), name, ..source }
    };
    Ok((1..).zip(openings).map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game_source::Reading;

    fn of(name: &str, n: usize, seed: u64) -> Vec<String> {
        let game = game_source::load(name, Reading::default()).unwrap().game;
        let openings = openings(&game, n, seed, &Cancel::new()).unwrap();
        let begins = |source: GameSource| {
            let game = source.check(Reading::default()).loaded().unwrap().game;
            let mut machine = state_machine_for(game, Guards::default()).unwrap();
            let start = machine.initial_state().unwrap();
            assert!(!machine.is_terminal(&start).unwrap());
            machine.facts(&start).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        openings.into_iter().map(begins).collect()
    }

    #[test]
    fn openings_differ_and_follow_from_the_seed() {
        let first = of("tic_tac_toe", 12, 1);
        assert_eq!(first.len(), 12);
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 12);
        assert!(first.iter().all(|facts| facts.matches(" x)").count() == 2), "{first:?}");
        assert_eq!(first, of("tic_tac_toe", 12, 1));
        assert_ne!(first, of("tic_tac_toe", 12, 2));
    }

    #[test]
    fn a_game_that_is_shorter_begins_at_its_beginning() {
        assert_eq!(of("aima_two_ply", 5, 1).len(), 1);
    }
}
