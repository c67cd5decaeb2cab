//! `gamemaster solve`: values, best moves, tables, and what cannot be solved.

use serde_json::Value;

use crate::workspace::{Ran, Workspace};

fn solved(game: &str) -> Value {
    let workspace = Workspace::new();
    let json = workspace.run(&["solve", game, "--json"]).code(0).stdout();
    serde_json::from_str(&json).unwrap()
}

#[test]
fn values_and_best_moves_are_printed() {
    let solved = solved("aima_two_ply");
    assert_eq!((&solved["states"], &solved["terminal_states"]), (&13.into(), &9.into()));
    assert_eq!(solved["depth"], 2);
    let values: Vec<_> = solved["values"].as_array().unwrap().iter().collect();
    assert_eq!((&values[0]["role"], &values[0]["value"]), (&"max".into(), &3.0.into()));
    let best = solved["best_moves"].as_array().unwrap();
    assert_eq!(best.len(), 1);
    assert_eq!((&best[0]["moves"][0]["move"], &best[0]["legal"]), (&"a1".into(), &3.into()));

    let text = Workspace::new().run(&["solve", "rock_paper_scissors"]).code(0).stdout();
    assert!(text.contains("value        left 50, right 50"), "{text}");
    assert!(text.contains("rock with probability 0.3333"), "{text}");
}

#[test]
fn chance_is_no_player() {
    let solved = solved("coin_flip");
    assert_eq!(solved["values"].as_array().unwrap().len(), 2);
}

#[test]
fn a_table_is_written() {
    let workspace = Workspace::new();
    let arguments = ["solve", "connect_four_4x4", "--out", "c4.table", "--json"];
    let json = workspace.run(&arguments).code(0).stdout();
    let solved: Value = serde_json::from_str(&json).unwrap();
    let bytes = std::fs::metadata(workspace.path("c4.table")).unwrap().len();
    assert_eq!(solved["table"]["bytes"], bytes);
    // Five bytes of key and two bits of value for each state that is not terminal.
    let n = solved["states"].as_u64().unwrap() - solved["terminal_states"].as_u64().unwrap();
    assert!(bytes > n * 5 && bytes < n * 11 / 2 + 20_000, "{bytes} bytes for {n} states");
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(workspace.path("")).unwrap().count(), 1);
}

/// The bound is kept, and the values are the same.
#[test]
fn memory_is_bounded() {
    let workspace = Workspace::new();
    let solved = |memory: &str| -> Value {
        let arguments = ["solve", "domineering", "--threads", "1", "--json", "--memory", memory];
        let json = workspace.run(&arguments).code(0).stdout();
        let mut solved: Value = serde_json::from_str(&json).unwrap();
        let keys = ["seconds", "states_per_second", "setup_seconds", "successors"];
        keys.iter().for_each(|key| _ = solved.as_object_mut().unwrap().remove(*key));
        solved
    };
    let bytes = |solved: &mut Value| -> u64 {
        solved.as_object_mut().unwrap().remove("bytes_per_state").unwrap();
        solved.as_object_mut().unwrap().remove("memory_bytes").unwrap().as_u64().unwrap()
    };
    let mut free = solved("1GiB");
    let most = bytes(&mut free);
    for mebibytes in [24, 20] {
        let limit = mebibytes << 20;
        assert!(limit < most, "{most}");
        let mut bounded = solved(&format!("{mebibytes}MiB"));
        assert!(bytes(&mut bounded) <= limit);
        assert_eq!(bounded, free);
    }
}

#[test]
fn a_table_with_more_bytes_after_its_end_is_refused() {
    let workspace = Workspace::new();
    workspace.run(&["solve", "nim", "--out", "nim.table"]).code(0);
    let mut table = std::fs::read(workspace.path("nim.table")).unwrap();
    table.push(0);
    std::fs::write(workspace.path("nim.table"), table).unwrap();
    let explain = ["explain", "nim", "--player", "perfect:table=nim.table"];
    let told = workspace.run(&explain).code(2).stderr();
    assert!(told.contains("more bytes follow its end"), "{told}");
}

/// The players that solve whole games say at once which ones they cannot solve.
#[test]
fn players_that_solve_games_refuse_others_before_the_match() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["play"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    let tree = "cfr cannot play go_7x7: the tree of the game has more than 1000000 nodes";
    refused(&["go_7x7", "cfr", "random"], tree);
    let value = "perfect cannot play fishery: a state at depth";
    refused(&["fishery", "perfect", "a=random", "b=random", "c=random"], value);
}

/// The value of play that never ends is a convention, so it is said that no other play exists.
#[test]
fn play_that_never_ends_is_said() {
    let workspace = Workspace::new();
    let rules = "(role a) (init (at s)) (legal a stay) (<= (next (at s)) (does a stay))
        (<= terminal (true (at e))) (<= (goal a 40) (true (at e)))";
    workspace.write("never.kif", rules);
    let told = workspace.run(&["solve", "never.kif"]).code(0).stdout();
    assert!(
        told.contains("note         play never ends: no terminal state can be reached"),
        "{told}"
    );
    let told = workspace.run(&["solve", "nim"]).code(0).stdout();
    assert!(!told.contains("note"), "{told}");
}

#[test]
fn what_cannot_be_solved_is_said() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], code: i32, expected: &str| {
        let told = workspace.run(&[&["solve"], arguments].concat()).code(code).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    refused(&["kuhn_poker"], 2, "the game has hidden information");
    refused(&["odd_one_out"], 2, "has no value: several roles choose at the same time");
    refused(
        &["pig", "--time", "10s"],
        2,
        "--time asks for a proof, but proof-number search needs a game without chance; omit --time",
    );
    // Reaching all of its states takes a minute.
    refused(&["fishery"], 2, "has no value: several roles choose at the same time");
    refused(&["tic_tac_toe", "--memory", "1"], 1, "more than 1 byte of memory");
    let memory = ["connect_four", "--memory", "20MB"];
    refused(
        &[&memory[..], &["--method", "retrograde"]].concat(),
        1,
        "the states need more than 20MB of memory",
    );
    refused(&["tic_tac_toe", "--memory", "10KiB"], 1, "more than 10KiB of memory");
    // A proof may need less, where the game and the other options allow one.
    let told = |arguments: &[&str]| {
        let command = [&["solve", "--memory", "1KiB"], arguments].concat();
        workspace.run(&command).code(1).stderr()
    };
    let all_states =
        "more than 1KiB of memory; gave up at depth 0, after 1 state; allow more with --memory";
    let proof =
        format!("{all_states}, or prove the value of the first state alone with --method proof");
    let small = told(&["nim"]);
    assert!(small.ends_with(&format!("{proof} --memory 1MiB\n")), "{small}");
    assert_eq!(told(&["nim", "--method", "retrograde"]), small);
    let large = workspace.run(&[&["solve"], &memory[..], &["--method", "retrograde"]].concat());
    let large = large.code(1).stderr();
    assert!(large.ends_with(" alone with --method proof\n"), "{large}");
    for all in [&["nim", "--count"][..], &["pig"]] {
        let told = told(all);
        assert!(told.ends_with(&format!("{all_states}\n")), "{told}");
    }
    refused(&["tic_tac_toe", "--state", "(foo)"], 2, "--state: no relation, function or constant");
    refused(&["tic_tac_toe", "--out", "no/such/folder"], 2, "--out: cannot write `no/such/folder`");
    let told = workspace.run(&["solve", "nim", "--memory", "much"]).code(2).stderr();
    assert!(told.contains("expected a number of bytes, such as 4GiB or 500MB"), "{told}");
}

/// Killed in the middle and started again, the command makes the same table.
#[test]
fn a_killed_command_continues_from_its_checkpoint() {
    let workspace = Workspace::new();
    workspace.run(&["solve", "domineering", "--out", "whole.table"]).code(0);
    let arguments =
        ["solve", "domineering", "--out", "d.table", "--checkpoint", "d.part", "--threads", "1"];
    let n_bytes = || std::fs::metadata(workspace.path("d.part")).map_or(0, |file| file.len());
    // The machine may be so slow that the kill comes too late.
    let was_killed = (0..20).any(|_| {
        let _ = std::fs::remove_file(workspace.path("d.table"));
        let mut child = workspace.spawn(&arguments);
        while n_bytes() < 100_000 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        !workspace.path("d.table").exists() && n_bytes() > 0
    });
    assert!(was_killed);
    let other = ["solve", "nim", "--checkpoint", "d.part"];
    let told = workspace.run(&other).code(2).stderr();
    assert!(told.contains("`d.part`: the checkpoint is of another game"), "{told}");
    let ran = workspace.run(&arguments).code(0);
    assert!(ran.stderr().starts_with("continuing from d.part: "), "{}", ran.stderr());
    // The speed is that of this command alone.
    assert!(ran.stdout().contains(" of the checkpoint; "), "{}", ran.stdout());
    let table = |name: &str| std::fs::read(workspace.path(name)).unwrap();
    assert!(table("d.table") == table("whole.table"));
    assert!(!workspace.path("d.part").exists());
    workspace.write("text", "this is no checkpoint");
    let told = workspace.run(&["solve", "nim", "--checkpoint", "text"]).code(2).stderr();
    assert!(told.contains("cannot continue from the checkpoint `text`"), "{told}");
    assert_eq!(workspace.read("text"), "this is no checkpoint");
}

/// The states of tic-tac-toe by marks, as they are known: the sums are those by depth.
#[test]
fn states_are_counted_by_class() {
    let workspace = Workspace::new();
    let count = |arguments: &[&str]| -> Value {
        let arguments = [&["solve", "tic_tac_toe", "--json", "--count"], arguments].concat();
        serde_json::from_str(&workspace.run(&arguments).code(0).stdout()).unwrap()
    };
    let numbers = |rows: &Value, key: &str| -> Vec<u64> {
        rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).collect()
    };
    let states = [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78];
    let all = count(&[]);
    assert_eq!(numbers(&all["depths"], "states"), states);
    assert_eq!(all["states"], 5478);
    let marks = count(&["(cell ? ? x)", "(cell ? ? o)"]);
    assert_eq!(numbers(&marks["classes"], "states"), states);
    assert_eq!(marks["classes"][9]["counts"], serde_json::json!([5, 4]));
    // Both marks in one kind, and what follows from the others: cells that are not blank.
    let both = count(&["(cell ?m ?n x) (cell ?m ?n o)"]);
    assert_eq!(numbers(&both["classes"], "states"), states);
    let blank = count(&["(cell ? ? b)"]);
    assert_eq!(
        numbers(&blank["classes"], "states"),
        states.iter().rev().copied().collect::<Vec<_>>()
    );
}

#[test]
fn patterns_that_cannot_be_counted_are_refused() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["solve", "tic_tac_toe"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected), "{told}");
    };
    refused(&["--count", "(cel ? ?)"], "the rules is named `cel` (did you mean `cell`?)");
    refused(&["--count", "(cell ? x)"], "`cell` has 3 in the rules: expected (cell ? ? ?)");
    refused(&["--count", "(line x)"], "states have no facts named `line`");
    refused(&["--count", ""], "expected a fact such as (cell ? ? white)");
    refused(&["--count", "(cell ? ?"], "--count: ");
    refused(&["--count", "--out", "table"], "cannot be used with");
}

#[test]
fn values_are_proven() {
    let workspace = Workspace::new();
    let arguments = ["solve", "tic_tac_toe", "--method", "proof", "--all-moves"];
    let text = workspace.run(&arguments).code(0).stdout();
    assert!(text.contains("tic_tac_toe, solved by proof-number search"), "{text}");
    assert!(text.contains("(9 of 9 moves)"), "{text}");
    let json = workspace.run(&[&arguments[..], &["--json"]].concat()).code(0).stdout();
    let proof: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&proof["method"], &proof["solved"]), (&"proof".into(), &true.into()));
    assert_eq!(proof["values"][1]["value"], 50);
    assert!(proof["first_moves"].as_array().unwrap().iter().all(|it| it["value"] == 50));
    // From a later state: the opponent took an edge.
    let line = ["--moves", "((mark 1 1) noop) (noop (mark 1 2))"];
    let text = workspace.run(&[&arguments[..4], &line].concat()).code(0).stdout();
    assert!(text.contains("value        xplayer 100, oplayer 0"), "{text}");
}

#[test]
fn the_values_of_a_terminal_state_are_its_goals() {
    let won =
        "((mark 1 1) noop) (noop (mark 2 2)) ((mark 1 2) noop) (noop (mark 3 3)) ((mark 1 3) noop)";
    let workspace = Workspace::new();
    let told = workspace.run(&["solve", "tic_tac_toe", "--method", "proof", "--moves", won]);
    let told = told.code(0).stdout();
    assert!(told.contains("  value        xplayer 100, oplayer 0\n"), "{told}");
}

#[test]
fn a_proof_that_is_stopped_prints_its_bounds() {
    let workspace = Workspace::new();
    let arguments = ["solve", "connect_four", "--time", "1ms", "--memory", "1MiB", "--json"];
    let json = workspace.run(&arguments).code(0).stdout();
    let proof: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&proof["solved"], &proof["method"]), (&false.into(), &"proof".into()));
    assert_eq!(proof["values"][0]["at_least"], 0);
    assert!(proof["memory_bytes"].as_u64().unwrap() <= 1 << 20);
}

/// An unset variable of a shell is no state.
#[test]
fn a_state_has_facts() {
    let workspace = Workspace::new();
    let told = workspace.run(&["solve", "nim", "--state", " "]).code(2).stderr();
    let expected =
        "error: --state: no facts are given; without --state, the initial state is used\n";
    assert_eq!(told, expected);
}

#[test]
fn where_states_do_not_fit_the_value_is_proven() {
    let workspace = Workspace::new();
    let run = workspace.run(&["solve", "connect_four_4x4", "--memory", "2MiB"]).code(0);
    assert!(run.stderr().contains("going on with proof-number search"), "{}", run.stderr());
    assert!(run.stdout().contains("value        white 50, red 50"), "{}", run.stdout());
}

#[test]
fn a_proof_refuses_what_it_cannot_do() {
    let workspace = Workspace::new();
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(&[&["solve"], arguments].concat()).code(2).stderr();
        assert!(told.contains(expected) && told.lines().count() == 1, "{told}");
    };
    let table = ["nim", "--method", "proof", "--out", "nim.table"];
    refused(&table, "--out cannot be combined with --method proof");
    refused(&["nim", "--time", "1s", "--count"], "--count cannot be combined with --time");
    refused(&["nim", "--method", "retrograde", "--all-moves"], "--all-moves needs proof-number");
    refused(&["nim", "--method", "proof", "--memory", "1KiB"], "needs 1MiB or more");
    refused(&["pig", "--method", "proof"], "without chance");
    refused(&["rock_paper_scissors", "--method", "proof"], "both have a choice");
}

/// A proof that is stopped again and again comes to its end.
#[test]
fn a_proof_continues_from_its_checkpoint() {
    let workspace = Workspace::new();
    let arguments = ["hex_4x4", "--method", "proof", "--threads", "1", "--checkpoint", "hex.part"];
    let arguments = [&["solve", "--json"], &arguments[..]].concat();
    let stopped = [&arguments[..], &["--time", "1ms"]].concat();
    let first = workspace.run(&stopped).code(0);
    let json = |ran: &Ran| serde_json::from_str::<Value>(&ran.stdout()).unwrap();
    assert_eq!(json(&first)["solved"], false);
    assert_eq!(first.stderr(), "");
    let told = workspace.run(&["solve", "nim", "--checkpoint", "hex.part"]).code(2).stderr();
    assert!(told.contains("`hex.part`: the checkpoint is of another game"), "{told}");
    let second = workspace.run(&stopped).code(0);
    let expected = format!("continuing from hex.part: {} positions", json(&first)["positions"]);
    assert!(second.stderr().starts_with(&expected), "{}", second.stderr());
    let count = |ran: &Ran, name: &str| json(ran)[name].as_f64().unwrap();
    assert!(count(&second, "expanded") > count(&first, "expanded"));
    assert!(count(&second, "seconds") > count(&first, "seconds"));
    let last = json(&workspace.run(&arguments).code(0));
    assert_eq!((&last["solved"], &last["values"][0]["value"]), (&true.into(), &100.into()));
    assert!(!workspace.path("hex.part").exists());
}
