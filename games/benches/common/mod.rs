//! What the benchmarks of one position at a time play.

use games::{MoveId, State, StateMachine};

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// States that were looked at, terminal ones too.
    pub(crate) n_states: u64,
    /// The sum of all roles' goals at the ends.
    pub(crate) goals: u64,
}

/// Plays at random, always the same: to the end, or `max_states` states of each
/// playout. In each state it is asked whether it is terminal and what every role may
/// do, in the last one what every role gets.
pub(crate) fn playouts(machine: &mut dyn StateMachine, n_playouts: u64, max_states: u64) -> Played {
    // Knuth's MMIX generator.
    let mut seed = 2008_u64;
    let mut choose = |moves: &[MoveId]| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        moves[(((seed >> 33) * moves.len() as u64) >> 31) as usize]
    };
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
                joint_move.push(choose(&moves));
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
