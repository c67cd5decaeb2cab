//! Runs that are interrupted while players think for longer than anybody waits:
//! a test that does not end tells that they were waited for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::matches::THREE_STEPS;
use crate::workspace::{Ran, Workspace, is_running};

/// Two matches of players who answer immediately, and four of one who thinks for
/// hours; more workers than those can keep busy.
const THINKING: &str = r#"
games = ["connect_four"]
clocks = { start = "1s", play = "20h" }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "alpha_beta"
"#;

const RUN: [&str; 6] = ["run", "spec.toml", "--out", "out", "--jobs", "5"];

/// Waits until `what` holds or the program has ended.
fn wait_until(child: &mut Child, mut what: impl FnMut() -> bool) {
    while !what() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn n_lines(path: &Path) -> usize {
    std::fs::read(path).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count()
}

fn interrupt(child: Child) -> Ran {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    Ran(child.wait_with_output().unwrap()).code(130)
}

/// How the attempts at each job ended, in order.
fn endings(workspace: &Workspace) -> BTreeMap<String, Vec<String>> {
    let mut endings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in workspace.read("out/journal.jsonl").lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let attempts = endings.entry(text(&record["job_id"])).or_default();
        attempts.push(text(&record["ending"]["kind"]));
        assert_eq!(record["attempt"], attempts.len());
    }
    endings
}

fn n_done(endings: &BTreeMap<String, Vec<String>>) -> usize {
    let done = endings.values().flatten().filter(|ending| *ending == "terminal").count();
    let jobs = endings.values().filter(|attempts| attempts.contains(&"terminal".to_owned()));
    assert_eq!(jobs.count(), done, "no match is played twice: {endings:?}");
    done
}

#[test]
fn a_run_whose_players_think_for_hours_ends_at_once() {
    let workspace = Workspace::with_spec(THINKING);
    let journal = workspace.path("out/journal.jsonl");
    let mut child = workspace.spawn(&RUN);
    // What is finished is in the journal, though the others will not be for hours.
    wait_until(&mut child, || n_lines(&journal) == 3);
    interrupt(child);
    let first = endings(&workspace);
    assert_eq!(n_done(&first), 2);
    let is_over = |ending: &String| ["terminal", "aborted"].contains(&ending.as_str());
    assert!(first.values().flatten().all(is_over), "{first:?}");
    let report = workspace.run(&["report", "out"]).code(0).stdout();
    assert!(report.contains("aborted"), "{report}");

    // It goes on with the others, and can be interrupted again.
    let mut child = workspace.spawn(&RUN);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("Resuming") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(told.contains("2 of 6 matches are complete"), "{told}");
    interrupt(child);
    let second = endings(&workspace);
    assert_eq!(n_done(&second), 2);
    for (job, attempts) in &first {
        assert!(second[job].starts_with(attempts), "{job}: {attempts:?}, {:?}", second[job]);
    }
}

#[test]
fn launched_players_end_with_an_interrupted_run_and_play_on_in_the_next() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/players/waits.py");
    let workspace = Workspace::new();
    workspace.write("three_steps.kif", THREE_STEPS);
    workspace.write("players/hang", "");
    let folder = workspace.path("players");
    workspace.write(
        "spec.toml",
        &format!(
            r#"
games = ["three_steps.kif"]
clocks = {{ start = "1m", play = "20h" }}
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
id = "program"
command = "python3 '{script}' {{port}} '{}'"
"#,
            folder.display()
        ),
    );
    let mut child = workspace.spawn(&RUN);
    let journal = workspace.path("out/journal.jsonl");
    wait_until(&mut child, || n_lines(&journal) == 3 && n_lines(&folder.join("asked")) > 0);
    interrupt(child);
    check_gone(&workspace);
    assert_eq!(n_done(&endings(&workspace)), 2);
    workspace.run(&["report", "out"]).code(0);

    std::fs::remove_file(folder.join("hang")).unwrap();
    let ran = workspace.run(&RUN).code(0);
    assert!(ran.stderr().contains("2 of 6 matches are complete"), "{}", ran.stderr());
    let endings = endings(&workspace);
    assert_eq!((endings.len(), n_done(&endings)), (6, 6));
    assert!(endings.values().all(|attempts| attempts.last().unwrap() == "terminal"));
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("out/summary.json")).unwrap();
    assert_eq!((&summary["n_matches"], &summary["n_scored"]), (&6.into(), &6.into()));
    assert_eq!(summary["faults"].as_array().unwrap().len(), 0, "{summary}");
    check_gone(&workspace);
}

/// Of all programs ever launched none runs any more.
fn check_gone(workspace: &Workspace) {
    let launched = workspace.read("players/launched");
    assert!(launched.lines().count() > 0);
    // They were killed; a test that does not end tells that they were not.
    while launched.lines().any(is_running) {
        std::thread::yield_now();
    }
}
