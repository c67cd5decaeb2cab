//! Runs that are stopped, gently or not, and taken up again.

use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::workspace::{Ran, Workspace, run_slow_tests, tables};

const SPEC: &str = r#"
name = "resume"
seed = 3
blocks = 150
games = ["tic_tac_toe", "nim"]
budget = { nodes = 20 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "alpha_beta"
"#;

const RUN: [&str; 6] = ["run", "spec.toml", "--out", "run/out", "--jobs", "3"];

/// Waits until the journal is as long as that, or the program has ended.
fn wait_for_journal(workspace: &Workspace, child: &mut Child, length: u64) {
    let journal = workspace.path("run/out/journal.jsonl");
    while child.try_wait().unwrap().is_none() {
        if std::fs::metadata(&journal).is_ok_and(|metadata| metadata.len() >= length) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn uninterrupted() -> Workspace {
    let workspace = Workspace::with_spec(SPEC);
    workspace.run(&RUN).code(0);
    workspace
}

fn check_same(resumed: &Workspace, reference: &Workspace) {
    let lines = resumed.read("run/out/journal.jsonl");
    let mut ids: Vec<String> = lines
        .lines()
        .skip(1)
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["job_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let n_lines = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), n_lines, "no match is played twice");
    let (resumed, reference) = (resumed.path("run/out"), reference.path("run/out"));
    for (one, other) in tables(&resumed).into_iter().zip(tables(&reference)) {
        assert!(one == other, "{} differs", one.0);
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_if_it_had_not_been() {
    let reference = uninterrupted();
    let whole = reference.read("run/out/journal.jsonl").len() as u64;
    let n_kills = if run_slow_tests() { 20 } else { 5 };
    let resumed = Workspace::with_spec(SPEC);
    // Anywhere, but the same anywhere each time.
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut n_killed = 0;
    for kill in 0..n_kills {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = whole * kill / n_kills + (seed >> 33) % (whole / n_kills);
        let mut child = resumed.spawn(&RUN);
        wait_for_journal(&resumed, &mut child, length);
        child.kill().unwrap();
        n_killed += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(n_killed > 1, "it was killed {n_killed} times while it ran");
    resumed.run(&RUN).code(0);
    check_same(&resumed, &reference);
}

#[test]
fn a_half_written_line_is_played_again() {
    let reference = uninterrupted();
    let resumed = Workspace::with_spec(SPEC);
    let journal = reference.read("run/out/journal.jsonl");
    let last_line = journal.trim_end().rfind('\n').unwrap() + 1;
    for cut in [last_line + 1, last_line + 100, journal.len() - 1] {
        resumed.write("run/out/journal.jsonl", &journal[..cut]);
        let ran = resumed.run(&RUN).code(0);
        let dropped = cut - last_line;
        let bytes = if dropped == 1 { "1 byte".into() } else { format!("{dropped} bytes") };
        let note = format!("a half-written line of {bytes} was cut off");
        assert!(ran.stderr().contains(&note), "{}", ran.stderr());
        check_same(&resumed, &reference);
    }
}

#[test]
fn what_a_power_failure_leaves_is_played_again() {
    let reference = uninterrupted();
    let resumed = Workspace::with_spec(SPEC);
    let journal = reference.read("run/out/journal.jsonl");
    let last_line = journal.trim_end().rfind('\n').unwrap() + 1;
    let torn = format!("{}\n{}\n{}", &journal[last_line..last_line + 50], "\0".repeat(3000), "{");
    resumed.write("run/out/journal.jsonl", &(journal[..last_line].to_owned() + &torn));
    let report = resumed.run(&["report", "run/out"]).code(0).stdout();
    assert!(report.contains("3 broken lines of 3053 bytes"), "{report}");
    let ran = resumed.run(&RUN).code(0);
    let note = "note: 3 broken lines at the end of the journal, 3053 bytes, were cut off";
    assert!(ran.stderr().contains(note), "{}", ran.stderr());
    check_same(&resumed, &reference);
}

#[test]
fn an_interrupt_ends_cleanly_and_tells_how_to_go_on() {
    let reference = uninterrupted();
    let resumed = Workspace::with_spec(SPEC);
    let mut child = resumed.spawn(&RUN);
    wait_for_journal(&resumed, &mut child, 20_000);
    let process = Pid::from_child(&child);
    kill_process(process, Signal::INT).unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(130);
    let hint = "To resume:\n  gamemaster run spec.toml --out run/out --jobs 3";
    assert!(ran.stderr().contains(hint), "{}", ran.stderr());
    resumed.run(&RUN).code(0);
    let (resumed, reference) = (resumed.path("run/out"), reference.path("run/out"));
    assert!(tables(&resumed) == tables(&reference));
}

#[test]
fn two_programs_do_not_write_one_journal() {
    let workspace = Workspace::with_spec(SPEC);
    let mut child = workspace.spawn(&RUN);
    wait_for_journal(&workspace, &mut child, 10_000);
    let ran = workspace.run(&RUN).code(2);
    assert!(ran.stderr().contains("another process is playing this run"), "{}", ran.stderr());
    child.kill().unwrap();
    child.wait().unwrap();
}
