//! What every player owes, on every game it can play.

use games::{State, StateMachine, library};
use players::{Failure, Observation, PlayerKind, Stop, Turn, kinds};

use crate::arena::{
    first_move, is_seat, legal, machine, machine_of, play, play_steps, play_until, player, seat,
    text,
};

fn n_seats(machine: &dyn StateMachine) -> usize {
    (0..machine.game().roles().len()).filter(|&role| is_seat(machine, role)).count()
}

/// Whether a player of this kind says at the start, with `n` nodes, that it cannot play a
/// game.
fn refuses(kind: &PlayerKind, machine: &dyn StateMachine, n: u64) -> bool {
    let stop = Stop::never().after_nodes(n);
    let started = player(kind.name, []).start(seat(machine, 0, 1), &stop);
    matches!(started, Err(Failure::Unsuitable(_)))
}

/// Each kind on each shipped game, against itself under a small node budget: the
/// referee checks that every move is legal. Only games without a value are refused.
#[test]
fn every_player_plays_every_game_by_the_rules() {
    let mut refused = Vec::new();
    for shipped in library::all() {
        let mut machine = machine(shipped.name);
        let hides = machine.game().kind().hidden_information;
        let suited = |kind: &&PlayerKind| kind.plays_hidden_information || !hides;
        for kind in kinds().iter().filter(suited) {
            if refuses(kind, machine.as_ref(), 10) {
                refused.push((shipped.name, kind.name));
                continue;
            }
            let n_matches = if kind.instant { 10 } else { 1 };
            for seed in 0..n_matches {
                let mut seats: Vec<_> =
                    (0..n_seats(machine.as_ref())).map(|_| player(kind.name, [])).collect();
                let stop = Stop::never().after_nodes(10);
                play_until(machine.as_mut(), &mut seats, seed, &stop);
            }
        }
    }
    assert_eq!(refused, [("fishery", "perfect"), ("odd_one_out", "perfect")]);
}

/// The same on published rulesheets, which are not part of this project: the
/// environment variable `GAMEMASTER_CORPUS` names a folder that has them in its
/// folder `rulesheets`; without it nothing is checked here.
#[test]
fn every_player_plays_published_games_by_the_rules() {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else { return };
    let entries = std::fs::read_dir(std::path::Path::new(&folder).join("rulesheets")).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let mut machine = machine_of(&std::fs::read_to_string(&path).unwrap());
        let hides = machine.game().kind().hidden_information;
        for kind in kinds().iter().filter(|kind| kind.plays_hidden_information || !hides) {
            // Some know at once that the game is too large for them.
            if refuses(kind, machine.as_ref(), 100) {
                continue;
            }
            let mut seats: Vec<_> =
                (0..n_seats(machine.as_ref())).map(|_| player(kind.name, [])).collect();
            let stop = Stop::never().after_nodes(5);
            play_steps(machine.as_mut(), &mut seats, 1, &stop, 10);
        }
    }
}

/// Players that search for the true state refuse to guess it.
#[test]
fn searching_players_refuse_hidden_information() {
    for game in ["kuhn_poker", "monty_hall", "two_roads"] {
        let machine = machine(game);
        for kind in kinds() {
            let started = player(kind.name, []).start(seat(machine.as_ref(), 0, 1), &Stop::never());
            let refused = matches!(started, Err(Failure::Unsuitable(_)));
            assert_eq!(refused, !kind.plays_hidden_information, "{}, {game}", kind.name);
        }
    }
}

/// Every player but those that do not look ahead takes a win in one, for any
/// seed, whichever move it is.
#[test]
fn every_player_that_looks_ahead_takes_the_win_in_one() {
    for winning in ["a", "b", "c"] {
        let rules = format!(
            "(role me) (role you) (init start) (word a) (word b) (word c)
             (<= (legal ?r ?w) (role ?r) (word ?w))
             (<= (next (said ?w)) (does me ?w))
             (<= terminal (true (said ?w)))
             (<= (goal me 100) (true (said {winning})))
             (<= (goal me 0) (not (true (said {winning}))))
             (<= (goal you 50) (role you))"
        );
        let mut machine = machine_of(&rules);
        for kind in kinds().iter().filter(|kind| !kind.instant) {
            for seed in 0..3 {
                let mut seats = [player(kind.name, []), player("random", [])];
                let played = play(machine.as_mut(), &mut seats, seed);
                assert_eq!(played.goals, [100, 50], "{}", kind.name);
            }
        }
        let (answer, _) =
            first_move(machine.as_mut(), player("legal", []).as_mut(), 0, &Stop::never());
        assert_eq!(text(machine.as_ref(), &[answer]), "a");
    }
    // A win in one for the one who follows, in a game where roles take turns.
    let mut machine = machine("tic_tac_toe");
    let words = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 3 2)"];
    for kind in ["minimax", "alpha_beta"] {
        for depth in 0..3 {
            let mut follower = player(kind, [("depth", depth.into())]);
            let answer = after(machine.as_mut(), follower.as_mut(), 1, &words);
            assert_eq!(answer, "(mark 2 3)", "{kind}, {depth}");
        }
    }
}

/// The answer of `player` in role `role` after these moves of tic-tac-toe,
/// played in turn.
fn after(
    machine: &mut dyn StateMachine,
    player: &mut dyn players::Player,
    role: usize,
    words: &[&str],
) -> String {
    player.start(seat(machine, role, 1), &Stop::never().after_nodes(1)).unwrap();
    let mut state = machine.initial_state().unwrap();
    let mut observation: Option<Observation> = None;
    for step in 0..=words.len() {
        let legal = legal(machine, &state, role);
        let step_number = u32::try_from(step).unwrap();
        let turn = Turn { step: step_number, observation: observation.as_ref(), legal: &legal };
        // Only the last question is worth an unlimited search.
        let budget = if step == words.len() { u64::MAX } else { 1 };
        let answer = player.play(&turn, &Stop::never().after_nodes(budget)).unwrap();
        let Some(word) = words.get(step) else { return text(machine, &[answer]) };
        let mut joint_move = vec![];
        for mover in 0..2 {
            let word = if mover == step % 2 { word } else { "noop" };
            let expression = games::Expression::parse(word).unwrap();
            joint_move.push(machine.find_move(&expression).unwrap());
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
        observation = Some(Observation::JointMove(joint_move));
    }
    unreachable!("the last question returns")
}

/// Random play is uniform: chi-square over the nine openings of tic-tac-toe.
#[test]
fn the_random_player_is_uniform() {
    let mut machine = machine("tic_tac_toe");
    let initial = machine.initial_state().unwrap();
    let legal = legal(machine.as_mut(), &initial, 0);
    let check = |options: &dyn Fn(u64) -> Box<dyn players::Player>,
                 match_seed: &dyn Fn(u64) -> u64| {
        let n = 1800;
        let mut counts = vec![0u32; legal.len()];
        for index in 0..n {
            let mut random = options(index);
            random.start(seat(machine.as_ref(), 0, match_seed(index)), &Stop::never()).unwrap();
            let turn = Turn { step: 0, observation: None, legal: &legal };
            let answer = random.play(&turn, &Stop::never()).unwrap();
            counts[legal.iter().position(|&id| id == answer).unwrap()] += 1;
        }
        let expected = n as f64 / 9.0;
        let chi_square: f64 =
            counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        // The 99.9 % quantile for eight degrees of freedom; the seeds are fixed.
        assert!(chi_square < 26.12, "{counts:?}");
    };
    check(&|_| player("random", []), &|index| index);
    check(&|index| player("random", [("seed", index.cast_signed().into())]), &|_| 1);
}

/// Seeds decide: the same ones play the same match, other ones another.
#[test]
fn the_random_player_follows_its_seeds() {
    let mut machine = machine("connect_four");
    let mut moves = |own_seed: i64, match_seed: u64| {
        let mut seats = [player("random", [("seed", own_seed.into())]), player("legal", [])];
        play(machine.as_mut(), &mut seats, match_seed).moves
    };
    assert_eq!(moves(1, 1), moves(1, 1));
    assert_ne!(moves(1, 1), moves(2, 1));
    assert_ne!(moves(1, 1), moves(1, 2));
}

/// In 200 matches of tic-tac-toe against random play, in both roles, the searching
/// players never lose, and win most.
#[test]
fn perfect_play_never_loses_to_random() {
    let mut machine = machine("tic_tac_toe");
    for kind in ["minimax", "alpha_beta"] {
        for role in 0..2 {
            let mut total = 0u32;
            let mut seats = [player("random", []), player("random", [])];
            seats[role] = player(kind, [("deepening", (kind == "alpha_beta").into())]);
            for seed in 0..50 {
                let goal = play(machine.as_mut(), &mut seats, seed).goals[role];
                assert!(goal >= 50, "{kind} lost as role {role}, seed {seed}");
                total += u32::from(goal);
            }
            assert!(total > 4250, "{kind} as role {role}: {total}");
        }
    }
}

/// Random against random: x wins 58.5 %, o 28.8 %, 12.7 % are drawn.
#[test]
fn random_play_has_its_known_shares() {
    let mut machine = machine("tic_tac_toe");
    let mut counts = [0u32; 3];
    let mut seats = [player("random", []), player("random", [])];
    for seed in 0..2000 {
        let goal = play(machine.as_mut(), &mut seats, seed).goals[0];
        counts[usize::from(goal) / 50] += 1;
    }
    for (count, share) in counts.into_iter().zip([0.288, 0.127, 0.585]) {
        let deviation = f64::sqrt(2000.0 * share * (1.0 - share));
        assert!((f64::from(count) - 2000.0 * share).abs() < 4.0 * deviation, "{counts:?}");
    }
}

/// In puzzles all methods that look at everything agree on the score that can be
/// had.
#[test]
fn all_methods_agree_on_puzzles() {
    for game in ["buttons_and_lights", "hanoi_small", "eight_puzzle_seed", "eight_puzzle_course"] {
        let mut machine = machine(game);
        let exact = ["compulsive_deliberation", "sequential_planner", "minimax", "alpha_beta"];
        let goals: Vec<u8> = exact
            .iter()
            .map(|kind| play(machine.as_mut(), &mut [player(kind, [])], 1).goals[0])
            .collect();
        assert!(goals.iter().all(|&goal| goal == goals[0]), "{game}: {goals:?}");
    }
}

/// Playing by the value guarantees it: no opponent holds the player below.
#[test]
fn nobody_holds_perfect_play_below_its_value() {
    let opponents = ["random", "legal", "alpha_beta", "compulsive_deliberation"];
    for (game, role, value) in
        [("nim", 0, 100), ("nim_misere", 1, 100), ("tic_tac_toe", 0, 50), ("aima_two_ply", 0, 3)]
    {
        let mut machine = machine(game);
        for kind in ["minimax", "alpha_beta"] {
            for opponent in opponents {
                // The whole tree anew at each step is for the smallest games.
                if opponent == "compulsive_deliberation" && game == "nim" {
                    continue;
                }
                let mut seats = [player(opponent, []), player(opponent, [])];
                seats[role] = player(kind, []);
                let played = play(machine.as_mut(), &mut seats, 5);
                assert!(played.goals[role] >= value, "{game}: {kind} against {opponent}");
            }
        }
    }
}

/// A player that was told something else than what happened goes by the legal
/// moves.
#[test]
fn a_player_that_lost_track_plays_on() {
    for kind in kinds() {
        let mut machine = machine("tic_tac_toe");
        let initial = machine.initial_state().unwrap();
        let [marks, noops] = [0, 1].map(|role| legal(machine.as_mut(), &initial, role));
        let mut state = State::default();
        let played = [marks[4], noops[0]];
        machine.next_state(&initial, &played, &mut state).unwrap();
        let later = legal(machine.as_mut(), &state, 1);
        for observation in [
            None,
            Some(Observation::JointMove(vec![marks[0], noops[0]])),
            Some(Observation::JointMove(vec![marks[0]])),
            Some(Observation::Percepts { own_move: noops[0], percepts: vec![] }),
        ] {
            let mut lost = player(kind.name, []);
            let stop = Stop::never().after_nodes(5);
            lost.start(seat(machine.as_ref(), 1, 1), &stop).unwrap();
            let first = Turn { step: 0, observation: None, legal: &noops };
            assert_eq!(lost.play(&first, &stop).unwrap(), noops[0]);
            let turn = Turn { step: 1, observation: observation.as_ref(), legal: &later };
            assert!(later.contains(&lost.play(&turn, &stop).unwrap()), "{}", kind.name);
            assert!(later.contains(&lost.play(&turn, &stop).unwrap()), "{}", kind.name);
        }
    }
}

/// Under a budget for a few positions ahead, alpha-beta plays connect four
/// sensibly: it beats random play in either role.
#[test]
fn alpha_beta_beats_random_at_connect_four() {
    let mut machine = machine("connect_four");
    let stop = Stop::never().after_nodes(1500);
    for seed in 0..4 {
        for role in 0..2 {
            let mut seats = [player("random", []), player("random", [])];
            seats[role] = player("alpha_beta", []);
            let played = play_until(machine.as_mut(), &mut seats, seed, &stop);
            assert_eq!(played.goals[role], 100, "role {role}, seed {seed}");
        }
    }
}
