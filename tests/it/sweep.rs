//! `gamemaster sweep`: one experiment under several budgets.

use crate::workspace::Workspace;

const SPEC: &str = r#"
name = "swept"
blocks = 2
games = ["tic_tac_toe", "nim"]
clocks = { play = "20ms" }
[[players]]
kind = "alpha_beta"
[[players]]
kind = "random"
"#;

/// Each number of nodes is one budget, however many clocks the spec lists.
#[test]
fn nodes_take_the_place_of_several_clocks() {
    let spec = SPEC.replace(r#"play = "20ms""#, r#"play = ["20ms", "40ms"]"#);
    let workspace = Workspace::with_spec(&spec);
    let command = ["sweep", "spec.toml", "--nodes", "10,100", "--dry-run"];
    let ran = workspace.run(&command).code(0);
    let told = ran.stdout();
    assert!(told.starts_with("schedule: 16 matches in 8 blocks\n"), "{told}");
    assert_eq!(told.matches("nodes per move").count(), 4, "{told}");
}

#[test]
fn players_play_under_each_budget() {
    let workspace = Workspace::with_spec(SPEC);
    let command = ["sweep", "spec.toml", "--nodes", "10,1e2,400", "--out", "out"];
    let ran = workspace.run(&[&command[..], &["--format", "csv", "--quiet"]].concat()).code(0);
    let csv = ran.stdout();
    let budgets: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.strip_prefix("alpha_beta,nodes,")?.split(',').next())
        .collect();
    assert_eq!(budgets, ["10", "100", "400"], "{csv}");
    // Found again, and told in another form.
    let journal = workspace.read("out/journal.jsonl");
    let text = workspace.run(&command).code(0).stdout();
    assert!(text.contains("Strength by budget") && text.contains("400 nodes"), "{text}");
    assert!(text.contains("Points per doubling"), "{text}");
    assert_eq!(workspace.read("out/journal.jsonl"), journal);
    // With a budget more, what was played is kept.
    let more = ["sweep", "spec.toml", "--nodes", "10,1e2,400,800", "--out", "out", "--quiet"];
    workspace.run(&more).code(2);
    workspace.run(&[&more[..], &["--extend"]].concat()).code(0);
    let n_lines = |journal: &str| journal.lines().count() - 1;
    let extended = workspace.read("out/journal.jsonl");
    assert_eq!(3 * n_lines(&extended), 4 * n_lines(&journal));
    let ids = |journal: &str| -> std::collections::BTreeSet<String> {
        let job_id =
            |line: &str| line.split("\"job_id\":").nth(1)?.split(',').next().map(str::to_owned);
        journal.lines().filter_map(job_id).collect()
    };
    assert!(ids(&extended).is_superset(&ids(&journal)));
    let command = more;
    let json = workspace.run(&[&command[..], &["--json"]].concat()).code(0).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["players"][0]["at"].as_array().unwrap().len(), 4);
}

#[test]
fn clocks_are_swept_too_and_a_plan_is_told() {
    let workspace = Workspace::with_spec(SPEC);
    let command = ["sweep", "spec.toml", "--play-clock", "5ms,10ms", "--out", "out"];
    let told = workspace.run(&[&command[..], &["--dry-run"]].concat()).code(0).stdout();
    assert!(told.contains("play 5 ms") && told.contains("play 10 ms"), "{told}");
    assert!(!workspace.path("out").exists());
}

#[test]
fn bad_budgets_have_one_clear_answer() {
    let workspace = Workspace::with_spec(SPEC);
    let check = |arguments: &[&str], message: &str| {
        let ran = workspace.run(&[&["sweep", "spec.toml"], arguments].concat()).code(2);
        assert!(ran.stderr().contains(message), "{message}: {}", ran.stderr());
    };
    check(&["--nodes", "0"], "expected a whole number from 1");
    check(&["--nodes", "1e3,1e3"], "--nodes: 1000 is given twice");
    check(&["--play-clock", "1s,1000ms"], "--play-clock: 1s is given twice");
    check(&[], "a sweep needs at least two budgets, and this one has only ");
    check(&["--nodes", "100", "--dry-run"], "a sweep needs at least two budgets");
    assert!(!workspace.path("results").exists(), "nothing was played");
    check(&["--play-clock", "soon"], "expected a time such as 200ms");
    let ran = workspace.run(&["sweep", "none.toml"]).code(2);
    assert!(ran.stderr().contains("cannot read the spec none.toml"), "{}", ran.stderr());
}
