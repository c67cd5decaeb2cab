//! `gamemaster run`: what it plays, what it leaves, and that neither depends on
//! how it is carried out.

use std::collections::BTreeMap;

use expect_test::expect;

use crate::reasoners::GROWING;
use crate::workspace::{Workspace, tables};

/// Three players that think, counted in nodes, and one that does not.
const NODES: &str = r#"
name = "nodes"
seed = 5
blocks = 2
games = ["tic_tac_toe", "nim", "eight_puzzle_seed"]
budget = { nodes = 60 }

[[players]]
kind = "random"
[[players]]
kind = "alpha_beta"
[[players]]
id = "shallow"
kind = "minimax"
depth = 1
"#;

#[test]
fn a_run_leaves_its_files() {
    let workspace = Workspace::with_spec(NODES);
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    assert!(ran.stdout().ends_with("Folder: out\n"), "{}", ran.stdout());
    let rows = workspace.read("out/matches.csv").lines().count() - 1;
    // 3 pairings x 2 seats x 2 blocks at two games, 3 players x 2 blocks at one.
    assert_eq!(rows, 2 * (12 * 2) + 6);
    assert!(workspace.read("out/moves.csv").lines().count() > rows);
    assert_eq!(workspace.read("out/journal.jsonl").lines().count(), 1 + 12 + 12 + 6);
    assert!(workspace.read("out/spec.lock.toml").contains("spec_hash"));
}

#[test]
fn the_same_command_again_plays_nothing_and_changes_nothing() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let journal = workspace.read("out/journal.jsonl");
    let before = tables(&workspace.path("out"));
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    assert!(
        ran.stderr().contains("out is complete: all 30 matches have been played"),
        "{}",
        ran.stderr()
    );
    assert_eq!(workspace.read("out/journal.jsonl"), journal);
    assert_eq!(tables(&workspace.path("out")), before);
}

#[test]
fn the_same_folder_is_found_again_without_being_named() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--quiet"]).code(0);
    workspace.run(&["run", "spec.toml", "--quiet"]).code(0);
    workspace.run(&["run", "spec.toml", "--quiet", "--seed", "6"]).code(0);
    let runs = std::fs::read_dir(workspace.path("results/runs")).unwrap();
    let mut names: Vec<String> =
        runs.map(|run| run.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("nodes-")), "{names:?}");
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--out", "one/out", "--jobs", "1"]).code(0);
    workspace.run(&["run", "spec.toml", "--out", "five/out", "--jobs", "5"]).code(0);
    assert_eq!(tables(&workspace.path("one/out")), tables(&workspace.path("five/out")));
}

#[test]
fn a_lock_file_is_the_spec_of_the_same_run() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--out", "a/out"]).code(0);
    workspace.run(&["run", "a/out/spec.lock.toml", "--out", "b/out"]).code(0);
    assert_eq!(tables(&workspace.path("a/out")), tables(&workspace.path("b/out")));
    assert_eq!(workspace.read("a/out/spec.lock.toml"), workspace.read("b/out/spec.lock.toml"));
}

#[test]
fn a_player_more_extends_a_run() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let before = job_lines(&workspace.read("out/journal.jsonl"));
    workspace.write("more.toml", &format!("{NODES}\n[[players]]\nkind = \"legal\"\n"));
    workspace.run(&["run", "more.toml", "--out", "out"]).code(2);
    workspace.run(&["run", "more.toml", "--out", "out", "--dry-run"]).code(2);
    let dry = ["run", "more.toml", "--out", "out", "--extend", "--dry-run"];
    let told = workspace.run(&dry).code(0).stdout();
    assert!(told.contains("\nfolder: out (30 complete, 26 to play)\n"), "{told}");
    let told = workspace.run(&[&dry[..], &["--json"]].concat()).code(0).stdout();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["n_jobs"], &told["n_played"]), (&56.into(), &30.into()));
    let left = told["rounds"].as_array().unwrap().iter().map(|round| round["n_left"].as_u64());
    assert_eq!((left.sum::<Option<u64>>(), &told["n_left"]), (Some(26), &26.into()));
    let journal = workspace.read("out/journal.jsonl");
    workspace.write("out/journal.jsonl", &format!("{journal}{{\"job\":"));
    let ran = workspace.run(&["run", "more.toml", "--out", "out", "--extend"]).code(0);
    assert!(ran.stderr().contains("30 of 56 matches are complete"), "{}", ran.stderr());
    assert!(ran.stderr().contains("a half-written line of 7 bytes"), "{}", ran.stderr());
    let after = job_lines(&workspace.read("out/journal.jsonl"));
    assert_eq!(after.len(), 56);
    for (id, seats) in &before {
        assert_eq!(after.get(id), Some(seats), "{id}");
    }
    // As if it had been the spec from the beginning.
    workspace.run(&["run", "more.toml", "--out", "fresh/out"]).code(0);
    assert_eq!(tables(&workspace.path("out")), tables(&workspace.path("fresh/out")));
    // The way back is barred, and nothing is lost on it.
    let ran = workspace.run(&["run", "spec.toml", "--out", "out", "--extend"]).code(2);
    assert!(ran.stderr().contains("26 of its 56 matches are not in this spec"), "{}", ran.stderr());
    assert_eq!(job_lines(&workspace.read("out/journal.jsonl")), after);
}

/// Seats and steps by job id.
fn job_lines(journal: &str) -> BTreeMap<String, String> {
    journal
        .lines()
        .skip(1)
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            (record["job_id"].as_str().unwrap().to_owned(), record["steps"].to_string())
        })
        .collect()
}

#[test]
fn clocks_and_budgets_are_tournaments_of_their_own() {
    let workspace = Workspace::with_spec(
        r#"
games = ["nim"]
clocks = { start = "1s", play = ["100ms", "200ms"] }
[[players]]
kind = "random"
[[players]]
kind = "legal"
"#,
    );
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--json"]).code(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(told["n_jobs"], 4);
    let budgets: Vec<&str> = told["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| round["budget"].as_str().unwrap())
        .collect();
    assert_eq!(budgets, ["start 1 s, play 100 ms", "start 1 s, play 200 ms"]);
}

/// Blocks are independent, as their intervals take them to be; the matches of one
/// block share their luck.
#[test]
fn a_seed_is_of_one_block_alone() {
    let workspace = Workspace::with_spec(
        r#"
blocks = 2
games = ["rock_paper_scissors"]
clocks = { start = ["1s", "1s", "2s"], play = ["100ms", "200ms", "100ms"] }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
id = "other"
kind = "random"
"#,
    );
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in workspace.read("out/journal.jsonl").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut players: Vec<&str> =
            (0..2).map(|seat| record["seats"][seat]["player"].as_str().unwrap()).collect();
        players.sort_unstable();
        let [start, play, lap] = ["start_clock_ms", "play_clock_ms", "lap"].map(|key| &record[key]);
        let block = format!("{players:?} under {start} + {play}, lap {lap}");
        blocks.entry(block).or_default().push(record["seed"].as_str().unwrap().to_owned());
    }
    // Three pairings, three clocks, two laps.
    assert_eq!(blocks.len(), 18, "{blocks:?}");
    for (block, seeds) in &blocks {
        assert!(seeds.len() == 2 && seeds[0] == seeds[1], "{block}: {seeds:?}");
    }
    let seeds: std::collections::BTreeSet<&str> =
        blocks.values().map(|seeds| seeds[0].as_str()).collect();
    assert_eq!(seeds.len(), 18, "{blocks:?}");
}

#[test]
fn a_dry_run_tells_what_would_be_played() {
    let workspace = Workspace::with_spec(
        r#"
name = "plan"
jobs = 1
games = ["tic_tac_toe", "monty_hall", "tic_tac_toe_three_players"]
[[players]]
kind = "random"
[[players]]
kind = "alpha_beta"
"#,
    );
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--out", "out"]).code(0);
    let told = ran.stdout();
    let (told, estimate) = told.trim_end().rsplit_once('\n').unwrap();
    let (about, most) = estimate.split_once("; ").unwrap();
    assert!(about.starts_with("Estimated time: "), "{estimate}");
    assert!(most.starts_with("at most ") && most.ends_with(" if no reply is late"), "{estimate}");
    expect![[r#"
        schedule: 3 matches in 2 blocks
        matches at once: 1
        folder: out (0 complete, 3 to play)

        game         budget                players  seats  pairings  blocks  matches  matches per player and role
        tic_tac_toe  start 10 s, play 1 s        2      2         1       1        2                            1
        monty_hall   start 10 s, play 1 s        1      1         1       1        1                            1

        warning: left out: tic_tac_toe_three_players: it needs 3 players, but the spec has 2
        warning: alpha_beta does not play monty_hall: hidden information"#]].assert_eq(told);
    assert!(!workspace.path("out").exists());
}

/// Those who cannot play are named as such, and those of a gauntlet who could.
#[test]
fn a_game_is_left_out_with_the_players_that_cannot_play_it() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\", \"kuhn_poker\"]
         format = \"gauntlet\"
         challengers = 2
         players = [\"random\", \"legal\", \"minimax\", \"mcts\"]",
    );
    let left_out = |players: &str| {
        let spec = workspace.read("spec.toml").replace("\"random\", \"legal\"", players);
        workspace.write("other.toml", &spec);
        let told = workspace.run(&["run", "other.toml", "--dry-run"]).code(0).stdout();
        told.lines()
            .find_map(|line| line.strip_prefix("warning: left out: kuhn_poker: "))
            .map(str::to_owned)
    };
    expect!["random and legal are the only players that can play it, and both are challengers, who do not play each other"]
        .assert_eq(&left_out("\"random\", \"legal\"").unwrap());
    expect!["it needs 2 players, and 3 of the 4 cannot play it: alpha_beta, minimax and mcts (hidden information)"]
        .assert_eq(&left_out("\"random\", \"alpha_beta\"").unwrap());
}

/// Patterns are relative to the folder of the spec, also if that is the current one.
#[test]
fn a_pattern_names_the_rulesheets_beside_the_spec() {
    let workspace = Workspace::with_spec(
        "games = [\"*.kif\"]\n[[players]]\nkind = \"random\"\n[[players]]\nkind = \"legal\"\n",
    );
    workspace.write("mine.kif", games::library::find("nim").unwrap().text);
    for spec in ["spec.toml", "./spec.toml"] {
        let told = workspace.run(&["run", spec, "--dry-run"]).code(0).stdout();
        assert!(told.contains("mine "), "{told}");
    }
}

/// A tree that is searched to its end immediately does not take hours because the clocks would
/// allow them.
#[test]
fn a_dry_run_estimates_by_what_players_need() {
    let workspace = Workspace::with_spec(
        r#"
jobs = 1
games = ["aima_two_ply"]
clocks = { start = "1h", play = "1h" }
[[players]]
kind = "minimax"
[[players]]
kind = "random"
"#,
    );
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--json"]).code(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    let seconds = |key: &str| told[key].as_f64().unwrap();
    let (about, most) = (seconds("estimated_seconds"), seconds("estimated_seconds_at_most"));
    // Two matches; an hour to start with, and half of one on average for each of two moves.
    assert_eq!(most, 4.0 * 60.0 * 60.0);
    assert!(about < most / 10.0, "{about}");
}

/// Without an estimate, the reason is printed.
#[test]
fn a_dry_run_says_why_there_is_no_estimate() {
    let reason = |spec: &str| {
        let workspace = Workspace::with_spec(spec);
        let told = workspace.run(&["run", "spec.toml", "--dry-run"]).code(0).stdout();
        let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--json"]).code(0);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
        assert!(json["estimated_seconds"].is_null(), "{json}");
        let said = told.lines().find_map(|line| line.strip_prefix("No time estimate: "));
        (said.unwrap().to_owned(), json["no_estimate"].as_str().unwrap().to_owned())
    };
    let instant = "games = [\"nim\"]\nplayers = [\"random\", \"legal\"]\n";
    let at_once = ("no player uses its clock".to_owned(), "instant_players".to_owned());
    assert_eq!(reason(instant), at_once);
    let nodes = "games = [\"nim\"]\nplayers = [\"random\", \"minimax\"]\n[budget]\nnodes = 9\n";
    let in_nodes = ("the budgets are in nodes".to_owned(), "node_budgets".to_owned());
    assert_eq!(reason(nodes), in_nodes);
}

#[test]
fn a_clock_of_nothing_is_told_of() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\"]\nclocks = { start = \"0s\", play = \"0s\" }\n\
         [[players]]\nkind = \"random\"\n[[players]]\nkind = \"alpha_beta\"\n",
    );
    let told = workspace.run(&["run", "spec.toml", "--dry-run"]).code(0).stdout();
    assert!(told.contains("warning: a play clock of 0s leaves no time to think"), "{told}");
    assert!(told.contains("(alpha_beta)"), "{told}");
    let error = workspace.run(&["play", "nim", "legal", "random", "--play-clock", "0s"]).code(2);
    assert!(error.stderr().contains("no time to think"), "{}", error.stderr());
}

#[test]
fn the_default_spec_can_be_played() {
    let workspace = Workspace::new();
    let ran = workspace.run(&["run", "--dry-run", "--json"]).code(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(told["name"], "default");
    assert_eq!(told["rounds"].as_array().unwrap().len(), 6);
    assert_eq!(told["warnings"].as_array().unwrap().len(), 0, "{told}");
}

#[test]
fn slow_reasoners_are_told_of() {
    let workspace = Workspace::with_spec(
        "name = \"slow\"\ngames = [\"growing.kif\"]\n[[players]]\nkind = \"random\"\n",
    );
    workspace.write("growing.kif", GROWING);
    let ran = workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let slow = "prover plays growing, slower than a network would: ";
    assert!(ran.stderr().contains(&format!("warning: the {slow}")), "{}", ran.stderr());
    let report = workspace.read("out/summary.md");
    assert!(report.contains(&format!("- The {slow}")), "{report}");
}

#[test]
fn unfair_clocks_are_a_warning_that_stands_in_the_report() {
    let workspace = Workspace::with_spec(
        r#"
name = "unfair"
games = ["nim"]
clocks = { start = "100ms", play = "50ms" }
[[players]]
kind = "alpha_beta"
[[players]]
kind = "minimax"
"#,
    );
    let ran = workspace.run(&["run", "spec.toml", "--out", "out", "--jobs", "500"]).code(0);
    assert!(ran.stderr().contains("warning: 500 matches at once, each with"), "{}", ran.stderr());
    let report = workspace.read("out/summary.md");
    assert!(report.contains("500 matches at once"), "{report}");
    // More of them on resuming is told of, too; and so is what is cut off.
    let journal = workspace.read("out/journal.jsonl");
    workspace.write("out/journal.jsonl", &format!("{journal}{{\n\0\n"));
    let ran = workspace.run(&["run", "spec.toml", "--out", "out", "--jobs", "600"]).code(0);
    assert!(
        ran.stderr().contains("out is complete: all 2 matches have been played"),
        "{}",
        ran.stderr()
    );
    assert!(ran.stderr().contains("note: 2 broken lines"), "{}", ran.stderr());
    let report = workspace.run(&["report", "out"]).code(0).stdout();
    assert!(report.contains("500 matches at once") && report.contains("600 matches at once"));
}

#[test]
fn a_report_rebuilds_what_a_run_left() {
    let workspace = Workspace::with_spec(NODES);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let before = tables(&workspace.path("out"));
    for (name, _) in &before {
        std::fs::remove_file(workspace.path("out").join(name)).unwrap();
    }
    let json = workspace.run(&["report", "out", "--json", "--rebuild"]).code(0).stdout();
    assert_eq!(tables(&workspace.path("out")), before);
    // The report says more of strength than the summary, and the same of all else.
    let mut json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json.as_object_mut().unwrap().remove("strength").is_some());
    let summary = workspace.read("out/summary.json");
    assert_eq!(json, serde_json::from_str::<serde_json::Value>(&summary).unwrap());
    let md = workspace.run(&["report", "out", "--format", "md"]).code(0).stdout();
    assert_eq!(md, workspace.read("out/summary.md"));
    let csv = workspace.run(&["report", "out", "--format", "csv"]).code(0).stdout();
    assert!(csv.starts_with("scope,game,role,budget,player,"), "{csv}");
}

#[test]
fn a_run_can_do_without_a_table_of_moves() {
    let workspace = Workspace::with_spec(&format!("{NODES}\n[record]\nmoves = false\n"));
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    workspace.run(&["report", "out", "--rebuild"]).code(0);
    assert!(workspace.path("out/matches.csv").exists());
    assert!(!workspace.path("out/moves.csv").exists());
}

#[test]
fn a_summary_for_programs_is_one_line() {
    let workspace = Workspace::with_spec(NODES);
    let ran = workspace.run(&["run", "spec.toml", "--out", "out", "--json"]).code(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!((&told["folder"], &told["stop"]), (&"out".into(), &"completed".into()));
    assert_eq!(told["n_matches"], 30);
    assert_eq!(ran.stdout().lines().count(), 1);
}

#[test]
fn a_launched_player_takes_part() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/sample_player.py");
    let workspace = Workspace::with_spec(&format!(
        r#"
games = ["tic_tac_toe", "monty_hall"]
[[players]]
kind = "random"
[[players]]
id = "sample"
command = "python3 {script} --port {{port}}"
"#
    ));
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("out/summary.json")).unwrap();
    assert_eq!((&summary["n_matches"], &summary["n_scored"]), (&4.into(), &4.into()));
    assert_eq!(summary["faults"].as_array().unwrap().len(), 0, "{summary}");
    assert!(workspace.path("out/logs").is_dir());
}
