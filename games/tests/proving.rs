//! Proof-number search against retrograde analysis and published values.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use games::solve::proof::{Bounds, ProofError, ProofSettings, ProofSolver, Resumed};
use games::solve::{Alone, Crew, Phase, ResumeError, Solver, Task};
use games::split_mix::SplitMix;
use games::{Cancel, Case, Game, Leniency, library, validate};

/// A thread for each task.
struct Threads;

impl Crew for Threads {
    fn n_workers(&self) -> usize {
        3
    }

    fn run(&self, tasks: Vec<Task<'_>>) {
        std::thread::scope(|scope| tasks.into_iter().for_each(|task| _ = scope.spawn(task)));
    }
}

fn read(name: &str, text: &str) -> Arc<Game> {
    let validation = validate::read(name, text, Case::Folded, Leniency::Strict);
    Arc::new(validation.game.unwrap_or_else(|| panic!("{name}: {:?}", validation.findings)))
}

fn shipped(name: &str) -> Arc<Game> {
    read(name, library::find(name).unwrap().text)
}

fn settings(all_moves: bool) -> ProofSettings {
    ProofSettings { memory_bytes: 1 << 28, n_workers: 1, all_moves }
}

fn prove(
    game: &Arc<Game>,
    settings: ProofSettings,
    crew: &dyn Crew,
) -> Result<ProofSolver, ProofError> {
    let mut proof = ProofSolver::new(game, settings, &Cancel::new(), &Cancel::new())?;
    while !proof.is_done() {
        proof.step(crew, 500, &Cancel::new())?;
    }
    Ok(proof)
}

/// The first role's value of the initial state and of the states after the first moves, by
/// retrograde analysis.
fn by_retrograde_analysis(game: &Arc<Game>) -> (f64, Vec<f64>) {
    let mut solver = Solver::new(game, 1 << 30, 1, &Cancel::new()).unwrap();
    while solver.progress().phase != Phase::Done {
        solver.step(&Alone).unwrap();
    }
    let values = solver.first_moves().unwrap().values;
    (solver.value()[0], values.iter().map(|value| value[0]).collect())
}

fn exact(bounds: Bounds) -> f64 {
    f64::from(bounds.value().unwrap_or_else(|| panic!("{bounds:?}")))
}

fn check(game: &Arc<Game>) {
    let (value, after) = by_retrograde_analysis(game);
    let name = game.name();
    let proof = prove(game, settings(false), &Alone).unwrap();
    assert_eq!(exact(proof.bounds()), value, "{name}");
    for (known, value) in proof.first_moves().iter().zip(&after) {
        let Bounds { least, most } = known.bounds;
        assert!((f64::from(least)..=f64::from(most)).contains(value), "{name}: {known:?}");
    }
    let tiny = ProofSettings { memory_bytes: 1, n_workers: 1, all_moves: true };
    // Two threads help the one that proves the state.
    let three = ProofSettings { n_workers: 3, ..settings(false) };
    assert_eq!(exact(prove(game, three, &Threads).unwrap().bounds()), value, "{name}");
    let two = ProofSettings { n_workers: 2, ..settings(true) };
    let crews: [(ProofSettings, &dyn Crew); 3] =
        [(settings(true), &Alone), (tiny, &Alone), (two, &Threads)];
    for (settings, crew) in crews {
        let proof = prove(game, settings, crew).unwrap();
        assert_eq!(exact(proof.bounds()), value, "{name}, {settings:?}");
        let moves = proof.first_moves();
        let found: Vec<f64> = moves.iter().map(|it| exact(it.bounds)).collect();
        assert_eq!(found, after, "{name}, {settings:?}");
        let limit = settings.memory_bytes.max(1 << 16);
        assert!(proof.progress().most_bytes <= limit, "{name}");
    }
}

#[test]
fn shipped_games_have_the_values_of_retrograde_analysis() {
    for name in ["tic_tac_toe", "connect_three", "nim", "nim_misere", "aima_two_ply", "othello_4x4"]
    {
        check(&shipped(name));
    }
}

#[test]
fn the_openings_of_hex_and_connect_four_are_known() {
    let proof = prove(&shipped("hex_4x4"), settings(true), &Alone).unwrap();
    let moves = proof.first_moves();
    let winning = moves.iter().filter(|it| it.bounds.value() == Some(100));
    let winning: Vec<String> = winning.map(|it| it.action.to_string()).collect();
    // The short diagonal, as by retrograde analysis and by another program.
    assert_eq!(winning, ["(place 1 4)", "(place 2 3)", "(place 3 2)", "(place 4 1)"]);
    assert!(moves.iter().all(|it| it.bounds.value().is_some()));
    // John Tromp's table: a draw.
    let proof = prove(&shipped("connect_four_4x4"), settings(true), &Alone).unwrap();
    assert_eq!(proof.bounds().value(), Some(50));
    assert!(proof.first_moves().iter().all(|it| it.bounds.value() == Some(50)));
}

/// Without patience for a faster reasoner, the same is proven.
#[test]
fn a_proof_needs_no_fast_reasoner() {
    let patience = Cancel::new();
    patience.cancel();
    let game = shipped("tic_tac_toe");
    let mut proof = ProofSolver::new(&game, settings(true), &Cancel::new(), &patience).unwrap();
    while !proof.is_done() {
        proof.step(&Alone, 500, &Cancel::new()).unwrap();
    }
    let known = by_retrograde_analysis(&game);
    assert_eq!(proof.bounds().value().map(f64::from), Some(known.0));
    let moves: Vec<f64> =
        proof.first_moves().iter().map(|it| f64::from(it.bounds.value().unwrap())).collect();
    assert_eq!(moves, known.1);
}

/// Raises a flag when its tasks have begun.
struct PausedInBetween<'a>(&'a Cancel);

impl Crew for PausedInBetween<'_> {
    fn n_workers(&self) -> usize {
        1
    }

    fn run(&self, tasks: Vec<Task<'_>>) {
        std::thread::scope(|scope| {
            let begun: Vec<_> = tasks.into_iter().map(|task| scope.spawn(task)).collect();
            self.0.cancel();
            begun.into_iter().for_each(|task| task.join().unwrap());
        });
    }
}

/// A pause that is asked for while a step runs ends it soon, not after its last expansion.
#[test]
fn a_pause_ends_a_step() {
    let pause = Cancel::new();
    let never = Cancel::new();
    let mut proof =
        ProofSolver::new(&shipped("connect_four"), settings(false), &never, &never).unwrap();
    // Once the table has grown, no step ends because of it.
    while proof.progress().n_expanded < 20_000 {
        proof.step(&Alone, 500, &pause).unwrap();
    }
    proof.step(&PausedInBetween(&pause), u64::MAX / 2, &pause).unwrap();
    assert!(!proof.is_done());
    let before = proof.progress().n_expanded;
    proof.step(&Alone, 500, &pause).unwrap();
    // A new task expands the state that it begins with.
    assert!(proof.progress().n_expanded <= before + 1);
}

#[test]
fn a_proof_is_continued_from_what_was_written() {
    let begin = |game: &str, memory_bytes| {
        let settings = ProofSettings { memory_bytes, ..settings(true) };
        ProofSolver::new(&shipped(game), settings, &Cancel::new(), &Cancel::new()).unwrap()
    };
    let mut proof = begin("hex_4x4", 1 << 28);
    while proof.progress().n_expanded < 60_000 {
        proof.step(&Alone, 500, &Cancel::new()).unwrap();
    }
    assert!(!proof.is_done());
    let spent = Duration::from_secs(7);
    let mut written = Vec::new();
    proof.save(spent, &mut written).unwrap();
    let n_written = proof.progress().n_entries;
    while !proof.is_done() {
        proof.step(&Alone, 500, &Cancel::new()).unwrap();
    }
    // Also with a table that is too small for all that was written.
    for memory_bytes in [1 << 28, 1 << 17] {
        let mut continued = begin("hex_4x4", memory_bytes);
        let resumed = continued.resume(&mut &written[..]).unwrap();
        let before = continued.progress();
        assert_eq!(resumed, Resumed { spent, n_entries: n_written });
        assert_eq!(before.n_entries == n_written, memory_bytes == 1 << 28, "{before:?}");
        assert!((60_000..61_000).contains(&before.n_expanded), "{before:?}");
        assert!(before.most_bytes <= memory_bytes, "{before:?}");
        if memory_bytes == 1 << 28 {
            let mut again = Vec::new();
            continued.save(spent, &mut again).unwrap();
            assert!(again == written, "{} bytes of {}", again.len(), written.len());
        }
        while !continued.is_done() {
            continued.step(&Alone, 500, &Cancel::new()).unwrap();
        }
        assert_eq!(continued.first_moves(), proof.first_moves());
        let rest = continued.progress().n_expanded - before.n_expanded;
        let straight = proof.progress().n_expanded - before.n_expanded;
        assert!(memory_bytes < 1 << 28 || rest < straight + straight / 20, "{rest} {straight}");
    }
    let resume = |game: &str, bytes: &[u8]| begin(game, 1 << 28).resume(&mut &bytes[..]);
    assert!(matches!(resume("tic_tac_toe", &written), Err(ResumeError::Other)));
    assert!(matches!(resume("hex_4x4", b"no checkpoint"), Err(ResumeError::Damaged)));
    for length in [0, 1, 15, 16, 100, written.len() / 2, written.len() - 1] {
        assert!(matches!(resume("hex_4x4", &written[..length]), Err(ResumeError::Damaged)));
    }
    let longer = [&written[..], &[0]].concat();
    assert!(matches!(resume("hex_4x4", &longer), Err(ResumeError::Damaged)));
    let mut damaged = written.clone();
    damaged[written.len() / 2] ^= 1;
    assert!(matches!(resume("hex_4x4", &damaged), Err(ResumeError::Damaged)));
}

/// A random game on a graph: each node has a role that chooses, or rewards.
fn graph(seed: u64, has_cycles: bool) -> Arc<Game> {
    const REWARDS: [u8; 5] = [0, 20, 50, 90, 100];
    let mut random = SplitMix::new(seed);
    let n = 6 + random.below(40);
    let mut text = String::from(
        "(role a) (role b) (init (at 0))
        (<= (next (at ?y)) (does a (go ?y))) (<= (next (at ?y)) (does b (go ?y)))
        (<= (legal ?r (go ?y)) (true (at ?x)) (turn ?x ?r) (edge ?x ?y))
        (<= (legal ?r wait) (role ?r) (true (at ?x)) (turn ?x ?s) (distinct ?r ?s))
        (<= terminal (true (at ?x)) (end ?x ?v))
        (<= (goal a ?v) (true (at ?x)) (end ?x ?v))
        (<= (goal b ?w) (true (at ?x)) (end ?x ?v) (rest ?v ?w))\n",
    );
    for reward in REWARDS {
        writeln!(text, "(rest {reward} {})", 100 - reward).unwrap();
    }
    for node in 0..n {
        if node > 2 && (random.below(4) == 0 || node + 1 == n) {
            writeln!(text, "(end {node} {})", REWARDS[random.below(REWARDS.len())]).unwrap();
            continue;
        }
        writeln!(text, "(turn {node} {})", ["a", "b"][random.below(2)]).unwrap();
        let mut next: Vec<usize> = (0..1 + random.below(4))
            .map(|_| match has_cycles && random.below(3) == 0 {
                true => random.below(n),
                false => node + 1 + random.below((n - node - 1).min(12)),
            })
            .collect();
        next.sort_unstable();
        next.dedup();
        next.iter().for_each(|next| writeln!(text, "(edge {node} {next})").unwrap());
    }
    let name = format!("graph {seed}");
    let validation = validate::read(&name, &text, Case::Folded, Leniency::Lenient);
    Arc::new(validation.game.unwrap_or_else(|| panic!("{text}: {:?}", validation.findings)))
}

#[test]
fn generated_games_have_the_values_of_retrograde_analysis() {
    (0..60).for_each(|seed| check(&graph(seed, false)));
}

/// No answer rests on play without end, so that some questions stay open, but none is wrong.
#[test]
fn bounds_are_right_where_play_may_repeat_states() {
    let (mut n_open, mut n_known) = (0, 0);
    for seed in 0..100 {
        let game = graph(seed, true);
        let (value, after) = by_retrograde_analysis(&game);
        for crew in [&Alone as &dyn Crew, &Threads] {
            for all_moves in [false, true] {
                let settings = ProofSettings { n_workers: crew.n_workers(), ..settings(all_moves) };
                let proof = prove(&game, settings, crew).unwrap();
                let moves = proof.first_moves();
                let found = moves.iter().map(|it| it.bounds).zip(after.iter().copied());
                for (bounds, value) in found.chain([(proof.bounds(), value)]) {
                    let range = f64::from(bounds.least)..=f64::from(bounds.most);
                    assert!(range.contains(&value), "{seed}: {bounds:?}, {value}");
                    *(if bounds.value().is_some() { &mut n_known } else { &mut n_open }) += 1;
                }
            }
        }
    }
    assert!(n_open > 0 && n_known > 0, "{n_open} {n_known}");
}

#[test]
fn other_games_are_refused() {
    let refused = |game: &Arc<Game>, expected: &str| {
        let error = prove(game, settings(false), &Alone).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&shipped("kuhn_poker"), "without hidden information");
    refused(&shipped("coin_flip"), "without chance");
    refused(&shipped("eight_puzzle_course"), "of two roles, and this one has 1");
    refused(&shipped("rock_paper_scissors"), "both have a choice in the state with the facts");
    let both_win = "(role a) (role b) (init start) (legal a x) (legal a y) (legal b wait)
        (<= (next (end ?m)) (does a ?m)) (<= terminal (true (end ?m)))
        (<= (goal a 100) (true (end x))) (<= (goal b 100) (true (end x)))
        (<= (goal a 0) (true (end y))) (<= (goal b 0) (true (end y)))";
    refused(&read("both_win", both_win), "may end with");
}
