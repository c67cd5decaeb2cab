//! What this machine lacks is no player's fault: the match is aborted with the reason,
//! and played again.

use gamemaster::manager::{Manager, ManagerSettings, PlayerStderr};

use results::record::{AbortReason, Ending, FaultKind};

use crate::fake_player::{Behaviour, FakePlayer, well, words};
use crate::matches::{THREE_STEPS, built_in, command, play_with, prepared, remote, setup};
use crate::workspace::{Ran, Workspace};

#[test]
fn a_log_that_cannot_be_made_breaks_the_match_off() {
    let workspace = Workspace::new();
    workspace.write("logs", "no folder");
    let manager = Manager::new(ManagerSettings {
        stderr: PlayerStderr::Log(workspace.path("logs")),
        ..ManagerSettings::default()
    });
    let game = prepared("three_steps", THREE_STEPS);
    let seats = vec![command("true {port}".to_owned()), built_in("legal")];
    let played = play_with(&mut manager.worker(), &setup(&game, seats));
    assert!(
        matches!(
            &played.ending,
            Ending::Aborted { reason: AbortReason::LaunchFailed { player, detail } }
                if player == "program" && detail.starts_with("cannot create the log")
        ),
        "{:?}",
        played.ending
    );
    assert!(played.steps.is_empty() && played.rewards.is_empty());
}

/// A match that begins without its players would say nothing of them.
#[test]
fn nobody_plays_on_against_a_player_that_is_gone() {
    let behave: Behaviour = |message, stream| well(stream, words(message));
    let player = FakePlayer::start(behave);
    let port = player.port;
    let game = prepared("three_steps", THREE_STEPS);
    let setup = setup(&game, vec![remote(port), built_in("legal")]);
    let manager = Manager::new(ManagerSettings::default());
    let mut worker = manager.worker();
    let mut play = || play_with(&mut worker, &setup);
    assert_eq!(play().faults(0), [None; 3]);
    drop(player);
    // The match in which it is missed is played to its end, by substitutes.
    assert_eq!(play().faults(0), [Some(FaultKind::Unreachable); 3]);
    for _ in 0..2 {
        let played = play();
        let gone = AbortReason::PlayerGone {
            player: "remote".to_owned(),
            host: "127.0.0.1".to_owned(),
            port,
        };
        assert_eq!(played.ending, Ending::Aborted { reason: gone });
    }
    let _again = FakePlayer::start_on(port, behave);
    assert_eq!(play().faults(0), [None; 3]);
}

/// All its matches would be aborted, one after the other.
#[test]
fn a_run_stops_when_a_player_is_gone_and_goes_on_when_it_is_back() {
    let behave: Behaviour = |message, stream| well(stream, words(message));
    let player = FakePlayer::start(behave);
    let port = player.port;
    let workspace = Workspace::with_spec(&format!(
        "games = [\"three_steps.kif\"]\nblocks = 200\n\
         clocks = {{ start = \"5s\", play = \"5s\" }}\n[[players]]\nkind = \"legal\"\n\
         [[players]]\nid = \"remote\"\nurl = \"http://127.0.0.1:{port}\"\n"
    ));
    workspace.write("three_steps.kif", THREE_STEPS);
    let arguments = ["run", "spec.toml", "--out", "out", "--jobs", "2"];
    let child = workspace.spawn(&arguments);
    while player.heard().len() < 20 {
        std::thread::yield_now();
    }
    drop(player);
    let ran = Ran(child.wait_with_output().unwrap()).code(1);
    let told = ran.stderr();
    assert!(told.contains("player `remote` does not reply to INFO at 127.0.0.1"), "{told}");
    assert!(told.contains("the run stopped after "), "{told}");
    let journal = workspace.read("out/journal.jsonl");
    let n_aborted =
        journal.lines().filter(|line| line.contains("\"reason\":\"player_gone\"")).count();
    assert!((5..=10).contains(&n_aborted), "{n_aborted} of 400 matches");
    assert!(journal.lines().count() < 400, "{journal}");

    let _again = FakePlayer::start_on(port, behave);
    workspace.run(&arguments).code(0);
    let rows = workspace.read("out/matches.csv");
    assert!(rows.lines().count() == 1 + 2 * 400 && !rows.contains("aborted"), "{rows}");
}

/// Ends with an error, keeps what was played, and plays the rest when all is
/// well again.
#[test]
fn a_run_says_which_matches_were_aborted() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\"]\nblocks = 40\nclocks = { start = \"5s\", play = \"5s\" }\n\
         [[players]]\nkind = \"legal\"\n[[players]]\nid = \"p\"\ncommand = \"sh p.sh {port}\"\n",
    );
    let program = assert_cmd::cargo::cargo_bin!("gamemaster").display().to_string();
    // The second copy finds no place for its log.
    workspace.write(
        "p.sh",
        &format!(
            "rm -rf out/logs\ntouch out/logs\nexec {program} serve --player legal --port $1\n"
        ),
    );
    let arguments = ["run", "spec.toml", "--out", "out", "--jobs"];
    let ran = workspace.run(&[&arguments[..], &["2"]].concat()).code(1);
    let told = ran.stderr();
    assert!(told.contains("aborted"), "{told}");
    assert!(told.contains("player `p` is not ready: cannot create the log"), "{told}");
    std::fs::remove_file(workspace.path("out/logs")).unwrap();
    workspace.run(&[&arguments[..], &["1"]].concat()).code(0);
    let rows = workspace.read("out/matches.csv");
    assert_eq!(rows.lines().count(), 1 + 2 * 80);
    assert!(!rows.contains("aborted"), "{rows}");
}

/// Descriptors may run out before the first match. It is said what is lacking, and what
/// to do; no player is at fault, so the exit code is not that of a failed preflight.
#[test]
fn a_launch_without_descriptors_says_how_to_get_some() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\"]\nblocks = 1\nclocks = { start = \"5s\", play = \"5s\" }\n\
         [[players]]\nkind = \"legal\"\n[[players]]\nid = \"p\"\ncommand = \"./p {port}\"\n",
    );
    let program = assert_cmd::cargo::cargo_bin!("gamemaster").display().to_string();
    // The run's own files leave so few that the launch finds none.
    let lacking = (8..24).find_map(|limit| {
        let command = format!("ulimit -n {limit}; exec {program} run spec.toml --out out{limit}");
        let ran = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir(workspace.path(""))
            .output()
            .unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        told.contains("player `p` could not be asked").then_some((ran.status.code(), told, limit))
    });
    let (code, told, limit) = lacking.expect("some limit leaves no descriptor for a launch");
    assert_eq!(code, Some(1), "{told}");
    let expected = format!("no file descriptor is left (this process may have {limit}); raise");
    assert!(told.contains(&expected) && told.contains("`ulimit -n`"), "{told}");
}
