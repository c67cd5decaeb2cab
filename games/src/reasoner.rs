//! Which reasoner computes a game.
//!
//! ```
//! use std::sync::Arc;
//!
//! use games::{Cancel, Case, Guards, Leniency, library, reasoner, validate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = library::find("nim").ok_or("it is shipped")?.text;
//! let game = validate::read("nim", text, Case::Folded, Leniency::Strict).game;
//! let game = Arc::new(game.ok_or("it is valid")?);
//! let chosen = reasoner::choose(game, Guards::default(), &Cancel::new())?;
//! assert_eq!(chosen.machine.reasoner(), "network");
//! assert!(chosen.not_ground.is_none());
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::sync::Arc;

use crate::Game;
use crate::grounding::{GroundingError, GroundingLimits, ground_translation};
use crate::network_machine::NetworkMachine;
use crate::prover::Prover;
use crate::relational::translation::Translation;
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

/// The fastest reasoner for a game: its propositional network if that can be ground
/// within [`GroundingLimits::default`], and the prover otherwise. The budget is counted and not
/// timed, so that a game has the same reasoner everywhere. Both reasoners give the
/// same states and moves, in the same order.
///
/// Callers with a deadline raise `hurry` in time: grounding then ends and the prover,
/// which is ready soon, is chosen.
///
/// # Errors
/// If the static relations exceed the guards.
pub fn choose(game: Arc<Game>, guards: Guards, hurry: &Cancel) -> Result<Chosen, ReasoningError> {
    choose_within(game, guards, GroundingLimits::default(), hurry, &Cancel::new())
}

/// As [`choose`], with another budget for grounding; and without any reasoner if
/// `cancel` is raised together with `hurry`.
///
/// # Errors
/// As those of [`choose`]; [`ReasoningError::Cancelled`] soon after both flags are
/// raised.
pub fn choose_within(
    game: Arc<Game>,
    guards: Guards,
    budget: GroundingLimits,
    hurry: &Cancel,
    cancel: &Cancel,
) -> Result<Chosen, ReasoningError> {
    let budget = GroundingLimits { max_term_depth: guards.max_term_depth, ..budget };
    let translation = Translation::new(&game)?;
    let prover =
        Prover::in_hurry(Arc::clone(&game), translation.separate(), guards, hurry, cancel)?;
    let grounding = ground_translation(&game, translation, &budget, hurry, &mut |_, _| ());
    if cancel.is_cancelled() {
        return Err(ReasoningError::Cancelled);
    }
    Ok(match grounding {
        Ok((network, _)) => {
            let machine = NetworkMachine::new(Arc::new(network), prover);
            Chosen { machine: Box::new(machine), not_ground: None }
        }
        Err(error) => Chosen { machine: Box::new(prover), not_ground: Some(error) },
    })
}

/// The fastest reasoner for a game, as [`choose`] chooses it without a deadline.
///
/// # Errors
/// As those of [`choose`].
pub fn state_machine_for(
    game: Arc<Game>,
    guards: Guards,
) -> Result<Box<dyn StateMachine>, ReasoningError> {
    Ok(choose(game, guards, &Cancel::new())?.machine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Leniency, validate};

    /// Static relations are evaluated before anything else, and `pair` has a million rows.
    #[test]
    fn whoever_is_not_wanted_any_more_ends_while_static_relations_are_computed() {
        let numbers: String = (0..1000).map(|n| format!("(number {n}) ")).collect();
        let rules = "(role x) (<= (pair ?a ?b) (number ?a) (number ?b)) (init (at 0))
            (<= (legal x (go ?n)) (true (at ?m)) (pair ?m ?n)) (<= (next (at ?n)) (does x (go ?n)))
            (<= terminal (true (at 7))) (goal x 100)";
        let text = format!("{numbers}{rules}");
        let game = validate::read("pairs", text, Case::Folded, Leniency::Strict).game.unwrap();
        let game = Arc::new(game);
        let raised = Cancel::new();
        raised.cancel();
        let chosen = |cancel: &Cancel| {
            choose_within(
                Arc::clone(&game),
                Guards::default(),
                GroundingLimits::default(),
                &raised,
                cancel,
            )
        };
        assert_eq!(chosen(&raised).err(), Some(ReasoningError::Cancelled));
        assert_eq!(chosen(&Cancel::new()).unwrap().machine.reasoner(), "prover");
    }
}
