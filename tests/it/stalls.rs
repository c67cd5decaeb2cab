//! What holds this process or its host up is no player's fault.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use results::record::{Ending, FaultKind};
use rustix::process::{Pid, Signal, kill_process};

use crate::fake_player::{Behaviour, FakePlayer, until_cut, well, words};
use crate::matches::{THREE_STEPS, built_in, play, prepared, remote, setup};
use crate::workspace::{Ran, Workspace};

/// Longer than the clock and the margin of the matches here.
const STOPPED: Duration = Duration::from_millis(2500);

/// Stops the process at its first PLAY, for this time. It is stopped when this returns.
fn stop_once(message: &str, (process, has_stopped): &'static (AtomicU32, AtomicBool)) {
    if !message.starts_with("( PLAY") || has_stopped.swap(true, Ordering::SeqCst) {
        return;
    }
    let id = loop {
        let id = process.load(Ordering::SeqCst);
        if id > 0 {
            break id;
        }
        thread::yield_now();
    };
    let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let is_stopped = |id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        stat.contains(") T ")
    };
    while !is_stopped(id) {
        thread::yield_now();
    }
    thread::spawn(move || {
        thread::sleep(STOPPED);
        let _ = kill_process(pid, Signal::CONT);
    });
}

/// Plays three steps in a process of its own: the faults of each role.
fn play_stopped(
    stopper: Behaviour,
    opponent: &str,
    process: &AtomicU32,
) -> [Vec<serde_json::Value>; 2] {
    let player = FakePlayer::start(stopper);
    let workspace = Workspace::new();
    workspace.write("three_steps.kif", THREE_STEPS);
    let url = format!("http://127.0.0.1:{}", player.port);
    let clocks = ["--start-clock", "1s", "--play-clock", "1s", "--margin", "200ms"];
    let arguments = ["play", "three_steps.kif", &url, opponent, "--json"];
    let child = workspace.spawn(&[&arguments[..], &clocks].concat());
    process.store(child.id(), Ordering::SeqCst);
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    let record: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    let steps = record["steps"].as_array().unwrap();
    [0, 1].map(|role| steps.iter().map(|step| step[role]["fault"].clone()).collect())
}

#[test]
fn players_are_not_late_because_the_manager_was_stopped() {
    static STATE: (AtomicU32, AtomicBool) = (AtomicU32::new(0), AtomicBool::new(false));
    let opponent = FakePlayer::start(|message, stream| well(stream, words(message)));
    let url = format!("http://127.0.0.1:{}", opponent.port);
    let faults = play_stopped(
        |message, stream| {
            stop_once(message, &STATE);
            well(stream, words(message))
        },
        &url,
        &STATE.0,
    );
    assert!(STATE.1.load(Ordering::SeqCst));
    assert!(faults.iter().flatten().all(serde_json::Value::is_null), "{faults:?}");
}

/// It stands still with the manager.
#[test]
fn a_built_in_player_is_not_late_because_the_manager_was_stopped() {
    static STATE: (AtomicU32, AtomicBool) = (AtomicU32::new(0), AtomicBool::new(false));
    let faults = play_stopped(
        |message, stream| {
            stop_once(message, &STATE);
            well(stream, words(message))
        },
        "alpha_beta",
        &STATE.0,
    );
    assert!(STATE.1.load(Ordering::SeqCst));
    assert!(faults.iter().flatten().all(serde_json::Value::is_null), "{faults:?}");
}

#[test]
fn a_silent_player_is_late_even_if_the_manager_was_stopped() {
    static STATE: (AtomicU32, AtomicBool) = (AtomicU32::new(0), AtomicBool::new(false));
    let faults = play_stopped(
        |message, stream| {
            stop_once(message, &STATE);
            if message.starts_with("( PLAY") {
                until_cut(stream)
            } else {
                well(stream, words(message))
            }
        },
        "legal",
        &STATE.0,
    );
    assert!(STATE.1.load(Ordering::SeqCst));
    assert!(faults[0].iter().all(|fault| fault == FaultKind::LateMove.name()), "{faults:?}");
    assert!(faults[1].iter().all(serde_json::Value::is_null), "{faults:?}");
}

/// A host whose packets are lost: nobody takes a connection, and nobody refuses it.
#[test]
fn a_host_that_drops_packets_is_waited_for_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The shortest queue, and it is full: the kernel drops what asks for more.
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let patience = Duration::from_millis(200);
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, patience) {
        queued.push(stream);
    }
    let game = prepared("three_steps", THREE_STEPS);
    let played = play(&setup(&game, vec![remote(address.port()), built_in("legal")]));
    assert_eq!(played.ending, Ending::Terminal);
    assert_eq!(played.faults(0), [Some(FaultKind::Unreachable); 3]);
    let waits: Vec<Duration> =
        played.steps.iter().map(|decisions| decisions[0].connect.unwrap()).collect();
    let details: Vec<_> =
        played.steps.iter().map(|decisions| decisions[0].detail.clone().unwrap()).collect();
    assert_eq!(
        details,
        ["no connection within 1s", "no connection within 200ms", "no connection within 200ms"],
        "{waits:?}"
    );
}

/// The same run under every limit: what cannot be opened breaks matches off.
#[test]
fn a_want_of_descriptors_is_no_players_fault() {
    let players: Vec<FakePlayer> =
        (0..6).map(|_| FakePlayer::start(|message, stream| well(stream, words(message)))).collect();
    let mut spec = "games = [\"three_steps.kif\"]\njobs = 3\n".to_owned();
    for (index, player) in players.iter().enumerate() {
        let port = player.port;
        spec += &format!("[[players]]\nid = \"p{index}\"\nurl = \"http://127.0.0.1:{port}\"\n");
    }
    let mut n_short = 0;
    for limit in (8..=40).step_by(4) {
        let workspace = Workspace::with_spec(&spec);
        workspace.write("three_steps.kif", THREE_STEPS);
        let arguments = ["run", "spec.toml", "--out", "out", "--quiet"];
        let ran = workspace.run_after(&format!("ulimit -n {limit}"), &arguments);
        let journal =
            std::fs::read_to_string(workspace.path("out/journal.jsonl")).unwrap_or_default();
        assert!(!journal.contains("\"fault\""), "{limit}: {journal}");
        if ran.0.status.success() {
            continue;
        }
        n_short += 1;
        // With room for all it is played to its end.
        workspace.run(&arguments).code(0);
        let rows = workspace.read("out/matches.csv");
        assert!(!rows.contains("aborted"), "{rows}");
        assert_eq!(rows.lines().count(), 1 + 2 * 30, "{rows}");
    }
    assert!(n_short > 0, "no limit was too low");
}

#[test]
fn matches_at_once_are_as_many_as_there_are_descriptors_for() {
    let mut spec = "games = [\"three_steps.kif\"]\njobs = 100\nblocks = 100\n".to_owned();
    for port in 9001..9004 {
        spec += &format!("[[players]]\nurl = \"http://127.0.0.1:{port}\"\n");
    }
    let workspace = Workspace::with_spec(&spec);
    workspace.write("three_steps.kif", THREE_STEPS);
    let ran = workspace.run_after("ulimit -n 128", &["run", "spec.toml", "--dry-run"]).code(0);
    let told = ran.stdout();
    assert!(told.contains("600 matches in 300 blocks\nmatches at once: 12\n"), "{told}");
    assert!(
        told.contains(
            "warning: 100 matches at once need about 564 file descriptors, and this machine allows 128 \
             (ulimit -n): 12 are played at once"
        ),
        "{told}"
    );
    // The soft limit alone does not bind.
    let ran = workspace.run_after("ulimit -Sn 128", &["run", "spec.toml", "--dry-run"]).code(0);
    assert!(
        ran.stdout().contains("600 matches in 300 blocks\nmatches at once: 100\n"),
        "{}",
        ran.stdout()
    );
}

#[test]
fn clocks_that_are_no_whole_seconds_are_told_of() {
    let spec = |clocks: &str| {
        format!(
            "games = [\"nim\"]\nclocks = {{ {clocks} }}\n[[players]]\nkind = \"random\"\n\
             [[players]]\nurl = \"http://127.0.0.1:9001\"\n"
        )
    };
    for (clocks, expected) in [
        (
            "play = \"50ms\"",
            "the play clock of 50ms is announced to remote and launched \
             players as 1s, since START announces whole seconds. \
             These players may use 1s plus the margin of 1s; \
             clocks.enforce = \"exact\" would allow 50ms plus the margin",
        ),
        (
            "play = \"50ms\", enforce = \"exact\"",
            "the play clock of 50ms is announced to remote and launched \
             players as 1s, since START announces whole seconds. \
             These players may use 50ms plus the margin of 1s",
        ),
        (
            "play = \"2500ms\"",
            "the play clock of 2s 500ms is announced to remote and launched \
             players as 2s, since START announces whole seconds. \
             These players may use 2s 500ms plus the margin of 1s",
        ),
        ("play = \"2s\"", ""),
    ] {
        let workspace = Workspace::with_spec(&spec(clocks));
        let told = workspace.run(&["run", "spec.toml", "--dry-run"]).code(0).stdout();
        let note = format!("warning: {expected}\n");
        assert_eq!(told.contains("START announces whole seconds"), !expected.is_empty(), "{told}");
        assert!(expected.is_empty() || told.contains(&note), "{told}");
    }
    let workspace = Workspace::with_spec(&spec("enforce = \"strict\""));
    let told = workspace.run(&["run", "spec.toml", "--dry-run"]).code(2).stderr();
    assert!(told.contains("enforce = \"strict\": expected `announced` or `exact`"), "{told}");
}
