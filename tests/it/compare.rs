//! `gamemaster compare`: what changed from one run to another.

use serde_json::Value;

use crate::workspace::Workspace;

fn spec(mine: &str, seed: u32) -> String {
    format!(
        r#"
name = "compared"
seed = {seed}
blocks = 12
games = ["tic_tac_toe", "nim"]
budget = {{ nodes = 2000 }}

[[players]]
kind = "random"
[[players]]
id = "mine"
{mine}
"#
    )
}

const WEAK: &str = "kind = \"legal\"";
const STRONG: &str = "kind = \"alpha_beta\"";

fn played() -> Workspace {
    let workspace = Workspace::new();
    for (name, mine) in [("before", WEAK), ("after", STRONG)] {
        workspace.write("spec.toml", &spec(mine, 4));
        workspace.run(&["run", "spec.toml", "--out", name, "--quiet"]).code(0);
    }
    workspace
}

/// A player's mean reward, computed from `matches.csv`: games weigh the same.
fn mean(workspace: &Workspace, run: &str, player: &str) -> f64 {
    let table = workspace.read(&format!("{run}/matches.csv"));
    let mut lines = table.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| heading.iter().position(|other| *other == name).unwrap();
    let [game, who, reward] = ["game", "player", "reward"].map(column);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let games = ["tic_tac_toe", "nim"].map(|name| {
        let its = rows.iter().filter(|row| row[game] == name && row[who] == player);
        let rewards: Vec<f64> = its.map(|row| row[reward].parse().unwrap()).collect();
        rewards.iter().sum::<f64>() / rewards.len() as f64
    });
    games.iter().sum::<f64>() / 2.0
}

#[test]
fn a_change_is_told_with_its_doubt() {
    let workspace = played();
    let text = workspace.run(&["compare", "before", "after"]).code(0).stdout();
    assert!(text.contains("mine gained ") && text.contains("random lost "), "{text}");
    assert!(text.contains("* the player's configuration is not the same"), "{text}");
    let json = workspace.run(&["compare", "before", "after", "--json"]).code(0).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["n_common_blocks"], &json["n_incomplete"]), (&24.into(), &0.into()));
    // By id and lap blocks have the same seeds, unless a player's hash is in them.
    let players = json["players"].as_array().unwrap();
    for player in players {
        let name = player["player"].as_str().unwrap();
        let means = &player["reward"]["means"];
        for (at, run) in ["before", "after"].iter().enumerate() {
            let expected = mean(&workspace, run, name);
            let found = means[at].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-9, "{name} in {run}: {found}, not {expected}");
        }
        let difference = player["reward"]["difference"].as_f64().unwrap();
        let ends = &player["reward"]["interval"];
        let [low, high] = [0, 1].map(|at: usize| ends[at].as_f64().unwrap());
        assert!(low <= difference && difference <= high, "{player}");
        assert_eq!(player["changed"], name == "mine");
    }
    // The other way round everything has the other sign.
    let back = workspace.run(&["compare", "after", "before"]).code(0).stdout();
    assert!(back.contains("mine lost ") && back.contains("random gained "), "{back}");
}

#[test]
fn a_run_compared_with_itself_is_the_same() {
    let workspace = played();
    let text = workspace.run(&["compare", "after", "after"]).code(0).stdout();
    assert!(text.contains("All common blocks gave all players the same rewards"), "{text}");
    let csv = workspace.run(&["compare", "after", "after", "--format", "csv"]).code(0).stdout();
    assert_eq!(csv.lines().count(), 1 + 2 + 4, "{csv}");
    let markdown =
        workspace.run(&["compare", "after", "after", "--format", "markdown"]).code(0).stdout();
    let md = workspace.run(&["compare", "after", "after", "--format", "md"]).code(0).stdout();
    assert!(markdown.starts_with("# ") && markdown == md, "{markdown}");
}

#[test]
fn runs_with_nothing_in_common_are_refused() {
    let workspace = played();
    workspace.write(
        "spec.toml",
        &spec(WEAK, 4).replace("\"nim\"", "\"othello_4x4\"").replace("\"tic_tac_toe\", ", ""),
    );
    workspace.run(&["run", "spec.toml", "--out", "other", "--quiet"]).code(0);
    let refused = |runs: [&str; 2], expected: &str| {
        let told = workspace.run(&["compare", runs[0], runs[1]]).code(2).stderr();
        assert_eq!(told.lines().count(), 1, "{told}");
        assert!(told.contains(expected), "{told}");
    };
    refused(["before", "other"], "the runs have no complete block in common: they share no game");
    refused(
        ["before", "nowhere"],
        "no run `nowhere`: found neither nowhere/ nor results/runs/nowhere/",
    );
    let header = workspace.read("before/journal.jsonl").lines().next().unwrap().to_owned() + "\n";
    workspace.write("empty/journal.jsonl", &header);
    refused(["empty", "before"], "nothing to compare: the journal of empty holds no match yet");
}
