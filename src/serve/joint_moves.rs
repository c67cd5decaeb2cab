//! The joint moves that are possible in a state, one after the other.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};

/// Goes through the joint moves of a state, the last role changing fastest.
/// They are not listed beforehand: there may be more than fit into memory.
pub(super) struct JointMoves {
    /// The moves of each role.
    moves: Vec<Vec<MoveId>>,
    /// Which of them come next; `None` when all were had.
    next: Option<Vec<usize>>,
}

impl JointMoves {
    /// The joint moves of legal moves in `state`; `restrict` is shown each
    /// role's moves first, and may change them. None if some role has no move.
    ///
    /// # Errors
    /// If a role's moves cannot be computed.
    pub(super) fn new(
        machine: &mut dyn StateMachine,
        state: &State,
        mut restrict: impl FnMut(RoleId, &mut Vec<MoveId>),
    ) -> Result<Self, ReasoningError> {
        let roles = machine.game().role_ids();
        let n_roles = roles.len();
        let mut moves = Vec::with_capacity(n_roles);
        for role in roles {
            let mut of_role = Vec::new();
            machine.legal_moves(state, role, &mut of_role)?;
            restrict(role, &mut of_role);
            moves.push(of_role);
        }
        let any = moves.iter().all(|of_role| !of_role.is_empty());
        Ok(Self { moves, next: any.then(|| vec![0; n_roles]) })
    }

    /// The joint move at hand.
    pub(super) fn current(&self) -> Option<Vec<MoveId>> {
        let next = self.next.as_ref()?;
        Some(next.iter().zip(&self.moves).map(|(&at, of_role)| of_role[at]).collect())
    }

    /// Goes on to the next one.
    pub(super) fn advance(&mut self) {
        let Some(next) = &mut self.next else { return };
        let changing = (0..next.len()).rev().find(|&role| next[role] + 1 < self.moves[role].len());
        match changing {
            Some(role) => {
                next[role] += 1;
                next[role + 1..].fill(0);
            }
            None => self.next = None,
        }
    }
}
