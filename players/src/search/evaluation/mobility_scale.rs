//! The largest numbers of legal moves in random play, against which mobility is measured.
//!
//! The scale is fixed before the first state is evaluated: if it grew with the search, the value
//! of a state would depend on when it is met, and alpha-beta would not find the value of minimax.

use games::split_mix::SplitMix;
use games::{MoveId, State, StateMachine};

use crate::search::{Halt, Stopwatch};

/// Random matches that are played.
const WALKS: usize = 8;
/// Maximum number of steps of each.
const STEPS: usize = 200;

/// By role, the largest number of legal moves in a few random matches that are always the
/// same; at least 1.
///
/// # Errors
/// If time is up, or the reasoner fails.
pub(super) fn most_moves(
    machine: &mut dyn StateMachine,
    stopwatch: &Stopwatch<'_>,
) -> Result<Vec<usize>, Halt> {
    let roles = machine.game().role_ids();
    let mut most = vec![1; roles.len()];
    let mut random = SplitMix::new(0);
    let (mut moves, mut joint_move): (Vec<MoveId>, Vec<MoveId>) = (Vec::new(), Vec::new());
    let mut next = State::default();
    for _ in 0..WALKS {
        let mut state = machine.initial_state()?;
        'walk: for _ in 0..STEPS {
            stopwatch.poll_time()?;
            if machine.is_terminal(&state)? {
                break;
            }
            joint_move.clear();
            for (role, most) in roles.clone().zip(&mut most) {
                machine.legal_moves(&state, role, &mut moves)?;
                if moves.is_empty() {
                    break 'walk;
                }
                *most = moves.len().max(*most);
                joint_move.push(moves[random.below(moves.len())]);
            }
            machine.next_state(&state, &joint_move, &mut next)?;
            std::mem::swap(&mut state, &mut next);
        }
    }
    Ok(most)
}
