//! `gamemaster regret`, and players that play by a table.

use serde_json::Value;

use crate::workspace::Workspace;

const SPEC: &str = r#"
games = ["connect_three", "nim"]
blocks = 2
budget = { nodes = 20 }
players = [{ kind = "perfect", table = "c3.table", id = "oracle" }, { kind = "random" }, { kind = "legal" }]
"#;

/// A run of connect three alone, with its table.
fn played(workspace: &Workspace, spec: &str) -> Value {
    workspace.run(&["solve", "connect_three", "--out", "c3.table"]).code(0);
    workspace.write("spec.toml", spec);
    workspace.run(&["run", "spec.toml", "--out", "run", "--quiet"]).code(0);
    let json = workspace.run(&["regret", "run", "--table", "c3.table", "--json"]).code(0).stdout();
    serde_json::from_str(&json).unwrap()
}

#[test]
fn perfect_play_gives_nothing_away() {
    let workspace = Workspace::new();
    let spec = SPEC.replace(", \"nim\"", "");
    let report = played(&workspace, &spec);
    let players = report["players"].as_array().unwrap();
    assert_eq!(players.len(), 3);
    assert_eq!(players[0]["player"], "oracle", "{report}");
    assert_eq!((&players[0]["mean_regret"], &players[0]["perfect"]), (&0.0.into(), &1.0.into()));
    for player in &players[1..] {
        let mean = player["mean_regret"].as_f64().unwrap();
        assert!(mean > 0.0 && mean < 100.0, "{player}");
        assert!(player["perfect"].as_f64().unwrap() < 1.0, "{player}");
    }
    // The decisions add up: each regret is that of a row.
    let csv = workspace.run(&["regret", "run", "--table", "c3.table", "--csv"]).code(0).stdout();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len() as u64, 1 + report["decisions"].as_u64().unwrap());
    assert!(rows[0].starts_with("job,match_id,game,step,player,role,move,substitute,legal,value"));
    let worst = report["worst"].as_array().unwrap();
    let regrets: Vec<f64> = worst.iter().map(|row| row["regret"].as_f64().unwrap()).collect();
    assert!(regrets.windows(2).all(|pair| pair[0] >= pair[1]), "{regrets:?}");
    assert_eq!(regrets.len(), 10);
    // Who loses to the oracle by its own fault gave away at least what it lost.
    let text = workspace.run(&["regret", "run", "--table", "c3.table"]).code(0).stdout();
    assert!(text.contains("oracle    0.00") && text.contains("Worst decisions"), "{text}");
}

#[test]
fn games_without_a_table_are_left_out() {
    let workspace = Workspace::new();
    let spec = SPEC.replace("{ kind = \"perfect\", table = \"c3.table\", id = \"oracle\" }, ", "");
    let report = played(&workspace, &spec);
    assert_eq!(report["matches"], report["skipped_matches"]);
    workspace.run(&["solve", "tic_tac_toe", "--out", "ttt.table"]).code(0);
    let told = workspace.run(&["regret", "run", "--table", "ttt.table"]).code(2).stderr();
    assert!(told.contains("none of the tables is for a game of the run run, which has "), "{told}");
    let told = workspace.run(&["regret", "run", "--table", "spec.toml"]).code(2).stderr();
    assert!(told.contains("not a table of `gamemaster solve`"), "{told}");
    // No decision gives away more than 100 points.
    for points in ["0", "100.5"] {
        let regret = ["regret", "run", "--table", "ttt.table", "--blunder", points];
        let told = workspace.run(&regret).code(2).stderr();
        let expected = format!("--blunder {points}: expected more than 0 and at most 100 points");
        assert!(told.contains(&expected), "{told}");
    }
}

/// States that the table of an endgame lacks are not judged.
#[test]
fn the_table_of_an_endgame_judges_its_states_alone() {
    let workspace = Workspace::new();
    let spec = SPEC.replace(", \"nim\"", "");
    let whole = played(&workspace, &spec)["decisions"].as_u64().unwrap();
    let regret = |moves: &str| -> Value {
        let solve = ["solve", "connect_three", "--moves", moves, "--out", "end.table"];
        workspace.run(&solve).code(0);
        let json = workspace.run(&["regret", "run", "--table", "end.table", "--json"]).code(0);
        serde_json::from_str(&json.stdout()).unwrap()
    };
    let part = regret("((drop 1) noop)");
    let n_judged = part["decisions"].as_u64().unwrap();
    assert!(0 < n_judged && n_judged < whole, "{n_judged} of {whole}");
    assert_eq!(part["skipped_matches"], 0);
    // Tables of one game serve as one, in whatever order.
    for (one, other) in [("c3.table", "end.table"), ("end.table", "c3.table")] {
        let both = ["regret", "run", "--table", one, "--table", other, "--json"];
        let both: Value = serde_json::from_str(&workspace.run(&both).code(0).stdout()).unwrap();
        assert_eq!(both["decisions"].as_u64(), Some(whole), "{one} {other}");
    }
}

#[test]
fn tables_without_a_state_of_the_run_judge_nothing() {
    let workspace = Workspace::new();
    let spec = "games = [\"connect_three\"]\nblocks = 1\n\
                players = [{ kind = \"legal\", id = \"a\" }, { kind = \"legal\", id = \"b\" }]";
    played(&workspace, spec);
    // The first legal move is another.
    let solve = ["solve", "connect_three", "--moves", "((drop 3) noop)", "--out", "end.table"];
    workspace.run(&solve).code(0);
    for command in [["regret", "run", "--table"], ["report", "run", "--regret"]] {
        let told = workspace.run(&[&command[..], &["end.table"]].concat()).code(2).stderr();
        assert!(told.contains("have no state of the run run in which"), "{told}");
    }
}

/// A run is not continued by players with another table in the same file.
#[test]
fn players_with_other_tables_are_other_players() {
    let workspace = Workspace::new();
    let spec = SPEC.replace(", \"nim\"", "").replace("blocks = 2", "blocks = 1");
    played(&workspace, &spec);
    let solve = ["solve", "connect_three", "--moves", "((drop 1) noop)", "--out", "c3.table"];
    workspace.run(&solve).code(0);
    let extend = ["run", "spec.toml", "--out", "run", "--quiet", "--extend"];
    let told = workspace.run(&extend).code(2).stderr();
    assert!(told.contains("cannot be extended") && told.contains("player `oracle`"), "{told}");
    workspace.run(&["solve", "connect_three", "--out", "c3.table"]).code(0);
    workspace.run(&extend).code(0);
    // Where the table lies makes no difference.
    std::fs::rename(workspace.path("c3.table"), workspace.path("other.table")).unwrap();
    workspace.write("spec.toml", &spec.replace("c3.table", "other.table"));
    workspace.run(&extend).code(0);
    // Who reads the run later does not need the player's table.
    std::fs::rename(workspace.path("other.table"), workspace.path("third.table")).unwrap();
    workspace.run(&["replay", "1", "--run", "run"]).code(0);
    workspace.run(&["regret", "run", "--table", "third.table"]).code(0);
    let told = workspace.run(&extend).code(2).stderr();
    assert!(told.contains("cannot open the table `other.table`"), "{told}");
}

/// A table of another game is refused before the first match.
#[test]
fn a_table_of_another_game_is_refused() {
    let workspace = Workspace::new();
    workspace.run(&["solve", "nim", "--out", "nim.table"]).code(0);
    let player = "perfect:table=nim.table";
    let refused = workspace.run(&["play", "tic_tac_toe", player, "random"]);
    let told = refused.stderr();
    assert!(told.contains("the table is of another game"), "{told}");
    assert_ne!(refused.0.status.code(), Some(0));
    let told = workspace.run(&["explain", "tic_tac_toe", "--player", player]).code(2).stderr();
    assert!(told.contains("the table is of another game"), "{told}");
}

/// The report has the players' regret, and leads to the state before each of the worst
/// decisions.
#[test]
fn the_report_shows_regret_and_its_replays() {
    let workspace = Workspace::new();
    let found = played(&workspace, &SPEC.replace(", \"nim\"", ""));
    let report = |arguments: &[&str]| workspace.run(&[&["report", "run"], arguments].concat());
    let page = report(&["--html", "-", "--regret", "c3.table", "--replays", "1"]).code(0).stdout();
    assert!(page.contains("<section id=\"regret\">"), "{page}");
    let worst = found["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 10);
    for row in worst {
        let (job, step) = (row["job"].as_u64().unwrap(), row["step"].as_u64().unwrap());
        assert!(page.contains(&format!("href=\"#replay-{job}-{step}\"")), "{row}");
        assert!(page.contains(&format!("\"job\":{job},")), "{row}");
    }
    let text = report(&["--regret", "c3.table"]).code(0).stdout();
    let section = text.split("\nRegret\n------\n").nth(1).unwrap();
    for player in found["players"].as_array().unwrap() {
        let name = player["player"].as_str().unwrap();
        let row = section.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        let mean = format!("{:.2}", player["mean_regret"].as_f64().unwrap());
        assert!(row.contains(&mean), "{row}: {mean}");
    }
    let markdown = report(&["--regret", "c3.table", "--format", "md"]).code(0).stdout();
    assert!(markdown.contains("\n## Regret\n"), "{markdown}");
    let page = report(&["--html", "-"]).code(0).stdout();
    assert!(!page.contains("id=\"regret\""), "{page}");
    let told = report(&["--regret", "c3.table", "--format", "csv"]).code(2).stderr();
    assert!(told.contains("`gamemaster regret` prints JSON and CSV"), "{told}");
    let told = report(&["--regret", "no.table"]).code(2).stderr();
    assert!(told.contains("cannot open the table `no.table`"), "{told}");
}
