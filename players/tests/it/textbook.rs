//! Counts and values that the textbooks, or programs written from them, give
//! for whole games.

use games::State;
use players::{Deliberation, Observation, Player, Stop, Turn, Value};

use crate::arena::{first_move, legal, machine, machine_of, play, player, seat, text};

/// The first move of a fresh player without clock, and what it took.
fn check<const N: usize>(
    game: &str,
    (kind, options): (&str, [(&str, Value); N]),
    (first, value): (&str, u8),
    nodes: u64,
) -> Deliberation {
    let mut machine = machine(game);
    let mut player = player(kind, options);
    let (answer, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
    assert_eq!(text(machine.as_ref(), &[answer]), first, "{game}, {kind}");
    assert_eq!(
        (found.value, found.nodes, found.completed),
        (Some(f64::from(value)), nodes, true),
        "{kind}"
    );
    found
}

fn single(bounded: bool, transposition: i64) -> [(&'static str, Value); 3] {
    [
        ("deepening", false.into()),
        ("bounded", bounded.into()),
        ("transposition", transposition.into()),
    ]
}

/// Tic-tac-toe, cells in row-major order, a draw worth 50.
#[test]
fn tic_tac_toe_has_its_counts() {
    let first = ("(mark 1 1)", 50);
    check("tic_tac_toe", ("minimax", single(true, 0)), first, 94_978);
    check("tic_tac_toe", ("alpha_beta", single(true, 0)), first, 16_811);
    check("tic_tac_toe", ("alpha_beta", single(false, 0)), first, 18_297);
    // Every position once.
    check("tic_tac_toe", ("minimax", single(false, 10_000)), first, 5_478);
}

#[test]
fn tic_tac_toe_has_its_whole_tree() {
    let found = check("tic_tac_toe", ("minimax", single(false, 0)), ("(mark 1 1)", 50), 549_946);
    assert_eq!((found.leaves, found.selective_depth), (255_168, 9));
    assert_eq!((found.next_calls, found.prunings), (549_945, 0));
}

/// The two-ply tree, and the coin-flip tree of MAX, CHANCE and MIN.
#[test]
fn the_slides_trees_have_their_values() {
    let found = check("aima_two_ply", ("minimax", single(false, 0)), ("a1", 3), 13);
    assert_eq!(found.leaves, 9);
    let found = check("aima_two_ply", ("alpha_beta", single(true, 0)), ("a1", 3), 11);
    assert_eq!((found.leaves, found.prunings), (7, 2));
    let found = check("coin_flip", ("minimax", single(false, 0)), ("left", 50), 15);
    assert_eq!(found.leaves, 8);
    let options = [("deepening", false.into()), ("transposition", 0.into())];
    let mut machine = machine("coin_flip");
    let mut player = player("alpha_beta", options);
    let (answer, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
    assert_eq!((text(machine.as_ref(), &[answer]).as_str(), found.value), ("left", Some(50.0)));
    assert!(found.nodes <= 15);
}

/// All nine openings of tic-tac-toe are worth 50 to the one who answers them, and
/// with good play on both sides the match is drawn.
#[test]
fn every_opening_of_tic_tac_toe_is_a_draw() {
    let mut machine = machine("tic_tac_toe");
    let initial = machine.initial_state().unwrap();
    let noop = legal(machine.as_mut(), &initial, 1)[0];
    let openings = legal(machine.as_mut(), &initial, 0);
    assert_eq!(openings.len(), 9);
    for opening in openings {
        let mut follower = player("alpha_beta", []);
        follower.start(seat(machine.as_ref(), 1, 1), &Stop::never()).unwrap();
        let turn = Turn { step: 0, observation: None, legal: &[noop] };
        follower.play(&turn, &Stop::never()).unwrap();
        let observation = Observation::JointMove(vec![opening, noop]);
        let mut next = State::default();
        machine.next_state(&initial, &[opening, noop], &mut next).unwrap();
        let legal = legal(machine.as_mut(), &next, 1);
        let turn = Turn { step: 1, observation: Some(&observation), legal: &legal };
        follower.play(&turn, &Stop::never()).unwrap();
        assert_eq!(follower.deliberation().unwrap().value, Some(50.0));
    }
    for first in ["minimax", "alpha_beta"] {
        for second in ["minimax", "alpha_beta"] {
            let mut seats = [player(first, []), player(second, [])];
            assert_eq!(play(machine.as_mut(), &mut seats, 1).goals, [50, 50]);
        }
    }
}

/// Against nature as it is, the coin tree pays its value on average: 40 or 60
/// with even chances, so that 400 matches err by 0.5.
#[test]
fn the_coin_tree_pays_its_value() {
    let mut machine = machine("coin_flip");
    let mut seats = [player("alpha_beta", []), player("minimax", [])];
    let goals = (0..400).map(|seed| f64::from(play(machine.as_mut(), &mut seats, seed).goals[0]));
    let mean = goals.sum::<f64>() / 400.0;
    assert!((mean - 50.0).abs() < 1.5, "{mean}");
}

/// Bouton 1901: with heaps of 3, 4 and 5 the first player wins; with 1, 2 and 3
/// and the last counter losing, the second.
#[test]
fn nim_is_won_by_who_should() {
    for (game, winner) in [("nim", 0), ("nim_misere", 1)] {
        for kind in ["minimax", "alpha_beta"] {
            let mut machine = machine(game);
            let mut searcher = player(kind, [("deepening", false.into())]);
            let (_, found) = first_move(machine.as_mut(), searcher.as_mut(), 0, &Stop::never());
            assert_eq!(found.value, Some(if winner == 0 { 100.0 } else { 0.0 }));
            for seed in 0..5 {
                let mut seats = [player("random", []), player("random", [])];
                seats[winner] = player(kind, []);
                assert_eq!(play(machine.as_mut(), &mut seats, seed).goals[winner], 100, "{game}");
            }
        }
    }
}

/// Rock, paper, scissors in three rounds: a coalition that knows my move always
/// wins; against one that does not, the value is the even 50, and what is
/// drawn is even.
#[test]
fn simultaneous_moves_are_mixed() {
    let first = |opponents: &str, seed: i64| {
        let mut machine = machine("rock_paper_scissors");
        let options =
            [("opponents", opponents.into()), ("deepening", false.into()), ("seed", seed.into())];
        let mut player = player("minimax", options);
        let found = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
        (text(machine.as_ref(), &[found.0]), found.1.value)
    };
    assert_eq!(first("paranoid", 0).1, Some(0.0));
    assert_eq!(first("cooperative", 0).1, Some(100.0));
    let mut drawn = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..150 {
        let (word, value) = first("matrix", seed);
        assert_eq!(value, Some(50.0));
        *drawn.entry(word).or_default() += 1;
    }
    // Each is drawn 50 times on average; 30 is over three standard deviations off.
    assert!(drawn.len() == 3 && drawn.values().all(|&n| n > 30), "{drawn:?}");
}

/// A line that never ends gives nothing: neither an estimate of it nor what a shorter search
/// remembered makes it better than a small reward.
#[test]
fn play_without_end_is_worth_nothing() {
    let rules = "(role a) (role b) (init (at s)) (init (control a))
        (<= (legal ?r stay) (true (control ?r)))
        (<= (legal a take) (true (control a)))
        (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
        (<= (next (at s)) (does ?r stay))
        (<= (next (control b)) (true (control a)))
        (<= (next (control a)) (true (control b)))
        (<= (next (at e)) (does a take))
        (<= terminal (true (at e)))
        (<= (goal a 40) (true (at e)))
        (<= (goal b 20) (true (at e)))";
    let check = |mut player: Box<dyn Player>, steps: u32| {
        let mut machine = machine_of(rules);
        let (_, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
        assert_eq!((found.value, found.completed), (Some(40.0), false));
        let note = format!("lines that did not end within {steps} steps count as 0");
        assert!(found.notes.contains(&note), "{:?}", found.notes);
    };
    for kind in ["alpha_beta", "minimax", "determinization", "compulsive_deliberation"] {
        check(player(kind, []), 1000);
    }
    // A level of max-n takes more of the stack.
    check(player("minimax", [("opponents", "max_n".into())]), 666);
}
