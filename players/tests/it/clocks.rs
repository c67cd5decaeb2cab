//! Deadlines: a legal move at any moment, and the stack of a deep search.

use std::time::{Duration, Instant};

use games::Cancel;
use players::{Observation, Options, Stop, Turn, Value};

use crate::arena::{
    first_move, legal, machine, machine_of, network, play_until, player, seat, text,
};

const THINKERS: [&str; 4] =
    ["compulsive_deliberation", "sequential_planner", "minimax", "alpha_beta"];

/// Whatever the budget, the answer is legal (the referee checks it), no more
/// states are entered than it allows, and the same seed gives the same match.
#[test]
fn any_budget_gives_a_legal_move_and_a_reproducible_match() {
    for kind in THINKERS {
        for game in ["eight_puzzle_seed", "tic_tac_toe", "connect_four", "rock_paper_scissors"] {
            let mut machine = machine(game);
            let n_seats = machine.game().roles().len();
            for budget in [0, 1, 2, 10, 60] {
                let stop = Stop::never().after_nodes(budget);
                let mut seats: Vec<_> = (0..n_seats).map(|_| player(kind, [])).collect();
                let played = play_until(machine.as_mut(), &mut seats, 1, &stop);
                let said = played.steps.iter().flatten().flatten();
                assert!(said.clone().all(|it| it.nodes <= budget), "{kind}, {game}");
                let again = play_until(machine.as_mut(), &mut seats, 1, &stop);
                assert_eq!(again, played, "{kind}, {game}");
            }
        }
    }
}

/// A flag raised beforehand ends even the first computation; the player then
/// goes by the legal moves it is told, and catches up when it has time.
#[test]
fn a_cancelled_player_answers_and_catches_up() {
    for kind in THINKERS {
        let mut machine = machine("tic_tac_toe");
        let cancel = Cancel::new();
        cancel.cancel();
        let cancelled = Stop::never().on(cancel);
        let mut player = player(kind, []);
        player.start(seat(machine.as_ref(), 0, 1), &cancelled).unwrap();
        let mut state = machine.initial_state().unwrap();
        let mut observation: Option<Observation> = None;
        for step in 0..=6 {
            let moves = [0, 1].map(|role| legal(machine.as_mut(), &state, role));
            let turn = Turn { step, observation: observation.as_ref(), legal: &moves[0] };
            let stop = if step < 6 { cancelled.clone() } else { Stop::never() };
            let answer = player.play(&turn, &stop).unwrap();
            assert!(moves[0].contains(&answer), "{kind}");
            let value = player.deliberation().unwrap().value;
            assert_eq!(value.is_some(), step == 6, "{kind}");
            // A line of play without a winner so far.
            let last = |moves: &[games::MoveId]| moves[moves.len() / 2];
            let joint_move = vec![last(&moves[0]), last(&moves[1])];
            let mut next = games::State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
            observation = Some(Observation::JointMove(joint_move));
        }
    }
}

/// With a real deadline far too short for the game, searches come back. Nothing
/// is asserted about how soon.
#[test]
fn deadlines_end_searches() {
    for kind in ["compulsive_deliberation", "minimax", "alpha_beta"] {
        let mut machine = machine("connect_four");
        let stop = Stop::never().at(std::time::Instant::now() + Duration::from_millis(50));
        let mut player = player(kind, [("seed", 1.into())]);
        let (_, deliberation) = first_move(machine.as_mut(), player.as_mut(), 0, &stop);
        assert!(!deliberation.completed, "{kind}");
    }
}

/// A game of 600 forced steps, and one without end: searches reach the bottom
/// or the bound of their depth on a stack of 2 MiB, as threads have by default.
#[test]
fn long_games_do_not_exhaust_the_stack() {
    let counter: String = (0..600).map(|n| format!("(after {n} {})", n + 1)).collect();
    let long = format!(
        "(role a) (role b) (init (count 0)) {counter}
         (<= (legal ?r go) (role ?r))
         (<= (next (count ?m)) (true (count ?n)) (after ?n ?m))
         (<= terminal (true (count 600)))
         (<= (goal ?r 70) (role ?r))"
    );
    let endless = "
        (role a) (role b) (init (light off)) (switch on off) (switch off on)
        (<= (legal ?r go) (role ?r))
        (<= (next (light ?y)) (true (light ?x)) (switch ?x ?y))
        (<= terminal (true (light broken)))
        (<= (goal ?r 70) (role ?r))";
    let run = move || {
        for kind in THINKERS {
            for (rules, value, depth) in [(long.as_str(), Some(70.0), 600), (endless, None, 1000)] {
                let mut machine = machine_of(rules);
                let forced = matches!(kind, "minimax" | "alpha_beta");
                let mut player = player(kind, []);
                let (_, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
                if kind == "compulsive_deliberation" {
                    assert_eq!(found.selective_depth, depth, "{kind}");
                    assert_eq!(found.value, value.or(Some(0.0)));
                } else if kind == "sequential_planner" {
                    assert_eq!(found.value, value, "{kind}");
                } else {
                    // The only move is played without a search.
                    assert!(forced && found.nodes == 0);
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

/// The same depth for each way to weigh the others, with a choice at each step.
#[test]
fn deep_searches_fit_their_stack_for_all_opponents() {
    let counter: String = (0..1200).map(|n| format!("(after {n} {})", n + 1)).collect();
    // Waiting leads nowhere new, so a table keeps the search small.
    let rules = format!(
        "(role a) (role b) (role random) (init (count 0)) (word yes) (word no) {counter}
         (<= (legal a ?w) (word ?w))
         (<= (legal b ?w) (word ?w))
         (<= (legal random ?w) (word ?w))
         (<= (next (count ?m)) (true (count ?n)) (after ?n ?m))
         (<= terminal (true (count 1200)))
         (<= (goal ?r 70) (role ?r))"
    );
    let run = move || {
        for opponents in ["paranoid", "matrix", "cooperative", "max_n"] {
            let mut machine = machine_of(&rules);
            let mut player =
                player("minimax", [("opponents", opponents.into()), ("deepening", false.into())]);
            let stop = Stop::never().after_nodes(1002);
            let (answer, found) = first_move(machine.as_mut(), player.as_mut(), 0, &stop);
            assert_eq!(text(machine.as_ref(), &[answer]), "yes");
            let deepest = if opponents == "max_n" { 500 } else { 1000 };
            assert_eq!(found.selective_depth, deepest, "{opponents}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

/// With one legal move a player thinks only with `ponder`, and only under a clock.
#[test]
fn a_player_with_one_legal_move_thinks_only_if_it_ponders() {
    for kind in ["alpha_beta", "mcts"] {
        for ponders in [false, true] {
            for has_clock in [false, true] {
                let mut machine = network("connect_four");
                machine.prepare();
                // Deciding early is about choices, of which there is none here.
                let early = (kind == "alpha_beta").then(|| ("allocate_time", Value::from(true)));
                let options: Options =
                    [("ponder", ponders.into())].into_iter().chain(early).collect();
                let mut player = (players::find(kind).unwrap().make)(&options).unwrap();
                let stop = match has_clock {
                    true => Stop::never().at(Instant::now() + Duration::from_millis(300)),
                    false => Stop::never().after_nodes(100),
                };
                let (answer, found) = first_move(machine.as_mut(), player.as_mut(), 1, &stop);
                assert_eq!(text(machine.as_ref(), &[answer]), "noop");
                // The first two depths alone take some dozens.
                assert_eq!(found.nodes > 1000, ponders && has_clock, "{kind}: {found:?}");
            }
        }
    }
}
