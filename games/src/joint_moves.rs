//! Joint moves by number: all combinations of one move of each role, the last role's moves
//! changing fastest.

use crate::state::MoveId;

/// The number of joint moves that consist of one of some `moves` of each role.
#[must_use]
#[inline]
pub fn n_joint_moves(moves: &[Vec<MoveId>]) -> usize {
    moves.iter().fold(1, |n: usize, moves| n.saturating_mul(moves.len()))
}

/// Adds the joint move of this `number` to `joint_moves`, in role order.
///
/// # Panics
/// If a role has no moves.
#[inline]
pub fn push_joint_move(moves: &[Vec<MoveId>], mut number: u64, joint_moves: &mut Vec<MoveId>) {
    let first = joint_moves.len();
    for moves in moves.iter().rev() {
        let n = moves.len() as u64;
        joint_moves.push(moves[(number % n) as usize]);
        number /= n;
    }
    joint_moves[first..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_role_changes_fastest() {
        let moves = [vec![MoveId(1), MoveId(2)], vec![MoveId(3)], vec![MoveId(4), MoveId(5)]];
        assert_eq!(n_joint_moves(&moves), 4);
        let mut all = Vec::new();
        (0..4).for_each(|number| push_joint_move(&moves, number, &mut all));
        let expected = [[1, 3, 4], [1, 3, 5], [2, 3, 4], [2, 3, 5]];
        assert_eq!(all, expected.concat().into_iter().map(MoveId).collect::<Vec<_>>());
    }
}
