//! The largest numbers of legal moves in random play, against which mobility is measured.
//!
//! The scale is fixed before the first state is evaluated: if it grew with the search, the value
//! of a state would depend on when it is met, and alpha-beta would not find the value of minimax.

use games::StateMachine;
use games::split_mix::SplitMix;

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
    let initial = machine.initial_state()?;
    let mut cursor = machine.cursor(&initial);
    for _ in 0..WALKS {
        while cursor.take_back() {}
        for _ in 0..STEPS {
            stopwatch.poll_time()?;
            if cursor.is_terminal()? {
                break;
            }
            for (role, most) in roles.clone().zip(&mut most) {
                *most = cursor.legal_moves(role)?.len().max(*most);
            }
            if !cursor.play_chosen(&mut |n_moves| random.below(n_moves))? {
                break;
            }
        }
    }
    Ok(most)
}
