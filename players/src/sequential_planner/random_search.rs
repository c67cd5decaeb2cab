//! The best of some random lines to the end of a game.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::Stop;
use crate::search::{MAX_LEVELS, worst};

/// Lines that are tried for one move.
pub(super) const N_LINES: usize = 100;

/// What was found.
pub(super) struct RandomSearch {
    /// The greatest reward of a line that ended, and the first line with it.
    pub(super) best: Option<(u8, Vec<Vec<MoveId>>)>,
    /// Lines that were tried.
    pub(super) n_lines: usize,
    /// States that were entered.
    pub(super) nodes: u64,
}

/// Tries random lines from `state`, in which all roles move at random, until one is worth
/// 100 to `role`, [`N_LINES`] have ended, or `stop` is due. Lines of more than
/// [`MAX_LEVELS`] steps are given up.
pub(super) fn best_line(
    machine: &mut dyn StateMachine,
    role: RoleId,
    state: &State,
    rng: &mut Pcg64,
    stop: &Stop,
) -> Result<RandomSearch, ReasoningError> {
    let mut found = RandomSearch { best: None, n_lines: 0, nodes: 0 };
    let roles = machine.game().role_ids();
    let mut cursor = machine.cursor(state);
    while found.n_lines < N_LINES {
        found.n_lines += 1;
        let mut line = Vec::new();
        while cursor.take_back() {}
        let is_over = loop {
            if line.len() >= MAX_LEVELS || stop.is_due(found.nodes) {
                break false;
            }
            let mut joint_move = Vec::with_capacity(roles.len());
            for role in roles.clone() {
                let legal = cursor.legal_moves(role)?;
                if legal.is_empty() {
                    return Ok(found);
                }
                joint_move.extend(legal.get(rng.random_range(0..legal.len())));
            }
            cursor.play(&joint_move)?;
            found.nodes += 1;
            line.push(joint_move);
            if cursor.is_terminal()? {
                break true;
            }
        };
        if is_over {
            let score = worst(&cursor.goal(role)?);
            if found.best.as_ref().is_none_or(|(best, _)| score > *best) {
                found.best = Some((score, line));
            }
        }
        if stop.is_due(found.nodes) || found.best.as_ref().is_some_and(|(best, _)| *best == 100) {
            break;
        }
    }
    Ok(found)
}
