//! One match of each shipped rulesheet, written out in full and kept in
//! `games/tests/playthroughs`: a change of any answer shows as a difference.
//! With `UPDATE_SNAPSHOTS=1` the files are written anew.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use games::library::Shipped;
use games::{
    Case, Guards, Leniency, MoveId, RoleId, State, StateMachine, library, state_machine_for,
    validate,
};

use super::random::Random;

/// A match is cut off after this many steps.
const MAX_STEPS: usize = 30;

#[test]
fn matches_go_as_they_went() {
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playthroughs");
    for shipped in library::all() {
        let path = folder.join(format!("{}.txt", shipped.name));
        let found = playthrough(shipped);
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &found).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == found, "{} differs from {}:\n{found}", shipped.name, path.display());
    }
}

fn playthrough(shipped: &Shipped) -> String {
    let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
    let game = Arc::new(game.unwrap());
    let roles: Vec<String> =
        game.roles().iter().map(|&role| game.symbols().name(role).to_owned()).collect();
    let percepts = game.kind().percepts;
    let mut machine = state_machine_for(game, Guards::default()).unwrap();
    let mut random = Random::new(2008);
    let mut text = format!("roles: {}\n", roles.join(" "));
    let mut state = machine.initial_state().unwrap();
    for step in 0..=MAX_STEPS {
        writeln!(text, "\nstep {step}").unwrap();
        let terminal = machine.is_terminal(&state).unwrap();
        let facts: Vec<_> = machine.facts(&state).iter().map(ToString::to_string).collect();
        writeln!(text, "  facts: {}", facts.join(" ")).unwrap();
        writeln!(text, "  terminal: {terminal}").unwrap();
        let mut joint_move = Vec::new();
        for (index, role) in roles.iter().enumerate() {
            let id = RoleId(index as u8);
            let goal = machine.goal(&state, id).unwrap();
            let goals: Vec<_> = goal.values.iter().map(|goal| goal.value().to_string()).collect();
            writeln!(text, "  goal of {role}: {}", goals.join(" ")).unwrap();
            let mut moves = Vec::new();
            machine.legal_moves(&state, id, &mut moves).unwrap();
            writeln!(text, "  legal for {role}: {}", written(&*machine, &moves)).unwrap();
            if !moves.is_empty() {
                joint_move.push(moves[random.below(moves.len())]);
            }
        }
        if terminal || joint_move.len() < roles.len() {
            break;
        }
        writeln!(text, "  joint move: {}", written(&*machine, &joint_move)).unwrap();
        if percepts {
            for (index, role) in roles.iter().enumerate() {
                let seen = machine.percepts(&state, &joint_move, RoleId(index as u8)).unwrap();
                let seen: Vec<_> = seen.iter().map(ToString::to_string).collect();
                writeln!(text, "  {role} sees: {}", seen.join(" ")).unwrap();
            }
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn written(machine: &dyn StateMachine, moves: &[MoveId]) -> String {
    let moves: Vec<_> = moves.iter().map(|&id| machine.move_expression(id).to_string()).collect();
    moves.join(" ")
}
