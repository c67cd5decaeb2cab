//! `docs/environments.md`: its commands with their output, and its table of shipped games.

use std::path::{Path, PathBuf};

use crate::page::check_commands;
use crate::workspace::Workspace;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/environments.md")
}

/// Runs the commands of the page. `TRYCMD=overwrite` rewrites the outputs.
#[test]
fn every_command_of_the_page_prints_what_it_shows() {
    check_commands(&page());
}

/// The table at the end of the page is what the command prints. `UPDATE_EXPECT=1` rewrites it.
#[test]
fn the_table_of_environments_is_that_of_the_shipped_games() {
    let printed = Workspace::new().run(&["game", "list", "--environments"]).code(0).stdout();
    let text = std::fs::read_to_string(page()).unwrap();
    let start = text.find("| game | agents |").unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page(), text[..start].to_owned() + &printed).unwrap();
        return;
    }
    assert_eq!(&text[start..], printed);
    assert_eq!(printed.lines().count(), games::library::all().len() + 2);
}

/// Every player that is said to suit a game can play it: no game is refused, and the first
/// decision comes within a few nodes.
#[test]
fn players_that_suit_a_game_can_play_it() {
    let workspace = Workspace::new();
    let json = workspace.run(&["game", "list", "--environments", "--json"]).code(0).stdout();
    let games: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    // One game for each list of players.
    let mut lists = std::collections::BTreeMap::new();
    for game in &games {
        let suited = &game["environment"]["suited"];
        lists.entry(suited.to_string()).or_insert((game["name"].as_str().unwrap(), suited));
    }
    assert!(lists.len() > 8, "{lists:?}");
    for (game, suited) in lists.values() {
        for player in suited.as_array().unwrap() {
            let player = player["player"].as_str().unwrap();
            workspace.run(&["explain", game, "--player", player, "--nodes", "50"]).code(0);
        }
    }
}

/// Why play ends: by a count of steps, since no state can come twice, by changes that are never
/// undone, by a sum that falls, or not at all.
#[test]
fn whether_play_must_end_is_known_with_the_reason() {
    let workspace = Workspace::new();
    let end = |game: &str| {
        let json = workspace.run(&["game", "info", game, "--json"]).code(0).stdout();
        serde_json::from_str::<serde_json::Value>(&json).unwrap()["end"].clone()
    };
    let clock = end("los_alamos_chess");
    assert_eq!((&clock["known_by"], &clock["steps"]), (&"step_counter".into(), &120.into()));
    let board = end("tic_tac_toe");
    assert_eq!((&board["known_by"], &board["steps"]), (&"all_states".into(), &9.into()));
    assert_eq!(board["states"], 5478);
    assert_eq!(end("nim")["known_by"], "all_states");
    let filled = end("connect_four");
    assert_eq!((&filled["known_by"], &filled["steps"]), (&"progress".into(), &42.into()));
    assert_eq!((&filled["window"], &filled["changes"]), (&1.into(), &42.into()));
    let pegs = end("peg_solitaire");
    assert_eq!((&pegs["known_by"], &pegs["steps"]), (&"falling_sum".into(), &32.into()));
    workspace.write(
        "circle.kif",
        "(role you) (init (at a)) (legal you left) (legal you right) (goal you 50)
         (<= (next (at b)) (true (at a))) (<= (next (at a)) (true (at b)) (does you left))
         (<= (next (at c)) (true (at b)) (does you right)) (<= terminal (true (at c)))",
    );
    let circle = end("circle.kif");
    assert_eq!((&circle["known_by"], &circle["steps"]), (&"repeats".into(), &2.into()));
}
