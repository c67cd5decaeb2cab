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

use games::grounding::{GroundingStatistics, Resource, ground_watched};
use games::network::{GoalValue, Lit};
use games::{
    Cancel, Case, Game, Goal, GoalReading, GroundingError, GroundingLimits, Guards, Leniency,
    MAX_TERM_SIZE, Network, Prover, RoleId, State, StateMachine, library, validate,
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

/// A game for one role from some rules.
fn game(rules: &str) -> Game {
    let text = format!("(role robot) (<= terminal (true done)) {rules}");
    let validation = validate::read("test", &text, Case::Folded, Leniency::Lenient);
    let Some(game) = validation.game else { panic!("{:?}", validation.findings) };
    game
}

fn network(rules: &str, budget: &GroundingLimits) -> Result<Network, GroundingError> {
    games::ground(&Arc::new(game(rules)), budget, &Cancel::new())
}

/// The rules have a network, and it agrees with the prover.
fn agrees(rules: &str) {
    check("rules", game(rules)).unwrap_or_else(|failure| panic!("{rules}: {failure}"));
}

const COINS: &str = "(coin a) (coin b) (coin c) (coin d) (<= (init (up ?c)) (coin ?c)) \
    (<= (legal robot (flip ?c)) (coin ?c)) (<= (down ?c) (coin ?c) (not (true (up ?c)))) \
    (<= (next (up ?c)) (true (up ?c)) (not (does robot (flip ?c)))) \
    (<= (next (up ?c)) (down ?c) (does robot (flip ?c))) ";

#[test]
fn recursion_within_a_state_is_a_least_fixpoint() {
    let ring = "(arc a b) (arc b c) (arc c d) (arc d a) (arc c a) ";
    let linear = "(<= (to ?x ?y) (arc ?x ?y) (true (up ?x))) \
        (<= (to ?x ?z) (to ?x ?y) (arc ?y ?z) (true (up ?y))) ";
    let doubled = "(<= (to ?x ?y) (arc ?x ?y) (true (up ?x))) \
        (<= (to ?x ?z) (to ?x ?y) (to ?y ?z)) ";
    // The sentence rests on itself, and on nothing else.
    let idle = "(<= (idle ?x) (idle ?x) (coin ?x)) (<= (lazy ?x) (idle ?x)) \
        (<= (idle ?x) (lazy ?x) (true (up ?x))) (<= (goal robot 7) (idle a)) ";
    let goals = "(<= (goal robot 100) (to a d)) (<= (goal robot 50) (not (to d b))) ";
    let ends = "(<= terminal (to a a) (not (to a d)))";
    for rules in [linear, doubled] {
        agrees(&format!("{}{ring}{rules}{goals}{idle}{ends}", COINS));
    }
}

/// Equations of recursive sentences have factors; one of more than 16 literals is not taken apart.
#[test]
fn recursion_under_a_long_condition_keeps_all_of_it() {
    let numbers: String = (0..20).map(|n| format!("(number {n}) ")).collect();
    let moves = "(<= (legal robot (put ?n)) (number ?n) (not (true (has ?n)))) \
        (<= (next (has ?n)) (does robot (put ?n))) (<= (next (has ?n)) (true (has ?n))) \
        (<= some (true (has ?n)) (distinct ?n 0)) ";
    // Each needs that there is nothing but 0, and one of two conditions more.
    let reached = "(<= (at a) (not some) (not (true (has 0)))) \
        (<= (at b) (at a) (not some) (not (true (up a)))) \
        (<= (at a) (at b) (not some) (true (up b))) \
        (<= (at b) (not some) (true (up c))) ";
    let goals = "(<= (goal robot 100) (at a)) (<= (goal robot 50) (at b) (not (at a))) ";
    agrees(&format!("{COINS}{numbers}{moves}{reached}{goals}"));
}

#[test]
fn negation_may_lead_back_to_the_same_relation() {
    // Ground sentences are stratified, the relation is not.
    agrees(&format!(
        "{} (<= (goal robot 100) (true (up a)) (down b)) (<= (goal robot 50) (coin ?c) (down ?c)) \
         (<= (goal ?r 0) (role ?r) (not (goal ?r 100)) (not (goal robot 50)))",
        COINS
    ));
}

#[test]
fn variables_of_a_negation_alone_are_there_is_none() {
    agrees(&format!(
        "{} (<= (goal robot 100) (not (down ?c))) (<= (goal robot 0) (down a)) \
         (<= (next (pair ?c ?d)) (down ?c) (true (up ?d)) (distinct ?c ?d)) \
         (<= (goal robot 1) (coin ?c) (not (true (pair ?c ?x))))",
        COINS
    ));
}

#[test]
fn whole_facts_and_moves_are_handed_on() {
    agrees(
        "(init (f 1)) (init (g 1 2)) (<= (next ?f) (true ?f) (not (lost ?f))) \
         (<= (next (last ?m)) (does robot ?m)) (<= (lost ?f) (does robot (drop ?f)) (true ?f)) \
         (small (f 1)) (small (g 1 2)) \
         (<= (legal robot (drop ?f)) (true ?f) (small ?f)) (legal robot wait) \
         (<= (goal robot 100) (not (true (f 1)))) (value many) (value 07) \
         (<= (goal robot ?v) (true (f 1)) (value ?v))",
    );
}

/// Places on a line, and the ways between all pairs of places on a square, which
/// are some millions.
fn ways(n: usize) -> String {
    let places: String = (0..n).map(|at| format!("(n {at}) (succ {at} {}) ", at + 1)).collect();
    format!(
        "{places} (<= (less ?x ?y) (succ ?x ?y) (n ?y)) \
         (<= (less ?x ?z) (less ?x ?y) (succ ?y ?z) (n ?z)) \
         (<= (side ?x ?x same) (n ?x)) (<= (side ?x ?y up) (less ?x ?y)) \
         (<= (side ?x ?y down) (less ?y ?x)) \
         (towards up up c) (towards up down d) (towards down up e) (towards down down f) \
         (towards same same here) (<= (towards same ?d ?d) (side 1 2 ?d)) \
         (<= (towards ?d same ?d) (side 1 2 ?d)) \
         (<= (way ?x ?y ?u ?v ?d) (side ?x ?u ?a) (side ?y ?v ?b) (towards ?a ?b ?d)) "
    )
}

/// Someone who walks on a square, and is told the way to some places.
const WALK: &str = "(goal robot 0) (init (at 2 1)) (init (home 1 3)) (<= (next (home ?x ?y)) (true (home ?x ?y))) \
    (legal robot up) (legal robot right) (legal robot stay) (limit 0) (limit 1) (limit 2) (limit 3) \
    (<= (next (at ?x ?y)) (true (at ?x ?y)) (does robot stay)) \
    (<= (next (at ?x ?z)) (true (at ?x ?y)) (does robot up) (succ ?y ?z) (limit ?z)) \
    (<= (next (at ?z ?y)) (true (at ?x ?y)) (does robot right) (succ ?x ?z) (limit ?z)) \
    (<= (next (sign ?d)) (true (at ?x ?y)) (true (home ?u ?v)) (way ?x ?y ?u ?v ?d)) \
    (<= (next (mark ?u ?v)) (true (at ?x ?y)) (way ?x ?y ?u ?v c) (limit ?u) (limit ?v)) \
    (<= (next (even ?d)) (true (at ?x ?y)) (way ?x ?x ?y ?y ?d) (way 2 1 ?x ?y ?d)) ";

#[test]
fn relations_too_large_to_be_written_down_stand_for_their_rules() {
    let n_static_rows = |rules: &str| {
        let game = Arc::new(game(rules));
        let ground =
            ground_watched(&game, &GroundingLimits::default(), &Cancel::new(), &mut |_, _| ());
        ground.unwrap().1.n_static_rows
    };
    let (small, large) = (format!("{}{WALK}", ways(5)), format!("{}{WALK}", ways(40)));
    assert!(n_static_rows(&small) > 500, "a small one is written down");
    assert!(n_static_rows(&large) < 100_000, "of two and a half million");
    agrees(&small);
    agrees(&large);
}

#[test]
fn rules_that_look_expensive_at_first_are_not_forgotten() {
    // Nothing is known of the facts when joins are ordered for the first time, so
    // that each may be all triples, and each pair of them a match.
    let numbers: String = (0..200).map(|at| format!("(n {at}) ")).collect();
    let all =
        |names: &str| names.split(' ').map(|name| format!("(n ?{name}) ")).collect::<String>();
    agrees(&format!(
        "{numbers} (init (p 1 2 3)) (init (r 4 5 6)) (legal robot go) (legal robot stay) \
         (<= (next (q ?a ?x)) (true (p ?a ?b ?c)) (true (r ?x ?y ?z)) {}) \
         (<= (next (p ?a ?x ?a)) (true (q ?a ?x)) (does robot go)) \
         (<= (next (r ?x ?b ?c)) (true (p ?a ?b ?c)) (true (q ?a ?x)) (does robot go)) \
         (<= (next ?f) (true ?f) (does robot stay)) \
         (<= (goal robot 100) (true (r ?x ?x ?x))) (<= (goal robot 7) (not (true (q 1 4))))",
        all("a b c x y z")
    ));
}

#[test]
fn what_explodes_is_an_error_that_names_it() {
    let digits: String = (0..10).map(|digit| format!("(d {digit}) ")).collect();
    let rules = format!(
        "{digits} (init x) (goal robot 0) (legal robot m) \
         (<= (next (f ?a ?b ?c ?e)) (true x) (d ?a) (d ?b) (d ?c) (d ?e))"
    );
    assert_eq!(network(&rules, &GroundingLimits::default()).unwrap().n_facts(), 10_001);
    let budget = GroundingLimits { max_rows: 9_000, ..GroundingLimits::default() };
    let error = network(&rules, &budget).unwrap_err();
    let GroundingError::Limit { relation, .. } = &error else { panic!("{error}") };
    assert_eq!(relation, "next");
    let budget = GroundingLimits { max_terms: 9_000, ..GroundingLimits::default() };
    let error = network(&rules, &budget).unwrap_err();
    let GroundingError::Limit { resource, relation, .. } = &error else { panic!("{error}") };
    assert_eq!((*resource, relation.as_str()), (Resource::Terms, "next"));
    let growing = "(init (f 0)) (goal robot 0) (legal robot m) (<= (next (f ?x)) (true ?x))";
    let too_deep = GroundingError::TermTooDeep { limit: 64, relation: "next".to_owned() };
    assert_eq!(network(growing, &GroundingLimits::default()).unwrap_err(), too_deep);
}

#[test]
fn what_is_expected_to_be_hopeless_is_not_tried() {
    // A hundred million times ten thousand combinations. Whoever begins with them
    // ends with a million terms.
    let digits: String = (0..100).map(|digit| format!("(d {digit}) ")).collect();
    let rules = format!(
        "{digits} (init (c 0 0)) (goal robot 0) (<= (legal robot (put ?a ?b)) (d ?a) (d ?b)) \
         (<= (next (c ?a ?b)) (does robot (put ?a ?b))) (<= (next (c ?a ?b)) (true (c ?a ?b))) \
         (<= (next (won ?a ?b ?e ?f ?g ?h)) (true (c ?a ?b)) (true (c ?e ?f)) (true (c ?g ?h)) \
         (distinct ?a ?e) (distinct ?b ?f) (distinct ?e ?g) (distinct ?f ?h) (distinct ?a ?h) \
         (distinct ?b ?g))"
    );
    let error = network(&rules, &GroundingLimits::default()).unwrap_err();
    let GroundingError::Limit { resource, relation, .. } = &error else { panic!("{error}") };
    assert_eq!((*resource, relation.as_str()), (Resource::Steps, "next"));
}

#[test]
fn terms_that_share_their_parts_are_not_written_out_without_end() {
    // Each step doubles the term: 40 steps deep, and 2^40 symbols.
    let steps: String = (0..40).map(|at| format!("(next_of {at} {}) ", at + 1)).collect();
    let doubled = format!(
        "{steps} (init (at 0 a)) (goal robot 0) (legal robot m) \
         (<= (next (at ?m (f ?x ?x))) (true (at ?n ?x)) (next_of ?n ?m))"
    );
    let too_large =
        GroundingError::TermTooLarge { limit: MAX_TERM_SIZE, relation: "next".to_owned() };
    assert_eq!(network(&doubled, &GroundingLimits::default()).unwrap_err(), too_large);
    // Each move is allowed for itself, but not all of them: 10 times 2^12 symbols.
    let steps: String = (0..11).map(|at| format!("(next_of {at} {}) ", at + 1)).collect();
    let digits: String = (0..10).map(|digit| format!("(d {digit}) ")).collect();
    let many = format!(
        "{steps} {digits} (init x) (goal robot 0) (term 0 a) \
         (<= (term ?m (f ?x ?x)) (term ?n ?x) (next_of ?n ?m)) \
         (<= (legal robot (play ?d ?x)) (d ?d) (term 11 ?x) (true x))"
    );
    let budget = GroundingLimits { max_symbols: 40_000, ..GroundingLimits::default() };
    let too_many = GroundingError::TooManySymbols { limit: 40_000 };
    assert_eq!(network(&many, &budget).unwrap_err(), too_many);
    assert_eq!(network(&many, &GroundingLimits::default()).unwrap().n_moves(), 10);
}

#[test]
fn a_raised_flag_stops_grounding() {
    let cancel = Cancel::new();
    cancel.cancel();
    let game = Arc::new(game("(init x) (goal robot 0) (legal robot m)"));
    let result = games::ground(&game, &GroundingLimits::default(), &cancel);
    assert_eq!(result.unwrap_err(), GroundingError::Cancelled);
}

#[test]
fn grounding_gives_the_same_network_each_time() {
    for shipped in library::all() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        let game = Arc::new(game.unwrap());
        let ground = || games::ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap();
        assert_eq!(format!("{:?}", outputs(&ground())), format!("{:?}", outputs(&ground())));
    }
}

/// All of a network but the game and the table of its hashes.
fn outputs(network: &Network) -> impl std::fmt::Debug + '_ {
    let ands: Vec<_> = network.graph.ands().collect();
    let Network { facts, initial, next, terminal, roles, .. } = network;
    (ands, facts, initial, next, terminal, roles)
}

#[derive(Debug)]
enum Failure {
    NoNetwork(GroundingError),
    Differs(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoNetwork(error) => write!(f, "{error}"),
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
    let result = ground_watched(&game, &GroundingLimits::default(), &Cancel::new(), &mut watch);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let (network, statistics) = match result {
        Ok(grounded) => grounded,
        Err(error) => {
            eprintln!("{milliseconds:8.1} {error}: {name} {passes:?}");
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
