//! The children of a state: their keys, and what terminal ones are worth.

use super::ProofError;
use super::opposition::Opposition;
use crate::successors::ChildOutcome;
use crate::{MoveId, PlayoutPlan, PlayoutSums, RoleId, State, StateMachine, Successors};

/// Playouts that estimate the children of a state.
const PLAYOUTS: usize = 256;

/// Steps after which a playout is given up.
const MAX_PLAYOUT: u32 = 200;

/// A state and what follows from it. The buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    /// Whether the first role chooses; also if nobody has a choice.
    pub(super) is_first: bool,
    /// The states that follow, in the order of the moves.
    pub(super) successors: Successors,
    /// By successor: the rewards of the first role in terminal ones.
    pub(super) rewards: Vec<Option<u8>>,
}

/// Computes the children of states, all children of one state at once.
pub(super) struct Expander {
    machine: Box<dyn StateMachine>,
    /// The legal moves of each role in the last state.
    pub(super) legal: Vec<Vec<MoveId>>,
    outcomes: [Vec<ChildOutcome>; 2],
    pub(super) opposition: Opposition,
    sums: PlayoutSums,
}

impl Expander {
    /// The machine's game has two roles.
    pub(super) fn new(machine: Box<dyn StateMachine>) -> Self {
        Self {
            machine,
            legal: vec![Vec::new(); 2],
            outcomes: Default::default(),
            opposition: Opposition::default(),
            sums: PlayoutSums::default(),
        }
    }

    /// Computes what follows from a state that is not terminal.
    pub(super) fn expand(
        &mut self,
        state: &State,
        expansion: &mut Expansion,
    ) -> Result<(), ProofError> {
        let Self { machine, legal, outcomes, opposition, .. } = self;
        let is_listed = machine.all_legal_moves(state, legal, true)?;
        debug_assert!(is_listed, "the state is not terminal");
        for (role, legal) in (0..).map(RoleId).zip(legal.iter()) {
            if legal.is_empty() {
                let role = machine.game().role_name(role).to_owned();
                return Err(ProofError::NoMove { role });
            }
        }
        expansion.is_first = legal[1].len() == 1;
        if !expansion.is_first && legal[0].len() > 1 {
            return Err(ProofError::Simultaneous { state: machine.facts(state) });
        }
        machine.successors(state, &mut expansion.successors)?;
        let [first, second] = outcomes;
        machine.outcomes(state, RoleId(0), first)?;
        let is_terminal = |outcome: &ChildOutcome| outcome.is_terminal;
        expansion.rewards.clear();
        expansion.rewards.extend(first.iter().map(|it| it.is_terminal.then(|| it.reward())));
        if first.iter().any(is_terminal) {
            machine.outcomes(state, RoleId(1), second)?;
            for (first, second) in first.iter().zip(second).filter(|(it, _)| it.is_terminal) {
                opposition.note(first.reward(), second.reward())?;
            }
        }
        Ok(())
    }

    /// The mean reward of the first role in random playouts from some states, between 0 and
    /// 1; a half where no playout came to an end.
    pub(super) fn estimate(
        &mut self,
        states: &[State],
        seed: u64,
        means: &mut Vec<f64>,
    ) -> Result<(), ProofError> {
        let per_start = PLAYOUTS.div_ceil(states.len().max(1));
        let plan =
            PlayoutPlan { per_start, max_length: MAX_PLAYOUT, seed, ..PlayoutPlan::default() };
        let Self { machine, sums, .. } = self;
        machine.playout_sums(states, &plan, &mut |_| true, sums)?;
        means.clear();
        means.extend((0..states.len()).map(|start| match sums.n_scored(start) {
            0 => 0.5,
            n => sums.rewards(start, RoleId(0)) as f64 / (100.0 * f64::from(n)),
        }));
        Ok(())
    }

    /// The machine that computes.
    pub(super) fn machine(&mut self) -> &mut dyn StateMachine {
        &mut *self.machine
    }
}
