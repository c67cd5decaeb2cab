//! Walking through a game by moves drawn at random.

use games::{MoveId, ReasoningError, RoleId, State, StateMachine};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// A machine with the buffers of one walk.
pub(super) struct Walker {
    pub(super) machine: Box<dyn StateMachine>,
    /// The legal moves of each role where [`Walker::find_moves`] looked last.
    pub(super) moves: Vec<Vec<MoveId>>,
    joint_move: Vec<MoveId>,
    next: State,
}

/// How a playout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// In a terminal state.
    Terminal,
    /// At the limit of steps.
    StepLimit,
    /// In a state that is not terminal and leaves some role without a move.
    NoMove,
    /// `visit` had enough.
    Stopped,
}

/// A finished playout; the walk stands at its last state.
pub(super) struct Playout {
    pub(super) ending: Ending,
    /// Joint moves made.
    pub(super) steps: usize,
    pub(super) last: State,
}

/// The random numbers of one playout. They depend on the seed and the
/// playout's index alone, so that playout 7 is the same however many there are.
pub(super) fn playout_rng(seed: u64, playout: u64) -> Pcg64Mcg {
    let mut seeds = Pcg64Mcg::seed_from_u64(seed);
    Pcg64Mcg::seed_from_u64(seeds.random::<u64>().wrapping_add(playout))
}

impl Walker {
    pub(super) fn new(machine: Box<dyn StateMachine>) -> Self {
        let n_roles = machine.game().roles().len();
        let moves = vec![Vec::new(); n_roles];
        Self { machine, moves, joint_move: Vec::with_capacity(n_roles), next: State::default() }
    }

    pub(super) fn roles(&self) -> impl Iterator<Item = RoleId> + use<> {
        self.machine.game().role_ids()
    }

    /// Finds the legal moves of all roles in `state`; whether each role has one.
    pub(super) fn find_moves(&mut self, state: &State) -> Result<bool, ReasoningError> {
        for role in self.roles() {
            self.machine.legal_moves(state, role, &mut self.moves[usize::from(role.0)])?;
        }
        Ok(self.moves.iter().all(|moves| !moves.is_empty()))
    }

    /// Draws one of the moves found last for each role, uniformly.
    pub(super) fn draw(&mut self, rng: &mut Pcg64Mcg) -> &[MoveId] {
        self.joint_move.clear();
        let drawn = self.moves.iter().map(|moves| moves[rng.random_range(..moves.len())]);
        self.joint_move.extend(drawn);
        &self.joint_move
    }

    /// Replaces `state` by its successor under the joint move drawn last.
    pub(super) fn advance(&mut self, state: &mut State) -> Result<(), ReasoningError> {
        self.machine.next_state(state, &self.joint_move, &mut self.next)?;
        std::mem::swap(state, &mut self.next);
        Ok(())
    }

    /// Plays at random from `state`. `visit` sees every state that is not
    /// terminal, with the legal moves of all roles, and may stop the playout.
    pub(super) fn playout(
        &mut self,
        mut state: State,
        rng: &mut Pcg64Mcg,
        max_steps: usize,
        mut visit: impl FnMut(&mut dyn StateMachine, &State, &[Vec<MoveId>]) -> bool,
    ) -> Result<Playout, ReasoningError> {
        let mut steps = 0;
        let ending = loop {
            if self.machine.is_terminal(&state)? {
                break Ending::Terminal;
            }
            let playable = self.find_moves(&state)?;
            if !visit(self.machine.as_mut(), &state, &self.moves) {
                break Ending::Stopped;
            }
            if !playable {
                break Ending::NoMove;
            }
            if steps == max_steps {
                break Ending::StepLimit;
            }
            self.draw(rng);
            self.advance(&mut state)?;
            steps += 1;
        };
        Ok(Playout { ending, steps, last: state })
    }
}
