//! One position at a time: nanoseconds per state of random playouts, of the fastest
//! of several rounds, by game and by how the network's gates are computed.
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

mod common;

use std::sync::Arc;
use std::time::Instant;

use games::{
    Cancel, Case, EvaluationMethod, GroundingLimits, Guards, Leniency, NetworkMachine, Prover,
    ground, library, validate,
};

use self::common::playouts;

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
    let network = Arc::new(ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap());
    let short = name.rsplit('/').next().unwrap();
    print!("{:<24} {:>8}", &short[..short.len().min(24)], network.graph.n_ands());
    let mut first = None;
    for evaluation in [EvaluationMethod::Differential, EvaluationMethod::Pass] {
        let mut machine =
            NetworkMachine::with_evaluation(Arc::clone(&network), prover.clone(), evaluation);
        let once = playouts(&mut machine, 20, 300);
        assert_eq!(*first.get_or_insert(once), once, "{name}");
        let mut best = f64::INFINITY;
        let mut spent = 0.0;
        while spent < seconds {
            let before = Instant::now();
            let played = playouts(&mut machine, 20, 300);
            let elapsed = before.elapsed().as_secs_f64();
            assert_eq!(first, Some(played), "{name}");
            best = best.min(elapsed / played.n_states as f64);
            spent += elapsed;
        }
        print!(" {:>12.0}", best * 1e9);
    }
    let chosen = NetworkMachine::new(network, prover).evaluation();
    println!(" {:>12}", format!("{chosen:?}").to_lowercase());
}
