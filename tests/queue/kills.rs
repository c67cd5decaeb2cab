//! Workers, the coordinator and the server are killed, and nothing is lost or counted
//! twice.

use std::time::Duration;

use rustix::process::Signal;

use crate::nats::{
    CoordinatorProcess, NatsServer, WorkerProcess, check_same, coordinate, reference, wait_until,
};
use crate::workspace::Workspace;

/// 300 blocks of 2 matches, which take long enough for workers to come and go.
const SPEC: &str = r#"
name = "kills"
seed = 11
blocks = 50
games = ["tic_tac_toe", "connect_four"]
budget = { nodes = 5000 }
[[players]]
kind = "random"
[[players]]
kind = "mcts"
[[players]]
kind = "alpha_beta"
"#;

const N_MATCHES: usize = 600;

/// Lines of the journal after the first.
fn n_matches(workspace: &Workspace) -> usize {
    let journal = std::fs::read(workspace.path("out/journal.jsonl")).unwrap_or_default();
    journal.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
}

/// Waits until `n` matches are in the journal, or the coordinator has ended.
fn wait_for(workspace: &Workspace, coordinator: &mut CoordinatorProcess, n: usize) {
    wait_until(&format!("{n} matches are in the journal"), || {
        (n_matches(workspace) >= n || coordinator.has_ended()).then_some(())
    });
}

#[test]
fn kills_of_workers_coordinator_and_server_lose_nothing_and_count_nothing_twice() {
    let Some(mut server) = NatsServer::start() else { return };
    let expected = reference(SPEC);
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let start = |server: &NatsServer, index: usize| {
        WorkerProcess::start(server, &format!("w{index}"), &["--jobs", "2"])
    };
    let mut workers: Vec<_> = (0..3).map(|index| start(&server, index)).collect();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut n_killed = 0;
    for (round, n) in (1..12).map(|twelfth| (twelfth, twelfth * N_MATCHES / 12)) {
        wait_for(&workspace, &mut coordinator, n);
        match round {
            4 => server.kill_and_restart(),
            8 => {
                n_killed += u32::from(coordinator.kill());
                coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
            }
            _ => {
                let index = round % workers.len();
                workers[index].kill();
                workers[index] = start(&server, round + 10);
            }
        }
    }
    coordinator.ran().code(0);
    assert_eq!(n_killed, 1, "the coordinator was killed while it ran");
    check_same(&workspace, &expected);
    let journal = workspace.read("out/journal.jsonl");
    let n_workers = (0..24).filter(|n| journal.contains(&format!("\"worker\":\"w{n}\""))).count();
    assert!(n_workers > 3, "{n_workers} workers took part");
}

/// Without the server, coordinator and worker end when they are asked to; the same command
/// resumes the run.
#[test]
fn coordinator_and_worker_can_be_stopped_while_the_server_is_away() {
    let Some(mut server) = NatsServer::start() else { return };
    let spec = SPEC.replace("blocks = 50", "blocks = 10");
    let workspace = Workspace::with_spec(&spec);
    let url = server.url();
    let mut worker = WorkerProcess::start(&server, "w", &["--jobs", "2"]);
    let with_password = url.replace("nats://", "nats://me:secret@");
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&with_password, &[]));
    wait_for(&workspace, &mut coordinator, 10);
    server.kill();
    coordinator.signal(Signal::TERM);
    let ran = coordinator.ran().code(130);
    // What the command needs and is not printed is named.
    assert!(ran.stderr().contains("--queue 'nats://USER:PASSWORD@"), "{}", ran.stderr());
    assert!(ran.stderr().contains("Interrupted. To resume:\n  gamemaster run"), "{}", ran.stderr());
    worker.drain();
    assert!(worker.log().contains("leaving without a reply of the server"), "{}", worker.log());
    server.start_again();
    let _worker = WorkerProcess::start(&server, "later", &["--jobs", "2"]);
    crate::nats::run(&workspace, &server, &[]).code(0);
    check_same(&workspace, &reference(&spec));
}

/// Coordinator and worker print once that the connection is lost, and once that it is back.
#[test]
fn a_lost_connection_is_one_line_and_so_is_its_return() {
    let Some(mut server) = NatsServer::start() else { return };
    let spec = SPEC.replace("\"connect_four\"", "").replace("{ nodes = 5000 }", "{ nodes = 10 }");
    let spec = spec.replace("kind = \"mcts\"", "kind = \"mcts\"\ntags = [\"later\"]");
    let workspace = Workspace::with_spec(&spec);
    let url = server.url();
    let mut worker = WorkerProcess::start(&server, "w", &[]);
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    worker.wait_for("joined");
    let said = coordinator.stderr();
    let (lost, back) = ("is lost; trying to connect again", "connected to the NATS server");
    server.kill();
    said.next_with(lost);
    worker.wait_for(lost);
    server.start_again();
    said.next_with(back);
    worker.wait_for(back);
    let _later = WorkerProcess::start(&server, "later", &["--tags", "later"]);
    coordinator.ran().code(0);
    let rest = said.rest();
    assert!(!rest.iter().any(|line| line.contains(lost) || line.contains(back)), "{rest:?}");
    let log = worker.log();
    assert_eq!((log.matches(lost).count(), log.matches(back).count()), (1, 1), "{log}");
}

/// A server that stalls when a coordinator begins and when it ends, as when its disk is busy, ends
/// no run.
#[test]
fn a_server_that_is_slow_at_times_ends_no_run() {
    let Some(server) = NatsServer::start() else { return };
    let workspace = Workspace::with_spec(crate::nats::SPEC);
    let url = server.url();
    let worker = WorkerProcess::start(&server, "w", &[]);
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    // A request is given up after 5 s.
    let stall = Duration::from_secs(7);
    server.stall(stall);
    wait_for(&workspace, &mut coordinator, 4);
    server.stall(stall);
    coordinator.ran().code(0);
    drop(worker);
    check_same(&workspace, &reference(crate::nats::SPEC));
}
