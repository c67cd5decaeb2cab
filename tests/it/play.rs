//! `gamemaster play`: one match in view.

use std::io::{BufRead as _, BufReader};

use expect_test::{Expect, expect};
use rustix::process::{Pid, Signal, kill_process};

use crate::workspace::Workspace;

/// What is printed, with all times replaced.
fn check(arguments: &[&str], expected: Expect) {
    let ran = Workspace::new().run(&[&["play"], arguments].concat()).code(0);
    let words: Vec<String> =
        ran.stdout().split_inclusive([' ', '\n', ',', ')']).map(String::from).collect();
    let mut shown = String::new();
    for (index, word) in words.iter().enumerate() {
        let unit =
            words.get(index + 1).map_or("", |next| next.trim_end_matches([' ', '\n', ',', ')']));
        let is_time = ["us", "ms", "s"].contains(&unit);
        shown.push_str(if is_time { "T " } else { word });
    }
    let shown = shown.replace("T ms", "T us").replace("T s", "T us");
    expected.assert_eq(&shown);
}

#[test]
fn a_match_is_shown_step_by_step() {
    check(
        &["nim", "legal", "first=legal", "--seed", "4"],
        expect![[r#"
            nim, seed 4
              left: legal
              right: first
            start
              left is ready after T us
              right is ready after T us
            step 1
              left   (take a 3)  (12 legal, T us)
              right  noop  (1 legal, T us)
                +(heap a 0) +(control right) -(heap a 3) -(control left)
            step 2
              left   noop  (1 legal, T us)
              right  (take b 3)  (9 legal, T us)
                +(heap b 1) +(control left) -(heap b 4) -(control right)
            step 3
              left   (take b 1)  (6 legal, T us)
              right  noop  (1 legal, T us)
                +(heap b 0) +(control right) -(heap b 1) -(control left)
            step 4
              left   noop  (1 legal, T us)
              right  (take c 3)  (5 legal, T us)
                +(heap c 2) +(control left) -(heap c 5) -(control right)
            step 5
              left   (take c 1)  (2 legal, T us)
              right  noop  (1 legal, T us)
                +(heap c 1) +(control right) -(heap c 2) -(control left)
            step 6
              left   noop  (1 legal, T us)
              right  (take c 1)  (1 legal, T us)
                +(heap c 0) +(control left) -(heap c 1) -(control right)
            end (terminal)
              left   reward   0  legal
              right  reward 100  first
        "#]],
    );
}

#[test]
fn the_role_random_is_moved_by_the_manager() {
    check(
        &["monty_hall", "legal"],
        expect![[r#"
            monty_hall, seed 1
              candidate: legal
              random: chance
            start
              candidate is ready after T us
            step 1
              candidate  noop  (1 legal, T us)
              random     (hide_car 1)  (3 legal)
                +(phase choose) +(car 1) -(phase hide)
            step 2
              candidate  (choose_door 1)  (3 legal, T us)
              random     noop  (1 legal)
                +(phase open) +(chosen 1) -(phase choose)
            step 3
              candidate  noop  (1 legal, T us)
              random     (open_door 2)  (2 legal)
                +(phase decide) +(opened 2) -(phase open)
            step 4
              candidate  stay  (2 legal, T us)
              random     noop  (1 legal)
                +(phase done) -(phase decide)
            end (terminal)
              candidate  reward 100  legal
        "#]],
    );
}

/// With --verbose the record has what the players reported, step by step.
#[test]
fn a_record_may_have_explanations() {
    let play = ["play", "nim", "alpha_beta", "legal", "--nodes", "2000", "--json"];
    let plain = Workspace::new().run(&play).code(0).stdout();
    assert!(!plain.contains("explanations"), "{plain}");
    let text = Workspace::new().run(&[&play[..], &["--verbose"]].concat()).code(0).stdout();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let explained = &found["explanations"];
    assert_eq!(explained["start"].as_array().unwrap().len(), 2);
    let steps = explained["steps"].as_array().unwrap();
    assert_eq!(steps.len(), found["steps"].as_array().unwrap().len());
    let [first, other] = &steps[0].as_array().unwrap()[..] else { panic!("{text}") };
    assert!(first["candidates"].as_array().unwrap().len() > 1 && other.is_null(), "{text}");
}

/// With --verbose a match shows what the player believes and plans, as `explain` prints it.
#[test]
fn beliefs_and_plans_are_printed_with_the_moves() {
    let verbose = |arguments: &[&str]| {
        let command = [&["play", "--verbose"], arguments].concat();
        Workspace::new().run(&command).code(0).stdout()
    };
    let kuhn = verbose(&["kuhn_poker", "determinization", "legal", "--nodes", "100"]);
    // How many states there are is said once.
    let belief =
        "\n      note: belief: 2 states\n      belief\n        in each state  (holds first ";
    assert!(kuhn.contains(belief), "{kuhn}");
    assert!(kuhn.contains("\n        0.5000  (holds second "), "{kuhn}");
    // Each ship can be anywhere, and five places are printed.
    let ships = verbose(&["battleships", "is_mcts", "legal", "--nodes", "10"]);
    assert!(ships.contains("        in each of these  "), "{ships}");
    assert!(ships.lines().any(|line| line.starts_with("        and ") && line.ends_with(" more")));
    let open = verbose(&["nim", "is_mcts", "legal", "--nodes", "10"]);
    assert!(!open.contains("      belief\n"), "{open}");
    let tic_tac_toe = verbose(&["tic_tac_toe", "conditional_planner", "legal", "--nodes", "9000"]);
    let plan = "      plan\n        (mark 1 1)\n          (mark 1 2): (mark 2 1)\n";
    assert!(tic_tac_toe.contains(plan), "{tic_tac_toe}");
    assert!(tic_tac_toe.contains(" more moves\n"), "{tic_tac_toe}");
    let tour = verbose(&["knights_tour", "sequential_planner", "--nodes", "100000"]);
    assert!(tour.contains("; ... 8 more steps\n"), "{tour}");
    assert!(!tour.contains("      plan\n"), "{tour}");
}

/// The record with explanations has them too, in the terms of `explain --json`.
#[test]
fn beliefs_and_plans_are_part_of_the_explanations() {
    let workspace = Workspace::new();
    let steps = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let command = [&["play", "--verbose", "--json"], arguments].concat();
        let found: serde_json::Value =
            serde_json::from_str(&workspace.run(&command).code(0).stdout()).unwrap();
        found["explanations"]["steps"].as_array().unwrap().clone()
    };
    let kuhn = steps(&["kuhn_poker", "determinization", "legal", "--nodes", "100"]);
    let belief = &kuhn[1][0]["belief"];
    assert_eq!(belief["n_states"], 2, "{belief}");
    assert_eq!(belief["states"][0]["facts"], serde_json::json!(["(holds second jack)"]));
    let ships = steps(&["battleships", "is_mcts", "legal", "--nodes", "10"]);
    let mut beliefs = ships.iter().map(|step| &step[0]["belief"]);
    let belief = beliefs.find(|it| it["n_states"].as_u64() > Some(5)).expect("hidden ships");
    assert_eq!(belief["states"].as_array().unwrap().len(), 5, "{belief}");
    let open = steps(&["nim", "is_mcts", "legal", "--nodes", "10"]);
    assert!(open[0][0].is_object() && open[0][0]["belief"].is_null(), "{}", open[0][0]);
    let tic_tac_toe = steps(&["tic_tac_toe", "conditional_planner", "legal", "--nodes", "9000"]);
    let plan = tic_tac_toe[0][0]["plan"].as_array().unwrap();
    assert_eq!(plan.len(), 16);
    assert_eq!(plan[0]["move"], "(mark 1 1)");
    let after = |step: &serde_json::Value| step["after"].as_array().unwrap().clone();
    assert_eq!(after(&plan[0])[0]["joint_move"], serde_json::json!(["(mark 1 1)", "noop"]));
    // Every step that a reply leads to is there, and what is left out is counted.
    assert!(plan.iter().flat_map(after).all(|reply| reply["next"].as_u64() < Some(16)));
    assert!(plan[15]["n_left_out"].as_u64() > Some(0), "{}", plan[15]);
    let tour = steps(&["knights_tour", "sequential_planner", "--nodes", "100000"]);
    assert!(tour[0][0]["line"].is_array() && tour[0][0]["plan"].is_null(), "{}", tour[0][0]);
}

#[test]
fn a_record_is_a_line_of_the_journal() {
    let ran = Workspace::new().run(&["play", "tic_tac_toe", "legal", "random", "--json"]).code(0);
    let record: results::record::MatchRecord = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(record.seats[0].player.as_deref(), Some("legal"));
    assert_eq!(record.steps.len(), record.n_steps as usize);
    let again = Workspace::new().run(&["play", "tic_tac_toe", "legal", "random", "--json"]).code(0);
    let again: results::record::MatchRecord = serde_json::from_str(&again.stdout()).unwrap();
    let moves = |record: &results::record::MatchRecord| -> Vec<String> {
        record.steps.iter().flatten().map(|decision| decision.executed.clone()).collect()
    };
    assert_eq!(moves(&record), moves(&again));
}

/// A state that doubles at each step, up to what a machine holds.
const DOUBLING: &str = "\
(role robot)
(init (s z))
(legal robot grow)
(<= (next (s (a ?x))) (true (s ?x)))
(<= (next (s (b ?x))) (true (s ?x)))
(<= terminal (true (s never)))
(goal robot 0)
";

#[test]
fn what_is_shown_of_a_step_is_bounded() {
    let workspace = Workspace::new();
    workspace.write("doubling.kif", DOUBLING);
    let command = ["play", "doubling.kif", "legal", "--step-limit", "16"];
    let shown = workspace.run(&command).code(0).stdout();
    let last = shown.lines().rfind(|line| line.starts_with("    ")).unwrap();
    // 65536 came, 32768 went, 8 are shown.
    assert!(last.ends_with(" and 98296 more"), "{last}");
    assert!(shown.len() < 20_000, "{} bytes", shown.len());

    let command = ["play", "doubling.kif", "legal", "--step-limit", "5", "--all-facts"];
    let shown = workspace.run(&command).code(0).stdout();
    let last = shown.lines().rfind(|line| line.starts_with("    ")).unwrap();
    let signs = |sign: char| last.matches(sign).count();
    assert_eq!((signs('+'), signs('-')), (32, 16), "{last}");
}

#[test]
fn a_long_fact_or_move_is_cut() {
    let workspace = Workspace::new();
    let long = "f".repeat(1000);
    let text = format!(
        "(role r) (init (s z)) (legal r {long}) (next (s {long})) (goal r 0) (<= terminal (true (s {long})))"
    );
    workspace.write("long.kif", &text);
    let shown = workspace.run(&["play", "long.kif", "legal"]).code(0).stdout();
    assert_eq!(shown.matches("... and 600 more letters").count(), 1, "{shown}");
    assert!(shown.lines().all(|line| line.len() < 500), "{shown}");
    let shown = workspace.run(&["play", "long.kif", "legal", "--all-facts"]).code(0).stdout();
    assert!(!shown.contains("more letters"), "{shown}");
}

#[test]
fn a_match_of_growing_states_ends_when_it_is_told_to() {
    let workspace = Workspace::new();
    workspace.write("doubling.kif", DOUBLING);
    let mut child = workspace.spawn(&["play", "doubling.kif", "legal"]);
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("step 17") {
        line.clear();
        assert!(shown.read_line(&mut line).unwrap() > 0, "it ended by itself");
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    std::io::copy(&mut shown, &mut std::io::sink()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn what_is_done_in_the_start_clock_is_shown_and_counted() {
    let workspace = Workspace::new();
    let planned = ["play", "buttons_and_lights", "sequential_planner"];
    let shown = workspace.run(&planned).code(0).stdout();
    let ready = shown.lines().find(|line| line.contains("is ready after")).unwrap();
    assert!(ready.ends_with(" nodes, value 100.0"), "{shown}");
    let json = workspace.run(&[&planned[..], &["--json"]].concat()).code(0).stdout();
    let record: results::record::MatchRecord = serde_json::from_str(&json).unwrap();
    let n_nodes = record.seats[0].start.nodes.unwrap();
    assert!(n_nodes > 1 && record.steps.iter().flatten().all(|one| one.nodes == Some(0)));

    workspace.write(
        "spec.toml",
        "games = [\"buttons_and_lights\"]\n[[players]]\nkind = \"sequential_planner\"\n",
    );
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let table = workspace.read("out/matches.csv");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, row) = (lines.next().unwrap(), lines.next().unwrap());
    let nodes = names.iter().position(|name| *name == "nodes").unwrap();
    assert_eq!(row[nodes], n_nodes.to_string());
}

/// What chooses the moves to try is off.
#[test]
fn a_width_needs_an_order_of_moves() {
    for off in ["deepening=false", "killer_moves=false,history=false"] {
        let player = format!("alpha_beta:width=5,{off}");
        let expected = "invalid option `width = 5` of `alpha_beta`: expected 0, or `deepening` with \
                        `killer_moves` or `history`, which choose the moves";
        let said = Workspace::new().run(&["play", "nim", &player, "legal"]).code(2).stderr();
        assert!(said.contains(expected), "{said}");
    }
}
