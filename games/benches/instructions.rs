//! Instructions per state, and from text to the first playout, counted by
//! valgrind: the same on a busy machine as on a quiet one, so that a check may
//! refuse a change that makes play slower.
//!
//! ```text
//! cargo bench -p games --bench instructions                    # a table
//! cargo bench -p games --bench instructions -- --check FILE    # against a record
//! cargo bench -p games --bench instructions -- --write FILE    # a new record
//! ```
//!
//! `FILE` is taken from the folder of this crate unless it is absolute. Valgrind
//! shows every CPU that has AVX2 as one and the same, without AVX-512, so counts
//! do not depend on the machine beyond that. Batches of 64 lanes use no vector
//! registers at all; those of 512 are compared where they were computed with AVX2.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark may panic, print and read files"
)]

mod common;

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use games::batch::Limits;
use games::compiled_network::{CompiledNetwork, Width};
use games::{
    Batch, Cancel, Case, GroundingLimits, Guards, Leniency, NetworkMachine, Prover, StateMachine,
    ground, library, validate,
};

use self::common::{Numbers, playouts};

/// Game, engine and playouts, enough of them for the count to settle.
const WORK: [(&str, &str, u64); 21] = [
    ("tic_tac_toe", "prover", 400),
    ("tic_tac_toe", "network", 2000),
    ("tic_tac_toe", "cursor", 2000),
    ("tic_tac_toe", "interpreted_64", 20_000),
    ("tic_tac_toe", "interpreted_512", 100_000),
    ("tic_tac_toe", "machine_code_512", 100_000),
    ("connect_four", "prover", 100),
    ("connect_four", "network", 500),
    ("connect_four", "cursor", 500),
    ("connect_four", "interpreted_512", 20_000),
    ("connect_four", "machine_code_512", 20_000),
    ("breakthrough", "prover", 10),
    ("breakthrough", "network", 100),
    ("breakthrough", "cursor", 100),
    ("breakthrough", "interpreted_64", 1000),
    ("breakthrough", "machine_code_512", 5000),
    ("othello", "prover", 2),
    ("othello", "network", 20),
    ("othello", "cursor", 20),
    ("othello", "interpreted_512", 2000),
    ("othello", "machine_code_512", 2000),
];

/// From the text to the first playout: games and engines of which the start is
/// counted too.
const STARTS: [(&str, &str); 4] = [
    ("tic_tac_toe", "machine_code_512"),
    ("connect_four", "prover"),
    ("breakthrough", "network"),
    ("othello", "machine_code_512"),
];

/// A count may be this many times the record: compilers differ a little.
const ABOVE: f64 = 1.05;

/// A count below this fraction of the record is reported: recording it guards the gain.
const BELOW: f64 = 0.8;

const COLUMNS: &str = "game,engine,per,instructions,features,rustc,valgrind";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--play", game, engine, n] => {
            let n_states = play(game, engine, n.parse().unwrap());
            println!("{n_states} {}", features());
            ExitCode::SUCCESS
        }
        ["--check", file] | ["--check", file, "--bench"] => {
            check(&std::fs::read_to_string(file).unwrap())
        }
        ["--write", file] | ["--write", file, "--bench"] => {
            std::fs::write(file, table()).unwrap();
            ExitCode::SUCCESS
        }
        _ => {
            print!("{}", table());
            ExitCode::SUCCESS
        }
    }
}

/// One count.
struct Count {
    game: &'static str,
    engine: &'static str,
    /// `state` or `start`.
    per: &'static str,
    instructions: f64,
    /// What the process saw of the CPU.
    features: String,
}

fn table() -> String {
    let (rustc, valgrind) = (version("rustc"), version("valgrind"));
    let row = |count: Count| {
        let Count { game, engine, per, instructions, features } = count;
        format!("{game},{engine},{per},{instructions:.2},{features},{rustc},{valgrind}\n")
    };
    format!("{COLUMNS}\n{}", counts().into_iter().map(row).collect::<String>())
}

fn check(record: &str) -> ExitCode {
    assert_eq!(record.lines().next(), Some(COLUMNS), "columns of the record");
    let mut code = ExitCode::SUCCESS;
    for Count { game, engine, per, instructions, features } in counts() {
        let what = format!("{game} by {engine}, per {per}");
        let line =
            record.lines().find_map(|line| line.strip_prefix(&format!("{game},{engine},{per},")));
        let Some(recorded) = line else {
            println!("{what}: NO RECORD");
            code = ExitCode::FAILURE;
            continue;
        };
        let mut recorded = recorded.split(',');
        let allowed: f64 = recorded.next().unwrap().parse().unwrap();
        let recorded_features = recorded.next().unwrap();
        if recorded_features != features && engine.ends_with("_512") {
            println!("{what}: not compared, recorded with {recorded_features} and now {features}");
            continue;
        }
        let ratio = instructions / allowed;
        let verdict = match ratio {
            _ if ratio > ABOVE => "SLOWER",
            _ if ratio < BELOW => "faster; to guard it, record it",
            _ => "ok",
        };
        println!("{what}: {ratio:.3} of {allowed:.2} instructions, {verdict}");
        if ratio > ABOVE {
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// All counts, two processes at a time.
fn counts() -> Vec<Count> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(work) = WORK.get(next.fetch_add(1, Ordering::Relaxed)) {
                    all.lock().unwrap().extend(count(work));
                }
            });
        }
    });
    let mut counts: Vec<Count> = all.into_inner().unwrap();
    counts.sort_by_key(|count| (place(count), count.per));
    counts
}

/// Where it stands in the list of work.
fn place(count: &Count) -> usize {
    WORK.iter().position(|work| (work.0, work.1) == (count.game, count.engine)).unwrap()
}

/// Instructions per state, and of the start if that is asked for.
fn count(&(game, engine, n): &(&'static str, &'static str, u64)) -> Vec<Count> {
    let (start, _, features) = watched(game, engine, 0);
    let (all, n_states, _) = watched(game, engine, n);
    let per_state = (all - start) as f64 / n_states as f64;
    let count = |per, instructions| {
        let features = features.clone();
        Count { game, engine, per, instructions, features }
    };
    let mut counts = vec![count("state", per_state)];
    if STARTS.contains(&(game, engine)) {
        counts.push(count("start", start as f64));
    }
    counts
}

/// Instructions of a whole process, the states that it reached, and what it saw
/// of the CPU.
fn watched(game: &str, engine: &str, n: u64) -> (u64, u64, String) {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--play", game, engine, &n.to_string()])
        .output()
        .expect("valgrind is installed");
    let told = String::from_utf8_lossy(&output.stderr);
    let collected = told.lines().find_map(|line| line.split_once("Collected : "));
    let Some((_, instructions)) = collected else { panic!("valgrind says: {told}") };
    let printed = String::from_utf8(output.stdout).unwrap();
    let (n_states, features) = printed.trim().split_once(' ').unwrap();
    (instructions.trim().parse().unwrap(), n_states.parse().unwrap(), features.to_owned())
}

/// What there is for batches in vector registers.
fn features() -> &'static str {
    match games::compiled_network::vectors() {
        "none" => "words",
        vectors => vectors,
    }
}

/// The first line of what a program says of its version.
fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
}

/// Plays at random; the number of states reached.
fn play(name: &str, engine: &str, n: u64) -> u64 {
    let text = match library::find(name) {
        Some(shipped) => shipped.text.to_owned(),
        None => std::fs::read_to_string(name).unwrap(),
    };
    let game = validate::read(name, &text, Case::Folded, Leniency::Lenient).game.unwrap();
    let game = Arc::new(game);
    let prover = || Prover::new(Arc::clone(&game), Guards::default()).unwrap();
    let network = || Arc::new(ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap());
    match engine {
        "prover" => walk(&mut prover(), n),
        "network" => walk(&mut NetworkMachine::new(network(), prover()), n),
        "cursor" => go(&mut NetworkMachine::new(network(), prover()), n),
        _ => {
            let program = Arc::new(CompiledNetwork::new(network()));
            let width = match engine {
                "interpreted_64" => Width::Lanes64,
                "interpreted_512" => Width::Lanes512,
                "machine_code_512" => {
                    // Without AVX2 it is interpreted, and so not compared.
                    let _ = program.translate(Width::Lanes512);
                    Width::Lanes512
                }
                _ => panic!("no engine {engine}"),
            };
            let initial = program.network().initial_state();
            let limits = Limits { n_playouts: n, ..Limits::default() };
            Batch::new(&program, width, 1).playouts(&initial, &limits).n_states
        }
    }
}

/// The number of steps by a cursor.
fn go(machine: &mut dyn StateMachine, n: u64) -> u64 {
    let initial = machine.initial_state().unwrap();
    let roles = machine.game().role_ids();
    let mut cursor = machine.cursor(&initial);
    let mut numbers = Numbers::new();
    let mut n_steps = 0;
    for _ in 0..n {
        cursor.enter(&initial);
        while cursor.play_chosen(&mut |n_legal| numbers.below(n_legal)).unwrap() {
            n_steps += 1;
        }
        for role in roles.clone() {
            std::hint::black_box(cursor.goal(role).unwrap());
        }
    }
    n_steps
}

/// The number of steps by states.
fn walk(machine: &mut dyn StateMachine, n: u64) -> u64 {
    playouts(machine, n, u64::MAX).n_states - n
}
