//! `gamemaster game info` and `bench` with each reasoner.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// A term that grows with every step: nothing that can be ground.
pub(crate) const GROWING: &str = "\
(role robot)
(init (counter zero))
(legal robot count)
(<= (next (counter (successor ?n))) (true (counter ?n)))
(<= terminal (true (counter (successor (successor (successor zero))))))
(goal robot 100)
";

/// Exit code, what is printed, and the errors.
pub(crate) fn game(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gamemaster"));
    let output = command.arg("game").args(arguments).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

pub(crate) fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = game(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).unwrap()
}

pub(crate) fn growing() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("growing.kif"), GROWING).unwrap();
    folder
}

#[test]
fn every_reasoner_plays_the_same_game() {
    // Mean length and goals of tic-tac-toe by exact enumeration: uniformly
    // random moves take 7.6262 steps, and the first player gets 64.841 of 100.
    for (reasoner, lanes) in [("prover", 1), ("network", 1), ("batch", 512)] {
        let arguments =
            ["bench", "tic_tac_toe", "--reasoner", reasoner, "--time", "500ms", "--json"];
        let measured = json(Path::new("."), &arguments);
        assert!(measured["reasoner"].as_str().unwrap().ends_with(reasoner));
        assert_eq!(measured["lanes"], lanes);
        let (n, mean) = (&measured["playouts"], &measured["mean_length"]);
        let (n, mean) = (n.as_f64().unwrap(), mean.as_f64().unwrap());
        // Standard deviations of the length and of the goal are about 1.2 and 45.
        let error = 6.0 / n.sqrt();
        assert!((mean - 7.626_190).abs() < 1.3 * error, "{reasoner}: {mean} of {n}");
        let goal = measured["mean_goals"]["xplayer"].as_f64().unwrap();
        assert!((goal - 64.841_27).abs() < 45.0 * error, "{reasoner}: {goal} of {n}");
    }
}

#[test]
fn threads_play_side_by_side() {
    for reasoner in ["prover", "batch"] {
        let arguments = ["bench", "nim", "--reasoner", reasoner, "--threads", "3", "--time", "0s"];
        let (code, stdout, stderr) = game(Path::new("."), &arguments);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.lines().next().unwrap().ends_with("3 threads"), "{stdout}");
    }
    let (code, _, stderr) = game(Path::new("."), &["bench", "nim", "--threads", "0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("--threads <N>"), "{stderr}");
}

#[test]
fn narrower_batches_can_be_asked_for() {
    let arguments =
        ["bench", "nim", "--reasoner", "batch", "--lanes", "64", "--time", "0s", "--json"];
    assert_eq!(json(Path::new("."), &arguments)["lanes"], 64);
    let (code, _, stderr) = game(Path::new("."), &["bench", "nim", "--lanes", "64"]);
    assert_eq!(
        (code, stderr.as_str()),
        (2, "error: --lanes is possible only with --reasoner batch\n")
    );
    let (code, stdout, _) = game(
        Path::new("."),
        &["bench", "nim", "--reasoner", "batch", "--interpreted", "--time", "0s"],
    );
    assert_eq!(code, 0);
    assert!(
        stdout.starts_with("nim, reasoner: interpreted batch of 512 lanes, 1 thread\n"),
        "{stdout}"
    );
}

#[test]
fn what_cannot_be_ground_is_left_to_the_prover() {
    let folder = growing();
    let report = json(folder.path(), &["info", "growing.kif", "--json"]);
    assert_eq!(report["reasoner"], "prover");
    let why = report["grounding"]["not_ground"].as_str().unwrap();
    assert_eq!(why, "the rules for `next` nest terms deeper than 64");
    let (_, stdout, _) = game(folder.path(), &["info", "growing.kif"]);
    assert!(stdout.contains(&format!("grounding      none: {why}\n")), "{stdout}");
    let arguments = ["bench", "growing.kif", "--time", "0s", "--json"];
    let measured = json(folder.path(), &arguments);
    assert_eq!((&measured["reasoner"], &measured["not_ground"]), (&"prover".into(), &why.into()));
    let (_, stdout, _) = game(folder.path(), &["bench", "growing.kif", "--time", "0s"]);
    assert!(stdout.contains(&format!("  no network   {why}\n")), "{stdout}");
    for reasoner in ["network", "batch"] {
        let (code, _, stderr) =
            game(folder.path(), &["bench", "growing.kif", "--reasoner", reasoner]);
        assert_eq!(code, 3);
        assert_eq!(stderr, format!("error: {why}\n"));
    }
}

#[test]
fn small_networks_are_drawn() {
    let (code, stdout, stderr) = game(Path::new("."), &["info", "monty_hall", "--dot"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with("digraph \"monty_hall\" {\n") && stdout.ends_with("}\n"));
    let (code, stdout, stderr) = game(Path::new("."), &["info", "othello", "--dot"]);
    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.starts_with("error: the network of othello has "), "{stderr}");
}
