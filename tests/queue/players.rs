//! Players that workers launch, and workers that leave.

use crate::nats::{
    CoordinatorProcess, NatsServer, WorkerProcess, check_same, coordinate, reference, run,
    wait_until,
};
use crate::workspace::Workspace;

/// Launches `gamemaster serve` as a player.
fn spec() -> String {
    let program = assert_cmd::cargo::cargo_bin!("gamemaster").display().to_string();
    format!(
        r#"
name = "launched"
blocks = 2
games = ["tic_tac_toe"]
clocks = {{ start = "20s", play = "20s" }}
record = {{ timings = "never" }}
[[players]]
kind = "legal"
[[players]]
id = "served"
command = "{program} serve --player legal --port {{port}}"
"#
    )
}

#[test]
fn programs_are_launched_only_where_that_is_allowed() {
    let Some(server) = NatsServer::start() else { return };
    let workspace = Workspace::with_spec(&spec());
    let url = server.url();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut careful = WorkerProcess::start(&server, "careful", &[]);
    careful.wait_for("start the worker with --players-dir");
    // The coordinator and the status say it, too.
    let reason = "does not play this run: player served has a command; start the worker with \
                  --players-dir to launch players";
    wait_until("the status says why", || {
        coordinator.check();
        workspace.run(&["queue", "status", &url]).code(0).stdout().contains(reason).then_some(())
    });
    let _open = WorkerProcess::start(&server, "open", &["--players-dir", "."]);
    let said = coordinator.ran().code(0).stderr();
    assert_eq!(said.matches(&format!("worker careful {reason}\n")).count(), 1, "{said}");
    check_same(&workspace, &reference(&spec()));
    assert!(!workspace.read("out/journal.jsonl").contains("careful"));
}

#[test]
fn a_worker_that_is_asked_to_leave_finishes_what_it_plays() {
    const SPEC: &str = r#"
blocks = 200
games = ["tic_tac_toe"]
budget = { nodes = 10 }
[[players]]
kind = "random"
[[players]]
kind = "mcts"
"#;
    let Some(server) = NatsServer::start() else { return };
    let mut first = WorkerProcess::start(&server, "first", &["--jobs", "1"]);
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &["--quiet"]));
    first.wait_for("joined");
    first.drain();
    let _second = WorkerProcess::start(&server, "second", &["--jobs", "1"]);
    coordinator.ran().code(0);
    check_same(&workspace, &reference(SPEC));
}

#[test]
fn a_run_is_resumed_where_it_was_left() {
    const SPEC: &str = r#"
blocks = 40
games = ["tic_tac_toe"]
budget = { nodes = 10 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
"#;
    let Some(server) = NatsServer::start() else { return };
    let expected = reference(SPEC);
    // The first half is played here, cut within a block.
    let workspace = reference(SPEC);
    let journal = workspace.read("out/journal.jsonl");
    let kept: Vec<&str> = journal.lines().take(1 + 41).collect();
    workspace.write("out/journal.jsonl", &(kept.join("\n") + "\n"));
    let _worker = WorkerProcess::start(&server, "w", &[]);
    run(&workspace, &server, &[]).code(0);
    check_same(&workspace, &expected);
    // Nothing is left to play, and no worker is needed.
    drop(_worker);
    run(&workspace, &server, &[]).code(0);
    check_same(&workspace, &expected);
}
