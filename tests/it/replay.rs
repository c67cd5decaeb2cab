//! `gamemaster replay` and `gamemaster export`: what was played is shown again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::workspace::Workspace;

const SPEC: &str = r#"
name = "shown"
seed = 3
blocks = 1
games = ["tic_tac_toe", "blind_tic_tac_toe", "nim", "kuhn_poker"]
clocks = { start = "10s", play = "1500ms" }

[[players]]
kind = "random"
[[players]]
kind = "legal"
"#;

fn played() -> Workspace {
    let workspace = Workspace::with_spec(SPEC);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    workspace
}

/// The rows of `matches.csv`, by column.
fn rows(workspace: &Workspace) -> Vec<BTreeMap<String, String>> {
    let table = workspace.read("out/matches.csv");
    let mut lines = table.lines().map(|line| line.split(',').map(str::to_owned));
    let heading: Vec<String> = lines.next().unwrap().collect();
    lines.map(|row| heading.iter().cloned().zip(row).collect()).collect()
}

/// The first row of `matches.csv` for a game.
fn first_row(workspace: &Workspace, game: &str) -> BTreeMap<String, String> {
    rows(workspace).into_iter().find(|row| row["game"] == game).unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// The form of ggp-base's match records, field by field.
fn check_record(record: &Value, n_roles: usize) {
    let keys: BTreeSet<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "errors",
        "goalValues",
        "isAborted",
        "isCompleted",
        "matchId",
        "moves",
        "playClock",
        "playerNamesFromHost",
        "previewClock",
        "randomToken",
        "scrambled",
        "startClock",
        "startTime",
        "stateTimes",
        "states",
        "tournamentNameFromHost",
    ];
    assert_eq!(keys, BTreeSet::from(expected));
    let lists = ["states", "stateTimes", "errors", "moves"];
    let [n_states, n_times, n_errors, n_moves] =
        lists.map(|key| record[key].as_array().unwrap().len());
    assert_eq!((n_states, n_times, n_errors), (n_moves + 1, n_moves + 1, n_moves + 1));
    for list in ["errors", "moves"] {
        for row in record[list].as_array().unwrap() {
            assert_eq!(strings(row).len(), n_roles, "{list}");
        }
    }
    assert_eq!(strings(&record["playerNamesFromHost"]).len(), n_roles);
    assert_eq!(record["goalValues"].as_array().unwrap().len(), n_roles);
    let times: Vec<i64> = record["stateTimes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|time| time.as_i64().unwrap())
        .collect();
    assert!(times.is_sorted() && times[0] >= record["startTime"].as_i64().unwrap(), "{times:?}");
    let token = record["randomToken"].as_str().unwrap();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    assert_eq!(record["previewClock"], -1);
    // Clocks are whole seconds: 1500 ms are not told as one.
    assert_eq!((&record["startClock"], &record["playClock"]), (&10.into(), &2.into()));
    assert_eq!((&record["isCompleted"], &record["isAborted"]), (&true.into(), &false.into()));
}

/// What the marks of a game of tic-tac-toe leave, by its rules and not by ours.
fn marked(moves: &[Vec<&str>], n: usize) -> BTreeSet<String> {
    let mut cells = [["b"; 3]; 3];
    for joint_move in &moves[..n] {
        for (played, mark) in joint_move.iter().zip(["x", "o"]) {
            if let ["(", "mark", row, column, ")"] = played.split(' ').collect::<Vec<_>>()[..] {
                let [row, column] = [row, column].map(|at| at.parse::<usize>().unwrap() - 1);
                cells[row][column] = mark;
            }
        }
    }
    let cells = (0..9)
        .map(|at| (at / 3, at % 3))
        .map(|(row, column)| format!("( cell {} {} {} )", row + 1, column + 1, cells[row][column]));
    let control = ["( control xplayer )", "( control oplayer )"][n % 2].to_owned();
    cells.chain([control]).collect()
}

#[test]
fn an_exported_run_has_a_record_for_each_match() {
    let workspace = played();
    let exported = workspace.run(&["export", "out", "--format", "ggp-json"]).code(0);
    let records: Vec<Value> =
        exported.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The form does not name the game, but job after job it is that of the table.
    let mut rows = rows(&workspace);
    rows.dedup_by_key(|row| row["job"].clone());
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        // kuhn_poker has a third role: chance.
        check_record(record, if row["game"] == "kuhn_poker" { 3 } else { 2 });
        assert_eq!(record["matchId"], row["match_id"].as_str());
        if row["game"] != "tic_tac_toe" {
            continue;
        }
        let moves: Vec<Vec<&str>> =
            record["moves"].as_array().unwrap().iter().map(strings).collect();
        for (n, state) in strings(&record["states"]).into_iter().enumerate() {
            let facts = state.strip_prefix("( ").unwrap().strip_suffix(" )").unwrap();
            let facts = facts.split_inclusive(')').map(|fact| fact.trim().to_owned());
            assert_eq!(facts.collect::<BTreeSet<_>>(), marked(&moves, n), "state {n}");
        }
    }
}

#[test]
fn matches_are_exported_alone_or_to_files() {
    let workspace = played();
    let all = workspace.run(&["export", "out"]).code(0);
    let one = workspace.run(&["export", "out", "--match", "1"]).code(0);
    assert_eq!(Some(one.stdout().trim_end()), all.stdout().lines().nth(1));
    let told = workspace.run(&["export", "out", "--out", "records"]).code(0);
    let n_matches = all.stdout().lines().count();
    assert_eq!(told.stdout(), format!("Wrote {n_matches} matches to records\n"));
    for line in all.stdout().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let name = format!("records/{}.json", record["matchId"].as_str().unwrap());
        assert_eq!(workspace.read(&name), line);
    }
}

#[test]
fn a_match_on_a_board_is_drawn() {
    let workspace = played();
    let row = first_row(&workspace, "tic_tac_toe");
    let shown = workspace.run(&["replay", &row["job"], "--run", "out", "--step", "0"]).code(0);
    let empty = "    1  . . .\n    2  . . .\n    3  . . .\n       1 2 3\n    (control xplayer)\n";
    assert!(shown.stdout().contains(empty), "{}", shown.stdout());
    // The whole match, without a terminal: each step once, then the rewards.
    let whole = workspace.run(&["replay", &row["job_id"], "--run", "out"]).code(0);
    let whole = whole.stdout();
    let n_steps: usize = workspace
        .run(&["replay", &row["match_id"], "--run", "out", "--json"])
        .code(0)
        .stdout()
        .lines()
        .count()
        - 1;
    let steps = whole.lines().filter(|line| line.starts_with("step ")).count();
    assert_eq!(steps, n_steps);
    assert!(whole.contains("end (terminal)\n  xplayer: reward "), "{whole}");
    // The last position has as many marks as moves were made.
    let (_, last) = whole.rsplit_once("step ").unwrap();
    let board: String = last.lines().skip(3).take(3).collect();
    let n_marks = board.matches(['x', 'o']).count();
    assert_eq!(n_marks, n_steps, "{last}");
}

#[test]
fn numbers_by_name_are_a_table() {
    let workspace = played();
    let row = first_row(&workspace, "nim");
    let shown = workspace.run(&["replay", &row["job"], "--run", "out"]).code(0);
    let start =
        "start\n    a  3 ooo\n    b  4 oooo\n    c  5 ooooo\n       heap\n    (control left)\n";
    assert!(shown.stdout().contains(start), "{}", shown.stdout());
    assert!(shown.stdout().contains("+(control right)"), "{}", shown.stdout());
}

#[test]
fn a_few_states_are_a_tree() {
    let workspace = Workspace::with_spec(&SPEC.replace("\"nim\"", "\"order_tree\""));
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let row = first_row(&workspace, "order_tree");
    let shown = workspace.run(&["replay", &row["job"], "--run", "out"]).code(0);
    let shown = shown.stdout();
    assert!(shown.contains("  * this state\n"), "{shown}");
    let start = "start\n    * top (max)\n      |- left: l (min)\n";
    assert!(shown.contains(start) && !shown.contains("(at top)"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("    * ")).count(), 3, "{shown}");
}

#[test]
fn the_last_run_is_meant_if_none_is_named() {
    let workspace = Workspace::with_spec(SPEC);
    let none = workspace.run(&["replay", "0"]).code(2);
    assert_eq!(none.stderr(), "error: no run in results/runs; name one with --run\n");
    workspace.run(&["run", "spec.toml", "--quiet"]).code(0);
    let shown = workspace.run(&["replay", "0", "--step", "0"]).code(0);
    assert!(shown.stdout().contains(", match 0 ("), "{}", shown.stdout());
}

#[test]
fn a_match_that_is_not_there_is_told_with_those_that_are() {
    let workspace = played();
    let row = first_row(&workspace, "tic_tac_toe");
    let wrong = |name: &str| {
        let told = workspace.run(&["replay", name, "--run", "out"]).code(2).stderr();
        assert_eq!(told.lines().count(), 1, "{told}");
        told
    };
    let told = wrong("999");
    let jobs: Vec<u64> = workspace
        .read("out/matches.csv")
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next()?.parse().ok())
        .collect();
    let (first, last) = (jobs.iter().min().unwrap(), jobs.iter().max().unwrap());
    let expected =
        format!("match `999` has not been played in out: its match numbers are {first} to {last} ");
    assert!(told.contains(&expected), "{told}");
    // One digit of an id is wrong.
    let id = &row["match_id"];
    let wrong_digit = if id.ends_with('0') { "1" } else { "0" };
    let told = wrong(&format!("{}{wrong_digit}", &id[..id.len() - 1]));
    assert!(told.contains(" in out: its match numbers are "), "{told}");
    // The beginning of all ids is none.
    let told = wrong("match.");
    assert!(told.contains("error: ambiguous match `match.`: expected one of 0 ("), "{told}");
    // But the beginning of one is.
    let shown =
        workspace.run(&["replay", &row["job_id"][..8], "--run", "out", "--step", "0"]).code(0);
    assert!(shown.stdout().contains(id.as_str()), "{}", shown.stdout());

    let n_steps =
        workspace.run(&["replay", "0", "--run", "out", "--json"]).code(0).stdout().lines().count()
            - 1;
    let told = workspace.run(&["replay", "0", "--run", "out", "--step", "99"]).code(2).stderr();
    assert_eq!(told, format!("error: --step 99: the match has {n_steps} steps\n"));
    let told = workspace.run(&["export", "nowhere"]).code(2).stderr();
    assert!(told.starts_with("error: no run `nowhere`: found neither nowhere/ nor"), "{told}");
}

#[test]
fn a_changed_rulesheet_is_no_longer_the_match_played() {
    let (begin, rest) = SPEC.split_once("games").unwrap();
    let (_, end) = rest.split_once('\n').unwrap();
    let workspace = Workspace::with_spec(&format!("{begin}games = [\"mine.kif\"]\n{end}"));
    let rules = games::library::find("tic_tac_toe").unwrap().text;
    workspace.write("mine.kif", rules);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    let row = first_row(&workspace, "mine");
    workspace.run(&["replay", &row["job"], "--run", "out"]).code(0);
    workspace.write("mine.kif", &format!("{rules}\n; changed\n"));
    let told = workspace.run(&["replay", &row["job"], "--run", "out"]).code(3).stderr();
    assert!(
        told.contains("the rulesheet of `mine` has changed since the match was played"),
        "{told}"
    );
}
