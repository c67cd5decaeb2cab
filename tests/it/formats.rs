//! Tournaments whose rounds follow from results: what they play, and that it
//! depends on nothing else.

use std::collections::{BTreeMap, BTreeSet};

use expect_test::{Expect, expect};

use crate::workspace::{Workspace, run_slow_tests, tables};

/// Six players of different strength, counted in nodes.
const PLAYERS: &str = r#"
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "alpha_beta"
[[players]]
id = "shallow"
kind = "minimax"
depth = 1
[[players]]
kind = "compulsive_deliberation"
[[players]]
id = "deeper"
kind = "minimax"
depth = 2
"#;

const GAMES: &str = "name = \"formats\"\nseed = 5\ngames = [\"tic_tac_toe\", \"nim\"]\n\
                     budget = { nodes = 40 }\n";

const STAGES: &str = "[[stage]]\nformat = \"swiss\"\nrounds = 3\nblocks = 2\n\
                      [[stage]]\nformat = \"knockout\"\nbest = 4\nblocks = 2\nextra_laps = 2\n";

fn spec(what: &str) -> String {
    format!("{GAMES}{what}\n{PLAYERS}")
}

/// All that is told of, with what is beyond one stage of defaults.
fn formats() -> Vec<String> {
    vec![
        spec("format = \"gauntlet\"\nblocks = 3"),
        spec("format = \"swiss\"\nblocks = 2"),
        spec("format = \"knockout\"\nblocks = 2"),
        spec("format = \"ladder\"\nrounds = 5"),
        spec("format = \"round_robin\"\nblocks = 12\nrace = { keep = 2 }"),
        spec(STAGES),
    ]
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    for spec in formats() {
        let workspace = Workspace::with_spec(&spec);
        workspace.run(&["run", "spec.toml", "--out", "one/out", "--jobs", "1"]).code(0);
        workspace.run(&["run", "spec.toml", "--out", "four/out", "--jobs", "4"]).code(0);
        let [one, four] = ["one/out", "four/out"].map(|out| tables(&workspace.path(out)));
        assert!(one == four, "{spec}");
        // The lock file is the spec of the same run.
        workspace.run(&["run", "one/out/spec.lock.toml", "--out", "lock/out"]).code(0);
        assert!(one == tables(&workspace.path("lock/out")), "{spec}");
        let [one, lock] =
            ["one", "lock"].map(|run| workspace.read(&format!("{run}/out/spec.lock.toml")));
        assert_eq!(one, lock);
        // And there is nothing left to play.
        let journal = workspace.read("one/out/journal.jsonl");
        let ran = workspace.run(&["run", "spec.toml", "--out", "one/out"]).code(0);
        assert!(ran.stderr().contains("complete"), "{}", ran.stderr());
        assert_eq!(workspace.read("one/out/journal.jsonl"), journal);
    }
}

/// Wherever a journal is cut off, the run goes on to the same end.
#[test]
fn a_run_that_was_killed_ends_as_if_it_had_not_been() {
    for spec in formats() {
        let reference = Workspace::with_spec(&spec);
        reference.run(&["run", "spec.toml", "--out", "run/out", "--jobs", "3"]).code(0);
        let expected = tables(&reference.path("run/out"));
        let journal = reference.read("run/out/journal.jsonl");
        let n_cuts = if run_slow_tests() { 40 } else { 2 };
        for cut in 1..=n_cuts {
            // Anywhere, mostly within a line.
            let length = journal.len() * cut / (n_cuts + 1) + cut;
            let resumed = Workspace::with_spec(&spec);
            resumed.write("run/out/journal.jsonl", &journal[..length]);
            resumed.run(&["run", "spec.toml", "--out", "run/out", "--jobs", "2"]).code(0);
            assert!(tables(&resumed.path("run/out")) == expected, "cut at {length}: {spec}");
            let lines = resumed.read("run/out/journal.jsonl").lines().count();
            assert_eq!(lines, journal.lines().count(), "no match is played twice");
        }
    }
}

#[test]
fn a_run_that_is_killed_while_it_plays_ends_as_if_it_had_not_been() {
    let spec = spec(&STAGES.replace("blocks = 2", "blocks = 20"));
    let reference = Workspace::with_spec(&spec);
    reference.run(&["run", "spec.toml", "--out", "run/out", "--jobs", "3"]).code(0);
    let whole = reference.path("run/out/journal.jsonl").metadata().unwrap().len();
    let resumed = Workspace::with_spec(&spec);
    let journal = resumed.path("run/out/journal.jsonl");
    let mut n_killed = 0;
    for kill in 1..6 {
        let mut child = resumed.spawn(&["run", "spec.toml", "--out", "run/out", "--jobs", "3"]);
        let is_there =
            || std::fs::metadata(&journal).is_ok_and(|file| file.len() >= whole * kill / 6);
        while child.try_wait().unwrap().is_none() && !is_there() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().unwrap();
        n_killed += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(n_killed > 1, "it was killed {n_killed} times while it ran");
    resumed.run(&["run", "spec.toml", "--out", "run/out", "--jobs", "3"]).code(0);
    assert!(tables(&resumed.path("run/out")) == tables(&reference.path("run/out")));
}

/// Moves by job id, and the players of each round.
fn played(journal: &str) -> (BTreeMap<String, String>, BTreeMap<u64, BTreeSet<String>>) {
    let (mut jobs, mut rounds) = (BTreeMap::new(), BTreeMap::new());
    for line in journal.lines().skip(1) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = record["job_id"].as_str().unwrap().to_owned();
        let steps = record["steps"].as_array().unwrap().iter();
        let decisions = steps.flat_map(|step| step.as_array().unwrap());
        let moves: Vec<String> = decisions
            .map(|decision| format!("{} {}", decision["move"], decision["nodes"]))
            .collect();
        jobs.insert(id, moves.join(", "));
        let round: &mut BTreeSet<String> =
            rounds.entry(record["round"]["round"].as_u64().unwrap_or(0)).or_default();
        for seat in record["seats"].as_array().unwrap() {
            round.insert(seat["player"].as_str().unwrap().to_owned());
        }
    }
    (jobs, rounds)
}

#[test]
fn a_race_drops_the_hopeless_early_and_changes_nothing_for_the_others() {
    let workspace = Workspace::with_spec(&spec("blocks = 12"));
    workspace.run(&["run", "spec.toml", "--out", "all"]).code(0);
    let ran = workspace.run(&["run", "spec.toml", "--race", "--out", "raced"]).code(0);
    assert!(ran.stdout().contains("Round robin, race"), "{}", ran.stdout());
    let (all, _) = played(&workspace.read("all/journal.jsonl"));
    let (raced, rounds) = played(&workspace.read("raced/journal.jsonl"));
    assert!(raced.len() * 3 < all.len() * 2, "{} of {} matches", raced.len(), all.len());
    assert!(raced.iter().all(|(id, steps)| all.get(id) == Some(steps)), "the same matches");
    let last = rounds.values().last().unwrap();
    let best: serde_json::Value =
        serde_json::from_str(&workspace.read("all/summary.json")).unwrap();
    let best = best["players"][0]["player"].as_str().unwrap();
    assert!(last.contains(best) && !last.contains("random"), "{last:?} of {rounds:?}");
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("raced/summary.json")).unwrap();
    let places = summary["stages"][0]["ranking"].as_array().unwrap();
    let random = places.iter().find(|place| place["player"] == "random").unwrap();
    assert!(random["dropped_after_laps"].as_u64().unwrap() <= 6, "{random}");
    assert_eq!(places[0]["dropped_after_laps"], serde_json::Value::Null);
}

#[test]
fn stages_go_on_with_the_best() {
    let workspace = Workspace::with_spec(&spec(STAGES));
    workspace.run(&["run", "spec.toml", "--out", "out"]).code(0);
    let summary: serde_json::Value =
        serde_json::from_str(&workspace.read("out/summary.json")).unwrap();
    let stages = summary["stages"].as_array().unwrap();
    let names = |stage: usize| -> Vec<&str> {
        let places = stages[stage]["ranking"].as_array().unwrap();
        places.iter().map(|place| place["player"].as_str().unwrap()).collect()
    };
    let best: BTreeSet<&str> = names(0)[..4].iter().copied().collect();
    assert_eq!(best, names(1).into_iter().collect());
    assert_eq!(stages[1]["ties"].as_array().unwrap().len(), 3);
    assert_eq!(stages[1]["ties"][0]["players"][0], names(0)[0], "the best seed is on top");
    for format in [&["--format", "text"][..], &["--format", "md"], &["--html", "-"]] {
        let report = workspace.run(&[&["report", "out"], format].concat()).code(0).stdout();
        for part in [
            "Stage 1 of 2: Swiss system",
            "Stage 2 of 2: Knockout of the best 4",
            "semi-final",
            "Standings",
        ] {
            assert!(report.contains(part), "{part} in {report}");
        }
    }
    // A report on a part of it says so, and counts whole rounds only.
    let journal = workspace.read("out/journal.jsonl");
    let lines: Vec<&str> = journal.lines().collect();
    workspace.write("part/journal.jsonl", &(lines[..40].join("\n") + "\n"));
    let report = workspace.run(&["report", "part"]).code(0).stdout();
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "Round 2 is not finished: 15 of 24 matches are played";
    assert!(report.contains(told) && report.contains("After 1 of 3 rounds"), "{report}");
}

#[test]
fn more_rounds_extend_a_run() {
    let workspace = Workspace::with_spec(&spec("format = \"swiss\""));
    let run = |rounds: &str, out: &str, extend: &[&str]| {
        workspace.run(&[&["run", "spec.toml", "--rounds", rounds, "--out", out], extend].concat())
    };
    run("2", "out", &[]).code(0);
    run("3", "out", &[]).code(2);
    run("3", "out", &["--extend"]).code(0);
    run("3", "fresh/out", &[]).code(0);
    assert!(tables(&workspace.path("out")) == tables(&workspace.path("fresh/out")));
    let ran = run("2", "out", &["--extend"]).code(2);
    assert!(ran.stderr().contains("12 of its 36 matches are not in this spec"), "{}", ran.stderr());
}

#[test]
fn a_round_waits_for_matches_that_were_broken_off() {
    let workspace = Workspace::with_spec(
        "games = [\"nim\"]\nblocks = 20\nformat = \"swiss\"\nclocks = { start = \"5s\", play = \"5s\" }\n\
         [[players]]\nkind = \"legal\"\n[[players]]\nkind = \"random\"\n[[players]]\nid = \"l\"\n\
         kind = \"legal\"\n[[players]]\nid = \"p\"\ncommand = \"sh p.sh {port}\"\n",
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
    assert!(ran.stderr().contains("aborted"), "{}", ran.stderr());
    let (_, rounds) = played(&workspace.read("out/journal.jsonl"));
    assert_eq!(rounds.into_keys().collect::<Vec<_>>(), [1], "the next round is not begun");
    std::fs::remove_file(workspace.path("out/logs")).unwrap();
    workspace.run(&[&arguments[..], &["1"]].concat()).code(0);
    let rows = workspace.read("out/matches.csv");
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 2 * 40);
    assert!(!rows.contains("aborted"), "{rows}");
}

#[test]
fn a_dry_run_tells_what_is_known_beforehand() {
    let workspace = Workspace::with_spec(&spec(STAGES));
    let ran =
        workspace.run(&["run", "spec.toml", "--dry-run", "--jobs", "2", "--out", "out"]).code(0);
    expect![[r#"
        schedule: at most 120 matches
        matches at once: 2
        folder: out (0 complete)

        stage  format       players  max. rounds  min. matches  max. matches
            1  swiss              6            3            72            72
            2  knockout           4            2            24            48

        No time estimate: the budgets are in nodes
    "#]]
    .assert_eq(&ran.stdout());
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--json"]).code(0);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(told["n_jobs_at_most"], 120);
    assert_eq!(told["stages"][1]["format"], "knockout");
    workspace.write("spec.toml", &spec(""));
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--format", "gauntlet"]).code(0);
    // 5 opponents, 2 seats, 2 games.
    assert!(ran.stdout().starts_with("schedule: 20 matches in 10 blocks\n"), "{}", ran.stdout());
    // What the spec says of another format does not count.
    workspace.write("spec.toml", &spec("race = true\nchallengers = 2\nformat = \"gauntlet\""));
    let ran = workspace.run(&["run", "spec.toml", "--dry-run", "--format", "swiss"]).code(0);
    assert!(ran.stdout().starts_with("schedule: at most 36 matches\n"), "{}", ran.stdout());
}

fn check_error(what: &str, arguments: &[&str], expected: Expect) {
    check_spec_error(&spec(what), arguments, expected);
}

fn check_spec_error(spec: &str, arguments: &[&str], expected: Expect) {
    let workspace = Workspace::with_spec(spec);
    let ran = workspace.run(&[&["run", "spec.toml", "--out", "out"], arguments].concat()).code(2);
    assert_eq!(ran.stdout(), "");
    expected.assert_eq(&ran.stderr());
    assert!(!workspace.path("out").exists(), "nothing is begun");
}

#[test]
fn rounds_are_no_parts_of_a_schedule() {
    let workspace = Workspace::with_spec(&spec("format = \"swiss\""));
    workspace.run(&["run", "spec.toml", "--out", "run/out"]).code(0);
    let merged = workspace.run(&["merge", "run/out", "run/out", "--out", "merged"]).code(2);
    expect![[r#"
        error: cannot merge run/out/journal.jsonl: runs whose pairings depend on results (swiss, knockout, ladder, --race) cannot be merged
    "#]].assert_eq(&merged.stderr());
    assert!(!workspace.path("merged").exists(), "nothing is begun");
    let matches = workspace.read("run/out/matches.csv");
    let rounds: BTreeSet<&str> = matches.lines().skip(1).map(stage_and_round).collect();
    assert_eq!(rounds, BTreeSet::from(["1,1,0", "1,2,0", "1,3,0"]));
}

/// The columns `stage`, `round` and `extra_lap` of a row of matches.csv.
fn stage_and_round(row: &str) -> &str {
    let mut commas = row.match_indices(',').map(|(at, _)| at);
    let (from, to) = (commas.nth(3).unwrap(), commas.nth(2).unwrap());
    &row[from + 1..to]
}

#[test]
fn what_cannot_be_played_is_said_in_one_line() {
    check_error(
        "format = \"swis\"",
        &[],
        expect![[r#"
            error: spec.toml:5: format = "swis": expected one of `round_robin`, `gauntlet`, `swiss`, `knockout`, `ladder`
        "#]],
    );
    check_error(
        "format = \"swiss\"\nrounds = 6",
        &[],
        expect![[r#"
            error: spec.toml: rounds = 6: a swiss system of 6 players has at most 5 rounds; in more, some players would have to meet twice
        "#]],
    );
    check_error(
        "format = \"knockout\"\nrounds = 6",
        &[],
        expect![[r#"
            error: spec.toml:6: `rounds` is for swiss and ladder, but the format is knockout
        "#]],
    );
    check_error(
        "format = \"swiss\"\nrace = true",
        &[],
        expect![[r#"
            error: spec.toml:6: `race` is for round_robin and gauntlet, but the format is swiss
        "#]],
    );
    check_error(
        "race = { keep = 6 }",
        &[],
        expect![[r#"
            error: spec.toml:5: race.keep = 6: expected a whole number from 1 to 5
        "#]],
    );
    check_error(
        "race = { alpha = 2.0 }",
        &[],
        expect![[r#"
            error: spec.toml:5: race.alpha = 2: expected a number between 0 and 1
        "#]],
    );
    check_error(
        "race = { alpa = 2.0 }",
        &[],
        expect![[r#"
        error: spec.toml:5: unknown key `alpa` (did you mean `alpha`?), expected `alpha` or `keep`
    "#]],
    );
    check_error(
        "race = \"yes\"",
        &[],
        expect![[r#"
            error: spec.toml:5: race = "yes": expected true, false, or a table with `alpha` and `keep`, as `race`
        "#]],
    );
    check_error(
        "",
        &["--rounds", "3"],
        expect![[r#"
            error: `rounds` is for swiss and ladder, but the format is round_robin
        "#]],
    );
    check_error(
        "format = \"gauntlet\"\nchallengers = 6",
        &[],
        expect![[r#"
            error: spec.toml:6: challengers = 6: expected fewer than the 6 players
        "#]],
    );
    check_error(
        STAGES,
        &["--format", "swiss"],
        expect![[r#"
            error: spec.toml: --format, --rounds and --race need a spec with one stage; this one has [[stage]] tables
        "#]],
    );
    check_error(
        &format!("rounds = 3\n{STAGES}"),
        &[],
        expect![[r#"
            error: spec.toml:5: `rounds` belongs in a [[stage]] table
        "#]],
    );
    check_error(
        &STAGES.replace("best = 4", "best = 7"),
        &[],
        expect![[r#"
            error: spec.toml:11: best = 7: the stage before has only 6 players
        "#]],
    );
    check_error(
        &format!("{STAGES}[[stage]]\nblocks = 3\n"),
        &[],
        expect![[r#"
        error: spec.toml:14: a stage needs a `format`
    "#]],
    );
    check_error(
        "[[stage]]\nformat = \"swiss\"\nbest = 3\n",
        &[],
        expect![[r#"
            error: spec.toml:7: best: the first stage is played by all players
        "#]],
    );
    check_error(
        "format = \"ladder\"\nclocks = { play = [\"1s\", \"2s\"] }",
        &[],
        expect![[r#"
            error: spec.toml:6: clocks.play: with budget.nodes, a budget is named by its nodes alone; give one duration, or leave budget.nodes out
        "#]],
    );
    let far = "[[players]]\nid = \"far\"\nurl = \"http://127.0.0.1:1\"\n";
    check_spec_error(
        &(spec("clocks = { play = [\"1s\", \"2s\"] }") + far),
        &[],
        expect![[r#"
            error: spec.toml:5: clocks.play: with budget.nodes, a budget is named by its nodes alone; give one duration, or leave budget.nodes out
        "#]],
    );
    check_spec_error(
        &spec("format = \"ladder\"").replace("nodes = 40", "nodes = [40, 80]"),
        &[],
        expect![[r#"
            error: spec.toml: pairings that depend on results need a single budget, and the spec has 2; run it once with each
        "#]],
    );
    check_error(
        "format = \"swiss\"",
        &["--partition", "slice:1/2"],
        expect![[r#"
            error: --partition slice:1/2 needs a round_robin or a gauntlet without a race: in the format of this spec, pairings depend on the results of earlier rounds
        "#]],
    );
    check_error(
        "format = \"swiss\"\n[comparison]\nbase = \"random\"\nhead = \"legal\"\n",
        &[],
        expect![[r#"
            error: spec.toml: a comparison has its own pairings; leave `format`, `race` and [[stage]] out
        "#]],
    );
    let other_games = |games: &str| {
        let workspace = Workspace::with_spec(
            &spec("format = \"knockout\"").replace("[\"tic_tac_toe\", \"nim\"]", games),
        );
        workspace.run(&["run", "spec.toml", "--out", "out"]).code(2).stderr()
    };
    expect![[r#"
        error: spec.toml: knockout needs games for two players, but eight_puzzle_seed has 1 role; remove the game, or play a round_robin
    "#]].assert_eq(&other_games("[\"eight_puzzle_seed\"]"));
    expect![[r#"
        error: spec.toml: alpha_beta cannot play kuhn_poker: hidden information; in this format every player plays every game, so remove the player or the game
    "#]].assert_eq(&other_games("[\"nim\", \"kuhn_poker\"]"));
    expect![[r#"
        error: spec.toml:4: stage = 3: expected a list
    "#]]
    .assert_eq(&other_games("[\"nim\", \"tic_tac_toe\"]\nstage = 3"));
}
