//! What this machine lacks is no player's fault: the match is broken off, said
//! so, and played again.

use gamemaster::manager::{Manager, ManagerSettings};

use crate::matches::{THREE_STEPS, built_in, command, play_with, prepared, setup};
use crate::workspace::Workspace;

#[test]
fn a_log_that_cannot_be_made_breaks_the_match_off() {
    let workspace = Workspace::new();
    workspace.write("logs", "no folder");
    let manager = Manager::new(ManagerSettings {
        log_folder: Some(workspace.path("logs")),
        ..ManagerSettings::default()
    });
    let game = prepared("three_steps", THREE_STEPS);
    let seats = vec![command("true {port}".to_owned()), built_in("legal")];
    let played = play_with(&mut manager.worker(), &setup(&game, seats));
    let reason = played.ending.breakdown().unwrap_or_else(|| panic!("{:?}", played.ending));
    assert!(reason.contains("player program: failed to make the log"), "{reason}");
    assert!(played.steps.is_empty() && played.rewards.is_empty());
}

/// Ends with an error, keeps what was played, and plays the rest when all is
/// well again.
#[test]
fn a_run_says_which_matches_were_broken_off() {
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
    assert!(told.contains("broken off"), "{told}");
    assert!(told.contains("player p: failed to make the log"), "{told}");
    std::fs::remove_file(workspace.path("out/logs")).unwrap();
    workspace.run(&[&arguments[..], &["1"]].concat()).code(0);
    let rows = workspace.read("out/matches.csv");
    assert_eq!(rows.lines().count(), 1 + 2 * 80);
    assert!(!rows.contains("aborted"), "{rows}");
}
