//! The names of a game's moves and roles.

use std::sync::Arc;

use games::{MoveId, RoleId, StateMachine};

use crate::explanation::Names;

/// The names of the game of a machine.
pub(super) struct GameNames<'a>(pub(super) &'a dyn StateMachine);

impl Names for GameNames<'_> {
    fn action(&mut self, id: MoveId) -> Arc<str> {
        self.0.move_expression(id).to_string().into()
    }

    fn role(&self, role: RoleId) -> &str {
        self.0.game().role_name(role)
    }
}
