//! Whether play must end, and why.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use games::progress::{self, Progress, ProgressEffort, ProgressReason};
use games::solve::{Alone, Phase, SolveError, Solver};
use games::{
    Cancel, Game, MoveId, Network, ReasoningError, State, StateKey, StateMachine, step_counter,
};
use results::counted::counted;
use serde::Serialize;

use super::super::{machine, reasoning};
use crate::failure::Failure;

/// States that are computed to find out.
const MAX_STATES: u64 = 200_000;
/// Memory for them.
const MEMORY_BYTES: u64 = 256 << 20;

/// What is known of the end of play.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "known_by")]
pub(super) enum End {
    /// The rules count steps, whatever is played.
    StepCounter {
        /// Steps after which play has ended.
        steps: u32,
        /// The facts that end it.
        facts: Vec<String>,
    },
    /// All states were computed, and none can come twice.
    AllStates {
        /// The longest match.
        steps: u32,
        /// The number of states.
        states: u64,
    },
    /// Play can come back to a state.
    Repeats {
        /// Steps after which it can have come back.
        steps: u32,
    },
    /// Not all states were computed, but play keeps making changes that are never undone, and
    /// their number is limited.
    Progress {
        /// Steps after which play has ended.
        steps: u32,
        /// Of this many steps in a row, at least one makes such a change.
        window: u32,
        /// Maximum number of such changes in a match.
        changes: u32,
        /// The relations of the facts that change.
        relations: Vec<String>,
    },
    /// Not all states were computed, but every step lowers a sum of weights of facts.
    FallingSum {
        /// Steps after which play has ended: the sum in the initial state.
        steps: u32,
        /// The relations of the facts.
        relations: Vec<String>,
    },
    /// None of these.
    Unknown,
}

impl End {
    /// `network` is that of the game, if it has one.
    pub(super) fn of(game: &Arc<Game>, network: Option<&Network>) -> Result<Self, Failure> {
        if let Some(counter) = step_counter::find(game).map_err(reasoning)? {
            let facts = counter.facts.iter().map(ToString::to_string).collect();
            return Ok(Self::StepCounter { steps: counter.steps, facts });
        }
        if let Some(end) = walked(game)? {
            return Ok(end);
        }
        // A game that cannot be solved may end nevertheless.
        if let Ok(Some(end)) = all_states(game) {
            return Ok(end);
        }
        Ok(network.and_then(progressing).unwrap_or(Self::Unknown))
    }

    /// The number of states, if all were computed.
    pub(super) fn n_states(&self) -> Option<u64> {
        match self {
            Self::AllStates { states, .. } => Some(*states),
            Self::StepCounter { .. }
            | Self::Repeats { .. }
            | Self::Progress { .. }
            | Self::FallingSum { .. }
            | Self::Unknown => None,
        }
    }
}

/// States that are walked through one by one.
const MAX_WALKED: usize = 20_000;
/// Joint moves that are tried in all.
const MAX_TRIED: usize = 200_000;

/// A state on the way, with its successors that were not tried yet.
struct Visit {
    key: StateKey,
    left: Vec<State>,
    /// The longest way from here on that is known.
    longest: u32,
}

/// Walks through all states, depth first: a state that is met again on its own way can be
/// repeated for ever. `None` if there are too many.
fn walked(game: &Arc<Game>) -> Result<Option<End>, Failure> {
    let mut machine = machine(game)?;
    let first = machine.initial_state().map_err(reasoning)?;
    let mut longest: HashMap<StateKey, u32> = HashMap::new();
    let mut on_the_way: HashSet<StateKey> = HashSet::new();
    let mut n_tried = 0;
    let mut way = Vec::new();
    let mut next = Some(first);
    loop {
        if let Some(state) = next.take() {
            let Some(left) = successors(&mut *machine, &state).map_err(reasoning)? else {
                return Ok(None);
            };
            n_tried += left.len();
            if n_tried > MAX_TRIED || longest.len() + way.len() > MAX_WALKED {
                return Ok(None);
            }
            let key = machine.key(&state);
            on_the_way.insert(key);
            way.push(Visit { key, left, longest: 0 });
        }
        let steps = way.len() as u32;
        let Some(here) = way.last_mut() else { break };
        if let Some(state) = here.left.pop() {
            let key = machine.key(&state);
            if on_the_way.contains(&key) {
                return Ok(Some(End::Repeats { steps }));
            }
            match longest.get(&key) {
                Some(known) => here.longest = here.longest.max(known + 1),
                None => next = Some(state),
            }
            continue;
        }
        let done = way.pop().expect("it was just looked at");
        on_the_way.remove(&done.key);
        longest.insert(done.key, done.longest);
        match way.last_mut() {
            Some(before) => before.longest = before.longest.max(done.longest + 1),
            None => {
                let states = longest.len() as u64;
                return Ok(Some(End::AllStates { steps: done.longest, states }));
            }
        }
    }
    Ok(None)
}

/// All successors of a state, none if it is terminal; `None` if there are too many.
fn successors(
    machine: &mut dyn StateMachine,
    state: &State,
) -> Result<Option<Vec<State>>, ReasoningError> {
    let mut found = Vec::new();
    if machine.is_terminal(state)? {
        return Ok(Some(found));
    }
    let mut legal = Vec::new();
    for role in machine.game().role_ids() {
        let mut moves = Vec::new();
        machine.legal_moves(state, role, &mut moves)?;
        legal.push(moves);
    }
    let n_joint = legal.iter().fold(1_usize, |product, moves| product.saturating_mul(moves.len()));
    if n_joint > MAX_TRIED {
        return Ok(None);
    }
    for number in 0..n_joint {
        let mut rest = number;
        let pick = |moves: &Vec<MoveId>| {
            let place = rest % moves.len();
            rest /= moves.len();
            moves[place]
        };
        let joint_move: Vec<MoveId> = legal.iter().map(pick).collect();
        let mut next = State::default();
        machine.next_state(state, &joint_move, &mut next)?;
        found.push(next);
    }
    Ok(Some(found))
}

/// `None` if there are too many states, or if it is not clear from them.
fn all_states(game: &Arc<Game>) -> Result<Option<End>, SolveError> {
    let mut solver = Solver::new(game, MEMORY_BYTES, 1, &Cancel::new())?;
    while solver.progress().phase == Phase::Reaching {
        if solver.progress().n_states > MAX_STATES || solver.method() != "lanes" {
            return Ok(None);
        }
        solver.step(&Alone)?;
    }
    if !solver.steps_follow_from_facts() {
        return Ok(None);
    }
    let steps = solver.levels().len() as u32 - 1;
    Ok(Some(End::AllStates { steps, states: solver.progress().n_states }))
}

fn progressing(network: &Network) -> Option<End> {
    let found = progress::find(network, &ProgressEffort::default(), &Cancel::new())?;
    let Progress { steps, reason, relations } = found;
    Some(match reason {
        ProgressReason::Changes { window, most: changes } => {
            End::Progress { steps, window, changes, relations }
        }
        ProgressReason::FallingSum => End::FallingSum { steps, relations },
    })
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepCounter { steps, facts } => {
                let steps = counted(steps, "step", "steps");
                match &facts[..] {
                    [] => write!(f, "after at most {steps}, whatever is played"),
                    [fact] => write!(
                        f,
                        "after at most {steps}: a step counter makes {fact} true, which ends the match"
                    ),
                    facts => {
                        write!(
                            f,
                            "after at most {steps}: a step counter makes {} true, which ends the match",
                            facts.join(" ")
                        )
                    }
                }
            }
            Self::AllStates { steps, states } => {
                let steps = counted(steps, "step", "steps");
                write!(
                    f,
                    "after at most {steps}: none of the {} can repeat",
                    counted(states, "state", "states")
                )
            }
            Self::Repeats { steps } => write!(
                f,
                "may never come: play can come back to a state, for example after {}",
                counted(steps, "step", "steps")
            ),
            Self::Progress { steps, window, relations, .. } => {
                let change = match window {
                    1 => "every step changes".to_owned(),
                    _ => format!("any {window} steps in a row change"),
                };
                write!(
                    f,
                    "after at most {}: {change} a fact of {} for good",
                    counted(steps, "step", "steps"),
                    quoted(relations, " or ")
                )
            }
            Self::FallingSum { steps, relations } => write!(
                f,
                "after at most {}: every step lowers a weighted sum of the facts of {}",
                counted(steps, "step", "steps"),
                quoted(relations, " and ")
            ),
            Self::Unknown => f.write_str(
                "not known: the rules count no steps, and states may repeat (not all were checked)",
            ),
        }
    }
}

/// Names of relations, in quotes.
fn quoted(names: &[String], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relations are quoted, since many of them are words of English.
    #[test]
    fn a_proof_of_progress_names_what_changes() {
        let relations = vec!["free".to_owned(), "alive".to_owned()];
        let progress = |steps, window, n| End::Progress {
            steps,
            window,
            changes: steps / window,
            relations: relations[..n].to_vec(),
        };
        assert_eq!(
            progress(42, 1, 1).to_string(),
            "after at most 42 steps: every step changes a fact of `free` for good"
        );
        assert_eq!(
            progress(122, 2, 2).to_string(),
            "after at most 122 steps: any 2 steps in a row change a fact of `free` or `alive` for \
             good"
        );
        assert_eq!(
            End::FallingSum { steps: 1, relations }.to_string(),
            "after at most 1 step: every step lowers a weighted sum of the facts of `free` and \
             `alive`"
        );
    }
}
