//! What players expect of their moves, against what they get: in reports and of `train`.

use crate::workspace::Workspace;

const SPEC: &str = r#"
    games = ["connect_three"]
    blocks = 12
    budget = { nodes = 300 }
    players = [{ kind = "mcts" }, { kind = "random" }]
"#;

/// Every decision with a value is in one bin, and the rewards lie between 0 and 100; a random
/// player expects nothing.
#[test]
fn reports_compare_expected_and_real_rewards() {
    let workspace = Workspace::with_spec(SPEC);
    workspace.run(&["run", "spec.toml", "--out", "run"]).code(0);
    let csv = workspace.run(&["report", "run", "--table", "calibration"]).code(0).stdout();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("player,from,to,expected,reward,low,high,decisions"));
    let (mut n_decisions, mut n_bins) = (0, 0);
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().unwrap();
        assert_eq!(cells[0], "mcts");
        assert!(number(1) <= number(3) && number(3) <= number(2), "{line}");
        assert!((0.0..=100.0).contains(&number(4)), "{line}");
        n_decisions += cells[7].parse::<usize>().unwrap();
        n_bins += 1;
    }
    let moves = workspace.read("run/moves.csv");
    let mut rows = moves.lines();
    let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    // Moves of this game have no commas.
    let with_value = rows.filter(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        cells[at("n_legal")] != "1" && !cells[at("value")].is_empty()
    });
    assert_eq!(n_decisions, with_value.count());
    assert!(n_bins >= 2, "{csv}");

    let text = workspace.run(&["report", "run", "--sections", "calibration"]).code(0).stdout();
    assert!(text.contains("Expected and real rewards\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("mcts")).count(), n_bins);
    workspace.run(&["report", "run", "--html"]).code(0);
    let page = workspace.read("run/report.html");
    assert!(page.contains("id=\"calibration\"") && page.contains("id=\"calibration-table\""));
    assert!(page.contains("\"values\":["), "curves of the replays");
}

#[test]
fn training_is_followed_by_a_calibration() {
    let workspace = Workspace::new();
    let train = ["train", "connect_three", "--matches", "200", "--openings", "6", "--json"];
    let json = workspace.run(&train).code(0).stdout();
    let trained: serde_json::Value = serde_json::from_str(&json).unwrap();
    let bins = trained["calibration"].as_array().unwrap();
    assert!(!bins.is_empty() && bins.iter().all(|bin| bin["player"] == "trained"), "{json}");
    let decisions: u64 = bins.iter().map(|bin| bin["decisions"].as_u64().unwrap()).sum();
    assert!(decisions > 12, "{json}");

    // They are those of the matches in which the player plays against itself.
    let run = trained["calibration_run"].as_str().unwrap();
    assert_ne!(Some(run), trained["run"].as_str());
    let json = workspace.run(&["report", run, "--json"]).code(0).stdout();
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let means: Vec<(&str, f64)> = report["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["player"].as_str().unwrap(), it["mean"].as_f64().unwrap()))
        .collect();
    assert_eq!(means, [("copy", 50.0), ("trained", 50.0)]);
}
