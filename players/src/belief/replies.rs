//! The joint moves that are possible in a state.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine, n_joint_moves, push_joint_move};

/// The moves of each role in a state. Joint moves have numbers, the last role's move
/// changing fastest; they are not listed, since there may be more than fit into memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replies {
    /// By role; never empty.
    pub(crate) by_role: Vec<Vec<MoveId>>,
}

impl Replies {
    /// The legal moves in `state`; `None` if some role has none.
    pub(crate) fn legal(
        machine: &mut dyn StateMachine,
        state: &State,
    ) -> Result<Option<Self>, ReasoningError> {
        let mut by_role = Vec::new();
        for role in machine.game().role_ids() {
            let mut moves = Vec::new();
            machine.legal_moves(state, role, &mut moves)?;
            if moves.is_empty() {
                return Ok(None);
            }
            by_role.push(moves);
        }
        Ok(Some(Self { by_role }))
    }

    /// Leaves `role` this one move; `false` if it is not among its moves.
    pub(crate) fn fix(&mut self, role: RoleId, action: MoveId) -> bool {
        let moves = &mut self.by_role[usize::from(role.0)];
        let is_legal = moves.contains(&action);
        if is_legal {
            *moves = vec![action];
        }
        is_legal
    }

    /// Leaves `role` its first move, and gives all that it had.
    pub(crate) fn separate(&mut self, role: RoleId) -> Vec<MoveId> {
        let moves = &mut self.by_role[usize::from(role.0)];
        let first = vec![moves[0]];
        std::mem::replace(moves, first)
    }

    /// The number of joint moves.
    pub(crate) fn len(&self) -> u64 {
        n_joint_moves(&self.by_role) as u64
    }

    /// The joint move of this number.
    pub(crate) fn joint_move(&self, number: u64, joint_move: &mut Vec<MoveId>) {
        joint_move.clear();
        push_joint_move(&self.by_role, number, joint_move);
    }
}
