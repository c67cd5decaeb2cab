//! Which reasoner computes a game.

use std::sync::Arc;

use crate::Game;
use crate::grounding::{Budget, ground};
use crate::network::NetworkMachine;
use crate::prover::Prover;
use crate::state_machine::{Cancel, Guards, ReasoningError, StateMachine};

/// What grounding may take before the prover is preferred: some tenths of a
/// second. Counted, not timed, so that a game has the same reasoner everywhere.
fn budget(guards: &Guards) -> Budget {
    Budget {
        max_steps: 20_000_000,
        max_bytes: 512 << 20,
        max_ands: 2_000_000,
        max_term_depth: guards.max_term_depth,
        ..Budget::default()
    }
}

/// The reasoner to use for a game: its propositional network if it can be
/// grounded within a fixed amount of work, and else the prover.
///
/// # Errors
/// If the relations that rest on the rules alone exceed the guards.
pub fn state_machine_for(
    game: Arc<Game>,
    guards: Guards,
) -> Result<Box<dyn StateMachine>, ReasoningError> {
    let budget = budget(&guards);
    let prover = Prover::new(Arc::clone(&game), guards)?;
    Ok(match ground(&game, &budget, &Cancel::new()) {
        Ok(network) => Box::new(NetworkMachine::new(network, prover)),
        Err(_) => Box::new(prover),
    })
}
