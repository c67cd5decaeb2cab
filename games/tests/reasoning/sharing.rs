//! Forks of one machine: states and moves are good for all of them.

use std::sync::Arc;

use games::{
    Case, Guards, Leniency, MoveId, RoleId, State, StateMachine, library, state_machine_for,
    validate,
};

use super::random::Random;

/// Plays at random; all states with the moves played in them.
fn play(machine: &mut dyn StateMachine, seed: u64) -> Vec<(State, Vec<MoveId>)> {
    let mut random = Random::new(seed);
    let n_roles = machine.game().roles().len();
    let mut line = Vec::new();
    let mut state = machine.initial_state().unwrap();
    for _ in 0..40 {
        if machine.is_terminal(&state).unwrap() {
            break;
        }
        let mut joint_move = Vec::new();
        for role in 0..n_roles {
            let mut moves = Vec::new();
            machine.legal_moves(&state, RoleId(role as u8), &mut moves).unwrap();
            joint_move.push(moves[random.below(moves.len())]);
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        line.push((std::mem::replace(&mut state, next), joint_move));
    }
    line.push((state, Vec::new()));
    line
}

/// What a machine says of a line of play, in words.
fn told(machine: &mut dyn StateMachine, line: &[(State, Vec<MoveId>)]) -> Vec<String> {
    let mut told = Vec::new();
    for (at, (state, joint_move)) in line.iter().enumerate() {
        for fact in machine.facts(state) {
            told.push(fact.to_string());
        }
        for &id in joint_move {
            told.push(machine.move_expression(id).to_string());
        }
        if let Some((after, _)) = line.get(at + 1) {
            let mut next = State::default();
            machine.next_state(state, joint_move, &mut next).unwrap();
            assert_eq!(&next, after);
        }
    }
    told
}

#[test]
fn forks_on_other_threads_agree() {
    for name in ["tic_tac_toe", "eight_puzzle_seed", "connect_four", "nim"] {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        let mut machine = state_machine_for(Arc::new(game), Guards::default()).unwrap();
        // Forked before anything is known, so that all find new terms at once.
        let mut forks: Vec<_> = (0..4).map(|_| machine.fork()).collect();
        let lines: Vec<_> = std::thread::scope(|scope| {
            let runs: Vec<_> = forks
                .iter_mut()
                .zip(0..)
                .map(|(fork, seed)| scope.spawn(move || play(&mut **fork, seed)))
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for line in &lines {
            let expected = told(&mut *machine, line);
            for fork in &mut forks {
                assert_eq!(told(&mut **fork, line), expected, "{name}");
            }
        }
    }
}

#[test]
fn questions_may_come_in_any_order() {
    let text = library::find("tic_tac_toe").unwrap().text;
    let game = validate::read("tic_tac_toe", text, Case::Folded, Leniency::Strict).game.unwrap();
    let mut machine = state_machine_for(Arc::new(game), Guards::default()).unwrap();
    let line = play(&mut *machine, 3);
    let answer = |machine: &mut dyn StateMachine, at: usize, question: usize| {
        let (state, joint_move) = &line[at];
        let mut moves = Vec::new();
        match question {
            0 => machine.is_terminal(state).unwrap().to_string(),
            1 => format!("{:?}", machine.goal(state, RoleId(1)).unwrap()),
            2 => {
                machine.legal_moves(state, RoleId(0), &mut moves).unwrap();
                format!("{moves:?}")
            }
            _ if joint_move.is_empty() => String::new(),
            _ => {
                let mut next = State::default();
                machine.next_state(state, joint_move, &mut next).unwrap();
                format!("{:?}", machine.facts(&next))
            }
        }
    };
    let mut random = Random::new(1);
    let mut fresh: Vec<Vec<String>> = Vec::new();
    for at in 0..line.len() {
        fresh.push((0..4).map(|question| answer(&mut *machine.fork(), at, question)).collect());
    }
    for _ in 0..500 {
        let (at, question) = (random.below(line.len()), random.below(4));
        assert_eq!(answer(&mut *machine, at, question), fresh[at][question]);
    }
}
