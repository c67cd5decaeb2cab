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
    let line = "  legal       no: move 2, up, is not legal; legal moves there: ";
    let rest = text.split_once(line).unwrap_or_else(|| panic!("{text}")).1;
    let rest = rest.lines().next().unwrap();
    assert!(rest.contains("down") && !rest.contains("up"), "{text}");
    let text = told(&["--moves", "right up down", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let illegal = &report["plan"]["first_illegal"];
    assert_eq!((&illegal["number"], &illegal["move"]), (&2.into(), &"up".into()));
    assert!(told(&["--moves", ""]).contains("  plan        (0 moves)\n"));
    let none = told(&["--all", "--limit", "0"]);
    assert!(
        none.contains("  none of the optimal plans, reward 100; list more with --limit\n"),
        "{none}"
    );
    assert!(
        told(&["--all", "--limit", "1"])
            .contains("  the first optimal plan, reward 100; list more with --limit\n")
    );
}

#[test]
fn what_is_no_plan_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["game", "plan"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    refused(&["nim", "--all"], "sequential plans are searched for one role, and the game has 2; ");
    refused(
        &["monty_hall", "--all"],
        "sequential plans are searched for one role, and the game has 2, random included; ",
    );
    refused(&["maze", "--moves", "east fly"], "move 2, `fly`, is not a move");
    refused(&["maze", "--moves", "(east"], "--moves: unclosed `(`");
}

/// A game of circles, without a plan: a longer search would find none.
#[test]
fn a_game_without_a_plan_is_told_from_a_search_that_was_stopped() {
    let workspace = Workspace::new();
    let circle = "(role robot) (init (at a)) (next-place a b) (next-place b a)
        (<= (legal robot (go ?y)) (true (at ?x)) (next-place ?x ?y))
        (<= (next (at ?y)) (does robot (go ?y))) (<= terminal (true (at c))) (goal robot 0)";
    workspace.write("circle.kif", circle);
    let told = workspace.run(&["game", "plan", "circle.kif", "--all"]).code(0).stdout();
    assert!(told.contains("  no plan ends the match within 1,000 moves\n"), "{told}");
    let stopped = ["game", "plan", "fifteen_puzzle", "--all", "--time", "100ms"];
    let told = workspace.run(&stopped).code(0).stdout();
    assert!(told.contains("no optimal plan was found; search longer with --time"), "{told}");
    // As `solve --time` ends, and as the help says.
    let help = workspace.run(&["game", "plan", "--help"]).code(0).stdout();
    assert!(help.contains("\n  0    the plan was checked, whatever it achieves; or"), "{help}");
}

/// Plans that players made, checked without the players: what they guarantee is the value
/// that the player reported, in games with and without chance, and where moves are made at
/// once or something is hidden.
#[test]
fn conditional_plans_guarantee_what_their_players_report() {
    let workspace = Workspace::new();
    for (game, player) in [
        ("nim", "conditional_planner"),
        ("tic_tac_toe", "conditional_planner"),
        ("aima_two_ply", "conditional_planner"),
        ("coin_flip", "conditional_planner"),
        ("dice_tree", "conditional_planner"),
        ("rock_paper_scissors", "conditional_planner"),
        ("separate_lights", "conditional_planner"),
        ("buttons_and_lights", "sequential_planner"),
        ("two_roads", "information_set_search"),
        ("two_roads_ask", "information_set_search"),
    ] {
        let command = ["explain", game, "--player", player, "--nodes", "1000000", "--json"];
        let json = workspace.run(&[&command[..], &["--plan-file", "plan.json"]].concat());
        let said: serde_json::Value = serde_json::from_str(&json.code(0).stdout()).unwrap();
        let checked = ["game", "plan", game, "--conditional", "plan.json", "--json"];
        let json = workspace.run(&checked).code(0).stdout();
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let plan = &report["plan"];
        for property in ["legal", "complete", "minimal"] {
            assert_eq!(plan[property], true, "{game}: {property}: {json}");
        }
        let (reward, value) = (plan["reward"].as_f64().unwrap(), said["value"].as_f64().unwrap());
        assert!((reward - value).abs() < 1e-9, "{game}: {reward} {value}");
        // Where something is hidden, what is best is not known.
        let expected = if game.starts_with("two_roads") { None } else { Some(true) };
        let is_optimal = plan["optimal"].as_bool();
        assert!(is_optimal == expected || (expected.is_none() && is_optimal == Some(true)));
    }
}

/// The example of a plan that is not complete can be played, although the plan is not legal
/// everywhere.
#[test]
fn what_is_not_complete_is_shown_after_legal_moves() {
    let workspace = Workspace::new();
    let command = ["game", "plan", "tic_tac_toe", "--moves", "(mark 2 2) noop (mark 1 1)"];
    let told = workspace.run(&command).code(0).stdout();
    let after = "  complete    no: the match goes on after ";
    let line = told.lines().find_map(|line| line.strip_prefix(after)).unwrap();
    workspace.run(&["game", "state", "tic_tac_toe", "--moves", line]).code(0);
}

/// A plan that lacks an answer is not complete; one that goes on in circles neither; what is
/// no plan of the game is refused with its place.
#[test]
fn conditional_plans_with_faults_are_found_out() {
    let workspace = Workspace::new();
    let explain = ["explain", "nim", "--player", "conditional_planner", "--nodes", "100000"];
    workspace.run(&[&explain[..], &["--plan-file", "plan.json"]].concat()).code(0);
    let whole: serde_json::Value = serde_json::from_str(&workspace.read("plan.json")).unwrap();
    let of_other = ["game", "plan", "nim", "--conditional", "plan.json", "--role", "right"];
    let told = workspace.run(&of_other).code(2).stderr();
    assert!(told.contains("plan.json: a plan of left, not of right"), "{told}");
    let check = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut plan = whole.clone();
        change(&mut plan);
        std::fs::write(workspace.path("changed.json"), plan.to_string()).unwrap();
        workspace.run(&["game", "plan", "nim", "--conditional", "changed.json"])
    };
    let told = check(&|_| ()).code(0).stdout();
    assert!(told.contains("complete    yes"), "{told}");
    // The reply of the second step that leads on is taken from it.
    let is_reply = |step: &serde_json::Value| step["after"].as_array().unwrap().len() > 1;
    let told = check(&|plan| {
        let steps = plan["plan"].as_array_mut().unwrap();
        let step = steps.iter_mut().find(|step| is_reply(step)).unwrap();
        step["after"].as_array_mut().unwrap().pop();
    });
    let told = told.code(0).stdout();
    assert!(told.contains("complete    no: the match goes on after (("), "{told}");
    let told = check(&|plan| plan["plan"][0]["after"][0]["next"] = 0.into()).code(0).stdout();
    assert!(told.contains("complete    no") && told.contains("optimal     no"), "{told}");
    for (change, expected) in [
        (("game", "tic_tac_toe".into()), "a plan of tic_tac_toe, not of nim"),
        (("step", 2.into()), "only plans from the initial state can be checked"),
        (("role", "nobody".into()), "--role nobody: expected one of left, right"),
        (("plan", serde_json::json!([{"move": "jump", "after": []}])), "`jump` is not a move"),
        (("plan", "none".into()), "not a plan as `gamemaster explain --plan-file` writes it"),
    ] {
        let told = check(&|plan| plan[change.0] = change.1.clone()).code(2).stderr();
        assert!(told.contains(expected), "{told}");
    }
    let after = |change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let told = check(&|plan| change(plan["plan"][0]["after"].as_array_mut().unwrap()));
        told.code(2).stderr()
    };
    let told = after(&|after| after.push(after[0].clone()));
    assert!(told.contains("step 0 goes on twice after the same joint move"), "{told}");
    let told = after(&|after| after[0]["joint_move"] = serde_json::json!(["noop"]));
    assert!(told.contains("step 0: a joint move of 1 move in a game of 2 roles: (noop)"), "{told}");
    let told = check(&|plan| plan["plan"][0]["after"][0]["next"] = 999.into()).code(2).stderr();
    assert!(told.contains("a step that is named as the next does not exist"), "{told}");
}

/// No plan may go on by what its role does not see.
#[test]
fn a_plan_that_goes_on_by_hidden_moves_is_refused() {
    let workspace = Workspace::new();
    let hidden = |side: &str, next| serde_json::json!({"joint_move": ["noop", format!("(hide {side})")], "next": next});
    let onwards = |next| serde_json::json!([{"joint_move": ["roadb", "noop"], "next": next}]);
    let plan = serde_json::json!({"game": "two_roads", "role": "traveller", "plan": [
        {"move": "noop", "after": [hidden("left", 1), hidden("right", 2)]},
        {"move": "roadb", "after": onwards(3)},
        {"move": "roadb", "after": onwards(4)},
        {"move": "(take left)", "after": []},
        {"move": "(take right)", "after": []},
    ]});
    std::fs::write(workspace.path("plan.json"), plan.to_string()).unwrap();
    let command = ["game", "plan", "two_roads", "--conditional", "plan.json"];
    let told = workspace.run(&command).code(2).stderr();
    assert!(
        told.contains("step 0 goes on by the joint move, which the role does not see"),
        "{told}"
    );
}
