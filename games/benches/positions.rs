//! One position at a time: nanoseconds of CPU time per state of random playouts,
//! by game and by how the network's gates are computed.
//!
//! ```text
//! cargo bench -p games --bench positions -- [GAME | RULESHEET.kif]... [--seconds S]
//! ```
//!
//! In each state it is asked whether it is terminal and what every role may do, at
//! the end what every role gets. Each row asserts that all ways played the same.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads rulesheets and clocks")]

use std::sync::Arc;
use std::time::Instant;

use games::Evaluation;
use games::{
    Budget, Cancel, Case, Guards, Leniency, MoveId, NetworkMachine, Prover, RoleId, State,
    StateMachine, ground, library, validate,
};

/// What is played without arguments.
const GAMES: [&str; 10] = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough",
    "othello",
    "checkers",
    "hex",
    "eight_puzzle_course",
    "tron",
    "nim",
    "hanoi",
];

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Played {
    states: u64,
    goals: u64,
}

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says so when it benches, and not when it tests.
    let benches = names.iter().any(|name| name == "--bench");
    let mut seconds = if benches { 0.5 } else { 0.0 };
    if let Some(at) = names.iter().position(|name| name == "--seconds") {
        seconds = names[at + 1].parse().unwrap();
        names.drain(at..at + 2);
    }
    // Without `--bench` other words are filters of tests.
    names.retain(|name| benches && !name.starts_with("--"));
    if names.is_empty() {
        let n = if benches { GAMES.len() } else { 2 };
        names = GAMES[..n].iter().map(|&name| name.to_owned()).collect();
    }
    println!("{:<24} {:>8} {:>12} {:>12} {:>12}", "game", "ands", "differential", "pass", "chosen");
    for name in &names {
        row(name, seconds);
    }
}

fn row(name: &str, seconds: f64) {
    let text = match library::find(name) {
        Some(shipped) => shipped.text.to_owned(),
        None => std::fs::read_to_string(name).unwrap(),
    };
    let game = Arc::new(validate::read(name, &text, Case::Folded, Leniency::Lenient).game.unwrap());
    let prover = Prover::new(Arc::clone(&game), Guards::default()).unwrap();
    let network = Arc::new(ground(&game, &Budget::default(), &Cancel::new()).unwrap());
    let short = name.rsplit('/').next().unwrap();
    print!("{:<24} {:>8}", &short[..short.len().min(24)], network.graph.n_ands());
    let mut first = None;
    for evaluation in [Evaluation::Differential, Evaluation::Pass] {
        let mut machine =
            NetworkMachine::with_evaluation(Arc::clone(&network), prover.clone(), evaluation);
        let once = playouts(&mut machine, 20);
        assert_eq!(*first.get_or_insert(once), once, "{name}");
        let mut best = f64::INFINITY;
        let mut spent = 0.0;
        while spent < seconds {
            let before = Instant::now();
            let played = playouts(&mut machine, 20);
            let elapsed = before.elapsed().as_secs_f64();
            assert_eq!(first, Some(played), "{name}");
            best = best.min(elapsed / played.states as f64);
            spent += elapsed;
        }
        print!(" {:>12.0}", best * 1e9);
    }
    let chosen = NetworkMachine::new(network, prover).evaluation();
    println!(" {:>12}", format!("{chosen:?}").to_lowercase());
}

/// Plays at random, each playout for 300 steps at most.
fn playouts(machine: &mut dyn StateMachine, n: u64) -> Played {
    let mut seed = 2008_u64;
    let mut choose = |moves: &[MoveId]| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        moves[(((seed >> 33) * moves.len() as u64) >> 31) as usize]
    };
    let n_roles = machine.game().roles().len();
    let roles = || (0..n_roles).map(|role| RoleId(role as u8));
    let initial = machine.initial_state().unwrap();
    let (mut state, mut next) = (State::default(), State::default());
    let (mut moves, mut joint_move) = (Vec::new(), Vec::new());
    let mut played = Played::default();
    for _ in 0..n {
        state.clone_from(&initial);
        for _ in 0..300 {
            played.states += 1;
            if machine.is_terminal(&state).unwrap() {
                break;
            }
            joint_move.clear();
            for role in roles() {
                machine.legal_moves(&state, role, &mut moves).unwrap();
                joint_move.push(choose(&moves));
            }
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            std::mem::swap(&mut state, &mut next);
        }
        for role in roles() {
            let reading = machine.goal(&state, role).unwrap();
            played.goals += reading.unique().map_or(0, |goal| u64::from(goal.value()));
        }
    }
    played
}
