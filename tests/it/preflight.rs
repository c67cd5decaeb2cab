//! Whom a run asks for before it plays.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::sync::Barrier;

use rustix::process::{Pid, Signal, kill_process};

use crate::fake_player::{FakePlayer, well, words};
use crate::matches::THREE_STEPS;
use crate::workspace::{Ran, Workspace};

const RUN: [&str; 4] = ["run", "spec.toml", "--out", "out"];

/// Two built-in players and one at that port.
fn workspace(port: u16) -> Workspace {
    let workspace = Workspace::with_spec(&format!(
        r#"
games = ["three_steps.kif"]
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
id = "remote"
url = "http://127.0.0.1:{port}"
"#
    ));
    workspace.write("three_steps.kif", THREE_STEPS);
    workspace
}

#[test]
fn who_has_nothing_left_to_play_need_not_be_there() {
    let player = FakePlayer::start(|message, stream| well(stream, words(message)));
    let workspace = workspace(player.port);
    workspace.run(&RUN).code(0);
    let n_heard = player.heard().len();
    drop(player);
    let journal = workspace.read("out/journal.jsonl");
    assert!(n_heard > 1 && journal.lines().count() == 7, "{journal}");

    // All is played.
    let ran = workspace.run(&RUN).code(0);
    assert!(
        ran.stderr().contains("out is complete: all 6 matches have been played"),
        "{}",
        ran.stderr()
    );
    assert_eq!(workspace.read("out/journal.jsonl"), journal);

    let without = |found: fn(&str) -> bool| {
        let out = journal.lines().skip(1).position(found).unwrap() + 1;
        let lines = journal.lines().enumerate().filter(|(index, _)| *index != out);
        lines.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    // Only the others have something left.
    workspace.write("out/journal.jsonl", &without(|line| !line.contains("\"remote\"")));
    let ran = workspace.run(&RUN).code(0);
    assert!(ran.stderr().contains("5 of 6 matches are complete"), "{}", ran.stderr());
    // This one has, and is gone.
    workspace.write("out/journal.jsonl", &without(|line| line.contains("\"remote\"")));
    let ran = workspace.run(&RUN).code(3);
    assert!(ran.stderr().contains("remote"), "{}", ran.stderr());
}

#[test]
fn remote_players_are_asked_at_the_same_time() {
    static ALL_ARE_ASKED: Barrier = Barrier::new(3);
    let players = [(); 3].map(|()| {
        FakePlayer::start(|message, stream| {
            if message.to_lowercase().contains("info") {
                ALL_ARE_ASKED.wait();
            }
            well(stream, words(message))
        })
    });
    let mut spec = "games = [\"three_steps.kif\"]\n".to_owned();
    for (index, player) in players.iter().enumerate() {
        let url = format!("http://127.0.0.1:{}", player.port);
        writeln!(spec, "[[players]]\nid = \"p{index}\"\nurl = \"{url}\"").unwrap();
    }
    let workspace = Workspace::with_spec(&spec);
    workspace.write("three_steps.kif", THREE_STEPS);
    workspace.run(&RUN).code(0);
    assert_eq!(workspace.read("out/journal.jsonl").lines().count(), 7);
}

#[test]
fn an_interrupt_ends_the_wait_for_a_silent_player() {
    // Connections are taken by the system, but nobody ever reads from them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let workspace = workspace(listener.local_addr().unwrap().port());
    let child = workspace.spawn(&RUN);
    // From here on the program waits for an answer to INFO.
    let connection = listener.accept().unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(130);
    assert!(!ran.stderr().contains("does not answer"), "{}", ran.stderr());
    drop(connection);
    assert_eq!(workspace.read("out/journal.jsonl").lines().count(), 1, "nothing was played");
}
