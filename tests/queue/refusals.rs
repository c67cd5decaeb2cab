//! Wrong results do not count, and an error says why.

use async_nats::jetstream::Context;
use async_nats::jetstream::message::PublishMessage;

use crate::nats::{
    CoordinatorProcess, NatsServer, SPEC, WorkerProcess, all_of_a_run, check_same, client,
    coordinate, in_runtime, reference, run, wait_async,
};
use crate::workspace::Workspace;

/// Plain messages begin with this letter.
const PLAIN: &str = "j";

/// Waits until both blocks of the run are on the server; gives its name there.
async fn wait_for_blocks(
    context: &Context,
    workspace: &Workspace,
    coordinator: &mut CoordinatorProcess,
) -> String {
    wait_async("both blocks are on the server", async || {
        coordinator.check();
        let run = std::fs::read_to_string(workspace.path("out/queue.txt")).ok()?.trim().to_owned();
        let stream = context.get_stream(format!("gamemaster-blocks-{run}")).await.ok()?;
        (stream.cached_info().state.messages == 2).then_some(run)
    })
    .await
}

/// The results of block 0 as another run of the same spec has them, changed by `change`,
/// are refused for a reason that contains `expected`; then a proper worker plays it.
fn check_refused(change: impl FnOnce(&str) -> String, expected: &str) {
    let Some(server) = NatsServer::start() else { return };
    let reference = reference(SPEC);
    let journal = reference.read("out/journal.jsonl");
    let mut records: Vec<&str> = journal.lines().skip(1).collect();
    records.sort_by_key(|line| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["job"].as_u64()
    });
    let records = records[..2].join(",");
    let honest = format!("{PLAIN}{{\"worker\":\"mallory\",\"records\":[{records}]}}");
    let hostile = change(&honest);
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let mut coordinator = CoordinatorProcess::start(&workspace, &coordinate(&url, &[]));
    in_runtime(async {
        let context = client(&url).await;
        let run = wait_for_blocks(&context, &workspace, &mut coordinator).await;
        let subject = format!("gamemaster.result.{run}.0.0");
        let result =
            PublishMessage::build().payload(hostile.into()).header("Gamemaster-Worker", "mallory");
        context.send_publish(subject, result).await.unwrap().await.unwrap();
    });
    let _worker = WorkerProcess::start(&server, "honest", &[]);
    let ran = coordinator.ran().code(0);
    let errors = ran.stderr();
    match expected {
        "" => assert!(!errors.contains("refused"), "{errors}"),
        _ => {
            let line = errors.lines().find(|line| line.contains("were refused"));
            let line = line.unwrap_or_else(|| panic!("nothing was refused: {errors}"));
            assert!(line.contains("block 0") && line.contains(expected), "{line}");
            assert!(line.contains("worker mallory"), "{line}");
        }
    }
    check_same(&workspace, &reference);
    let is_hers = workspace.read("out/journal.jsonl").contains("\"worker\":\"mallory\"");
    assert_eq!(is_hers, expected.is_empty());
}

#[test]
fn honest_results_are_taken_from_anybody() {
    check_refused(str::to_owned, "");
}

#[test]
fn results_that_do_not_parse_are_refused() {
    check_refused(|_| "j{\"worker\":".to_owned(), "no message of this kind");
    check_refused(|_| "?".to_owned(), "unknown encoding");
}

#[test]
fn results_of_another_match_are_refused() {
    check_refused(|honest| honest.replacen("\"job\":0,", "\"job\":2,", 1), "missing");
    check_refused(
        |honest| honest.replacen("\"job_id\":\"", "\"job_id\":\"0", 1),
        "does not belong",
    );
    check_refused(|honest| honest.replacen("\"seed\":\"", "\"seed\":\"0", 1), "another seed");
}

#[test]
fn results_of_other_roles_or_players_are_refused() {
    let check =
        |from, to| check_refused(move |honest| honest.replacen(from, to, 1), "another role");
    check("\"role\":\"xplayer\"", "\"role\":\"oplayer\"");
    check("\"player\":\"random\"", "\"player\":\"champion\"");
}

#[test]
fn moves_that_a_terminal_obeys_are_refused() {
    let escape = |honest: &str| honest.replacen("(mark ", "\\u001b[31m(mark ", 1);
    check_refused(escape, "control characters");
}

#[test]
fn impossible_goals_are_refused() {
    let check = |to: &'static str, expected| {
        check_refused(
            move |honest| {
                let begin = honest.find("\"reward\":").unwrap() + "\"reward\":".len();
                let end = begin + honest[begin..].find(',').unwrap();
                format!("{}{to}{}", &honest[..begin], &honest[end..])
            },
            expected,
        );
    };
    check("101", "expected 0 to 100");
    check("null", "some roles have a reward");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let workspace = Workspace::with_spec(SPEC);
    let ran = workspace.run(&coordinate("nats://me:secret@127.0.0.1:1", &[])).code(1);
    let error = ran.stderr();
    assert!(error.contains("cannot connect to nats://127.0.0.1:1"), "{error}");
    assert!(!error.contains("secret"), "{error}");
    // Nothing was played: what was not there before is not left behind.
    assert!(!workspace.path("out").exists());
    workspace.run(&["run", "spec.toml", "--queue", "nats://127.0.0.1:1"]).code(1);
    assert!(!workspace.path("results").exists());
    std::fs::create_dir(workspace.path("out")).unwrap();
    workspace.run(&coordinate("nats://127.0.0.1:1", &[])).code(1);
    assert_eq!(std::fs::read_dir(workspace.path("out")).unwrap().count(), 0);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let journal = workspace.read("out/journal.jsonl");
    workspace.run(&coordinate("nats://127.0.0.1:1", &[])).code(1);
    assert_eq!(workspace.read("out/journal.jsonl"), journal);
    for url in ["http://a:b", ""] {
        let ran = workspace.run(&["worker", "--queue", url]).code(2);
        assert!(ran.stderr().contains("expected nats://HOST:4222"), "{}", ran.stderr());
    }
}

#[test]
fn a_player_with_an_address_is_no_player_of_a_queue() {
    let Some(server) = NatsServer::start() else { return };
    let workspace =
        Workspace::with_spec(&SPEC.replace("kind = \"legal\"", "url = \"http://127.0.0.1:1\""));
    let ran = run(&workspace, &server, &[]).code(2);
    assert!(ran.stderr().contains("give it a command"), "{}", ran.stderr());
}

#[test]
fn a_worker_needs_a_cache_that_it_can_write_to() {
    let workspace = Workspace::new();
    workspace.write("file", "");
    // It says so before it looks for the server, which is not there.
    let url = "nats://127.0.0.1:1";
    let ran = workspace.run(&["worker", "--queue", url, "--cache", "file/cache"]).code(2);
    let error = ran.stderr();
    assert!(error.contains("cannot write to the cache `"), "{error}");
    assert!(error.contains("file/cache/rulesheets`; choose another with --cache"), "{error}");
}

#[test]
fn user_and_password_of_the_address_are_used_and_written_nowhere() {
    let Some(server) = NatsServer::start_with(&["--user", "me", "--pass", "sesame"]) else {
        return;
    };
    let workspace = Workspace::with_spec(SPEC);
    let ran = run(&workspace, &server, &[]).code(1);
    assert!(ran.stderr().contains("authorization violation"), "{}", ran.stderr());
    let url = server.url().replace("nats://", "nats://me:sesame@");
    let all = all_of_a_run(&url, &[]);
    assert!(!all.contains("sesame"), "{all}");
}

#[test]
fn options_of_a_server_need_the_server() {
    let workspace = Workspace::with_spec(SPEC);
    for option in ["--creds", "--tls-ca"] {
        for command in ["run", "sweep", "regress"] {
            let ran = workspace.run(&[command, option, "file"]).code(2);
            assert!(ran.stderr().contains("--queue <nats://HOST:4222>"), "{}", ran.stderr());
        }
    }
}

#[test]
fn a_rulesheet_that_is_too_large_leaves_nothing_on_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = folder.path().join("server.conf");
    std::fs::write(&configuration, "max_payload: 4096\n").unwrap();
    let configuration = configuration.display().to_string();
    let Some(server) = NatsServer::start_with(&["-c", &configuration]) else { return };
    let workspace = Workspace::with_spec(&SPEC.replace("\"tic_tac_toe\"", "\"own.kif\""));
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/games/rulesheets/tic_tac_toe.kif");
    let long = "; a line of which there are many\n".repeat(150);
    workspace.write("own.kif", &(long + &std::fs::read_to_string(shipped).unwrap()));
    let error = run(&workspace, &server, &["--quiet"]).code(1).stderr();
    assert!(error.contains("the rulesheet own") && error.contains("max_payload"), "{error}");
    let n_streams = in_runtime(async {
        use futures_util::StreamExt as _;
        let context = client(&server.url()).await;
        context.stream_names().count().await
    });
    assert_eq!(n_streams, 0);
}

#[test]
fn a_server_without_jetstream_is_one_clear_error() {
    let Some(server) = NatsServer::start_plain(&[]) else { return };
    let workspace = Workspace::with_spec(SPEC);
    let url = server.url();
    let advice = "runs without JetStream; start it with `nats-server -js`";
    let expected = format!("the NATS server at {url} {advice}");
    let errors = [
        run(&workspace, &server, &["--quiet"]).code(1).stderr(),
        workspace.run(&["queue", "status", &url]).code(1).stderr(),
        workspace.run(&["queue", "purge", &url, "--all"]).code(1).stderr(),
    ];
    for error in errors {
        assert!(error.contains(&expected) && error.lines().count() == 1, "{error}");
    }
    let mut worker = WorkerProcess::start(&server, "w", &[]);
    worker.wait_for(&format!("{expected}; trying again"));
}

/// What the server does not permit ends a run with the server's reason, and is not waited for.
#[test]
fn what_the_server_does_not_permit_is_one_clear_error() {
    const CONFIG: &str = r#"
authorization {
  users = [
    { user: me, password: secret, permissions: { publish: { deny: [
      "$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.DURABLE.CREATE.>"
    ] } } }
  ]
}
"#;
    let workspace = Workspace::with_spec(SPEC);
    workspace.write("nats.conf", CONFIG);
    let config = workspace.path("nats.conf");
    let Some(server) = NatsServer::start_with(&["-c", config.to_str().unwrap()]) else { return };
    let url = server.url().replace("nats://", "nats://me:secret@");
    let error = workspace.run(&coordinate(&url, &["--quiet"])).code(1).stderr();
    assert!(error.contains("refuses to make a consumer: Permissions Violation"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}
