//! `gamemaster game plan`: plans of games of one role.

use std::collections::BTreeMap;

use crate::workspace::Workspace;

/// The 8-puzzle of the course has 64 optimal plans, of 4, 6 and 8 moves.
#[test]
fn all_optimal_plans_are_listed() {
    let workspace = Workspace::new();
    let command = ["game", "plan", "eight_puzzle_course", "--all", "--limit", "1000", "--json"];
    let json = workspace.run(&command).code(0).stdout();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let listed = &report["optimal_plans"];
    assert_eq!((&listed["reward"], &listed["are_all"]), (&100.into(), &true.into()));
    let mut lengths: BTreeMap<usize, u32> = BTreeMap::new();
    for plan in listed["plans"].as_array().unwrap() {
        *lengths.entry(plan.as_array().unwrap().len()).or_default() += 1;
    }
    assert_eq!(lengths, [(4, 1), (6, 8), (8, 55)].into());
    let few = workspace.run(&["game", "plan", "eight_puzzle_course", "--all", "--limit", "3"]);
    assert!(few.code(0).stdout().contains("the first 3 optimal plans, reward 100"));
}

#[test]
fn a_plan_is_checked() {
    let workspace = Workspace::new();
    let check = |moves: &str, expected: &[&str]| {
        let command = ["game", "plan", "buttons_and_lights", "--moves", moves];
        let told = workspace.run(&command).code(0).stdout();
        let words: Vec<&str> = told.lines().skip(2).map(|line| line[14..].trim()).collect();
        assert_eq!(words, expected, "{told}");
    };
    check("a b c a b a", &["yes", "yes", "yes", "yes", "yes", "100"]);
    check("a b a b a b", &["yes", "yes", "yes", "yes", "no", "0"]);
    let none = "none, since the last state is not terminal";
    check("a b", &["yes", "no", "yes", "no", "no", none]);
    check("", &["yes", "no", "yes", "no", "no", none]);
    // What follows the end makes a plan longer than needed.
    check("a b c a b a a a", &["yes", "yes", "no", "no", "no", "100"]);
}

/// The first move that is not legal is named, with those that are; a plan of no moves and a
/// list of none are worded as such.
#[test]
fn what_is_wrong_with_a_plan_is_named() {
    let workspace = Workspace::new();
    let told = |arguments: &[&str]| {
        let command = [&["game", "plan", "eight_puzzle_seed"], arguments].concat();
        workspace.run(&command).code(0).stdout()
    };
    let text = told(&["--moves", "right up down"]);
    let line = "  legal       no: move 2, up, is not; legal moves there: ";
    let rest = text.split_once(line).unwrap_or_else(|| panic!("{text}")).1;
    let rest = rest.lines().next().unwrap();
    assert!(rest.contains("down") && !rest.contains("up"), "{text}");
    let text = told(&["--moves", "right up down", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let illegal = &report["plan"]["first_illegal"];
    assert_eq!((&illegal["number"], &illegal["move"]), (&2.into(), &"up".into()));
    assert!(told(&["--moves", ""]).contains("  plan        (0 moves)\n"));
    let none = told(&["--all", "--limit", "0"]);
    assert!(none.contains("  optimal plans exist, none is listed, reward 100\n"), "{none}");
    assert!(told(&["--all", "--limit", "1"]).contains("  the first optimal plan, reward 100\n"));
}

#[test]
fn what_is_no_plan_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["game", "plan"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    refused(&["nim", "--all"], "a list of moves is a plan only for one role, and the game has 2; ");
    refused(
        &["monty_hall", "--all"],
        "a list of moves is a plan only for one role, and the game has 2, random included; ",
    );
    refused(&["maze", "--moves", "east fly"], "move 2, `fly`, is not a move");
    refused(&["maze", "--moves", "(east"], "--moves: unclosed `(`");
}
