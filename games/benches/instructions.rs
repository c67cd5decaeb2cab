//! Instructions per state, counted by valgrind: the same on a busy machine as on a
//! quiet one, so that a check may refuse a change that makes play slower.
//!
//! ```text
//! cargo bench -p games --bench instructions                    # a table
//! cargo bench -p games --bench instructions -- --check FILE    # against a record
//! cargo bench -p games --bench instructions -- --write FILE    # a new record
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark may panic, print and read files"
)]

use std::process::{Command, ExitCode};
use std::sync::Arc;

use games::batch::{Limits, Program, Width};
use games::{
    Batch, Budget, Cancel, Case, Guards, Leniency, MoveId, NetworkMachine, Prover, RoleId, State,
    StateMachine, ground, library, validate,
};

/// Game, engine and playouts, enough of them for the start not to matter.
const WORK: [(&str, &str, u64); 12] = [
    ("tic_tac_toe", "prover", 400),
    ("tic_tac_toe", "network", 2000),
    ("tic_tac_toe", "batch", 100_000),
    ("connect_four", "prover", 100),
    ("connect_four", "network", 500),
    ("connect_four", "batch", 20_000),
    ("breakthrough", "prover", 10),
    ("breakthrough", "network", 100),
    ("breakthrough", "batch", 5000),
    ("othello", "prover", 2),
    ("othello", "network", 20),
    ("othello", "batch", 2000),
];

/// A count may be so much above the record: compilers differ a little.
const TOLERANCE: f64 = 1.05;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--play", game, engine, n] => {
            let n_states = play(game, engine, n.parse().unwrap());
            println!("{n_states}");
            ExitCode::SUCCESS
        }
        ["--check", file] | ["--check", file, "--bench"] => {
            check(&std::fs::read_to_string(file).unwrap())
        }
        ["--write", file] | ["--write", file, "--bench"] => {
            let rows: String = WORK.iter().map(|work| row(work, count(work))).collect();
            std::fs::write(file, format!("game,engine,instructions_per_state\n{rows}")).unwrap();
            ExitCode::SUCCESS
        }
        _ => {
            for work in &WORK {
                print!("{}", row(work, count(work)));
            }
            ExitCode::SUCCESS
        }
    }
}

fn row((game, engine, _): &(&str, &str, u64), count: f64) -> String {
    format!("{game},{engine},{count:.2}\n")
}

fn check(record: &str) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for work in &WORK {
        let (game, engine, _) = work;
        let name = format!("{game},{engine},");
        let line = record.lines().find_map(|line| line.strip_prefix(&name));
        let Some(allowed) = line.map(|count| count.parse::<f64>().unwrap()) else {
            println!("{game} by the {engine}: no record");
            code = ExitCode::FAILURE;
            continue;
        };
        let ratio = count(work) / allowed;
        let verdict = if ratio > TOLERANCE { "SLOWER" } else { "ok" };
        println!("{game} by the {engine}: {ratio:.3} of {allowed:.2} instructions, {verdict}");
        if ratio > TOLERANCE {
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Instructions per state.
fn count((game, engine, n): &(&str, &str, u64)) -> f64 {
    let (start, _) = watched(game, engine, 0);
    let (all, n_states) = watched(game, engine, *n);
    (all - start) as f64 / n_states as f64
}

/// Instructions of a whole process, and the states that it reached.
fn watched(game: &str, engine: &str, n: u64) -> (u64, u64) {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--play", game, engine, &n.to_string()])
        .output()
        .expect("valgrind is installed");
    let told = String::from_utf8_lossy(&output.stderr);
    let collected = told.lines().find_map(|line| line.split_once("Collected : "));
    let Some((_, instructions)) = collected else { panic!("valgrind says: {told}") };
    let n_states = String::from_utf8(output.stdout).unwrap();
    (instructions.trim().parse().unwrap(), n_states.trim().parse().unwrap())
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
    let network = || Arc::new(ground(&game, &Budget::default(), &Cancel::new()).unwrap());
    match engine {
        "prover" => walk(&mut prover(), n),
        "network" => walk(&mut NetworkMachine::new(network(), prover()), n),
        "batch" => {
            let program = Arc::new(Program::new(network()));
            let initial = program.network().initial_state();
            let limits = Limits { n_playouts: n, ..Limits::default() };
            Batch::new(&program, Width::Lanes512, 1).playouts(&initial, &limits).n_states
        }
        _ => panic!("no engine {engine}"),
    }
}

fn walk(machine: &mut dyn StateMachine, n: u64) -> u64 {
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
    let mut n_states = 0;
    for _ in 0..n {
        state.clone_from(&initial);
        while !machine.is_terminal(&state).unwrap() {
            joint_move.clear();
            for role in roles() {
                machine.legal_moves(&state, role, &mut moves).unwrap();
                joint_move.push(choose(&moves));
            }
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            std::mem::swap(&mut state, &mut next);
            n_states += 1;
        }
        for role in roles() {
            let _ = machine.goal(&state, role).unwrap();
        }
    }
    n_states
}
