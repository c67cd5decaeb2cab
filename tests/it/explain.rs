//! `gamemaster explain`: one decision in words.

use crate::workspace::Workspace;

/// The two-ply tree of AIMA, chapter 6: seven leaves of nine, 3 against at most 2.
#[test]
fn the_two_ply_tree_is_explained() {
    let workspace = Workspace::new();
    let player = "alpha_beta:deepening=false,transposition=0";
    let command = ["explain", "aima_two_ply", "--player", player];
    let told = workspace.run(&command).code(0).stdout();
    for line in [
        "  move a1  (3 legal, 11 nodes, value 3.0, depth 2)",
        "      7 leaves, 2 cut-offs",
        "      a1  3.0",
        "      a2  at most 2.0",
        "      a3  at most 2.0",
        "      line: a1; a1",
    ] {
        assert!(told.lines().any(|found| found == line), "{told}");
    }
    let json = workspace.run(&[&command[..], &["--json"]].concat()).code(0).stdout();
    let decided: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&decided["move"], &decided["value"]), (&"a1".into(), &3.0.into()));
    assert_eq!(decided["candidates"][1]["bound"], "at_most");
}

/// In the corner opponent's reply the centre is the only move that holds the draw, or one
/// of those that cannot be worse.
#[test]
fn the_state_is_that_after_the_moves() {
    let workspace = Workspace::new();
    let command = ["explain", "tic_tac_toe", "--player", "minimax:transposition=100000"];
    let told = workspace
        .run(&[&command[..], &["--moves", "((mark 1 1) noop)", "--nodes", "1000000"]].concat())
        .code(0)
        .stdout();
    assert!(told.starts_with("tic_tac_toe, step 1: "), "{told}");
    assert!(told.contains(" as oplayer\n\n  move (mark 2 2)  (8 legal, "), "{told}");
    assert!(told.contains("(mark 1 2)  0.0"), "{told}");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["explain"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    let player = ["--player", "alpha_beta"];
    let with = |rest: &[&'static str]| [&player[..], rest].concat();
    refused(&[&["monty_hall"], &with(&[])[..]].concat(), "cannot play this game");
    refused(
        &[&["nim"], &with(&["--moves", "((take a 9) noop)"])[..]].concat(),
        "joint move 1, `((take a 9) noop)`: `(take a 9)` is not legal",
    );
    refused(&[&["nim"], &with(&["--role", "me"])[..]].concat(), "expected one of left, right");
    refused(
        &["nim", "--player", "http://127.0.0.1:9147"],
        "only built-in players can explain their moves",
    );
}
