//! `gamemaster run --partition` and `gamemaster merge`: a schedule played in
//! parts is the schedule played at once.

use std::collections::BTreeSet;

use crate::workspace::{Workspace, tables};

/// Budgets are counted in nodes, so that equal runs give equal tables.
const SPEC: &str = r#"
name = "parted"
seed = 11
blocks = 2
games = ["tic_tac_toe", "nim", "eight_puzzle_seed", "kuhn_poker"]
budget = { nodes = 40 }

[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
id = "shallow"
kind = "minimax"
depth = 1
"#;

const PARTS: [&str; 3] = ["slice:1/3", "slice:2/3", "slice:3/3"];

fn play_part(workspace: &Workspace, slice: &str, out: &str) {
    let arguments = ["run", "spec.toml", "--partition", slice, "--out", out, "--quiet"];
    workspace.run(&arguments).code(0);
}

/// The parts in folders `1`, `2` and `3`.
fn parts() -> Workspace {
    let workspace = Workspace::with_spec(SPEC);
    for (part, out) in PARTS.iter().zip(["1", "2", "3"]) {
        play_part(&workspace, part, out);
    }
    workspace
}

/// Columns `job` and `block` of all matches.
fn jobs_and_blocks(workspace: &Workspace, out: &str) -> BTreeSet<(u64, u64)> {
    let table = workspace.read(&format!("{out}/matches.csv"));
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    rows.map(|row| (row[0].parse().unwrap(), row[2].parse().unwrap())).collect()
}

#[test]
fn parts_put_together_are_the_run_played_at_once() {
    let workspace = parts();
    workspace.run(&["run", "spec.toml", "--out", "single/out", "--quiet"]).code(0);
    let merged = workspace.run(&["merge", "3", "1", "2", "--out", "merged/out"]).code(0);
    let n_jobs = jobs_and_blocks(&workspace, "single/out").len();
    let expected = format!(
        "Merged 3 runs into merged/out: {n_jobs} of {n_jobs} matches\nFull report: gamemaster report merged/out\n"
    );
    assert_eq!(merged.stdout(), expected);
    let single = tables(&workspace.path("single/out"));
    assert!(single.iter().all(|(_, text)| !text.is_empty()));
    assert_eq!(tables(&workspace.path("merged/out")), single);
    assert_eq!(
        workspace.read("merged/out/spec.lock.toml"),
        workspace.read("single/out/spec.lock.toml")
    );
    let report = |out: &str| workspace.run(&["report", out]).code(0).stdout();
    assert_eq!(report("merged/out"), report("single/out"));
    // It is a run as any other: all is played.
    let resumed = workspace.run(&["run", "spec.toml", "--out", "merged/out"]).code(0);
    let all = format!("merged/out is complete: all {n_jobs} matches have been played");
    assert!(resumed.stderr().contains(&all), "{}", resumed.stderr());
    assert_eq!(tables(&workspace.path("merged/out")), single);
}

#[test]
fn parts_have_whole_blocks_and_share_none() {
    let workspace = parts();
    let [a, b, c] = ["1", "2", "3"].map(|out| jobs_and_blocks(&workspace, out));
    let blocks = |rows: &BTreeSet<(u64, u64)>| -> BTreeSet<u64> {
        rows.iter().map(|(_, block)| *block).collect()
    };
    for (rows, rest) in [(&a, 0), (&b, 1), (&c, 2)] {
        assert!(blocks(rows).iter().all(|block| block % 3 == rest), "{rows:?}");
    }
    workspace.run(&["run", "spec.toml", "--out", "all", "--quiet"]).code(0);
    let all = jobs_and_blocks(&workspace, "all");
    assert_eq!(a.len() + b.len() + c.len(), all.len());
    assert_eq!(&(&a | &b) | &c, all);
    // A part says in its report that it is one.
    let report = workspace.run(&["report", "2"]).code(0).stdout();
    assert!(report.contains("This is part 2 of 3 of a schedule"), "{report}");
}

#[test]
fn a_part_is_resumed_as_that_part_only() {
    let workspace = parts();
    let before = workspace.read("1/journal.jsonl");
    assert!(before.lines().next().unwrap().contains(r#""partition":"slice:1/3""#), "{before}");
    let run = |more: &[&str]| {
        let arguments = [&["run", "spec.toml", "--out", "1"], more].concat();
        workspace.run(&arguments)
    };
    let resumed = run(&["--partition", "slice:1/3"]).code(0).stderr();
    assert!(resumed.contains("complete"), "{resumed}");
    let other = run(&["--partition", "slice:2/3"]).code(2).stderr();
    assert!(other.contains("is of the part slice:1/3, not of the part slice:2/3"), "{other}");
    let whole = run(&[]).code(2).stderr();
    assert!(whole.contains("is of the part slice:1/3, not of the whole schedule"), "{whole}");
    assert!(whole.contains("give --partition slice:1/3"), "{whole}");
    run(&["--partition", "slice:1/3", "--extend"]).code(2);
    for wrong in ["slice:0/3", "slice:4/3", "2/3", "slice:1/0"] {
        let told = run(&["--partition", wrong]).code(2).stderr();
        assert!(told.contains("slice:M/N"), "{told}");
    }
    assert_eq!(workspace.read("1/journal.jsonl"), before);
    let dry = run(&["--partition", "slice:1/3", "--dry-run"]).code(0).stdout();
    let n = jobs_and_blocks(&workspace, "1").len();
    assert!(dry.contains(&format!("this part: {n} matches (slice:1/3)")), "{dry}");
    // Without a folder named, each part has its own.
    play_part_unnamed(&workspace, "slice:3/3");
}

fn play_part_unnamed(workspace: &Workspace, slice: &str) {
    workspace.run(&["run", "spec.toml", "--partition", slice, "--quiet"]).code(0);
    let runs = std::fs::read_dir(workspace.path("results/runs")).unwrap();
    let names: Vec<String> =
        runs.map(|run| run.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.len() == 1 && names[0].ends_with("-3of3"), "{names:?}");
}

#[test]
fn what_is_missing_is_told_and_played_by_resuming() {
    let workspace = parts();
    workspace.run(&["run", "spec.toml", "--out", "single/out", "--quiet"]).code(0);
    let n_missing = jobs_and_blocks(&workspace, "2").len();
    let told = workspace.run(&["merge", "1", "3", "--out", "merged/out"]).code(0).stdout();
    assert!(told.contains("Missing part: slice:2/3.\n"), "{told}");
    let missing = format!(
        "{n_missing} matches are missing. To play the rest:\n  \
         gamemaster run merged/out/spec.lock.toml --out merged/out\n"
    );
    assert!(told.ends_with(&missing), "{told}");
    workspace.run(&["run", "spec.toml", "--out", "merged/out", "--quiet"]).code(0);
    assert_eq!(tables(&workspace.path("merged/out")), tables(&workspace.path("single/out")));
    // As told, without the spec.
    workspace.run(&["merge", "1", "3", "--out", "told/out"]).code(0);
    let told = ["run", "told/out/spec.lock.toml", "--out", "told/out", "--quiet"];
    workspace.run(&told).code(0);
    assert_eq!(tables(&workspace.path("told/out")), tables(&workspace.path("single/out")));
    let json = workspace.run(&["merge", "1", "3", "--into", "other", "--json"]).code(0).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["n_missing"], &json["n_parts"]), (&n_missing.into(), &2.into()));
    assert_eq!(json["missing_parts"], serde_json::json!(["slice:2/3"]));
}

#[test]
fn more_parts_than_blocks_leave_some_empty() {
    let workspace = parts();
    play_part(&workspace, "slice:90000/90000", "none");
    assert_eq!(jobs_and_blocks(&workspace, "none").len(), 0);
    let told = workspace.run(&["merge", "none", "--out", "merged"]).code(0).stdout();
    let parts = "Missing parts: slice:1/90000, slice:2/90000, slice:3/90000, slice:4/90000, \
                 slice:5/90000, slice:6/90000 and ";
    assert!(told.contains(parts), "{told}");
    assert!(told.starts_with("Merged 1 run into merged: 0 of "), "{told}");
    let empty = workspace.run(&["report", "none"]).code(2).stderr();
    assert!(empty.contains("holds no match yet"), "{empty}");
    // An empty part and the others are the whole, whatever they were parts of.
    let whole = ["merge", "none", "1", "2", "3", "--out", "whole"];
    let told = workspace.run(&whole).code(0).stdout();
    assert!(told.contains("Full report: "), "{told}");
}

#[test]
fn half_written_journals_are_merged_as_far_as_they_go() {
    let workspace = parts();
    workspace.run(&["run", "spec.toml", "--out", "single/out", "--quiet"]).code(0);
    let journal = workspace.read("2/journal.jsonl");
    workspace.write("2/journal.jsonl", &journal[..journal.len() - 20]);
    let merged = workspace.run(&["merge", "1", "2", "3", "--out", "merged/out"]).code(0);
    assert!(
        merged.stderr().contains("half-written bytes at the end of 2 left out"),
        "{}",
        merged.stderr()
    );
    assert!(merged.stdout().contains("1 match is missing. "), "{}", merged.stdout());
    workspace.run(&["run", "spec.toml", "--out", "merged/out", "--quiet"]).code(0);
    assert_eq!(tables(&workspace.path("merged/out")), tables(&workspace.path("single/out")));
}

/// A journal as earlier versions wrote it.
fn without_checksums(journal: &str) -> String {
    let line = |line: &str| match line.rfind(",\"crc\":\"") {
        Some(end) => line[..end].to_owned() + "}\n",
        None => line.to_owned() + "\n",
    };
    let lines: String = journal.lines().map(line).collect();
    lines.replacen("\"format_version\":2", "\"format_version\":1", 1)
}

#[test]
fn matches_played_twice_are_kept_once_or_refused() {
    let workspace = parts();
    let n = jobs_and_blocks(&workspace, "1").len();
    let merged = workspace.run(&["merge", "1", "2", "1", "3", "--out", "twice"]).code(0).stdout();
    assert!(merged.contains(&format!("{n} of them were in several runs\n")), "{merged}");
    // Played again, the same matches take other times, which are no result here.
    play_part(&workspace, "slice:1/3", "again");
    let merged =
        workspace.run(&["merge", "1", "2", "again", "3", "--out", "anew"]).code(0).stdout();
    assert!(merged.contains(&format!("{n} of them were in several runs\n")), "{merged}");
    // With other results nobody knows which to take.
    let journal = workspace.read("again/journal.jsonl");
    let other = without_checksums(&journal).replace("\"reward\":100", "\"reward\":99");
    workspace.write("again/journal.jsonl", &other);
    let told = workspace.run(&["merge", "1", "again", "--out", "both"]).code(2).stderr();
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("their records of match "), "{told}");
    assert!(!workspace.path("both").exists());
}

#[test]
fn a_lock_file_that_is_not_of_the_run_is_passed_over() {
    let workspace = parts();
    let lock = workspace.read("3/spec.lock.toml");
    workspace.write("1/spec.lock.toml", "garbage");
    workspace.write("2/spec.lock.toml", &lock.replace("seed = 11", "seed = 12"));
    let merged = workspace.run(&["merge", "1", "2", "3", "--out", "merged/out"]).code(0);
    assert!(merged.stdout().ends_with("Full report: gamemaster report merged/out\n"));
    assert_eq!(workspace.read("merged/out/spec.lock.toml"), lock);
}

#[test]
fn what_does_not_fit_is_refused() {
    let workspace = parts();
    workspace.write(
        "spec.toml",
        &SPEC.replace("seed = 11", "seed = 12").replace("depth = 1", "depth = 2"),
    );
    play_part(&workspace, "slice:2/3", "other");
    let refused = |arguments: &[&str], expected: &str| {
        let told = workspace.run(arguments).code(2).stderr();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains(expected), "{told}");
    };
    refused(
        &["merge", "1", "other", "--out", "x"],
        "cannot merge 1 with other: their specs differ: ",
    );
    refused(&["merge", "1", "other", "--out", "x"], "`seed`");
    refused(&["merge", "1", "other", "--out", "x"], "player `shallow`");
    refused(&["merge", "1", "2", "--out", "3"], "the folder 3 is not empty");
    refused(&["merge", "1", "nowhere", "--out", "x"], "nowhere");
    assert!(!workspace.path("x").exists());
}
