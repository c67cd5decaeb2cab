//! What any text may be made to do: it is read, validated, ground and played by all
//! reasoners, or refused, within fixed limits, and never panics.

use std::sync::Arc;

use games::compiled_network::Width;
use games::{
    Cancel, Case, Expression, GoalReading, GroundingLimits, Guards, Leniency, NetworkMachine,
    Prover, ReasoningError, RoleId, State, StateMachine, ground, validate,
};

use super::agreement::{self, Effort};

/// So much is computed in a moment. Hostile rules end by these limits as they do by
/// the larger ones.
const MAX_STEPS: u64 = 300_000;

/// Larger networks are not compiled here.
const MAX_GATES: usize = 20_000;

/// How far a text came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// It is no valid rulesheet.
    Text,
    /// The prover reached a limit.
    Game,
    /// There is no network within the limits; the prover played alone.
    Prover,
    /// All reasoners played some steps and agreed.
    Network,
}

/// Plays whatever a text says.
pub(crate) fn check(text: &[u8]) -> Reached {
    let case = if text.len().is_multiple_of(2) { Case::Folded } else { Case::Sensitive };
    let strict = validate::read("text", text, case, Leniency::Strict).game;
    let lenient = validate::read("text", text, case, Leniency::Lenient).game;
    assert!(strict.is_none() || lenient.is_some(), "what is valid is valid to the lenient");
    let Some(game) = lenient else { return Reached::Text };
    let game = Arc::new(game);
    let budget = GroundingLimits {
        max_rows: 100_000,
        max_bytes: 64 << 20,
        max_steps: MAX_STEPS,
        max_ands: 200_000,
        ..GroundingLimits::default()
    };
    let network = ground(&game, &budget, &Cancel::new());
    let network = network.ok().filter(|network| network.graph.n_ands() <= MAX_GATES);
    let Ok(prover) = Prover::new(game, guards()) else { return Reached::Game };
    let proven = walk(&mut prover.clone());
    let Some(network) = network else {
        return if proven.is_ok() { Reached::Prover } else { Reached::Game };
    };
    let network = Arc::new(network);
    let played = walk(&mut NetworkMachine::new(Arc::clone(&network), prover));
    let Ok(proven) = proven else { return Reached::Game };
    assert_eq!(played.as_ref(), Ok(&proven), "the network and the prover");
    // Batches take longer, and are compared now and then.
    if text.len().is_multiple_of(8) {
        let effort = Effort { width: Width::Lanes256, n_steps: 3, seed: 2008, guards: guards() };
        if agreement::check(&network, &effort).is_err() {
            return Reached::Game;
        }
    }
    Reached::Network
}

fn guards() -> Guards {
    Guards { max_steps: MAX_STEPS, max_facts: 20_000, ..Guards::default() }
}

/// All that can be asked of a state.
#[derive(Debug, PartialEq)]
struct Seen {
    facts: Vec<Expression>,
    is_terminal: bool,
    /// By role.
    legal: Vec<Vec<Expression>>,
    goals: Vec<GoalReading>,
    /// Of the step to the next state.
    percepts: Vec<Vec<Expression>>,
}

/// Some steps: the first moves of all roles, then the last ones, in turn.
fn walk(machine: &mut dyn StateMachine) -> Result<Vec<Seen>, ReasoningError> {
    let n_roles = machine.game().roles().len();
    let roles = (0..n_roles).map(|role| RoleId(role as u8));
    let mut state = machine.initial_state()?;
    let mut all = Vec::new();
    for step in 0..6 {
        let is_terminal = machine.is_terminal(&state)?;
        let facts = machine.facts(&state);
        let (mut legal, mut goals, mut percepts) = (Vec::new(), Vec::new(), Vec::new());
        let mut joint_move = Vec::new();
        for role in roles.clone() {
            let mut moves = Vec::new();
            machine.legal_moves(&state, role, &mut moves)?;
            goals.push(machine.goal(&state, role)?);
            joint_move.extend(if step % 2 == 0 { moves.first() } else { moves.last() });
            legal.push(moves.iter().map(|&id| machine.move_expression(id)).collect());
        }
        let goes_on = !is_terminal && joint_move.len() == n_roles;
        if goes_on {
            for role in roles.clone() {
                percepts.push(machine.percepts(&state, &joint_move, role)?);
            }
        }
        all.push(Seen { facts, is_terminal, legal, goals, percepts });
        if !goes_on {
            break;
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next)?;
        state = next;
    }
    Ok(all)
}
