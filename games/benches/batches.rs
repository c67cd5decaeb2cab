//! Random playouts in lock step: states reached in a second of this process's
//! CPU time, by game and width, interpreted and as machine code (where the bytes
//! of code are not 0), and what a step of a batch spends it on.
//!
//! ```text
//! cargo bench -p games --bench batches -- [GAME | RULESHEET.kif]... [--seconds S] [--lanes N]
//! ```
//!
//! Not criterion: what counts is CPU time (machines are shared), and a table.
//! Each row asserts what it plays, so that wrong play does not go unseen.

#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads rulesheets and clocks")]

use std::sync::Arc;
use std::time::Instant;

use games::batch::Limits;
use games::compiled_network::{CompiledNetwork, Width};
use games::grounding::{GroundingLimits, ground};
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
    let mut widths: Vec<usize> = Width::ALL.map(Width::n_lanes).to_vec();
    if let Some(at) = names.iter().position(|name| name == "--lanes") {
        widths = vec![names[at + 1].parse().unwrap()];
        names.drain(at..at + 2);
    }
    // Without `--bench` other words are filters of tests.
    names.retain(|name| benches && !name.starts_with("--"));
    if names.is_empty() {
        let n = if benches { GAMES.len() } else { 2 };
        names = GAMES[..n].iter().map(|&name| name.to_owned()).collect();
    }
    println!(
        "{:<24} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} | {:>5} {:>6} {:>8} {:>10} {:>9} | {:>7} {:>7} {:>7} {:>7} {:>7}",
        "game",
        "ands",
        "state",
        "next",
        "goals",
        "slots",
        "ms",
        "code",
        "lanes",
        "frames",
        "M st/s",
        "playouts/s",
        "length",
        "legal",
        "choose",
        "advance",
        "goals",
        "step ns"
    );
    for name in &names {
        bench(name, seconds, &widths);
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

fn bench(name: &str, seconds: f64, widths: &[usize]) {
    let network = match ground(&read(name), &GroundingLimits::default(), &Cancel::new()) {
        Ok(network) => network,
        Err(error) => return println!("{name}: {error}"),
    };
    let before = cpu();
    let program = Arc::new(CompiledNetwork::new(Arc::new(network)));
    let mut compile = cpu() - before;
    let short = name.rsplit('/').next().unwrap().split("__").next().unwrap();
    for (width, is_translated) in
        Width::ALL.into_iter().flat_map(|width| [(width, false), (width, true)])
    {
        if widths.iter().all(|&n| n != width.n_lanes()) {
            continue;
        }
        if is_translated {
            let before = cpu();
            if program.translate(width).is_err() {
                continue;
            }
            compile = cpu() - before;
        }
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
        let advance = each(seconds / 10.0, || batch.advance());
        let all_goals = each(seconds / 10.0, || {
            _ = batch.goals(&[]);
        });
        let goals = playouts.goals.iter().map(|goals| goals.mean().unwrap_or(f64::NAN));
        println!(
            "{:<24} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6.1} {:>8} | {:>5} {:>6} {:>8.2} {:>10.0} {:>9.2} | {:>7.0} {:>7.0} {:>7.0} {:>7.0} {:>7.0} | {}",
            short,
            size.n_ands,
            size.n_state_gates,
            size.n_next_gates,
            size.n_goal_gates,
            size.n_slots,
            compile * 1e3,
            if is_translated { program.n_machine_code_bytes(width) } else { 0 },
            n_lanes,
            program.n_time_frames(width),
            playouts.n_states as f64 / time / 1e6,
            playouts.n as f64 / time,
            playouts.mean_length().unwrap(),
            legal * 1e9,
            choose * 1e9,
            advance * 1e9,
            all_goals * 1e9,
            time / playouts.n_states as f64 * n_lanes as f64 * 1e9,
            goals.map(|goal| format!("{goal:.1}")).collect::<Vec<_>>().join("/"),
        );
    }
}

/// The least time of one call, in many short spans: what interrupts it counts
/// for nothing.
fn each(seconds: f64, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut least = f64::INFINITY;
    let mut n = 1;
    loop {
        let before = Instant::now();
        (0..n).for_each(|_| call());
        let time = before.elapsed().as_secs_f64();
        least = least.min(time / f64::from(n));
        if time < 50e-6 {
            n *= 2;
        } else if start.elapsed().as_secs_f64() >= seconds {
            return least;
        }
    }
}

/// CPU seconds of this thread where the system tells, else of the wall clock.
fn cpu() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = scheduled.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
