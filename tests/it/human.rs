//! A person at the terminal as a player of `gamemaster play`.

use std::io::Write as _;
use std::process::{Child, Stdio};

use crate::workspace::{Ran, Workspace};

/// Plays a match in which a person types these lines.
fn typed(arguments: &[&str], lines: &str) -> Ran {
    let workspace = Workspace::new();
    let mut command = workspace.command(&[&["play"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    Ran(child.wait_with_output().unwrap())
}

#[test]
fn moves_are_typed_by_number_or_text_and_a_board_is_drawn() {
    let ran = typed(&["tic_tac_toe", "human", "legal"], "5\nmark 9 9\nmark 3 1\n(mark 1 3)\n");
    let ran = ran.code(0);
    let (shown, asked) = (ran.stdout(), ran.stderr());
    for action in ["(mark 2 2)", "(mark 3 1)", "(mark 1 3)"] {
        assert!(shown.contains(&format!("xplayer  {action}")), "{shown}");
    }
    assert!(shown.contains("xplayer  reward 100  human"), "{shown}");
    assert!(asked.contains("`mark 9 9` is not a legal move"), "{asked}");
    assert!(asked.contains("\n  2  . x .\n"), "{asked}");
    // Three decisions, one of them asked twice; not a word while the other is to move.
    assert_eq!(asked.matches("your move").count(), 4, "{asked}");
}

#[test]
fn a_board_that_is_empty_at_first_is_drawn() {
    let asked = typed(&["connect_four", "human", "legal"], "(drop 4)\nquit\n").stderr();
    assert!(asked.contains("\n  1  r . . w . . .\n     1 2 3 4 5 6 7\n"), "{asked}");
    assert!(!asked.contains("free"), "{asked}");
}

#[test]
fn only_play_asks_people() {
    let workspace = Workspace::new();
    let suite = ["suite", "run", "endgames", "--player", "legal", "--player", "anna=human"];
    let refused = workspace.run(&suite).code(2).stderr();
    let expected = "anna is a person, who can play only in `gamemaster play`; name another player";
    assert_eq!(refused, format!("error: {expected}\n"));
    let spec = "games = [\"nim\"]\n[[players]]\nkind = \"legal\"\n[[players]]\nid = \"anna\"\nkind = \"human\"\n";
    workspace.write("spec.toml", spec);
    let refused = workspace.run(&["run", "spec.toml"]).code(2).stderr();
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn two_people_take_turns() {
    let ran = typed(&["tic_tac_toe", "x=human", "o=human"], "1\n1\n1\n1\n1\n1\n1\n").code(0);
    assert!(ran.stdout().contains("xplayer  reward 100  x"), "{}", ran.stdout());
}

#[test]
fn in_a_game_of_hidden_information_only_percepts_are_shown() {
    let ran = typed(&["kuhn_poker", "human", "legal", "--seed", "3"], "check\ncheck\n").code(0);
    let (shown, asked) = (ran.stdout(), ran.stderr());
    assert!(asked.contains(" and perceived (card "), "{asked}");
    assert!(!asked.contains("holds") && !shown.contains("holds"), "{shown}{asked}");
    assert!(!shown.contains("deal"), "{shown}");
    assert!(shown.contains("first   reward"), "{shown}");
}

/// The card is dealt before the steps without a choice, which are not asked for.
#[test]
fn percepts_of_steps_without_a_choice_are_shown_with_the_next_question() {
    let asked = typed(&["kuhn_poker", "legal", "human"], "1\n").code(0).stderr();
    let card = asked.find(" and perceived (card ").expect("the card");
    assert!(asked[card..].contains(" and perceived (did first "), "{asked}");
}

#[test]
fn the_end_of_the_input_or_quit_ends_the_match_without_another_move() {
    for lines in ["2\n", "2\nquit\n"] {
        let ran = typed(&["tic_tac_toe", "human", "legal"], lines).code(130);
        let shown = ran.stdout();
        assert!(shown.contains("end (aborted: interrupted)"), "{shown}");
        assert!(!shown.contains("step 3"), "{shown}");
    }
}

#[test]
fn a_person_who_lets_the_clock_run_out_plays_the_first_move() {
    let workspace = Workspace::new();
    let arguments = ["play", "tic_tac_toe", "human:clocks.play=120ms", "legal"];
    let mut command = workspace.command(&arguments);
    // A pipe that nothing is written to, open until the match is over.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    drop(stdin);
    assert!(ran.stderr().contains("the time is up: (mark 1 1) is played"), "{}", ran.stderr());
    assert!(!ran.stdout().contains("late"), "{}", ran.stdout());
}

#[test]
fn a_person_plays_only_where_somebody_is_asked() {
    let spec = "games = [\"tic_tac_toe\"]\nplayers = [{ kind = \"human\" }, { kind = \"random\" }]";
    let workspace = Workspace::with_spec(spec);
    for command in [
        &["run", "spec.toml"][..],
        &["explain", "tic_tac_toe", "--player", "human"],
        &["serve", "--player", "human", "--port", "0"],
    ] {
        let refused = workspace.run(command).code(2).stderr();
        assert!(refused.contains("`gamemaster play`"), "{command:?}: {refused}");
    }
}
