//! Signs of life of workers: honest ones are counted, others do no harm.

use async_nats::jetstream::Context;
use serde_json::{Value, json};

use crate::nats::{
    CoordinatorProcess, NatsServer, WorkerProcess, client, coordinate, in_runtime, run, wait_async,
};
use crate::workspace::Workspace;

/// A run that only a worker with the tag `big` plays.
const SPEC: &str = r#"
name = "signs"
blocks = 3
games = ["tic_tac_toe"]
budget = { nodes = 10 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
tags = ["big"]
"#;

/// A sign of life of a worker that plays one match at a time.
fn sign(name: &str) -> Value {
    json!({
        "name": name, "instance": format!("{name}-0"), "at_once": 1, "cores": 4, "tags": ["small"],
        "build": {"version": "0.1.0", "executable": "0123456789abcdef"}, "programs": {},
        "n_held": 2, "n_blocks": 3, "joined_s": 4, "is_leaving": false,
    })
}

/// The name of the run on the server, once its coordinator listens.
async fn run_name(
    context: &Context,
    workspace: &Workspace,
    coordinator: &mut CoordinatorProcess,
) -> String {
    wait_async("the blocks are on the server", async || {
        coordinator.check();
        let run = std::fs::read_to_string(workspace.path("out/queue.txt")).ok()?.trim().to_owned();
        let stream = context.get_stream(format!("gamemaster-blocks-{run}")).await.ok()?;
        (stream.cached_info().state.messages > 0).then_some(run)
    })
    .await
}

/// Sends a sign of life.
async fn send(context: &Context, run: &str, instance: &str, sign: &Value) {
    let subject = format!("gamemaster.worker.{run}.{instance}");
    context.client().publish(subject, format!("j{sign}").into()).await.unwrap();
}

/// The coordinator takes in as many signs as come, and counts and keeps no others than those that
/// workers send.
#[test]
fn all_signs_of_hundreds_of_workers_are_taken_in() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::with_spec(SPEC);
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    in_runtime(async {
        let context = client(&url).await;
        let run = run_name(&context, &workspace, &mut coordinator).await;
        let mut forged = vec![];
        for (field, value) in [
            ("name", json!("no name")),
            ("instance", json!("no instance")),
            ("at_once", json!(u32::MAX)),
            ("at_once", json!(0)),
            ("cores", json!(u32::MAX)),
            ("tags", json!(["\u{1b}[31m"])),
            ("tags", json!(vec!["tag"; 10_000])),
            ("tags", json!(["x".repeat(101)])),
            ("build", json!({"version": "1\n2", "executable": ""})),
            ("programs", json!({"player": "x".repeat(10_000)})),
        ] {
            let mut sign = sign("mallory");
            sign[field] = value;
            forged.push(sign);
        }
        for (index, forged) in forged.iter().enumerate() {
            send(&context, &run, &format!("mallory-{index}"), forged).await;
        }
        // At 127 a second, as once was, this would take six minutes.
        for _ in 0..150 {
            for index in 0..300 {
                let name = format!("w{index}");
                send(&context, &run, &name, &sign(&name)).await;
            }
        }
        send(&context, &run, "last", &sign("last")).await;
        context.client().flush().await.unwrap();
    });
    let lines = coordinator.stderr();
    let line = lines.next_with("301 workers");
    assert!(line.contains("301 matches at once"), "{line}");
    let text = workspace.run(&["queue", "status", &url]).code(0).stdout();
    assert!(text.contains("and 251 silent workers more; --json has them all"), "{text}");
    assert_eq!(text.matches(" ago  small").count(), 50, "{text}");
    let all = workspace.run(&["queue", "status", &url, "--json"]).code(0).stdout();
    let all: Value = serde_json::from_str(&all).unwrap();
    let (_, status) = all["runs"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(status["workers"].as_array().unwrap().len(), 301);
    assert!(!all.to_string().contains("mallory"));
    let _big = WorkerProcess::start(&server, "big", &["--tags", "big"]);
    coordinator.ran().code(0);
    // Only a worker that has played is of interest.
    let machines: Value = serde_json::from_str(&workspace.read("out/workers.json")).unwrap();
    let machines = machines["workers"].as_object().unwrap();
    assert_eq!(machines.keys().collect::<Vec<_>>(), ["big"]);
    assert_eq!(machines["big"]["tags"], json!(["big"]));
}

/// Whoever invents workers holds no run up, and fills no memory: a part of them counts.
#[test]
fn a_run_with_thousands_of_invented_workers_goes_on() {
    let Some(server) = NatsServer::start() else { return };
    let url = server.url();
    let workspace = Workspace::with_spec(SPEC);
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    in_runtime(async {
        let context = client(&url).await;
        let run = run_name(&context, &workspace, &mut coordinator).await;
        for index in 0..30_000 {
            let name = format!("nobody-{index}");
            send(&context, &run, &name, &sign(&name)).await;
        }
        context.client().flush().await.unwrap();
    });
    let lines = coordinator.stderr();
    lines.next_with("10000 workers");
    let _big = WorkerProcess::start(&server, "big", &["--tags", "big"]);
    coordinator.ran().code(0);
    let machines: Value = serde_json::from_str(&workspace.read("out/workers.json")).unwrap();
    let machines = machines["workers"].as_object().unwrap();
    assert_eq!(machines.keys().collect::<Vec<_>>(), ["big"]);
}

/// A worker measures its machine now and then; each run that it plays gets the measurement.
#[test]
fn runs_that_follow_each_other_know_the_speed_of_the_machine() {
    let Some(server) = NatsServer::start() else { return };
    let _worker = WorkerProcess::start(&server, "big", &["--tags", "big"]);
    for _ in 0..3 {
        let workspace = Workspace::with_spec(SPEC);
        run(&workspace, &server, &[]).code(0);
        let machines: Value = serde_json::from_str(&workspace.read("out/workers.json")).unwrap();
        let speed = &machines["workers"]["big"]["speed"];
        assert!(speed["n"].as_u64() >= Some(1) && speed["mean"].as_f64() > Some(0.0), "{speed}");
    }
}
