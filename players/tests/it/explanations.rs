//! What players say of their answers: candidates, values and lines.

use games::RoleId;
use players::{Stop, Turn, ValueBound};

use crate::arena::{Said, first_move, in_words, machine, player, seat};

/// What a kind says of the first move of a game.
fn said<const N: usize>(
    game: &str,
    kind: &str,
    options: [(&str, players::Value); N],
    stop: &Stop,
) -> Said {
    let mut machine = machine(game);
    let mut player = player(kind, options);
    let (_, found) = first_move(machine.as_mut(), player.as_mut(), 0, stop);
    in_words(machine.as_ref(), &found)
}

fn line(said: &Said) -> Vec<String> {
    let step = |step: &Vec<(games::RoleId, String)>| {
        let moves = step.iter().map(|(role, text)| format!("{}:{text}", role.0));
        moves.collect::<Vec<_>>().join(" ")
    };
    said.2.iter().map(step).collect()
}

/// The two-ply tree of Russell and Norvig, "Artificial Intelligence: A Modern Approach",
/// chapter 6: 3, and at most 2 for the other two moves.
#[test]
fn the_two_ply_tree_is_explained() {
    for options in [
        [("deepening", false.into()), ("transposition", 0.into())],
        [("deepening", true.into()), ("transposition", 1000.into())],
    ] {
        let said = said("aima_two_ply", "alpha_beta", options, &Stop::never());
        assert_eq!((said.0.value, said.0.depth), (Some(3.0), 2));
        let values = said.1.iter().map(|(text, it)| (text.as_str(), it.value.unwrap(), it.bound));
        assert_eq!(
            values.collect::<Vec<_>>(),
            [
                ("a1", 3.0, ValueBound::Exact),
                ("a2", 2.0, ValueBound::AtMost),
                ("a3", 2.0, ValueBound::AtMost)
            ]
        );
        assert_eq!(line(&said), ["0:a1", "1:a1"]);
    }
}

/// Where one role chooses at a time, the expected line has the others' moves, too, though the
/// search is ready for simultaneous ones.
#[test]
fn the_line_of_a_matrix_search_has_the_replies() {
    let said = said("aima_two_ply", "minimax", [("opponents", "matrix".into())], &Stop::never());
    assert_eq!(line(&said), ["0:a1", "1:a1"]);
}

/// What was found in the start clock is the answer of the first step: it takes no new search,
/// and is as deep.
#[test]
fn a_value_found_in_the_start_clock_is_kept() {
    for (game, kind) in [
        ("nim", "minimax"),
        ("nim", "alpha_beta"),
        ("dots_and_boxes", "alpha_beta"),
        ("connect_four_4x4", "alpha_beta"),
    ] {
        let mut machine = machine(game);
        let initial = machine.initial_state().unwrap();
        let mut legal = Vec::new();
        machine.legal_moves(&initial, RoleId(0), &mut legal).unwrap();
        let mut player = player(kind, []);
        let stop = Stop::never().after_nodes(100_000);
        player.start(seat(machine.as_ref(), 0, 1), &stop).unwrap();
        let found = player.deliberation().unwrap();
        assert!(found.completed, "{kind} at {game}");
        let turn = Turn { step: 0, observation: None, legal: &legal };
        player.play(&turn, &stop).unwrap();
        let said = player.deliberation().unwrap();
        assert!(said.completed && said.nodes <= 1 + legal.len() as u64, "{said:?}");
        assert_eq!((said.value, said.depth), (found.value, found.depth), "{kind} at {game}");
        assert_eq!(said.line, found.line, "{kind} at {game}");
    }
}

/// If there is no time to look at all moves again, the move that was found in the start clock is
/// played, and not the first legal one.
#[test]
fn a_move_found_in_the_start_clock_is_played_without_time() {
    let mut machine = machine("nim");
    let initial = machine.initial_state().unwrap();
    let mut legal = Vec::new();
    machine.legal_moves(&initial, RoleId(0), &mut legal).unwrap();
    let turn = Turn { step: 0, observation: None, legal: &legal };
    let [with_time, without] = [Stop::never().after_nodes(100_000), Stop::never().after_nodes(1)]
        .map(|stop| {
            let mut player = player("alpha_beta", []);
            let start = Stop::never().after_nodes(100_000);
            player.start(seat(machine.as_ref(), 0, 1), &start).unwrap();
            player.play(&turn, &stop).unwrap()
        });
    assert_ne!(with_time, legal[0]);
    assert_eq!(with_time, without);
}

/// What others together can keep a role from is no proof of its value where there are several of
/// them: each seeks its own good, and the captain gets 80.
#[test]
fn a_value_against_several_others_is_no_proof() {
    for kind in ["minimax", "alpha_beta"] {
        let (said, ..) = said("pirate_gold", kind, [], &Stop::never());
        assert!(said.completed && !said.proven && said.value == Some(0.0), "{kind}: {said:?}");
    }
}

/// A table or none, the line leads to the end and its moves are those of the textbook:
/// nine marks, and a draw.
#[test]
fn the_line_of_a_solved_game_leads_to_its_end() {
    for remembered in [0, 100_000] {
        let options = [("deepening", false.into()), ("transposition", remembered.into())];
        let said = said("tic_tac_toe", "alpha_beta", options, &Stop::never());
        let line = line(&said);
        assert_eq!(line.len(), 9, "{line:?}");
        for (step, moves) in line.iter().enumerate() {
            assert!(moves.starts_with(&format!("{}:(mark ", step % 2)), "{line:?}");
        }
        assert_eq!(said.0.table_hits > 0, remembered > 0);
    }
}

/// What a small table gives up is not lost to the line. Its moves are worth what the search says.
#[test]
fn a_line_outlives_the_entries_of_a_table() {
    for (game, depth) in [("connect_four", 7), ("othello_6x6", 4), ("tic_tac_toe", 9)] {
        let options = [("depth", depth.into()), ("transposition", 30.into())];
        let found = said(game, "alpha_beta", options, &Stop::never());
        let line = line(&found);
        assert!(line.len() as i64 >= depth - 1, "{game}: {line:?}");
        let full = [("depth", depth.into()), ("transposition", 1_000_000.into())];
        assert_eq!(found.0.value, said(game, "alpha_beta", full, &Stop::never()).0.value);
    }
}

/// A search that is stopped says what its last finished depth found.
#[test]
fn a_stopped_search_says_what_it_knows() {
    let stop = Stop::never().after_nodes(5_000);
    let said = said("connect_four", "alpha_beta", [], &stop);
    assert!(!said.0.completed && said.0.value.is_some(), "{:?}", said.0);
    assert!(said.0.depth >= 3 && said.0.depth <= said.0.selective_depth, "{:?}", said.0);
    assert!(!said.2.is_empty() && said.2.len() <= said.0.depth as usize, "{:?}", said.2);
    assert!(!said.1.is_empty());
}

#[test]
fn playouts_are_shown_move_by_move() {
    let said = said("tic_tac_toe", "monte_carlo", [("playouts", 100.into())], &Stop::never());
    assert_eq!((said.0.playouts, said.1.len()), (900, 9));
    assert!(said.1.iter().all(|(_, candidate)| candidate.visits == 100));
    let best = said.1.iter().filter_map(|(_, candidate)| candidate.value).fold(0.0, f64::max);
    assert_eq!(said.0.value, Some(best));
}

/// A plan is the line: three lights take a, b, c and so on to the reward.
#[test]
fn a_plan_is_shown_as_a_line() {
    let said = said("buttons_and_lights", "sequential_planner", [], &Stop::never());
    assert_eq!(said.0.value, Some(100.0));
    let line = line(&said);
    assert!(!line.is_empty() && line.iter().all(|step| step.starts_with("0:")), "{line:?}");
}

/// Rock, paper, scissors: each move with a probability of a third.
#[test]
fn mixed_strategies_are_shown() {
    let options = [("opponents", "matrix".into())];
    let said = said("rock_paper_scissors", "minimax", options, &Stop::never());
    assert_eq!(said.1.len(), 3);
    for (text, candidate) in &said.1 {
        let probability = candidate.probability.unwrap();
        assert!((probability - 1.0 / 3.0).abs() < 1e-6, "{text}: {probability}");
    }
    // The move is drawn, so no line follows from it.
    assert_eq!(line(&said), [""; 0]);
}
