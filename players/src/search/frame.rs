//! One level of a search: a state, its legal moves and the joint move tried,
//! kept from visit to visit so that the inner loop allocates nothing.

use games::{Game, MoveId, ReasoningError, RoleId, State, StateMachine};
use rustc_hash::FxHashMap;

/// Who is who among the roles of a game.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    /// The role that is searched for.
    pub(crate) me: RoleId,
    /// The other roles but chance, in role order.
    pub(crate) others: Vec<usize>,
    /// The role `random`, unless it is me.
    pub(crate) chance: Option<usize>,
    /// Number of roles, chance included.
    pub(crate) n_roles: usize,
}

impl Cast {
    /// The roles of `game` as `me` sees them.
    pub(crate) fn new(game: &Game, me: RoleId) -> Self {
        let n_roles = game.roles().len();
        let chance = game.random().filter(|&random| random != me).map(|role| usize::from(role.0));
        let is_other = |&role: &usize| role != usize::from(me.0) && Some(role) != chance;
        Self { me, others: (0..n_roles).filter(is_other).collect(), chance, n_roles }
    }

    /// The index of the role that is searched for.
    pub(crate) fn index(&self) -> usize {
        usize::from(self.me.0)
    }

    /// Number of joint replies of the others, chance apart.
    pub(crate) fn n_replies(&self, frame: &Frame) -> u64 {
        let n_moves = self.others.iter().map(|&role| frame.legal[role].len() as u64);
        n_moves.fold(1, u64::saturating_mul)
    }

    /// Puts the joint reply of this index into the frame's joint move. Replies
    /// are counted like digits, the last role's moves changing fastest, so that
    /// the cross product is never laid out.
    pub(crate) fn set_reply(&self, frame: &mut Frame, mut index: u64) {
        for &role in self.others.iter().rev() {
            let moves = &frame.legal[role];
            let n_moves = moves.len() as u64;
            frame.joint[role] = moves[(index % n_moves) as usize];
            index /= n_moves;
        }
    }
}

/// One level of a search.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The state entered.
    pub(crate) state: State,
    /// The legal moves, by role.
    pub(crate) legal: Vec<Vec<MoveId>>,
    /// The joint move tried, by role.
    pub(crate) joint: Vec<MoveId>,
    /// The best of my moves so far, by its index.
    pub(crate) best: Option<usize>,
    /// The joint reply that settled the value of my best move.
    pub(crate) best_reply: u64,
    /// The same of the move being tried.
    pub(crate) reply: u64,
}

impl Frame {
    /// An empty frame.
    pub(crate) fn new(n_roles: usize) -> Self {
        Self {
            state: State::default(),
            legal: vec![Vec::new(); n_roles],
            joint: vec![MoveId(0); n_roles],
            best: None,
            best_reply: 0,
            reply: 0,
        }
    }

    /// Lists the legal moves of all roles, those with a rank first. Returns
    /// whether every role has one.
    pub(crate) fn list_moves(
        &mut self,
        machine: &mut dyn StateMachine,
        ranks: &FxHashMap<MoveId, usize>,
    ) -> Result<bool, ReasoningError> {
        for (role, moves) in (0..).zip(&mut self.legal) {
            machine.legal_moves(&self.state, RoleId(role), moves)?;
            if !ranks.is_empty() {
                moves.sort_by_key(|id| ranks.get(id).copied().unwrap_or(usize::MAX));
            }
            if moves.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
