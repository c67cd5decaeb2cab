//! Which reasoner computes a game.

use std::fmt;
use std::sync::Arc;

use crate::Game;
use crate::grounding::{Budget, GroundingError, ground};
use crate::network_machine::NetworkMachine;
use crate::prover::Prover;
use crate::state_machine::{Cancel, Guards, ReasoningError, StateMachine};

/// The reasoner that was chosen for a game.
pub struct Chosen {
    /// The reasoner.
    pub machine: Box<dyn StateMachine>,
    /// Why it is the prover and not the network, if it is.
    pub not_ground: Option<GroundingError>,
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, not_ground } = self;
        let mut chosen = f.debug_struct("Chosen");
        chosen.field("machine", &machine.reasoner()).field("not_ground", not_ground).finish()
    }
}

/// The fastest reasoner for a game: its propositional network if it can be ground
/// within [`Budget::default`], which is counted and not timed, so that a game has
/// the same reasoner everywhere; and else the prover. Both give the same states
/// and moves, in the same order.
///
/// Whoever has to be ready at some time raises `hurry` early enough: then grounding
/// ends, and the prover is chosen, which is soon ready.
///
/// # Errors
/// If the relations that rest on the rules alone exceed the guards.
pub fn choose(game: Arc<Game>, guards: Guards, hurry: &Cancel) -> Result<Chosen, ReasoningError> {
    let budget = Budget { max_term_depth: guards.max_term_depth, ..Budget::default() };
    let prover = Prover::in_hurry(Arc::clone(&game), guards, hurry)?;
    Ok(match ground(&game, &budget, hurry) {
        Ok(network) => {
            let machine = NetworkMachine::new(Arc::new(network), prover);
            Chosen { machine: Box::new(machine), not_ground: None }
        }
        Err(error) => Chosen { machine: Box::new(prover), not_ground: Some(error) },
    })
}

/// The fastest reasoner for a game, as [`choose`] chooses with all the time there
/// is.
///
/// # Errors
/// As those of [`choose`].
pub fn state_machine_for(
    game: Arc<Game>,
    guards: Guards,
) -> Result<Box<dyn StateMachine>, ReasoningError> {
    Ok(choose(game, guards, &Cancel::new())?.machine)
}
