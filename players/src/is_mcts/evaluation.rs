//! A learned evaluation in place of playouts, or besides them. The `estimate` of `mcts` also makes
//! opposed values add up, for its proofs and its minimax; here each role has a tree of its own.

use std::sync::Arc;

use games::{ReasoningError, State, StateMachine};

use crate::Failure;
use crate::learning::{Evaluator, LinearEvaluation};

/// A learned evaluation and its share in the rewards of an iteration.
pub(super) struct WeightedEvaluation {
    learned: Arc<LinearEvaluation>,
    /// From 0 to 1; the rest is the share of the playouts.
    pub(super) weight: f64,
    /// Applies it to the states of a match.
    evaluator: Option<Evaluator>,
}

impl WeightedEvaluation {
    /// An evaluation and its share.
    pub(super) fn new(learned: Arc<LinearEvaluation>, weight: f64) -> Self {
        Self { learned, weight, evaluator: None }
    }

    /// Fails if it is of another game.
    pub(super) fn check(&self, machine: &dyn StateMachine) -> Result<(), Failure> {
        let checked = self.learned.check(machine.game());
        checked.map_err(|error| Failure::Unsuitable(error.to_string()))
    }

    /// A match begins.
    pub(super) fn begin(&mut self, machine: &dyn StateMachine) -> Result<(), Failure> {
        self.check(machine)?;
        self.evaluator = Some(Evaluator::new(Arc::clone(&self.learned), machine.game()));
        Ok(())
    }

    /// Forgets the match.
    pub(super) fn forget(&mut self) {
        self.evaluator = None;
    }

    /// By role, the reward that is expected in a state.
    pub(super) fn rewards(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
    ) -> Result<Vec<f64>, ReasoningError> {
        let game = Arc::clone(machine.game());
        let evaluator =
            self.evaluator.get_or_insert_with(|| Evaluator::new(Arc::clone(&self.learned), &game));
        evaluator.follow(machine, state);
        let mut moves = Vec::new();
        let mut n_moves = |role| {
            machine.legal_moves(state, role, &mut moves)?;
            Ok(moves.len())
        };
        game.role_ids().map(|role| evaluator.value(role, &mut n_moves)).collect()
    }
}
