//! `gamemaster report` beyond its summary: parts as text, tables as CSV, and all of it
//! as JSON.

use serde_json::Value;

use crate::workspace::Workspace;

/// A game with chance, and a player that is called as the role of chance.
const SPEC: &str = r#"
name = "parts"
seed = 3
blocks = 3
games = ["tic_tac_toe", "kuhn_poker"]
budget = { nodes = 20 }
[[players]]
kind = "random"
[[players]]
kind = "legal"
[[players]]
kind = "random"
id = "other"
"#;

fn played() -> Workspace {
    let workspace = Workspace::with_spec(SPEC);
    workspace.run(&["run", "spec.toml", "--out", "out", "--quiet"]).code(0);
    workspace
}

#[test]
fn every_form_says_how_strong_players_are() {
    let workspace = played();
    let report = |arguments: &[&str]| {
        workspace.run(&[&["report", "out"], arguments].concat()).code(0).stdout()
    };
    let summary = report(&[]);
    assert!(summary.contains("Standings") && !summary.contains("Pairs"), "{summary}");
    let all = report(&["--sections", "all"]);
    let headings = ["Standings", "Probability of each rank", "Ratings", "Pairs"];
    for heading in headings.into_iter().chain(["Effect of seats", "Effect of players"]) {
        assert!(all.contains(&format!("\n{heading}\n---")), "{heading}: {all}");
    }
    assert!(all.lines().all(|line| line.chars().count() <= 100), "{all}");
    // A report on all there is leaves out what there is not.
    let single = "No game was scored under more than one budget.";
    assert!(report(&["--sections", "time"]).contains(single));
    assert!(!all.contains(single), "{all}");
    let two = report(&["--sections", "ranks,pairs", "--format", "md"]);
    assert_eq!(two.matches("\n## ").count(), 3, "two sections and the notes: {two}");
    let standings = report(&["--sections", "standings", "--format", "md"]);
    assert_eq!(standings.matches("\n## ").count(), 2, "standings and the notes: {standings}");
    assert!(standings.contains("| first % | Elo | interval | games |"), "{standings}");
    let table = report(&["--table", "standings"]);
    let columns = "player,reward,low,high,first,elo,elo_low,elo_high,n_games,n_matches,n_blocks";
    assert_eq!(table.lines().next(), Some(columns));
    assert_eq!(table.lines().count(), 1 + 3, "{table}");
    let ratings = report(&["--table", "ratings"]);
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let rating = [&["bradley_terry", cells[0]], &cells[5..8]].concat().join(",");
        assert!(ratings.contains(&rating), "{rating}: {ratings}");
    }
    let pairs = report(&["--table", "pairs"]);
    assert!(pairs.starts_with("player,opponent,ahead,low,high,superiority,"), "{pairs}");
    assert_eq!(pairs.lines().count(), 1 + 3);
    let cross_table = report(&["--table", "cross-table", "--format", "csv"]);
    assert_eq!(cross_table.lines().count(), 1 + 6, "{cross_table}");
    let json: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    assert_eq!(json["strength"]["ranks"].as_array().unwrap().len(), 3);
    assert_eq!(json["strength"]["pairs"].as_array().unwrap().len(), 3);
}

#[test]
fn what_does_not_fit_together_has_one_clear_answer() {
    let workspace = played();
    let check = |arguments: &[&str], message: &str| {
        let ran = workspace.run(&[&["report", "out"], arguments].concat()).code(2);
        assert!(ran.stderr().contains(message), "{message}: {}", ran.stderr());
    };
    check(&["--table", "pairs", "--format", "md"], "--table prints CSV");
    check(&["--sections", "all", "--format", "csv"], "--sections is for text and Markdown");
    check(&["--sections", "nonsense"], "invalid value 'nonsense'");
}

#[test]
fn chance_is_in_no_table() {
    let workspace = played();
    let json = workspace.run(&["report", "out", "--json"]).code(0).stdout();
    let json: Value = serde_json::from_str(&json).unwrap();
    // Three players, each in as many matches as the others; chance in none.
    let of = |row: &Value| (row["player"].as_str().unwrap().to_owned(), row["n_matches"].as_u64());
    let rows: Vec<_> = json["players"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|(_, n)| *n == rows[0].1), "{rows:?}");
    let roles = json["balance"].as_array().unwrap();
    assert!(roles.iter().all(|row| row["role"] != "random"), "{roles:?}");
    let journal = workspace.read("out/journal.jsonl");
    let with_chance = journal.lines().filter(|line| line.contains("\"role\":\"random\""));
    assert!(with_chance.clone().count() > 0);
    for line in with_chance {
        assert!(line.contains("\"role\":\"random\",\"player\":null"), "{line}");
    }
    // The page links a pair to a match in which both sat.
    workspace.run(&["report", "out", "--html"]).code(0);
    let page = workspace.read("out/report.html");
    let data = page.split("id=\"replay-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let replays: Vec<Value> = serde_json::from_str(data).unwrap();
    let sits = |job: u64, name: &str| {
        let replay = replays.iter().find(|replay| replay["job"] == job).unwrap();
        replay["seats"].as_array().unwrap().iter().any(|seat| seat["player"] == *name)
    };
    let table = page.split("id=\"cross-table\"").nth(1).unwrap().split("</table>").next().unwrap();
    let mut n_links = 0;
    for row in table.split("<tr>").filter(|row| row.contains("#replay-")) {
        let job = row.split("#replay-").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let names = row.split("<th ").skip(1).filter_map(|cell| cell.split('>').nth(1));
        for name in
            names.filter_map(|cell| cell.strip_suffix("</th")).filter(|name| !name.is_empty())
        {
            n_links += 1;
            assert!(sits(job, name), "match {job} has no {name}: {row}");
        }
    }
    assert!(n_links > 0, "{table}");
}
