//! Rulesheets that are read but not right: what `validate`, `validate --play` and
//! `play` say of them.

use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use gamemaster::manager::{Dialect, PlayerConfig};
use gamemaster::serve::{ServeSettings, Server};
use players::Options;
use results::record::Ending;

use crate::matches::{play, prepared, remote, setup};
use crate::workspace::Workspace;

/// One role moves in step 1 and has no move in step 2.
const STUCK: &str = "(role left) (role right) (init (step 1)) (after 1 2) (after 2 3)
(<= (legal left (go ?n)) (true (step ?n)))
(<= (legal right (stay ?n)) (true (step 1)) (true (step ?n)))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= terminal (true (step 3)))
(goal left 50) (goal right 50)
";

/// Both players see all moves by percepts, and the last joint move decides.
const OPEN: &str = "(role left) (role right) (init (step 1)) (after 1 2) (after 2 3) (after 3 4)
(number 1) (number 2) (number 3)
(<= (legal ?p (say ?n ?m)) (role ?p) (true (step ?n)) (number ?m))
(<= (sees ?p (did ?q ?m)) (role ?p) (does ?q ?m))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= (next (said ?p ?m)) (does ?p (say ?n ?m)))
(<= terminal (true (step 4)))
(<= (goal left 100) (true (said left 3))) (<= (goal left 0) (not (true (said left 3))))
(<= (goal right 100) (true (said right 1))) (<= (goal right 0) (not (true (said right 1))))
";

#[test]
fn a_role_without_a_move_is_found_by_playing() {
    let workspace = Workspace::new();
    workspace.write("stuck.kif", STUCK);
    workspace.run(&["game", "validate", "stuck.kif"]).code(0);
    let ran =
        workspace.run(&["game", "validate", "stuck.kif", "--play", "--playouts", "7"]).code(3);
    expect![[r#"
        error[no-legal-move]: `right` has no legal move at step 1, in 7 of 7 random playouts
         --> stuck.kif:1:13
          |
        1 | (role left) (role right) (init (step 1)) (after 1 2) (after 2 3)
          |             ^^^^^^^^^^^^
          |
          = help: give each role at least one move (such as `noop`) in every state that is not terminal; otherwise the match ends as game_error. First seen after ((go 1) (stay 1))

        note[never-held]: `(true (step 3))` held in no state of 7 random playouts
         --> stuck.kif:5:14
          |
        5 | (<= terminal (true (step 3)))
          |              ^^^^^^^^^^^^^^^
          |
          = help: longer play may reach such a state; check the spelling if it should be frequent

        stuck.kif: not valid, 1 error, 1 note
    "#]]
    .assert_eq(&ran.stdout());
}

/// Without playouts nothing is said about what never held.
#[test]
fn no_playouts_show_nothing() {
    let workspace = Workspace::new();
    workspace.write("stuck.kif", STUCK);
    let none = ["game", "validate", "stuck.kif", "--play", "--playouts", "0"];
    let told = workspace.run(&none).code(0).stdout();
    assert_eq!(told, "stuck.kif: valid, no findings\n");
    for none in ["--playouts", "--time"] {
        let told = workspace.run(&["game", "info", "nim", none, "0"]).code(0).stdout();
        let unknown =
            "2 agents, fully observable, deterministic; the rest is unknown (no playouts)\n";
        assert!(told.contains(unknown) && !told.contains("suited"), "{told}");
    }
}

/// A goal whose condition can never hold is no goal, but the rule is there.
#[test]
fn a_role_without_a_goal_is_told_from_one_whose_goals_never_hold() {
    let workspace = Workspace::new();
    let help = |goal: &str| {
        let rules = format!(
            "(role x) (init (p 1)) (<= (next (p 2)) (true (p 1))) (legal x wait)
             (<= terminal (true (p 2))) {goal}"
        );
        workspace.write("goal.kif", &rules);
        let told = workspace.run(&["game", "validate", "goal.kif", "--json"]).code(0).stdout();
        let report: serde_json::Value = serde_json::from_str(&told).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let found = findings.filter(|finding| finding["code"] == "role-without-goal");
        found.map(|finding| finding["help"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        help("(<= (goal x 100) (true (p 3)))"),
        ["the rules for `goal` that could apply to it have conditions that never hold"]
    );
    assert_eq!(help("(goal y 100)"), ["check the roles that the rules for `goal` name"]);
    assert_eq!(help("(goal x 100)"), [""; 0]);
}

#[test]
fn a_match_that_the_rules_break_exits_with_3() {
    let workspace = Workspace::new();
    workspace.write("stuck.kif", STUCK);
    let ran = workspace.run(&["play", "stuck.kif", "legal", "legal"]).code(3);
    assert!(
        ran.stdout().contains("game_error") || ran.stdout().contains("no legal move"),
        "{}",
        ran.stdout()
    );
}

#[test]
fn ends_without_goals_and_games_without_end_are_found_by_playing() {
    let workspace = Workspace::new();
    let rules = "(role me) (role you) (init (step 1)) (after 1 2)
        (<= (legal ?p wait) (role ?p))
        (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
        (<= (goal me 10) (true (step 1)))
        (goal you 10) (goal you 20)";
    let codes = |terminal: &str| {
        workspace.write("game.kif", &format!("{rules} {terminal}"));
        let ran = workspace.run(&["game", "validate", "game.kif", "--play", "--json"]).code(0);
        let report: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    };
    let found: Vec<String> = codes("(<= terminal (true (step 2)))");
    assert_eq!(found, ["goal-missing", "goal-conflict"]);
    let found: Vec<String> = codes("(<= terminal (true (step 1)) (true (step 2)))");
    assert_eq!(found, ["no-end"]);
}

#[test]
fn shipped_games_are_played_without_a_finding() {
    let ran = Workspace::new()
        .run(&[
            "game",
            "validate",
            "tic_tac_toe",
            "nim",
            "kuhn_poker",
            "--play",
            "--playouts",
            "20",
        ])
        .code(0);
    assert!(
        !ran.stdout().contains("error") && !ran.stdout().contains("warning"),
        "{}",
        ran.stdout()
    );
}

#[test]
fn a_pipe_is_no_rulesheet() {
    let workspace = Workspace::new();
    let pipe = workspace.path("pipe.kif");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [
        &["game", "validate", "pipe.kif"][..],
        &["game", "info", "pipe.kif"],
        &["play", "pipe.kif", "random"],
    ] {
        let ran = workspace.run(arguments).code(2);
        let said = ran.stdout() + &ran.stderr();
        assert!(said.contains("it is not a regular file; copy its text into one"), "{said}");
    }
    let ran = workspace.run(&["game", "info", "/dev/zero"]).code(2);
    assert!(ran.stderr().contains("not a regular file"), "{}", ran.stderr());
}

#[test]
fn digits_are_words_in_names_of_games() {
    let ran = Workspace::new().run(&["game", "info", "connect4"]).code(2);
    assert!(ran.stderr().contains("did you mean `connect_four`"), "{}", ran.stderr());
}

#[test]
fn comments_hold_any_bytes_and_names_do_not() {
    let workspace = Workspace::new();
    let good = [b"; caf\xe9\n".as_slice(), STUCK.as_bytes()].concat();
    std::fs::write(workspace.path("latin.kif"), &good).unwrap();
    let ran = workspace.run(&["game", "validate", "latin.kif"]).code(0);
    assert_eq!(ran.stdout(), "latin.kif: valid, no findings\n");
    let bad = [STUCK.as_bytes(), b"; caf\xe9\n(note caf\xe9)\n"].concat();
    std::fs::write(workspace.path("latin.kif"), &bad).unwrap();
    let ran = workspace.run(&["game", "info", "latin.kif"]).code(3);
    expect![[r#"
        error[not-utf8]: the byte 0xE9 in this name is not UTF-8
         --> latin.kif:8:7
          |
        8 | (note caf�)
          |       ^^^^
          |
          = help: save the file as UTF-8; only comments may hold other bytes

        error: invalid rulesheet `latin.kif`: 1 error
    "#]]
    .assert_eq(&ran.stderr());
    let ran = workspace.run(&["game", "validate", "latin.kif"]).code(3);
    assert!(ran.stdout().starts_with("error[not-utf8]: "), "{}", ran.stdout());
    assert!(ran.stdout().ends_with("latin.kif: not valid, 1 error\n"), "{}", ran.stdout());
}

#[test]
fn searching_players_play_games_that_hide_nothing() {
    let workspace = Workspace::new();
    workspace.write("open.kif", OPEN);
    let ran = workspace.run(&["game", "info", "open.kif"]).code(0);
    assert!(ran.stdout().contains("perfect information"), "{}", ran.stdout());
    let ran = workspace
        .run(&["play", "open.kif", "minimax", "monte_carlo", "--nodes", "500", "--json"])
        .code(0);
    let record: results::record::MatchRecord = serde_json::from_str(&ran.stdout()).unwrap();
    let last: Vec<&str> =
        record.steps.last().unwrap().iter().map(|decision| decision.executed.as_str()).collect();
    assert_eq!(last, ["(say 3 3)", "(say 3 1)"]);
}

/// A served player that searches reads the moves from the percepts, in both
/// dialects.
#[test]
fn served_players_read_moves_from_percepts() {
    let kind = players::find("minimax").unwrap();
    let server = Server::start(ServeSettings::local(kind, Options::new())).unwrap();
    for dialect in [Dialect::Official, Dialect::OldDresden] {
        let game = prepared("open", OPEN);
        let seat = remote(server.address().port()).unwrap();
        let seat = Some(Arc::new(PlayerConfig { dialect, ..(*seat).clone() }));
        let mut setup = setup(&game, vec![seat, crate::matches::built_in("legal")]);
        let clocks = &mut Arc::get_mut(&mut setup.job).unwrap().clocks;
        clocks.start = std::time::Duration::from_secs(10);
        clocks.play = std::time::Duration::from_secs(2);
        let played = play(&setup);
        assert_eq!(played.ending, Ending::Terminal);
        assert!(played.faults(0).iter().all(Option::is_none), "{dialect:?} {played:?}");
        assert_eq!(played.rewards[0], 100, "{dialect:?} {played:?}");
    }
}

/// Formulas of satisfiability have reserved words in terms.
#[test]
fn reserved_words_in_terms_are_played() {
    let workspace = Workspace::new();
    workspace.write(
        "sat.kif",
        "(role robot) (contains 1 (not 58)) (contains 1 (or 7)) (init (open 1))
        (<= (legal robot (pick (not ?v))) (contains 1 (not ?v)))
        (<= (next (done (not ?v))) (does robot (pick (not ?v))))
        (<= terminal (true (done (not 58))))
        (<= (goal robot 100) (true (done (not 58)))) (<= (goal robot 0) (not terminal))",
    );
    let ran = workspace.run(&["game", "validate", "sat.kif"]).code(0);
    assert!(ran.stdout().contains("warning[connective-as-term]"), "{}", ran.stdout());
    let ran = workspace.run(&["play", "sat.kif", "minimax"]).code(0);
    assert!(ran.stdout().contains("(pick (not 58))"), "{}", ran.stdout());
    assert!(ran.stdout().contains("100  minimax"), "{}", ran.stdout());
}
