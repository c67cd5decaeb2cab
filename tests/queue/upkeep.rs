//! Looking after the queue, tags, and what the report says of workers.

use async_nats::jetstream::stream::Config;
use futures_util::StreamExt;

use crate::nats::{
    CoordinatorProcess, NatsServer, WorkerProcess, check_same, client, coordinate, in_runtime,
    reference, run, wait_until,
};
use crate::workspace::Workspace;

const SPEC: &str = r#"
name = "upkeep"
blocks = 20
games = ["tic_tac_toe"]
budget = { nodes = 10 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
tags = ["big"]
"#;

/// The status of the only run on the server, when it is as `is_wanted` says.
fn status_when(
    workspace: &Workspace,
    url: &str,
    is_wanted: impl Fn(&serde_json::Value) -> bool,
) -> (String, serde_json::Value) {
    wait_until("the status is as wanted", || {
        let ran = workspace.run(&["queue", "status", url, "--json"]).code(0);
        let status: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
        let (name, run) = status["runs"].as_object().unwrap().iter().next()?;
        is_wanted(run).then(|| (name.clone(), run.clone()))
    })
}

#[test]
fn tags_match_blocks_to_workers_and_the_queue_can_be_looked_after() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::with_spec(SPEC);
    let ran = workspace.run(&["queue", "status", &url]).code(0);
    assert_eq!(ran.stdout(), "The queue has no run\n");
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut small = WorkerProcess::start(&server, "small", &[]);
    small.wait_for("joined");
    // The worker lacks a tag, and takes nothing.
    let is_joined = |run: &serde_json::Value| {
        run["n_waiting"] == 20 && run["workers"].as_array().is_some_and(|all| !all.is_empty())
    };
    let (_, status) = status_when(&workspace, &url, is_joined);
    assert_eq!((&status["n_in_play"], &status["workers"][0]["name"]), (&0.into(), &"small".into()));
    let text = workspace.run(&["queue", "status", &url]).code(0).stdout();
    assert!(text.contains("20 messages waiting, 0 in play") && text.contains("small"), "{text}");
    // The coordinator names what is missing.
    let said = coordinator.stderr().next_with("waiting: ");
    assert!(
        said.contains("no worker has the tags big; start one with `gamemaster worker --tags big`"),
        "{said}"
    );
    let mut big = WorkerProcess::start(&server, "big", &["--tags", "big,other"]);
    coordinator.ran().code(0);
    check_same(&workspace, &reference(SPEC));
    assert!(!workspace.read("out/journal.jsonl").contains("small"));
    let text = workspace.run(&["queue", "status", &url]).code(0).stdout();
    let place = |name: &str| text.find(name).unwrap_or_else(|| panic!("no {name}: {text}"));
    let (first, second) = (place("\n  big "), place("\n  small "));
    assert!(first < second && text.contains("big,other"), "{text}");
    // Asked to leave, the workers end by themselves.
    let text = workspace.run(&["queue", "drain", &url]).code(0).stdout();
    assert_eq!(text, "Asked to leave after the blocks in play: 2 workers\n");
    small.wait_for_end();
    big.wait_for_end();
    let text = workspace.run(&["queue", "drain", &url]).code(0).stdout();
    assert_eq!(text, "No worker replied\n");
    // A run that is complete is not on the server any more.
    let ran = workspace.run(&["queue", "status", &url]).code(0);
    assert_eq!(ran.stdout(), "The queue has no run\n");
}

/// A worker that has said that it leaves is not missed; one that was killed is, until it is back.
#[test]
fn a_killed_worker_is_listed_with_its_last_sign_of_life() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::with_spec(SPEC);
    let _coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut leaving = WorkerProcess::start(&server, "leaving", &[]);
    leaving.wait_for("joined");
    let mut killed = WorkerProcess::start(&server, "killed", &["--tags", "small"]);
    killed.wait_for("joined");
    let names = |run: &serde_json::Value| {
        let workers = run["workers"].as_array().unwrap().iter();
        workers.map(|worker| worker["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (_, status) = status_when(&workspace, &url, |run| names(run) == ["killed", "leaving"]);
    assert!(status["workers"][0]["silent_s"].is_null(), "{status}");
    killed.kill();
    leaving.drain();
    let (_, status) = status_when(&workspace, &url, |run| names(run) == ["killed"]);
    assert!(status["workers"][0]["silent_s"].is_u64(), "{status}");
    assert_eq!(status["workers"][0]["tags"], serde_json::json!(["small"]));
    let text = workspace.run(&["queue", "status", &url]).code(0).stdout();
    assert!(text.contains("last sign") && text.contains(" ago  small"), "{text}");
    let mut back = WorkerProcess::start(&server, "killed", &[]);
    back.wait_for("joined");
    status_when(&workspace, &url, |run| {
        names(run) == ["killed"] && run["workers"][0]["silent_s"].is_null()
    });
    // Signs of life are removed with the run.
    workspace.run(&["queue", "purge", &url, "--all"]).code(0);
    back.wait_for("over, 0 blocks played here");
    let n_streams = in_runtime(async { StreamExt::count(client(&url).await.stream_names()).await });
    assert_eq!(n_streams, 1);
}

#[test]
fn a_run_that_is_purged_ends_its_coordinator() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::with_spec(SPEC);
    let coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut worker = WorkerProcess::start(&server, "small", &[]);
    worker.wait_for("joined");
    let (name, _) = status_when(&workspace, &url, |run| run["n_waiting"] == 20);
    let ran = workspace.run(&["queue", "purge", &url, "other"]).code(2);
    assert!(ran.stderr().contains("there is no run `other`"), "{}", ran.stderr());
    let ran = workspace.run(&["queue", "purge", &url, &name]).code(0);
    assert!(ran.stdout().starts_with("Removed 1 run\n"), "{}", ran.stdout());
    let ran = coordinator.ran().code(1);
    assert!(ran.stderr().contains("was removed from the queue"), "{}", ran.stderr());
    // Nor does a worker that has not noticed leave anything on the server.
    worker.wait_for("over, 0 blocks played here");
    let n_messages = in_runtime(async {
        let context = client(&url).await;
        context.get_stream("gamemaster-runs").await.unwrap().cached_info().state.messages
    });
    assert_eq!(n_messages, 0);
}

/// Blocks whose results wait on the server are not enqueued again when a run is resumed.
/// A coordinator or `purge` that was killed leaves a part of a run.
#[test]
fn a_part_of_a_run_can_be_seen_and_removed() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::new();
    let n_streams =
        || in_runtime(async { StreamExt::count(client(&url).await.stream_names()).await });
    in_runtime(async {
        for kind in ["blocks", "workers"] {
            let config = Config {
                name: format!("gamemaster-{kind}-half"),
                subjects: vec![format!("gamemaster.{kind}.half.>")],
                ..Config::default()
            };
            client(&url).await.create_stream(config).await.unwrap();
        }
    });
    let text = workspace.run(&["queue", "status", &url]).code(0).stdout();
    assert!(text.starts_with("half: 0 messages waiting"), "{text}");
    assert_eq!(n_streams(), 2);
    let ran = workspace.run(&["queue", "purge", &url, "half"]).code(0);
    assert!(ran.stdout().starts_with("Removed 1 run\n"), "{}", ran.stdout());
    assert_eq!(n_streams(), 0);
}

#[test]
fn results_that_wait_count_without_another_match() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let spec = SPEC.replace("blocks = 20", "blocks = 2") + "[[players]]\nkind = \"alpha_beta\"\n";
    let workspace = Workspace::with_spec(&spec);
    let killed = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    status_when(&workspace, &url, |run| run["n_waiting"] == 6);
    killed.kill();
    // The worker plays the blocks without the player that has a tag.
    let mut small = WorkerProcess::start(&server, "small", &[]);
    let is_played = |run: &serde_json::Value| run["n_unread"] == 2 && run["n_in_play"] == 0;
    status_when(&workspace, &url, is_played);
    small.drain();
    let coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let (_, status) = status_when(&workspace, &url, |run| run["n_unread"] == 0);
    assert_eq!(status["n_waiting"], 4, "{status}");
    let _big = WorkerProcess::start(&server, "big", &["--tags", "big"]);
    coordinator.ran().code(0);
    check_same(&workspace, &reference(&spec));
}

#[test]
fn the_report_shows_workers_and_can_do_without_one() {
    let Some(server) = NatsServer::start() else { return };
    let spec = SPEC.replace("tags = [\"big\"]\n", "");
    let workspace = Workspace::with_spec(&spec);
    let _first = WorkerProcess::start(&server, "first", &["--jobs", "1"]);
    run(&workspace, &server, &[]).code(0);
    let text = workspace.run(&["report", "out"]).code(0).stdout();
    assert!(text.contains("Workers") && text.contains("first"), "{text}");
    let page = workspace.run(&["report", "out", "--html", "-"]).code(0).stdout();
    assert!(page.contains("<section id=\"workers\">") && page.contains("first"));
    let ran = workspace.run(&["report", "out", "--exclude-worker", "second"]).code(2);
    assert!(ran.stderr().contains("was played by this worker"), "{}", ran.stderr());
    let ran = workspace.run(&["report", "out", "--exclude-worker", "first"]).code(2);
    assert!(ran.stderr().contains("leaves no match of out"), "{}", ran.stderr());
    // A merged run knows the workers of its parts.
    workspace.run(&["merge", "out", "--out", "whole"]).code(0);
    assert_eq!(workspace.read("whole/workers.json"), workspace.read("out/workers.json"));
    // Of two workers, one is left.
    let journal = workspace.read("out/journal.jsonl");
    let renamed: Vec<String> = journal
        .lines()
        .map(|line| match line.contains("\"block\":0,") {
            true => {
                let line = line.replace("\"worker\":\"first\"", "\"worker\":\"second\"");
                let end = line.rfind(",\"crc\"").unwrap();
                line[..end].to_owned() + "}"
            }
            false => line[..line.rfind(",\"crc\"").unwrap()].to_owned() + "}",
        })
        .collect();
    let text = renamed.join("\n").replacen("\"format_version\":2", "\"format_version\":1", 1);
    workspace.write("out/journal.jsonl", &(text + "\n"));
    let text = workspace.run(&["report", "out", "--exclude-worker", "second"]).code(0).stdout();
    assert!(text.contains("38 matches in 19 blocks"), "{text}");
    assert!(text.contains("that worker second played are left out"), "{text}");
}
