//! All reasoners in lock step on shipped and published rulesheets (`agreement`);
//! and machine code against the interpreter, in all lanes of each width.
//!
//! `GAMEMASTER_CORPUS` and `GAMEMASTER_CORPUS_ONLY` as in `corpus`; with
//! `RUN_SLOW_TESTS=1` there are 1000 steps instead of a few, in both widths. The
//! statistics of playouts are also held against what other programs measured.

#![expect(clippy::print_stderr, reason = "skipping is to be seen, and what was played")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use games::batch::Limits;
use games::compiled_network::{CompiledNetwork, Width};
use games::grounding::ground;
use games::{
    Batch, Cancel, Case, Game, GroundingLimits, Guards, Leniency, RoleId, library, validate,
};

use super::agreement::{self, Effort};

fn is_slow() -> bool {
    std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1")
}

fn program(game: &Arc<Game>) -> Option<Arc<CompiledNetwork>> {
    let network = ground(game, &GroundingLimits::default(), &Cancel::new()).ok()?;
    Some(Arc::new(CompiledNetwork::new(Arc::new(network))))
}

/// Those with machine code; 64 lanes are always there.
const WIDTHS: [Width; 2] = [Width::Lanes512, Width::Lanes256];

#[test]
fn all_reasoners_agree_on_shipped_rulesheets() {
    for (i, shipped) in library::all().iter().enumerate() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        let game = Arc::new(game.unwrap());
        assert!(check(shipped.name, &game, WIDTHS[i % 2]), "{}", shipped.name);
    }
}

#[test]
fn all_reasoners_agree_on_published_rulesheets() {
    let games = published("");
    let n_games = games.len();
    // In turn, or each in both.
    let widths = |i: usize| if is_slow() { &WIDTHS[..] } else { &WIDTHS[i % 2..=i % 2] };
    let with_network = |(i, (name, game)): (usize, (String, Game))| {
        let game = Arc::new(game);
        widths(i).iter().all(|&width| check(&name, &game, width))
    };
    let n_compared = games.into_iter().enumerate().map(with_network).filter(|&it| it).count();
    eprintln!("{n_compared} of {n_games} compared");
    assert!(n_compared * 100 >= n_games * 98, "{n_compared} of {n_games} have a network");
}

/// The published rulesheets whose names contain a text.
fn published(text: &str) -> Vec<(String, Game)> {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else {
        eprintln!("skipped: GAMEMASTER_CORPUS names no folder");
        return Vec::new();
    };
    let only = std::env::var("GAMEMASTER_CORPUS_ONLY").unwrap_or_default();
    let folder = Path::new(&folder).join("rulesheets");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name.contains(text) && name.contains(&only))
        .collect();
    names.sort();
    let read = |name: String| {
        let rulesheet = std::fs::read(folder.join(format!("{name}.kif"))).unwrap();
        let game = validate::read(&name, &rulesheet, Case::Folded, Leniency::Lenient).game;
        game.map(|game| (name, game))
    };
    names.into_iter().filter_map(read).collect()
}

/// All reasoners in lock step: 1000 steps of each of three positions if there is
/// time, else fewer where states have many facts, which take the prover long.
/// Whether there is a network.
fn check(name: &str, game: &Arc<Game>, width: Width) -> bool {
    let Ok(network) = ground(game, &GroundingLimits::default(), &Cancel::new()) else {
        eprintln!("{name}: no network");
        return false;
    };
    let network = Arc::new(network);
    let n_steps = if is_slow() { 1000 } else { (4000 / network.n_facts()).clamp(3, 40) };
    let effort = Effort { width, n_steps, seed: 2026, guards: Guards::default() };
    let start = Instant::now();
    let compared = agreement::check(&network, &effort);
    eprintln!("{name}: {compared:?}, {width:?}, {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(compared.unwrap().n_states, 3 * n_steps, "{name}");
    true
}

#[test]
fn machine_code_of_shipped_rulesheets_agrees_with_the_interpreter() {
    for shipped in library::all() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        check_machine_code(shipped.name, game.unwrap());
    }
}

#[test]
fn machine_code_of_published_rulesheets_agrees_with_the_interpreter() {
    // All are compared in one width by the lock step of all reasoners.
    let part = if is_slow() { 1 } else { 4 };
    for (name, game) in published("").into_iter().step_by(part) {
        check_machine_code(&name, game);
    }
}

/// Both back ends draw the same moves from the same seed as long as they agree
/// on what is legal, so everything has to be equal in all lanes for ever.
fn check_machine_code(name: &str, game: Game) {
    let Some(interpreted) = program(&Arc::new(game)) else {
        eprintln!("{name}: no network");
        return;
    };
    let network = interpreted.network().clone();
    let initial = network.initial_state();
    for width in [Width::Lanes256, Width::Lanes512] {
        let translated = Arc::new(CompiledNetwork::new(network.clone()));
        // In use before it is translated, as by another thread.
        let mut batches = [&interpreted, &translated].map(|program| Batch::new(program, width, 77));
        for batch in &mut batches {
            batch.evaluate();
            batch.choose_at_random();
        }
        if let Err(error) = translated.translate(width) {
            eprintln!("skipped: {error}");
            return;
        }
        assert!(translated.n_machine_code_bytes(width) > 0);
        let lanes: Vec<usize> = (0..width.n_lanes()).step_by(7).collect();
        let n_steps = if is_slow() { 1000 } else { (20_000 / network.n_facts()).clamp(3, 60) };
        for step in 0..n_steps {
            for batch in &mut batches {
                batch.advance();
                batch.evaluate();
            }
            let [a, b] = &mut batches;
            let place = format!("{name}, {width:?}, step {step}");
            for fact in 0..network.n_facts() {
                assert_eq!(a.fact(fact), b.fact(fact), "fact {fact}, {place}");
            }
            assert_eq!(a.terminal(), b.terminal(), "{place}");
            for (role, outputs) in (0..).map(RoleId).zip(&network.roles) {
                for index in 0..outputs.moves.len() {
                    assert_eq!(a.legal(role, index), b.legal(role, index), "{role:?}, {place}");
                }
            }
            assert_eq!(a.goals(&lanes), b.goals(&lanes), "{place}");
            let ended: Vec<usize> = (0..width.n_lanes())
                .filter(|lane| a.terminal()[lane / 64] >> (lane % 64) & 1 == 1)
                .collect();
            for batch in &mut batches {
                batch.choose_at_random();
                for &lane in &ended {
                    batch.load(lane, std::slice::from_ref(&initial));
                }
                // Loading forgets what was known and chosen.
                if !ended.is_empty() {
                    batch.evaluate();
                    batch.choose_at_random();
                }
            }
        }
        let limits = Limits { n_playouts: 700, max_length: 50, ..Limits::default() };
        let [a, b] = batches.each_mut().map(|batch| batch.playouts(&initial, &limits));
        assert_eq!(a, b, "playouts of {name}, {width:?}");
    }
}

/// Mean length and goals of random playouts that other programs measured.
#[test]
fn playouts_agree_with_other_programs() {
    let known: [(&str, &str, f64, &[f64]); 6] = [
        ("tic_tac_toe", "", 7.6, &[64.8, 35.2]),
        ("", "breakthrough__breakthrough", 64.1, &[50.9, 49.1]),
        ("", "reversi__reversi", 60.4, &[47.5, 52.5]),
        ("", "ticTacToe__ticTacToe", 7.6, &[64.8, 35.2]),
        ("", "knightThrough__knightThrough", 33.6, &[51.6, 48.4]),
        ("", "gomoku_11x11__gomoku_11x11", 72.9, &[51.4, 48.6]),
    ];
    for (shipped, name, length, goals) in known {
        let games = match library::find(shipped) {
            Some(found) => {
                let read = validate::read(shipped, found.text, Case::Folded, Leniency::Strict);
                vec![(shipped.to_owned(), read.game.unwrap())]
            }
            None => published(name),
        };
        for (name, game) in games {
            let program = program(&Arc::new(game)).unwrap();
            let state = program.network().initial_state();
            let limits = Limits { n_playouts: 100_000, ..Limits::default() };
            let playouts = Batch::new(&program, Width::Lanes512, 1).playouts(&state, &limits);
            let found = playouts.mean_length().unwrap();
            assert!((found - length).abs() < 0.15, "{name}: {found} steps, not {length}");
            for (found, &goal) in playouts.goals.iter().zip(goals) {
                let mean = found.mean().unwrap();
                assert!((mean - goal).abs() < 0.7, "{name}: goal {mean}, not {goal}");
                assert_eq!(found.n_undefined, 0);
            }
        }
    }
}
