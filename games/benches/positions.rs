//! One position at a time: nanoseconds per state of random playouts, of the fastest
//! of several rounds, by game and by how the network's gates are computed; by states that
//! are handed over, and by a cursor.
//!
//! ```text
//! cargo bench -p games --bench positions -- [GAME | RULESHEET.kif]... [--seconds S]
//! ```
//!
//! In each state it is asked whether it is terminal and what every role may do, at
//! the end what every role gets. Each row asserts that all ways played the same. `work` are
//! the updates of a step of the differential evaluation, as `gamemaster game info` prints them.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads rulesheets and clocks")]

mod common;

use std::sync::Arc;
use std::time::Instant;

use games::{
    Cancel, Case, EvaluationMethod, GroundingLimits, Guards, Leniency, NetworkMachine, Prover,
    StateMachine, StatisticValue, ground, library, validate,
};

use self::common::{Numbers, Played, playouts};

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
    println!(
        "{:<24} {:>8} {:>8} {:>12} {:>12} {:>12} {:>12} {:>12}",
        "game", "ands", "work", "differential", "by cursor", "pass", "by cursor", "chosen"
    );
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
    let network = Arc::new(ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap());
    let short = name.rsplit('/').next().unwrap();
    let chosen = NetworkMachine::new(Arc::clone(&network), prover.clone());
    let work = chosen.statistics().into_iter().find(|it| it.name == "updates_per_step").unwrap();
    let StatisticValue::Count(work) = work.value else { panic!("a count") };
    print!("{:<24} {:>8} {work:>8}", &short[..short.len().min(24)], network.graph.n_ands());
    let mut first = None;
    for evaluation in [EvaluationMethod::Differential, EvaluationMethod::Pass] {
        let mut machine =
            NetworkMachine::with_evaluation(Arc::clone(&network), prover.clone(), evaluation);
        for play in [playouts, by_cursor] {
            let once = play(&mut machine, 20, 300);
            assert_eq!(*first.get_or_insert(once), once, "{name}");
            let mut best = f64::INFINITY;
            let mut spent = 0.0;
            while spent < seconds {
                let before = Instant::now();
                let played = play(&mut machine, 20, 300);
                let elapsed = before.elapsed().as_secs_f64();
                assert_eq!(first, Some(played), "{name}");
                best = best.min(elapsed / played.n_states as f64);
                spent += elapsed;
            }
            print!(" {:>12.0}", best * 1e9);
        }
    }
    println!(" {:>12}", format!("{:?}", chosen.evaluation()).to_lowercase());
}

/// What [`playouts`] plays, by a cursor.
fn by_cursor(machine: &mut dyn StateMachine, n_playouts: u64, max_states: u64) -> Played {
    let mut numbers = Numbers::new();
    let initial = machine.initial_state().unwrap();
    let mut cursor = machine.cursor(&initial);
    let mut played = Played::default();
    for _ in 0..n_playouts {
        cursor.enter(&initial);
        let mut n_states = 1;
        while n_states <= max_states && cursor.play_chosen(&mut |n| numbers.below(n)).unwrap() {
            n_states += 1;
        }
        played.n_states += n_states.min(max_states);
        for role in machine.game().role_ids() {
            let reading = cursor.goal(role).unwrap();
            played.goals += reading.unique().map_or(0, |goal| u64::from(goal.value()));
        }
    }
    played
}
