//! Networks against the prover, in lock step on random walks: the same facts,
//! legal moves, ends, goals and percepts in every state.
//!
//! `GAMEMASTER_CORPUS` and `GAMEMASTER_CORPUS_ONLY` as in `corpus`; with
//! `RUN_SLOW_TESTS=1` walks are longer. What does not ground is not wrong, but
//! is printed.

#![expect(clippy::print_stderr, reason = "sizes and times are to be seen")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use games::grounding::{GroundingStatistics, ground_watched};
use games::network::{GoalValue, Lit};
use games::{
    Budget, Cancel, Case, Game, Goal, GoalReading, GroundingError, Guards, Leniency, Network,
    Prover, RoleId, State, StateMachine, library, validate,
};

use super::random::Random;

/// Walks and most steps of each.
fn walks() -> (usize, usize) {
    let is_slow = std::env::var_os("RUN_SLOW_TESTS").is_some_and(|value| value == "1");
    if is_slow { (10, 1000) } else { (3, 60) }
}

#[test]
fn networks_of_shipped_rulesheets_agree_with_the_prover() {
    let mut failures = Vec::new();
    heading();
    for shipped in library::all() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        let result = check(shipped.name, game.unwrap());
        if let Err(failure) = result {
            eprintln!("{}: {failure}", shipped.name);
            failures.push(shipped.name);
        }
    }
    assert_eq!(failures, Vec::<&str>::new());
}

#[test]
fn networks_of_published_rulesheets_agree_with_the_prover() {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else {
        eprintln!("skipped: GAMEMASTER_CORPUS names no folder");
        return;
    };
    let only = std::env::var("GAMEMASTER_CORPUS_ONLY").unwrap_or_default();
    let folder = Path::new(&folder).join("rulesheets");
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name.contains(&only))
        .collect();
    names.sort();
    let (mut wrong, mut without) = (Vec::new(), Vec::new());
    heading();
    for name in &names {
        let text = std::fs::read(folder.join(format!("{name}.kif"))).unwrap();
        let game = validate::read(name, &text, Case::Sensitive, Leniency::Lenient).game;
        match check(name, game.unwrap()) {
            Ok(()) => {}
            Err(Failure::NoNetwork(_)) => without.push(name),
            Err(Failure::Differs(difference)) => {
                eprintln!("{name}: WRONG: {difference}");
                wrong.push(name);
            }
        }
    }
    eprintln!("{} of {} ground; not {without:?}", names.len() - without.len(), names.len());
    assert_eq!(wrong, Vec::<&String>::new());
}

#[derive(Debug)]
enum Failure {
    NoNetwork(GroundingError),
    Differs(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoNetwork(error) => write!(f, "failed to {error}"),
            Self::Differs(difference) => f.write_str(difference),
        }
    }
}

fn heading() {
    eprintln!(
        "{:>8} {:>6} {:>6} {:>9} {:>9} {:>9} {:>6} {:>7} {:>10}  passes in ms, rulesheet",
        "ms", "facts", "moves", "instances", "ands", "left", "cyclic", "MiB", "steps"
    );
}

/// Grounds a game, prints what that took, and compares.
fn check(name: &str, game: Game) -> Result<(), Failure> {
    let game = Arc::new(game);
    let start = Instant::now();
    let mut passes = Vec::new();
    let mut last = start;
    let mut watch = |_, _: &GroundingStatistics| {
        passes.push((last.elapsed().as_secs_f64() * 1e3).round());
        last = Instant::now();
    };
    let result = ground_watched(&game, &Budget::default(), &Cancel::new(), &mut watch);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let (network, statistics) = match result {
        Ok(grounded) => grounded,
        Err(error) => {
            eprintln!("{milliseconds:8.1} failed to {error}: {name} {passes:?}");
            return Err(Failure::NoNetwork(error));
        }
    };
    eprintln!(
        "{milliseconds:8.1} {:6} {:6} {:9} {:9} {:9} {:6} {:7.1} {:10}  {passes:?} {name}",
        statistics.n_facts,
        statistics.n_moves,
        statistics.n_ground_rules,
        statistics.n_ands_before,
        statistics.n_ands,
        statistics.n_cyclic,
        statistics.n_bytes as f64 / f64::from(1 << 20),
        statistics.n_steps,
    );
    compare(game, &network).map_err(Failure::Differs)
}

fn compare(game: Arc<Game>, network: &Network) -> Result<(), String> {
    let failed = |error: games::ReasoningError| error.to_string();
    let n_roles = game.roles().len();
    let mut prover = Prover::new(game, Guards::default()).map_err(failed)?;
    let mut random = Random::new(1);
    let (n_walks, n_steps) = walks();
    for walk in 0..n_walks {
        let mut state = prover.initial_state().map_err(failed)?;
        let mut inputs = vec![false; network.graph.n_inputs()];
        inputs[..network.n_facts()].copy_from_slice(&network.initial);
        for step in 0..n_steps {
            let place = format!("walk {walk}, step {step}");
            let facts = prover.facts(&state);
            let held: Vec<_> = (0..network.n_facts())
                .filter(|&fact| inputs[fact])
                .map(|fact| network.facts[fact].clone())
                .collect();
            if facts != held {
                return Err(format!("{place}: facts are {held:?}, not {facts:?}"));
            }
            // Any joint move will do for what rests on facts alone.
            let mut legal = vec![Vec::new(); n_roles];
            for (role, moves) in legal.iter_mut().enumerate() {
                prover.legal_moves(&state, RoleId(role as u8), moves).map_err(failed)?;
            }
            let mut joint_move = Vec::new();
            for moves in legal.iter().filter(|moves| !moves.is_empty()) {
                joint_move.push(moves[random.below(moves.len())]);
            }
            inputs[network.n_facts()..].fill(false);
            let terminal = prover.is_terminal(&state).map_err(failed)?;
            let is_playable = joint_move.len() == n_roles && !terminal;
            for role in (0..n_roles).filter(|_| is_playable) {
                let id = RoleId(role as u8);
                let played = prover.move_expression(joint_move[role]);
                let at = network.roles[role].moves.iter().position(|other| *other == played);
                let at = at.ok_or(format!("{place}: no input for {played}"))?;
                inputs[network.first_move(id) + at] = true;
            }
            let values = network.graph.evaluate(&inputs);
            let holds = |lit: &Lit| values[lit.node() as usize] ^ lit.is_negated();
            if holds(&network.terminal) != terminal {
                return Err(format!("{place}: terminal is {}", !terminal));
            }
            for (role, outputs) in network.roles.iter().enumerate() {
                let id = RoleId(role as u8);
                let known: Vec<_> =
                    legal[role].iter().map(|&id| prover.move_expression(id)).collect();
                let of_network = outputs.moves.iter().zip(&outputs.legal);
                let found: Vec<_> = of_network
                    .filter(|(_, lit)| holds(lit))
                    .map(|(written, _)| written.clone())
                    .collect();
                if known != found {
                    return Err(format!("{place}: legal are {found:?}, not {known:?}"));
                }
                let goal = prover.goal(&state, id).map_err(failed)?;
                let found = reading(outputs.goals.iter().filter(|(_, lit)| holds(lit)));
                if goal != found {
                    return Err(format!("{place}: goal is {found:?}, not {goal:?}"));
                }
                if is_playable {
                    let known = prover.percepts(&state, &joint_move, id).map_err(failed)?;
                    let seen = outputs.percepts.iter().filter(|(_, lit)| holds(lit));
                    let found: Vec<_> = seen.map(|(written, _)| written.clone()).collect();
                    if known != found {
                        return Err(format!("{place}: percepts are {found:?}, not {known:?}"));
                    }
                }
            }
            if !is_playable {
                break;
            }
            let mut next = State::default();
            prover.next_state(&state, &joint_move, &mut next).map_err(failed)?;
            state = next;
            let next: Vec<bool> = network.next.iter().map(holds).collect();
            inputs[..network.n_facts()].copy_from_slice(&next);
        }
    }
    Ok(())
}

/// What the values of a goal relation amount to.
fn reading<'a>(values: impl Iterator<Item = &'a (GoalValue, Lit)>) -> GoalReading {
    let mut reading = GoalReading::default();
    for (value, _) in values {
        let GoalValue::Integer(value) = value else {
            reading.unreadable = true;
            continue;
        };
        let goal = Goal::new(*value).unwrap_or_else(|| {
            reading.clamped = true;
            if *value < 0 { Goal::MIN } else { Goal::MAX }
        });
        if !reading.values.contains(&goal) {
            reading.values.push(goal);
        }
    }
    reading.values.sort_unstable();
    reading
}
