//! Monte-Carlo tree search: what it proves, what it finds, and what it keeps to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use games::StateMachine;
use players::learning::{Trainer, TrainingSettings};
use players::{Deliberation, Stop, Value};

use crate::arena::{
    first_move, in_words, machine, machine_of, network, play, play_until, player, seat, text,
};

/// The first answer to an unlimited question: a game that is solved ends the search.
fn solved<const N: usize>(
    machine: &mut dyn StateMachine,
    role: usize,
    options: [(&str, Value); N],
) -> (String, Deliberation) {
    let mut player = player("mcts", options);
    let (answer, found) = first_move(machine, player.as_mut(), role, &Stop::never());
    (text(machine, &[answer]), found)
}

/// Published values: tic-tac-toe is a draw, the two-ply tree of Russell and Norvig is worth
/// 3, Tromp's connect four on 4x4 is a draw, and nim with three heaps is won by the first.
#[test]
fn small_games_are_solved() {
    for (game, value) in [
        ("tic_tac_toe", 50.0),
        ("aima_two_ply", 3.0),
        ("nim", 100.0),
        ("coin_flip", 50.0),
        ("dice_tree", 21.0),
    ] {
        let (_, found) = solved(network(game).as_mut(), 0, [("iterations", 1_000_000.into())]);
        assert!(found.completed, "{game}: {found:?}");
        assert!((found.value.unwrap() - value).abs() < 0.1, "{game}: {found:?}");
    }
    let (answer, _) = solved(network("aima_two_ply").as_mut(), 0, []);
    assert_eq!(answer, "a1");
}

/// One move is good on average but for a single refutation; the search finds it, where
/// flat Monte-Carlo does not.
#[test]
fn it_sees_a_trap() {
    let rules = "(role me) (role you) (init (at start))
        (<= (legal me trap) (true (at start))) (<= (legal me safe) (true (at start)))
        (<= (legal me wait) (true (at middle)))
        (<= (legal you wait) (true (at start)))
        (answer a) (answer b) (answer c) (answer d)
        (<= (legal you ?x) (true (at middle)) (answer ?x))
        (<= (next (at middle)) (true (at start)))
        (<= (next (chose ?x)) (does me ?x)) (<= (next (chose ?x)) (true (chose ?x)))
        (<= (next (said ?x)) (does you ?x)) (<= (next (at end)) (true (at middle)))
        (<= terminal (true (at end)))
        (<= (goal me 50) (true (chose safe))) (<= (goal me 0) (true (chose trap)) (true (said a)))
        (<= (goal me 100) (true (chose trap)) (not (true (said a))))
        (<= (goal me 0) (true (at start)))
        (<= (goal you ?v) (true (at end)) (goal me ?w) (opposite ?v ?w))
        (<= (goal you 0) (true (at start)))
        (opposite 0 100) (opposite 50 50) (opposite 100 0)";
    let (answer, found) = solved(machine_of(rules).as_mut(), 0, []);
    assert_eq!(answer, "safe");
    assert_eq!((found.value, found.completed), (Some(50.0), true));
}

/// Matching pennies: nothing pure is proven, and both sides of the coin are tried as often.
#[test]
fn simultaneous_moves_are_mixed() {
    let (_, found) = solved(network("matching_pennies").as_mut(), 0, [("iterations", 4000.into())]);
    assert!(!found.completed, "{found:?}");
    for candidate in &found.candidates {
        let share = candidate.visits as f64 / 4000.0;
        assert!((0.35..0.65).contains(&share), "{found:?}");
    }
    assert!((40.0..60.0).contains(&found.value.unwrap()), "{found:?}");
}

/// Puzzles: the best line is found and kept to, though hardly any random play finds it.
#[test]
fn puzzles_are_solved() {
    for (game, reward) in [("buttons_and_lights", 100), ("eight_puzzle_seed", 100), ("maze", 100)] {
        let mut machine = network(game);
        let played = play(machine.as_mut(), &mut [player("mcts", [])], 1);
        assert_eq!(played.goals, [reward], "{game}");
        let found = played.steps[0][0].as_ref().unwrap();
        assert_eq!(found.value, Some(f64::from(reward)), "{game}: {found:?}");
    }
}

/// In tic-tac-toe it never loses, in either role.
#[test]
fn it_does_not_lose_tic_tac_toe() {
    let mut machine = network("tic_tac_toe");
    let stop = Stop::never().after_nodes(50_000);
    for seed in 0..10 {
        for role in 0..2 {
            let opponent = if seed % 2 == 0 { "random" } else { "monte_carlo" };
            let mut seats = [player(opponent, []), player(opponent, [])];
            seats[role] = player("mcts", []);
            let played = play_until(machine.as_mut(), &mut seats, seed, &stop);
            assert!(played.goals[role] >= 50, "role {role}, seed {seed}");
        }
    }
}

/// What it answers, and what it took, is the same for the same seed; nodes are kept but
/// for the step that is under way in all lanes and the children of a node.
#[test]
fn a_node_budget_is_kept_and_repeats_itself() {
    let mut machine = network("breakthrough_6x6");
    let stop = Stop::never().after_nodes(20_000);
    let mut once = |seed| {
        let mut seats = [player("mcts", []), player("random", [])];
        play_until(machine.as_mut(), &mut seats, seed, &stop)
    };
    let played = once(1);
    assert_eq!(once(1), played);
    assert_ne!(once(2).moves, played.moves);
    for found in played.steps.iter().filter_map(|step| step[0].as_ref()) {
        assert!(found.nodes < 20_000 + 512 + 64, "{found:?}");
        let visits: u64 = found.candidates.iter().map(|candidate| candidate.visits).sum();
        assert!(visits > 0 || found.completed || found.candidates.is_empty(), "{found:?}");
    }
    assert_eq!(played.goals[0], 100);
}

/// The tree stays within its memory, however long the search, and says so.
#[test]
fn memory_is_bounded() {
    let mut machine = network("breakthrough_6x6");
    let options = [("memory", "1MiB".into()), ("iterations", 20_000.into())];
    let mut player = player("mcts", options);
    let (_, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
    let note = found.notes.iter().find(|note| note.contains("memory limit")).unwrap();
    let digits: String = note.chars().filter(char::is_ascii_digit).collect();
    // Each time about half is free again, which is enough for hundreds of leaves.
    assert!((2..=60).contains(&digits.parse::<u32>().unwrap()), "{note}");
    let visits: u64 = found.candidates.iter().map(|candidate| candidate.visits).sum();
    assert!((19_000..=20_000).contains(&visits), "{visits}");
}

/// Both reasoners, and all ways to fill a pass, come to the same judgement.
#[test]
fn any_split_of_lanes_will_do() {
    for (leaves, lanes) in [(1, 1), (1, 512), (8, 64), (512, 1), (3, 5)] {
        let options = [
            ("leaves", Value::from(leaves)),
            ("lanes", lanes.into()),
            ("iterations", 100_000.into()),
        ];
        let (answer, found) = solved(network("connect_four_4x4").as_mut(), 0, options);
        assert!(found.candidates.len() == 4 && !answer.is_empty(), "{found:?}");
        assert!(found.value.is_some_and(|value| value < 75.0), "{leaves}x{lanes}: {found:?}");
    }
    let prover = solved(machine("connect_three").as_mut(), 0, [("iterations", 300.into())]);
    assert!(!in_words(machine("connect_three").as_ref(), &prover.1).1.is_empty());
}

/// Several threads play the playouts of one tree, and with a node budget it repeats itself.
#[test]
fn threads_share_a_tree() {
    let mut machine = network("connect_four");
    let stop = Stop::never().after_nodes(60_000);
    let mut player_in_threads = player("mcts", [("threads", 3.into()), ("memory", "64MiB".into())]);
    let (_, found) = first_move(machine.as_mut(), player_in_threads.as_mut(), 0, &stop);
    assert!(found.nodes < 60_000 + 3 * 512, "{found:?}");
    let one = first_move(machine.as_mut(), player("mcts", []).as_mut(), 0, &stop).1;
    assert!(found.nodes > one.nodes / 2 && found.candidates.len() == 7, "{found:?}");
    let solved = solved(network("aima_two_ply").as_mut(), 0, [("threads", 2.into())]);
    assert_eq!((solved.0.as_str(), solved.1.value, solved.1.completed), ("a1", Some(3.0), true));
}

/// What is proven in the first part of a start clock leaves nothing to learn.
#[test]
fn a_game_that_is_soon_solved_ends_the_start_clock() {
    let machine = network("tic_tac_toe");
    let mut player = player("mcts", []);
    let stop = Stop::never().at(Instant::now() + Duration::from_secs(60));
    player.start(seat(machine.as_ref(), 0, 1), &stop).unwrap();
    let found = player.deliberation().unwrap();
    assert!(found.completed && found.value == Some(50.0), "{found:?}");
    assert!(found.notes.iter().all(|note| !note.contains("self-play")), "{found:?}");
}

/// With an evaluation of `train` it plays no playouts, repeats itself, and wins at breakthrough
/// from a search by playouts that enters as many states.
#[test]
fn an_evaluation_judges_in_place_of_playouts() {
    let mut machine = network("breakthrough_6x6");
    let settings = TrainingSettings::default();
    let mut trainer = Trainer::new(machine.fork(), settings, &Stop::never()).unwrap();
    (0..300).for_each(|_| assert!(trainer.play_match(&Stop::never()).unwrap()));
    let evaluation = Value::Learned(Arc::new(trainer.evaluation()));
    let stop = Stop::never().after_nodes(10_000);
    for role in 0..2 {
        let mut once = || {
            let mut seats = [player("mcts", []), player("mcts", [])];
            seats[role] = player("mcts", [("evaluation", evaluation.clone())]);
            play_until(machine.as_mut(), &mut seats, 1, &stop)
        };
        let played = once();
        assert_eq!(played.goals[role], 100, "role {role}");
        assert_eq!(once(), played);
        let said: Vec<_> = played.steps.iter().filter_map(|step| step[role].as_ref()).collect();
        assert!(said.iter().all(|found| found.playouts == 0 && found.nodes < 10_000 + 64));
    }
    let other = network("breakthrough_5x5");
    let mut player = player("mcts", [("evaluation", evaluation)]);
    assert!(player.check(other.fork()).unwrap_err().to_string().contains("another game"));
    assert!(player.start(seat(other.as_ref(), 0, 1), &Stop::never()).is_err());
}
