//! `gamemaster query`: SQL over a run.

use serde_json::Value;

use crate::workspace::Workspace;

const SPEC: &str = "\
name = \"asked\"
games = [\"tic_tac_toe\", \"nim\"]
blocks = 2
budget = { nodes = 50 }
players = [{ kind = \"random\" }, { kind = \"legal\" }, { kind = \"alpha_beta\" }]
";

fn played() -> Workspace {
    let workspace = Workspace::with_spec(SPEC);
    workspace.run(&["run", "spec.toml", "--out", "run", "--quiet"]).code(0);
    workspace
}

fn json(workspace: &Workspace, arguments: &[&str]) -> Vec<Value> {
    let ran = workspace.run(&[&["query", "run", "--json"], arguments].concat()).code(0);
    serde_json::from_str(&ran.stdout()).expect("an answer as JSON")
}

#[test]
fn means_are_those_of_the_report() {
    let workspace = played();
    let report = workspace.run(&["report", "run", "--json"]).code(0).stdout();
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = json(&workspace, &["--question", "rewards"]);
    let expected = report["by_game"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for row in rows {
        let same =
            |other: &&Value| other["player"] == row["player"] && other["game"] == row["game"];
        let expected = expected.iter().find(same).unwrap();
        let (found, mean) = (row["reward"].as_f64().unwrap(), expected["mean"].as_f64().unwrap());
        assert!((found - mean).abs() < 0.06, "{row} {expected}");
        assert_eq!(row["n_matches"], expected["n_matches"]);
    }
}

#[test]
fn columns_come_in_the_order_of_the_question() {
    let workspace = played();
    for (sql, heading) in [
        ("SELECT role, player FROM moves", "role,player"),
        ("SELECT player, role FROM moves", "player,role"),
        ("SELECT reward, player, game FROM matches WHERE reward > 10", "reward,player,game"),
        ("SELECT reward, game FROM matches LIMIT 1", "reward,game"),
    ] {
        let answer = workspace.run(&["query", "run", sql, "--format", "csv"]).code(0).stdout();
        assert_eq!(answer.lines().next(), Some(heading), "{sql}");
    }
}

#[test]
fn sql_comes_from_the_command_line_a_file_or_a_name() {
    let workspace = played();
    let sql = "SELECT COUNT(*) AS n FROM moves WHERE step = 0";
    workspace.write("question.sql", sql);
    let expected = json(&workspace, &[sql]);
    assert_eq!(expected, [serde_json::json!({ "n": 24 * 2 })]);
    assert_eq!(json(&workspace, &["--file", "question.sql"]), expected);
    let csv = workspace.run(&["query", "run", sql, "--format", "csv"]).code(0);
    assert_eq!(csv.stdout(), "n\r\n48\r\n");
    let listed = workspace.run(&["query", "--questions"]).code(0).stdout();
    assert!(listed.contains("rewards: the mean reward of each player at each game"), "{listed}");
    let columns = workspace.run(&["query", "--columns"]).code(0).stdout();
    assert!(columns.contains("moves: a row for each decision of each role"), "{columns}");
}

#[test]
fn what_cannot_be_answered_is_one_clear_error() {
    let workspace = played();
    for (arguments, expected) in [
        (
            &["query", "run", "SELECT rewrd FROM matches"][..],
            "unknown column `rewrd`; `gamemaster query --columns`",
        ),
        (
            &["query", "run", "--question", "who"],
            "unknown ready-made query `who`; expected rewards",
        ),
        (&["query", "run"], "no query was given; give SQL"),
        (
            &["query", "run", "SELECT 1 FROM games"],
            "unknown table `games`; expected matches or moves",
        ),
        (
            &["query", "run", "DROP TABLE matches"],
            "a query must begin with SELECT or WITH, not `DROP`",
        ),
        (&["query", "run", "--file", "missing.sql"], "cannot read missing.sql"),
        (&["query", "nowhere", "SELECT 1"], "nowhere"),
        (&["query"], "required arguments were not provided:\n  <RUN>"),
    ] {
        let ran = workspace.run(arguments).code(2);
        assert!(ran.stderr().contains(expected), "{arguments:?}: {}", ran.stderr());
        assert_eq!(ran.stdout(), "");
    }
}

/// The documentation names every ready-made question and what it answers.
#[test]
fn questions_are_documented() {
    let text = include_str!("../../docs/query.md");
    for question in results::query::QUESTIONS {
        let row = format!("| `{}` | {} |", question.name, question.answers);
        assert!(text.contains(&row), "{row}");
    }
}
