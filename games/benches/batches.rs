//! Random playouts in lock step: states reached in a second of this process's
//! CPU time, by game and width, and what a step of a batch spends it on.
//!
//! ```text
//! cargo bench -p games --bench batches -- [GAME | RULESHEET.kif]... [--seconds S]
//! ```
//!
//! Not criterion: what counts is CPU time (machines are shared), and a table.
//! Each row asserts what it plays, so that wrong play does not go unseen.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads rulesheets and clocks")]

use std::sync::Arc;
use std::time::Instant;

use games::batch::{Limits, Program, Width};
use games::grounding::{Budget, ground};
use games::{Batch, Cancel, Case, Game, Leniency, library, validate};

/// What is played without arguments.
const GAMES: [&str; 8] = [
    "tic_tac_toe",
    "connect_four",
    "breakthrough",
    "othello",
    "checkers",
    "hex",
    "eight_puzzle_course",
    "tron",
];

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    // Cargo says so when it benches, and not when it tests.
    let benches = names.iter().any(|name| name == "--bench");
    let mut seconds = if benches { 1.0 } else { 0.0 };
    if let Some(at) = names.iter().position(|name| name == "--seconds") {
        seconds = names[at + 1].parse().unwrap();
        names.drain(at..at + 2);
    }
    names.retain(|name| !name.starts_with("--"));
    if names.is_empty() {
        let n = if benches { GAMES.len() } else { 2 };
        names = GAMES[..n].iter().map(|&name| name.to_owned()).collect();
    }
    println!(
        "{:<24} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} | {:>5} {:>8} {:>10} {:>9} | {:>7} {:>7} {:>7}",
        "game",
        "ands",
        "state",
        "next",
        "goals",
        "slots",
        "ms",
        "lanes",
        "M st/s",
        "playouts/s",
        "length",
        "legal",
        "choose",
        "step ns"
    );
    for name in &names {
        bench(name, seconds);
    }
}

fn read(name: &str) -> Arc<Game> {
    let text = match library::find(name) {
        Some(shipped) => shipped.text.as_bytes().to_vec(),
        None => std::fs::read(name).unwrap(),
    };
    let game = validate::read(name, &text, Case::Folded, Leniency::Lenient).game;
    Arc::new(game.unwrap())
}

fn bench(name: &str, seconds: f64) {
    let network = match ground(&read(name), &Budget::default(), &Cancel::new()) {
        Ok(network) => network,
        Err(error) => return println!("{name}: failed to {error}"),
    };
    let before = cpu();
    let program = Arc::new(Program::new(Arc::new(network)));
    let compile = cpu() - before;
    let short = name.rsplit('/').next().unwrap().split("__").next().unwrap();
    for width in Width::ALL {
        let size = program.size();
        let mut batch = Batch::new(&program, width, 1);
        let state = program.network().initial_state();
        let limits = |n| Limits { n_playouts: n, max_length: 500, ..Limits::default() };
        let n_lanes = batch.n_lanes() as u64;
        // Enough for one to be measured, then as many as fill the time.
        let mut n = n_lanes;
        let (playouts, time) = loop {
            let before = cpu();
            let playouts = batch.playouts(&state, &limits(n));
            let time = cpu() - before;
            assert_eq!(playouts.n, n);
            if time >= seconds * 0.8 {
                break (playouts, time);
            }
            let more = if time > 0.02 { seconds / time } else { 8.0 };
            n = (n as f64 * more.clamp(2.0, 50.0)) as u64;
        };
        // In the middle of playouts, as far as they are not at their end.
        batch.fill(&state);
        for _ in 0..playouts.mean_length().unwrap() as u32 / 2 {
            batch.evaluate();
            batch.choose_at_random();
            batch.advance();
        }
        let legal = each(seconds / 10.0, || batch.evaluate());
        let choose = each(seconds / 10.0, || {
            batch.choose_at_random();
        });
        let goals = playouts.goals.iter().map(|goals| goals.mean().unwrap_or(f64::NAN));
        println!(
            "{:<24} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6.1} | {:>5} {:>8.2} {:>10.0} {:>9.2} | {:>7.0} {:>7.0} {:>7.0} | {}",
            short,
            size.n_ands,
            size.n_state_gates,
            size.n_next_gates,
            size.n_goal_gates,
            size.n_slots,
            compile * 1e3,
            n_lanes,
            playouts.n_states as f64 / time / 1e6,
            playouts.n as f64 / time,
            playouts.mean_length().unwrap(),
            legal * 1e9,
            choose * 1e9,
            time / playouts.n_states as f64 * n_lanes as f64 * 1e9,
            goals.map(|goal| format!("{goal:.1}")).collect::<Vec<_>>().join("/"),
        );
    }
}

/// The time of one call.
fn each(seconds: f64, mut call: impl FnMut()) -> f64 {
    let mut n = 1;
    loop {
        let before = cpu();
        (0..n).for_each(|_| call());
        let time = cpu() - before;
        if time >= seconds {
            return time / f64::from(n);
        }
        n *= 2;
    }
}

/// CPU seconds of this thread where the system tells, else of the wall clock.
fn cpu() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
