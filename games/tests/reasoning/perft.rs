//! Numbers of sequences of joint moves of the shipped rulesheets, against those
//! of an independent evaluator in `games/tests/perft`.

use std::path::Path;
use std::sync::Arc;

use games::{
    Case, Guards, Leniency, MoveId, RoleId, State, StateMachine, library, state_machine_for,
    validate,
};

/// Sequences of `depth` joint moves from a state; play ends in terminal states.
fn perft(machine: &mut dyn StateMachine, state: &State, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if machine.is_terminal(state).unwrap() {
        return 0;
    }
    let n_roles = machine.game().roles().len();
    let mut legal = vec![Vec::new(); n_roles];
    for (role, moves) in legal.iter_mut().enumerate() {
        machine.legal_moves(state, RoleId(role as u8), moves).unwrap();
    }
    if depth == 1 {
        return legal.iter().map(|moves| moves.len() as u64).product();
    }
    let mut sum = 0;
    let mut chosen = vec![0; n_roles];
    let mut next = State::default();
    loop {
        let joint_move: Vec<MoveId> =
            legal.iter().zip(&chosen).map(|(moves, &at)| moves[at]).collect();
        machine.next_state(state, &joint_move, &mut next).unwrap();
        sum += perft(machine, &next, depth - 1);
        // The next combination, the last role changing fastest.
        let Some(role) = (0..n_roles).rev().find(|&role| chosen[role] + 1 < legal[role].len())
        else {
            return sum;
        };
        chosen[role] += 1;
        chosen[role + 1..].fill(0);
    }
}

#[test]
fn move_sequences_are_as_many_as_counted_elsewhere() {
    let slow =
        std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| !value.is_empty() && value != "0");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perft");
    let mut n_checked = 0;
    for shipped in library::all() {
        let Ok(text) = std::fs::read_to_string(folder.join(format!("{}.perft", shipped.name)))
        else {
            continue;
        };
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        let mut machine = state_machine_for(Arc::new(game.unwrap()), Guards::default()).unwrap();
        let state = machine.initial_state().unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (depth, expected): (u32, u64) = match words.as_slice() {
                ["perft", depth, count] => (depth.parse().unwrap(), count.parse().unwrap()),
                ["slow", depth, count] if slow => (depth.parse().unwrap(), count.parse().unwrap()),
                _ => continue,
            };
            let found = perft(&mut *machine, &state, depth);
            assert_eq!(found, expected, "{} at depth {depth}", shipped.name);
            n_checked += 1;
        }
    }
    assert!(n_checked > 50, "the counts were not found");
}
