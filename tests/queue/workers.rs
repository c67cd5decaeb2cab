//! What a worker accepts of a run, and what workers and coordinator do if the server gives
//! them nothing.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, push};
use futures_util::StreamExt as _;
use rustix::process::Signal;

use crate::nats::{
    CoordinatorProcess, NatsServer, SPEC, WorkerProcess, check_same, client, coordinate,
    in_runtime, reference, wait_async,
};
use crate::workspace::Workspace;

/// The message that makes a run known, as text after its first letter, and its subject.
async fn manifest(
    context: &Context,
    workspace: &Workspace,
    coordinator: &mut CoordinatorProcess,
) -> (String, String) {
    wait_async("the run is known", async || {
        coordinator.check();
        let run = std::fs::read_to_string(workspace.path("out/queue.txt")).ok()?;
        let subject = format!("gamemaster.run.{}", run.trim());
        let stream = context.get_stream("gamemaster-runs").await.ok()?;
        let message = stream.get_last_raw_message_by_subject(&subject).await.ok()?;
        let text = String::from_utf8(message.payload.to_vec()).unwrap();
        Some((subject, text.strip_prefix('j').unwrap().to_owned()))
    })
    .await
}

/// The name of the run on the server.
async fn run_name(
    context: &Context,
    workspace: &Workspace,
    coordinator: &mut CoordinatorProcess,
) -> String {
    let (subject, _) = manifest(context, workspace, coordinator).await;
    subject.strip_prefix("gamemaster.run.").unwrap().to_owned()
}

/// A run of another version of gamemaster, or of another build, is not played unless its
/// coordinator allows it. The test says for the coordinator that it is another.
#[test]
fn mixed_versions_play_only_where_that_is_allowed() {
    let Some(server) = NatsServer::start() else { return };
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let (subject, honest) = in_runtime(async {
        let context = client(&url).await;
        manifest(&context, &workspace, &mut coordinator).await
    });
    let publish = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut manifest: serde_json::Value = serde_json::from_str(&honest).unwrap();
        change(&mut manifest);
        in_runtime(async {
            let context = client(&url).await;
            let sent = context.publish(subject.clone(), format!("j{manifest}").into()).await;
            sent.unwrap().await.unwrap();
        });
    };
    publish(&|manifest| manifest["build"]["version"] = "0.0.1".into());
    let mut worker = WorkerProcess::start(&server, "w", &[]);
    worker.wait_for("the coordinator is gamemaster 0.0.1 and this is");
    publish(&|manifest| manifest["build"]["executable"] = "another".into());
    worker.wait_for("the coordinator is another build of gamemaster");
    publish(&|manifest| {
        manifest["format"] = 1_000_000.into();
        manifest["mixed_versions"] = true.into();
    });
    worker.wait_for("its messages have version 1000000");
    assert!(!worker.log().contains("joined"), "{}", worker.log());
    publish(&|manifest| {
        manifest["build"]["version"] = "0.0.1".into();
        manifest["mixed_versions"] = true.into();
    });
    worker.wait_for("joined");
    coordinator.ran().code(0);
    check_same(&workspace, &reference(SPEC));
}

/// A consumer that has blocks and gives none is made anew. Here it pushes them to nobody.
#[test]
fn a_stuck_consumer_is_replaced() {
    let Some(server) = NatsServer::start() else { return };
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    in_runtime(async {
        let context = client(&url).await;
        let run = run_name(&context, &workspace, &mut coordinator).await;
        let stream = format!("gamemaster-blocks-{run}");
        context.delete_consumer_from_stream("any", &stream).await.unwrap();
        let stuck = push::Config {
            durable_name: Some("any".to_owned()),
            deliver_subject: "nobody".to_owned(),
            filter_subject: format!("gamemaster.block.{run}.any.>"),
            ack_policy: AckPolicy::Explicit,
            ..push::Config::default()
        };
        context.create_consumer_on_stream(stuck, stream).await.unwrap();
    });
    let _worker = WorkerProcess::start(&server, "w", &[]);
    coordinator.ran().code(0);
    check_same(&workspace, &reference(SPEC));
}

/// The server drops the consumer of results if the coordinator was silent for a minute, as
/// when it was suspended. The coordinator makes another one, and reads on.
#[test]
fn a_coordinator_reads_on_after_its_consumer_is_dropped() {
    let Some(server) = NatsServer::start() else { return };
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    in_runtime(async {
        let context = client(&url).await;
        let run = run_name(&context, &workspace, &mut coordinator).await;
        let stream = context.get_stream(format!("gamemaster-results-{run}")).await.unwrap();
        let name = wait_async("the coordinator reads results", async || {
            coordinator.check();
            stream.consumer_names().next().await?.ok()
        })
        .await;
        // The server reports a deleted consumer to pending requests only, so wait until the
        // coordinator's request has expired.
        coordinator.signal(Signal::STOP);
        tokio::time::sleep(Duration::from_secs(4)).await;
        stream.delete_consumer(&name).await.unwrap();
        coordinator.signal(Signal::CONT);
    });
    let _worker = WorkerProcess::start(&server, "w", &[]);
    coordinator.ran().code(0);
    check_same(&workspace, &reference(SPEC));
}

#[test]
fn a_worker_says_why_results_are_not_stored_and_leaves_all_the_same() {
    let folder = Workspace::new();
    folder.write("server.conf", "jetstream { max_file_store: 20000 }\n");
    let config = folder.path("server.conf");
    let config = ["-c", config.to_str().unwrap()];
    let Some(server) = NatsServer::start_with(&config) else { return };
    let workspace = Workspace::with_spec(&SPEC.replace("blocks = 2", "blocks = 4000"));
    let url = server.url();
    let _coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    let mut worker = WorkerProcess::start(&server, "full", &["--jobs", "1"]);
    worker.wait_for("reports: insufficient resources");
    worker.wait_for("its disk is full, or a limit of JetStream");
    worker.drain();
    assert!(worker.log().contains("the server does not store results"), "{}", worker.log());
}
