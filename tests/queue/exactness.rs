//! The results do not depend on who plays.

use crate::nats::{NatsServer, WorkerProcess, check_same, reference, run};
use crate::workspace::Workspace;

const SPEC: &str = r#"
name = "exact"
seed = 5
blocks = 8
games = ["tic_tac_toe", "nim", "connect_four"]
budget = { nodes = 30 }
[[players]]
kind = "random"
[[players]]
kind = "mcts"
[[players]]
kind = "alpha_beta"
"#;

#[test]
fn any_number_of_workers_plays_the_same_matches() {
    let Some(server) = NatsServer::start() else { return };
    let expected = reference(SPEC);
    for n_workers in [1, 3, 8] {
        let start = |index| WorkerProcess::start(&server, &format!("w{index}"), &["--jobs", "2"]);
        let workers: Vec<_> = (0..n_workers).map(start).collect();
        let workspace = Workspace::with_spec(SPEC);
        run(&workspace, &server, &[]).code(0);
        check_same(&workspace, &expected);
        drop(workers);
    }
}

#[test]
fn rounds_follow_from_results_as_on_one_machine() {
    let Some(server) = NatsServer::start() else { return };
    let _workers = ["a", "b"].map(|name| WorkerProcess::start(&server, name, &["--jobs", "2"]));
    for format in ["swiss", "knockout", "ladder"] {
        let spec = format!("format = \"{format}\"\n{}", SPEC.replace("blocks = 8", "blocks = 1"))
            + "[[players]]\nkind = \"legal\"\n";
        let expected = reference(&spec);
        let workspace = Workspace::with_spec(&spec);
        run(&workspace, &server, &[]).code(0);
        check_same(&workspace, &expected);
    }
}

/// Own rulesheets are sent to the worker, which has no file of them.
#[test]
fn rulesheets_travel_to_the_workers() {
    let Some(server) = NatsServer::start() else { return };
    let rules = games::library::find("nim").unwrap().text.to_owned() + "\n; of our own\n";
    let spec = SPEC.replace("\"nim\"", "\"mine/heaps.kif\"");
    let with_rules = || {
        let workspace = Workspace::with_spec(&spec);
        workspace.write("mine/heaps.kif", &rules);
        workspace
    };
    let expected = with_rules();
    expected.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let worker = WorkerProcess::start(&server, "w", &[]);
    let workspace = with_rules();
    run(&workspace, &server, &[]).code(0);
    check_same(&workspace, &expected);
    assert!(worker.log().contains("joined"), "{}", worker.log());
}
