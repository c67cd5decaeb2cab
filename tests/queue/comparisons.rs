//! Comparisons and sweeps that workers play.

use std::collections::{BTreeMap, BTreeSet};

use crate::nats::{CoordinatorProcess, NatsServer, WorkerProcess, check_same};
use crate::workspace::{Ran, Workspace, tables};

const SUITE: &str = r#"
name = "small"
games = ["connect_three", "tic_tac_toe"]
budget = { nodes = 120 }
[[players]]
id = "opponent"
kind = "random"
"#;

/// What a comparison prints and writes.
fn compared(workspace: &Workspace, arguments: &[&str]) -> (Ran, [String; 3]) {
    let fixed = ["regress", "--suite", "spec.toml", "--out", "out", "--json", "--quiet"];
    let ran = workspace.run(&[&fixed[..], arguments].concat());
    let files = ["regression.json", "regression.md", "junit.xml"];
    (ran, files.map(|file| workspace.read(&format!("out/{file}"))))
}

/// The same blocks decide, whoever plays them: what was played beyond them does not count.
#[test]
fn any_number_of_workers_decides_the_same_after_the_same_blocks() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let players = ["--base", "alpha_beta:depth=3", "--head", "alpha_beta:depth=1"];
    let asked = [&players[..], &["--max-blocks", "480", "--margin", "5"]].concat();
    let here = Workspace::with_spec(SUITE);
    let (ran, expected) = compared(&here, &asked);
    assert!(ran.stdout().contains("\"stopped\":\"decided\""), "{}", ran.stdout());
    let n_matches = |workspace: &Workspace| workspace.read("out/journal.jsonl").lines().count();
    let mut n_played = vec![];
    for n_workers in [1, 8] {
        let start = |index| WorkerProcess::start(&server, &format!("w{index}"), &["--jobs", "1"]);
        let workers: Vec<_> = (0..n_workers).map(start).collect();
        let workspace = Workspace::with_spec(SUITE);
        let (ran_there, found) =
            compared(&workspace, &[&asked[..], &["--queue", &url, "--ack-wait", "1s"]].concat());
        let ran_there = ran_there.code(ran.0.status.code().unwrap());
        assert_eq!(ran_there.stdout(), ran.stdout(), "{}", ran_there.stderr());
        assert!(found == expected, "{n_workers} workers: {found:?}\n{expected:?}");
        n_played.push(n_matches(&workspace));
        drop(workers);
        // What has a result is not on the server any more.
        let status = workspace.run(&["queue", "status", &url]).code(0);
        assert_eq!(status.stdout(), "The queue has no run\n");
    }
    // It was not the end of the schedule that made them the same.
    let found: serde_json::Value = serde_json::from_str(&expected[0]).unwrap();
    let n_counted = found["n_matches"].as_u64().unwrap() as usize;
    assert!(n_played.iter().all(|&n| n > n_counted), "{n_counted} of {n_played:?}");
}

/// A worker plays base and head only if they are the programs that the coordinator has.
#[test]
fn programs_are_those_that_the_coordinator_has() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let suite = "name = \"small\"\ngames = [\"tic_tac_toe\"]\nrecord = { moves = false }\n\
                 clocks = { start = \"20s\", play = \"20s\" }\n";
    let program = assert_cmd::cargo::cargo_bin!("gamemaster").display().to_string();
    let script =
        |comment: &str| format!("# {comment}\nexec {program} serve --player legal --port \"$1\"\n");
    let workspace = Workspace::with_spec(suite);
    workspace.write("player.sh", &script("new"));
    let other = Workspace::new();
    other.write("player.sh", &script("old"));
    let folder = ["--players-dir", "."];
    let mut old = WorkerProcess::start_in(other, &server, "old", &folder);
    let arguments = [
        "regress",
        "--suite",
        "spec.toml",
        "--out",
        "out",
        "--json",
        "--base",
        "legal",
        "--head",
        "cmd:sh player.sh {port}",
        "--max-blocks",
        "32",
        "--margin",
        "25",
        "--queue",
        &url,
    ];
    let coordinator = CoordinatorProcess::start(&workspace, &arguments);
    old.wait_for("the program of player head differs from that of the coordinator");
    let same = Workspace::new();
    same.write("player.sh", &script("new"));
    let _new = WorkerProcess::start_in(same, &server, "new", &folder);
    let ran = coordinator.ran().code(0);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(found["faults"]["head"]["n_faulty"], 0, "{found}");
    assert!(!workspace.read("out/journal.jsonl").contains("\"worker\":\"old\""));
}

#[test]
fn workers_play_a_sweep_as_one_machine_does() {
    const SPEC: &str = "name = \"sweep\"\nblocks = 3\ngames = [\"nim\"]\n\
                        [[players]]\nkind = \"mcts\"\n[[players]]\nkind = \"random\"\n";
    let Some(server) = NatsServer::start() else { return };
    let sweep = ["sweep", "spec.toml", "--nodes", "10,40", "--out", "out", "--format", "csv"];
    let here = Workspace::with_spec(SPEC);
    let expected = here.run(&sweep).code(0).stdout();
    let _workers = ["a", "b"].map(|name| WorkerProcess::start(&server, name, &["--jobs", "2"]));
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let ran = workspace.run(&[&sweep[..], &["--queue", &url]].concat()).code(0);
    assert_eq!(ran.stdout(), expected);
    check_same(&workspace, &here);
    assert!(!tables(&workspace.path("out")).is_empty());
}

/// With opponents, base and head have blocks of their own. One worker plays both, so that no
/// difference of machines becomes a difference of players.
#[test]
fn one_worker_plays_all_blocks_that_are_compared() {
    let Some(server) = NatsServer::start() else { return };
    let _workers =
        ["a", "b", "c"].map(|name| WorkerProcess::start(&server, name, &["--jobs", "1"]));
    let workspace = Workspace::with_spec(&SUITE.replace("120", "5000"));
    let url = server.url();
    let players = ["--base", "monte_carlo", "--head", "monte_carlo", "--margin", "90"];
    compared(&workspace, &[&players[..], &["--max-blocks", "160", "--queue", &url]].concat());
    let mut sets: BTreeMap<String, (BTreeSet<String>, BTreeSet<u64>)> = BTreeMap::new();
    let mut workers = BTreeSet::new();
    for line in workspace.read("out/journal.jsonl").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let seats = record["seats"].as_array().unwrap();
        if seats.iter().any(|seat| seat["player"] == "canary") {
            continue;
        }
        let worker = record["worker"].as_str().unwrap().to_owned();
        workers.insert(worker.clone());
        let (its_workers, blocks) =
            sets.entry(record["seed"].as_str().unwrap().to_owned()).or_default();
        its_workers.insert(worker);
        blocks.insert(record["block"].as_u64().unwrap());
    }
    assert!(sets.values().all(|(workers, _)| workers.len() == 1), "{sets:?}");
    assert!(sets.values().filter(|(_, blocks)| blocks.len() >= 2).count() > 20, "{sets:?}");
    assert!(workers.len() > 1, "only {workers:?} played, so this shows nothing");
}
