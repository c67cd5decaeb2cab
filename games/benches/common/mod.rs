//! What the benchmarks of one position at a time play.

use games::{State, StateMachine};

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// States that were looked at, terminal ones too.
    pub(crate) n_states: u64,
    /// The sum of all roles' goals at the ends.
    pub(crate) goals: u64,
}

/// Knuth's MMIX generator.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Always the same numbers.
    pub(crate) fn new() -> Self {
        Self(2008)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 33) * n as u64) >> 31) as usize
    }
}

/// Plays at random, always the same: to the end, or `max_states` states of each
/// playout. In each state it is asked whether it is terminal and what every role may
/// do, in the last one what every role gets. A playout in which a role has no move is over.
pub(crate) fn playouts(machine: &mut dyn StateMachine, n_playouts: u64, max_states: u64) -> Played {
    let mut numbers = Numbers::new();
    let roles = machine.game().role_ids();
    let initial = machine.initial_state().unwrap();
    let (mut state, mut next) = (State::default(), State::default());
    let (mut moves, mut joint_move) = (Vec::new(), Vec::new());
    let mut played = Played::default();
    for _ in 0..n_playouts {
        state.clone_from(&initial);
        for _ in 0..max_states {
            played.n_states += 1;
            if machine.is_terminal(&state).unwrap() {
                break;
            }
            joint_move.clear();
            for role in roles.clone() {
                machine.legal_moves(&state, role, &mut moves).unwrap();
                if moves.is_empty() {
                    break;
                }
                joint_move.push(moves[numbers.below(moves.len())]);
            }
            if joint_move.len() < roles.len() {
                break;
            }
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            std::mem::swap(&mut state, &mut next);
        }
        for role in roles.clone() {
            let reading = machine.goal(&state, role).unwrap();
            played.goals += reading.unique().map_or(0, |goal| u64::from(goal.value()));
        }
    }
    played
}
