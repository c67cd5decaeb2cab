//! Batches of positions against the prover, in lock step: facts, legal moves,
//! ends, goals and percepts of a few lanes, while all lanes play at random; and
//! machine code against the interpreter, in all lanes.
//!
//! `GAMEMASTER_CORPUS` and `GAMEMASTER_CORPUS_ONLY` as in `corpus`; with
//! `RUN_SLOW_TESTS=1` there are 1000 steps instead of a few. The statistics of
//! playouts are also held against what other programs measured.

#![expect(clippy::print_stderr, reason = "skipping is to be seen, and what was played")]

use std::path::Path;
use std::sync::Arc;

use games::batch::{Limits, Program, Width};
use games::grounding::ground;
use games::{
    Batch, Budget, Cancel, Case, Game, Guards, Leniency, Prover, RoleId, State, StateMachine,
    library, validate,
};

fn is_slow() -> bool {
    std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1")
}

fn program(game: &Arc<Game>) -> Option<Arc<Program>> {
    let network = ground(game, &Budget::default(), &Cancel::new()).ok()?;
    Some(Arc::new(Program::new(Arc::new(network))))
}

#[test]
fn batches_of_shipped_rulesheets_agree_with_the_prover() {
    for (i, shipped) in library::all().iter().enumerate() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        check(shipped.name, game.unwrap(), Width::ALL[i % 3]);
    }
}

#[test]
fn batches_of_published_rulesheets_agree_with_the_prover() {
    for (i, (name, game)) in published("").into_iter().enumerate() {
        check(&name, game, Width::ALL[i % 3]);
    }
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

fn check(name: &str, game: Game, width: Width) {
    let game = Arc::new(game);
    let Some(program) = program(&game) else {
        eprintln!("{name}: no network");
        return;
    };
    eprintln!("{name}: {:?}", program.size());
    let network = program.network().clone();
    let mut prover = Prover::new(game, Guards::default()).unwrap();
    let mut batch = Batch::new(&program, width, 2026);
    let lanes = [0, 31, batch.n_lanes() - 1];
    let initial = prover.initial_state().unwrap();
    let mut states = [initial.clone(), initial.clone(), initial.clone()];
    let roles = (0..network.roles.len()).map(|role| RoleId(role as u8));
    // States with many facts take the prover long.
    let n_steps = if is_slow() { 1000 } else { (4000 / network.n_facts()).clamp(3, 40) };
    let mut moves = Vec::new();
    for step in 0..n_steps {
        batch.evaluate();
        let goals = batch.goals(&lanes);
        let terminal = batch.terminal().to_vec();
        let mut legal = vec![Vec::new(); network.roles.len()];
        let mut is_stuck = [false; 3];
        for (at, &lane) in lanes.iter().enumerate() {
            let place = format!("{name}, step {step}, lane {lane}");
            let known = prover.facts(&states[at]);
            let found = batch.state(lane);
            let found: Vec<_> = (0..network.n_facts())
                .filter(|&fact| network.holds(&found, fact))
                .map(|fact| network.facts[fact].clone())
                .collect();
            assert_eq!(found, known, "facts, {place}");
            let is_terminal = prover.is_terminal(&states[at]).unwrap();
            assert_eq!(terminal[lane / 64] >> (lane % 64) & 1 == 1, is_terminal, "{place}");
            for role in roles.clone() {
                let outputs = &network.roles[usize::from(role.0)];
                prover.legal_moves(&states[at], role, &mut legal[usize::from(role.0)]).unwrap();
                let known = legal[usize::from(role.0)].iter();
                let known: Vec<_> = known.map(|&id| prover.move_expression(id)).collect();
                batch.legal_moves(lane, role, &mut moves);
                let found: Vec<_> = moves.iter().map(|&i| outputs.moves[i].clone()).collect();
                assert_eq!(found, known, "legal moves of {role:?}, {place}");
                is_stuck[at] |= known.is_empty();
                let mut goal = prover.goal(&states[at], role).unwrap();
                let mut found = goals[at][usize::from(role.0)].clone();
                goal.values.sort_unstable();
                found.values.sort_unstable();
                assert_eq!(found, goal, "goal of {role:?}, {place}");
            }
        }
        let moving = batch.choose_at_random().to_vec();
        let percepts: Vec<_> = roles.clone().map(|role| batch.percepts(role, &lanes)).collect();
        for (at, &lane) in lanes.iter().enumerate() {
            let place = format!("{name}, step {step}, lane {lane}");
            let moves_now = moving[lane / 64] >> (lane % 64) & 1 == 1;
            let is_terminal = terminal[lane / 64] >> (lane % 64) & 1 == 1;
            assert_eq!(moves_now, !is_terminal && !is_stuck[at], "{place}");
            if !moves_now {
                continue;
            }
            let mut joint_move = Vec::new();
            for role in roles.clone() {
                let chosen = |&i: &usize| batch.chosen(role, i)[lane / 64] >> (lane % 64) & 1 == 1;
                let outputs = &network.roles[usize::from(role.0)];
                let made: Vec<usize> = (0..outputs.moves.len()).filter(chosen).collect();
                assert_eq!(made.len(), 1, "moves of {role:?}, {place}");
                joint_move.push(prover.find_move(&outputs.moves[made[0]]).unwrap());
            }
            for role in roles.clone() {
                let outputs = &network.roles[usize::from(role.0)];
                let known = prover.percepts(&states[at], &joint_move, role).unwrap();
                let found = &percepts[usize::from(role.0)][at];
                let found: Vec<_> = found.iter().map(|&i| outputs.percepts[i].0.clone()).collect();
                assert_eq!(found, known, "percepts of {role:?}, {place}");
            }
            let mut next = State::default();
            prover.next_state(&states[at], &joint_move, &mut next).unwrap();
            states[at] = next;
        }
        batch.advance();
        // Lanes at their end start again, those that we follow and others.
        for lane in 0..batch.n_lanes() {
            if moving[lane / 64] >> (lane % 64) & 1 == 0 {
                batch.load(lane, &[network.initial_state()]);
            }
        }
        for (at, &lane) in lanes.iter().enumerate() {
            if moving[lane / 64] >> (lane % 64) & 1 == 0 {
                states[at] = initial.clone();
            }
        }
    }
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
    for (name, game) in published("") {
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
        let translated = Arc::new(Program::new(network.clone()));
        // In use before it is translated, as by another thread.
        let mut batches = [&interpreted, &translated].map(|program| Batch::new(program, width, 77));
        for batch in &mut batches {
            batch.evaluate();
            batch.choose_at_random();
        }
        if let Err(error) = translated.translate(width) {
            eprintln!("skipped: failed to {error}");
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
